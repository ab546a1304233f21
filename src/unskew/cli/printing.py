"""The only place where the command line prints; what it prints cannot steer the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from unskew.jsontext import json_text
from unskew.visible import Visible, visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def echo(text: str, *, err: bool = False) -> None:
    """Print a text, its control characters written out."""
    typer.echo(visible(text), err=err)


def print_json(data: Any) -> None:
    """Print JSON for other programs."""
    typer.echo(visible_json(json_text(data, indent=2)))


def terminal() -> Console:
    """Return the terminal that drawings are printed on; texts are no markup."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def draw(drawing: RenderableType) -> None:
    """Print a table or another drawing of rich."""
    terminal().print(Visible(drawing))
