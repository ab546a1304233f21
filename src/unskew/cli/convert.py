"""The command that writes examples in another format: convert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unskew.cli.options import TARGET, Json, Seed, Settings, Trust, option, read_settings
from unskew.cli.printing import echo, print_json
from unskew.cli.progress import progress


def convert(
    target: Annotated[str, typer.Argument(metavar="IN", help=f"{TARGET} A source needs -n.")],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="A .parquet, .jsonl or .csv file.")],
    form: Annotated[
        str | None,
        option(
            "Write another format: records is the JSONL of the original Karel dataset.",
            "--as",
            metavar="FORM",
        ),
    ] = None,
    n: Annotated[
        int | None,
        option("Number of examples to read.", "-n", default="all of a dataset or file"),
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Write examples to one Parquet, JSONL or CSV file, or in a format of other tools."""
    from unskew.datasets.convert import convert as run

    with progress(f"converting {target}", n) as advance:
        chosen = read_settings(settings)
        rows = run(
            target, output, form, n, seed=seed, settings=chosen, trust=trust, advance=advance
        )
    if as_json:
        print_json({"file": str(output), "rows": rows})
    else:
        echo(f"wrote {output} ({rows:,} examples)")
