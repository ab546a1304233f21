"""The command that draws a few examples: show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.options import TARGET, Json, Seed, Settings, Trust, option, read_settings
from unskew.cli.printing import echo, print_json
from unskew.core.errors import UnskewError

if TYPE_CHECKING:
    from unskew.core.batch import Batch
    from unskew.datasets.target import Target


def show(
    target: Annotated[str, typer.Argument(help=TARGET)],
    n: Annotated[
        int | None, option("Number of examples.", "-n", default="5; 1 with --trace")
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    trace: Annotated[
        bool, option("Show each step, in a domain that has steps.", "--trace")
    ] = False,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Show a few examples, drawn as their domain draws them."""
    from unskew.core.errors import check_count
    from unskew.datasets.open import open_target

    if trace and as_json:
        raise UnskewError("--trace prints text and has no JSON; leave out --json")
    n = (1 if trace else 5) if n is None else n
    check_count("n", n, "show at least one example")
    opened = open_target(target, read_settings(settings), seed, trust)
    if trace and (opened.domain is None or opened.domain.views.trace is None):
        raise UnskewError(f"{opened.label} has no steps to trace; leave out --trace")
    data, row = [], -1
    for row, example in enumerate(e for part in _read(opened, n) for e in part.examples()):
        with _row(opened, row):
            data += _show_one(opened, example, trace, as_json)
    if row < 0:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to show")
    if as_json:
        print_json(data)


def _read(opened: Target, n: int) -> Iterator[Batch]:
    """Yield the batches of a target; what its code prints goes to stderr."""
    from unskew.core.usercode import stdout_to_stderr

    batches = opened.read(n)
    while True:
        with stdout_to_stderr():
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _show_one(opened: Target, example: Any, trace: bool, as_json: bool) -> list[Any]:
    """Print one example, or return its data if JSON is wanted."""
    from unskew.core.domain import example_data, example_text, example_trace

    if as_json:
        return [example_data(example, opened.domain)]
    if trace:
        for frame in example_trace(example, opened.domain):
            echo(frame + "\n")
    else:
        text = example_text(example, opened.domain)
        echo(text + ("\n" if "\n" in text else ""))
    return []


@contextmanager
def _row(opened: Target, row: int) -> Iterator[None]:
    """Add the file and the row to the message of an error."""
    try:
        yield
    except UnskewError as error:
        raise UnskewError(f"{opened.where(row)}: {error}") from error
