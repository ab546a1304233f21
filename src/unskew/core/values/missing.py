"""Values that stand for a missing value."""

from __future__ import annotations

import numpy as np

# How pandas calls the types of its missing times and values; it is not imported for this.
_OF_PANDAS = ("NaTType", "NAType")


def is_missing(value: object) -> bool:
    """Return whether a value stands for a missing one: None, nan, or pandas' own."""
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return is_missing_type(type(value))


def is_missing_type(kind: type) -> bool:
    """Return whether all values of a type stand for a missing one."""
    library = kind.__module__.partition(".")[0]
    return kind is type(None) or (library == "pandas" and kind.__name__ in _OF_PANDAS)
