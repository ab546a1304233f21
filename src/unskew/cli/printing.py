"""All printing of the command line. Printed text cannot control the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from unskew.core.values.json_text import json_text
from unskew.core.visible import Visible, visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def echo(text: str, *, err: bool = False) -> None:
    """Print a text, with its control characters escaped."""
    typer.echo(visible(text), err=err)


def print_json(data: Any) -> None:
    """Print JSON for other programs."""
    typer.echo(visible_json(json_text(data, indent=2)))


def terminal() -> Console:
    """Return the terminal for drawings; it does not read texts as markup."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def draw(drawing: RenderableType) -> None:
    """Print a table, or another drawing of rich."""
    terminal().print(Visible(drawing))
