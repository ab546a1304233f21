"""Reads the columns of text that a domain needs."""

from __future__ import annotations

from typing import Any

from unskew.core.batch import Batch, is_text
from unskew.core.errors import UnskewError


def needed_text(batch: Batch, name: str, needs: str) -> Any:
    """Return a column of text. If there is none, the error says what the domain ``needs``."""
    if batch.is_plain:
        batch = Batch.from_arrow(batch.to_arrow())
    column = batch.columns.get(name)
    if column is None or not is_text(column):
        raise UnskewError(f"columns are {', '.join(batch.columns)}; {needs}")
    return column
