"""The histograms of a report as a table of pandas or of Polars, whichever the user has."""

from __future__ import annotations

from collections.abc import Hashable
from importlib import import_module
from typing import Any

from unskew.audits.records import Report
from unskew.core.errors import UnskewError

_INT64 = 1 << 63


def pandas_frame(report: Report) -> Any:
    """Return a pandas DataFrame; each value in it is the one that was measured."""
    pandas = _library("pandas")
    columns = _columns(report)
    columns["value"] = pandas.Series(columns["value"], dtype=object)
    return pandas.DataFrame(columns)


def polars_frame(report: Report) -> Any:
    """Return a Polars DataFrame; values of several kinds, which no column holds, are texts."""
    polars = _library("polars")
    columns = _columns(report)
    if not _one_kind(columns["value"]):
        columns["value"] = [None if value is None else str(value) for value in columns["value"]]
    return polars.DataFrame(columns)


def _one_kind(values: list[Hashable]) -> bool:
    """Return whether a typed column holds the values."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int}:
        return all(isinstance(v, int) and -_INT64 <= v < _INT64 for v in values if v is not None)
    return len(kinds) == 1 and kinds <= {bool, float, str}


def _columns(report: Report) -> dict[str, Any]:
    """Return the columns: of two sides, the first column says which."""
    rows: list[tuple[str, str, Hashable, int, float]] = [
        (side, name, value, count, count / variable.n)
        for name, variables in report.variables.items()
        for side, variable in zip(report.sides, variables, strict=True)
        for value, count in variable.counts.items()
    ]
    names = ("side", "variable", "value", "count", "share")
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    if len(report.sides) == 1:
        del columns["side"]
    return columns


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise UnskewError(
            f"{name} cannot be imported ({error}); install it with: pip install {name}"
        ) from error
