"""The command that writes examples in another form: convert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unskew.cli.data import Json, Seed, Settings, Trust, read_settings
from unskew.cli.printing import echo, print_json
from unskew.cli.progress import progress


def convert(
    target: Annotated[
        str,
        typer.Argument(
            metavar="IN", help="A dataset, a .parquet or .jsonl file, or with -n a source."
        ),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="A .parquet or .jsonl file.")],
    form: Annotated[
        str | None,
        typer.Option("--as", metavar="FORM", help="records: the original Karel dataset's JSONL."),
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", help="Examples to read.", show_default="all of what ends")
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Write examples as one Parquet or JSONL file, or in a form of others."""
    from unskew.converting import convert as run

    with progress(f"converting {target}", n) as advance:
        rows = run(
            target,
            output,
            form,
            n,
            seed=seed,
            settings=read_settings(settings),
            trust=trust,
            advance=advance,
        )
    if as_json:
        print_json({"file": str(output), "rows": rows})
    else:
        echo(f"wrote {output} ({rows:,} examples)")
