"""A text of any Python value that is the same for equal values alone."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
from numpy.typing import NDArray


def printed(value: object) -> str:
    """Return a text that is the same for equal values alone."""
    return repr(_printable(value))


def _printable(value: object, above: frozenset[int] = frozenset()) -> object:
    """Return what prints the same for equal values alone.

    Many values print only in part: long arrays leave out their middle, and plain objects print only
    their address. ``above`` are the values that this one is in.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bytes, int, float)):
        return value
    if id(value) in above:
        return ...
    inside = partial(_printable, above=above | {id(value)})
    if isinstance(value, dict):
        pairs = [(inside(key), inside(item)) for key, item in value.items()]
        return ("dict", sorted(pairs, key=repr))
    if isinstance(value, (set, frozenset)):
        return ("set", sorted(map(inside, value), key=repr))
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(inside, value)]
    array = _as_array(value)
    if array is not None:
        numbers = array.tolist()
        return (
            "array",
            str(array.dtype),
            array.shape,
            inside(numbers) if array.dtype.hasobject else numbers,
        )
    held = _held(value)
    return value if held is None else (type(value).__qualname__, inside(held))


def _as_array(value: object) -> NDArray[np.generic] | None:
    """Return an array of any library as one of NumPy's."""
    if not hasattr(type(value), "__array__"):
        return None
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError):  # NumPy cannot hold it: an array of a GPU
        return None


def _held(value: object) -> object:
    """Return the content of an object that its printed form may not show; else None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        compared = (field.name for field in dataclasses.fields(value) if field.compare)
        return {name: getattr(value, name, None) for name in compared}
    if type(value).__repr__ is not object.__repr__:
        return None
    try:
        return object.__getstate__(value)
    except TypeError:  # a generator, a lock: it holds nothing that could be compared
        return None
