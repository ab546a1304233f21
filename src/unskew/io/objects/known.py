"""What kind of object of another library an object is; no library is imported to find out."""

from __future__ import annotations


def is_hugging_face(target: object) -> bool:
    """Whether an object is a dataset of Hugging Face."""
    return all(hasattr(target, name) for name in ("with_format", "features", "iter"))


def is_table(value: object) -> bool:
    """Whether an object is a table with named columns, of any library."""
    has_columns = hasattr(value, "columns") or hasattr(value, "column_names")
    streams = hasattr(value, "__arrow_c_stream__") or hasattr(value, "collect_schema")
    return is_hugging_face(value) or (streams and has_columns)


def is_torch_data(target: object) -> bool:
    """Whether an object is a dataset of PyTorch."""
    return _is_of_torch(target, "Dataset")


def is_loader(target: object) -> bool:
    """Whether an object is a loader of PyTorch, which gives batches."""
    return _is_of_torch(target, "DataLoader")


def is_tensor(value: object) -> bool:
    """Whether an object is a tensor of PyTorch."""
    return _is_of_torch(value, "Tensor")


def _is_of_torch(target: object, name: str) -> bool:
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(target).__mro__}
    return ("torch", name) in kinds
