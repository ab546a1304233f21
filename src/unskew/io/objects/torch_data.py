"""Datasets and loaders of PyTorch as plain examples: batches are taken apart, tensors are values.

Nothing of PyTorch is imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from unskew.core.errors import UnskewError, brief
from unskew.core.usercode import own_code
from unskew.io.iterables import Given, kind_name
from unskew.io.objects.known import is_tensor

_STEP = "mend the dataset, or leave that example out"


def torch_examples(dataset: Any) -> Iterator[Any]:
    """Yield the examples of a dataset, by its numbers or as it gives them."""
    if hasattr(type(dataset), "__iter__"):
        yield from map(plain_value, Given(dataset, _STEP))
        return
    try:
        size = len(dataset)
    except TypeError as error:
        raise UnskewError(
            f"{type(dataset).__name__} has neither __len__ nor __iter__; pass a list of examples"
        ) from error
    for number in range(size):
        with own_code(f"example {number} of {kind_name(dataset)}", _STEP):
            example = dataset[number]
        yield plain_value(example)


def loaded_examples(loader: Any) -> Iterator[Any]:
    """Yield the examples in the batches of a loader."""
    if loader.batch_size is None and loader.batch_sampler is None:
        yield from map(plain_value, Given(loader, _STEP))
        return
    is_default = getattr(loader.collate_fn, "__name__", "") == "default_collate"
    for batch in Given(loader, _STEP):
        yield from _apart(batch, is_default)


def plain_value(value: Any) -> Any:
    """Return tensors as NumPy arrays, and those of one number as a Python value; also inside."""
    if isinstance(value, np.generic):
        return value.item()
    if is_tensor(value):
        array = _array(value)
        return array.item() if array.ndim == 0 else array
    if isinstance(value, dict):
        return {key: plain_value(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(plain_value, value))
    if type(value) in (list, tuple):
        return type(value)(map(plain_value, value))
    return value


def _array(tensor: Any) -> np.ndarray[Any, Any]:
    tensor = tensor.detach().cpu()
    if tensor.is_sparse:
        tensor = tensor.to_dense()
    try:
        array: np.ndarray[Any, Any] = tensor.numpy()
    except TypeError:  # NumPy has no bfloat16
        array = tensor.float().numpy()
    return array


def _apart(batch: Any, is_default: bool) -> Iterator[Any]:
    """Yield the examples of one batch: a tensor, a dict or a tuple of tensors, or a list."""
    if isinstance(batch, Mapping):
        columns = {key: list(_apart(value, is_default)) for key, value in batch.items()}
        _check_lengths(batch, columns.values())
        for row in zip(*columns.values(), strict=True):
            yield dict(zip(columns, row, strict=True))
    elif isinstance(batch, (list, tuple)):
        if not _has_fields(batch, is_default):
            yield from map(plain_value, batch)
            return
        fields = [list(_apart(value, is_default)) for value in batch]
        _check_lengths(batch, fields)
        named = hasattr(batch, "_fields")
        yield from (type(batch)(*row) if named else row for row in zip(*fields, strict=True))
    elif is_tensor(batch) or isinstance(batch, np.ndarray):
        array = _array(batch) if is_tensor(batch) else batch
        if array.ndim == 0:
            raise UnskewError(f"a batch is {brief(batch)}, which has no rows; pass the dataset")
        yield from array.tolist() if array.ndim == 1 else array
    else:
        raise UnskewError(
            f"a batch of the loader is {brief(batch)}; make it a tensor, a dict or a tuple of "
            "tensors, or a list of examples, or pass the dataset"
        )


def _has_fields(batch: Sequence[Any], is_default: bool) -> bool:
    """Whether a list holds one entry for each field, each of all rows; else it holds examples."""
    if not batch or all(isinstance(value, (str, bytes)) for value in batch):
        return False  # texts stay a list of texts
    if is_default or hasattr(batch, "_fields"):
        return True
    sizes = {len(v) if is_tensor(v) and v.ndim else -1 for v in batch}
    return len(sizes) == 1 and -1 not in sizes and isinstance(batch, tuple)


def _check_lengths(batch: object, columns: Any) -> None:
    sizes = {len(column) for column in columns}
    if len(sizes) > 1:
        raise UnskewError(
            f"a batch of the loader has parts of {sorted(sizes)} rows ({brief(batch)}); "
            "pass the dataset"
        )
