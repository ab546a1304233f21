"""The command that measures how skewed data is: audit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.engines import Address, EngineName, Workers, engine_of
from unskew.cli.options import TARGET, By, Json, Seed, Settings, Trust, read_settings
from unskew.cli.printing import draw, echo, print_json
from unskew.cli.progress import progress, with_rate

if TYPE_CHECKING:
    from unskew.audits.audit import Audit
    from unskew.datasets.engines.work import Engine


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
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Exit with 1 if this holds: 'answer.top > 0.3', 'duplicates.share > 0.01'. "
            "Measures are top, kl, tv, entropy, values, missing and share(VALUE). Repeatable.",
        ),
    ] = None,
    workers: Workers = None,
    engine: EngineName = "local",
    address: Address = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Show how far each salient variable is from uniform, and what repeats or is missing."""
    from unskew.audits.conditions import variables_of

    conditions = fail_if or []
    also = variables_of(conditions)  # fails here, before the work, if a condition cannot be read
    if report is not None:
        from unskew.audits.report import check_picture

        check_picture(report, page=True)
    allowed = trust or (target, *(by or ()))  # the data may name what the user typed
    crew = engine_of(engine, workers, address)
    checked = _audit(target, by, also, n, seed, read_settings(settings), allowed, crew)
    result: Any = checked
    if after is not None:
        checked = _audit(after, by, also, n, seed, {}, allowed, crew, checked)
        result = result.compare(checked)
        _ = result.variables  # fails here, before a report is written, if no variable is in both
    written = result.picture(report) if report is not None else None
    if as_json:
        print_json(result.to_dict())
    else:
        draw(result)
        if written is not None:
            echo(f"report: {written}")
    breaches = checked.breaches(*conditions)
    for breach in breaches:
        echo(breach, err=True)
    if breaches:
        raise typer.Exit(1)


def _audit(
    target: str,
    by: list[str] | None,
    also: list[str],
    n: int | None,
    seed: int,
    settings: dict[str, str],
    trust: bool | tuple[str, ...],
    engine: Engine | None,
    like: Audit | None = None,
) -> Audit:
    """Return the audit of one target, and show progress."""
    from unskew.datasets.api import audit as run
    from unskew.datasets.open import open_target
    from unskew.datasets.pace import DEFAULT_N

    opened = open_target(target, settings, seed, trust)
    total = DEFAULT_N if n is None and opened.endless else n
    with progress(f"auditing {target}", total) as advance:
        shown = with_rate(advance) if opened.endless else advance
        return run(opened, by or None, n, also=also, like=like, advance=shown, engine=engine)
