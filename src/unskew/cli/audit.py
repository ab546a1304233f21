"""The command that measures how skewed data is: audit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.options import TARGET, By, Json, Seed, Settings, Trust, read_settings
from unskew.cli.printing import draw, echo, print_json
from unskew.cli.progress import progress, with_rate

if TYPE_CHECKING:
    from unskew.audits.audit import Audit


def audit(
    target: Annotated[
        str,
        typer.Argument(help=TARGET),
    ],
    by: By = None,
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            help="Number of examples to read.",
            show_default="100,000 of a source, all of a file",
        ),
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    after: Annotated[
        str | None,
        typer.Option("--after", metavar="DATASET", help="Compare TARGET with this repaired data."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", help="Write a page (.html) or a picture (.png, .svg)."
        ),
    ] = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Show how far each salient variable is from uniform, and what repeats or is missing."""
    if report is not None:
        from unskew.audits.report import check_picture

        check_picture(report, page=True)
    allowed = trust or (target, *(by or ()))  # the data may name what the user typed
    result: Any = _audit(target, by, n, seed, read_settings(settings), allowed)
    if after is not None:
        result = result.compare(_audit(after, by, n, seed, {}, allowed, result))
        _ = result.variables  # fails here, before a report is written, if no variable is in both
    written = result.picture(report) if report is not None else None
    if as_json:
        print_json(result.to_dict())
    else:
        draw(result)
        if written is not None:
            echo(f"report: {written}")


def _audit(
    target: str,
    by: list[str] | None,
    n: int | None,
    seed: int,
    settings: dict[str, str],
    trust: bool | tuple[str, ...],
    like: Audit | None = None,
) -> Audit:
    """Return the audit of one target, and show progress."""
    from unskew.datasets.api import audit as run
    from unskew.datasets.pace import DEFAULT_N
    from unskew.datasets.target import open_target

    opened = open_target(target, settings, seed, trust)
    total = DEFAULT_N if n is None and opened.endless else n
    with progress(f"auditing {target}", total) as advance:
        shown = with_rate(advance) if opened.endless else advance
        return run(opened, by or None, n, like=like, advance=shown)
