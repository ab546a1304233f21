"""The command that finds the variables in which data is skewed: discover."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unskew.cli.options import TARGET, Json, Seed, Settings, Trust, read_settings
from unskew.cli.printing import draw, echo, print_json
from unskew.cli.progress import progress, with_rate


def discover(
    target: Annotated[str, typer.Argument(metavar="DATA_OR_SOURCE", help=TARGET)],
    answer: Annotated[
        str | None,
        typer.Option(
            "--answer",
            metavar="COLUMN",
            help="The right answers: find what gives them away, and what a model scores that "
            "never reads the question.",
        ),
    ] = None,
    failures: Annotated[
        str | None,
        typer.Option(
            "--failures",
            metavar="COLUMN",
            help="Where a model fails (true or false, or 0 to 1): find where it fails more often.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="OTHER", help="Find what differs from this other data."),
    ] = None,
    top: Annotated[int, typer.Option("--top", help="The most findings of a kind.")] = 10,
    n: Annotated[
        int, typer.Option("-n", help="The most rows to measure; of more, as many at random.")
    ] = 100_000,
    seed: Seed = 0,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write a page (.html).")
    ] = None,
    settings: Settings = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Find the variables that matter, without naming any, and the commands that repair them."""
    from unskew.datasets.discover import discover as run
    from unskew.datasets.open import open_target

    if report is not None:
        from unskew.audits.report import check_page

        check_page(report)
    opened = open_target(target, read_settings(settings), seed, trust or (target,))
    with progress(f"searching {target}", n if opened.endless else None) as advance:
        result = run(
            opened,
            answer,
            failures,
            against,
            top,
            n=n,
            seed=seed,
            trust=trust or (target,),
            advance=with_rate(advance) if opened.endless else advance,
            tell=lambda what: advance(0, what),
        )
    written = result.picture(report) if report is not None else None
    if as_json:
        print_json(result.to_dict())
    else:
        draw(result)
        if written is not None:
            echo(f"report: {written}")
