"""The command that checks a dataset: verify."""

from __future__ import annotations

from typing import Annotated

import typer

from unskew.cli.options import Json, Trust, option
from unskew.cli.printing import echo, print_json
from unskew.cli.progress import progress


def verify(
    folder: Annotated[str, typer.Argument(help="A dataset that generate made.")],
    against: Annotated[
        list[str] | None,
        option("A dataset that must share no program with FOLDER. Repeatable.", metavar="DATASET"),
    ] = None,
    trust: Trust = False,
    as_json: Json = False,
) -> int:
    """Check a dataset: checksums, rows, repeats and leaks. Exits with 1 if it finds a fault."""
    from unskew.datasets.verify import verify as run
    from unskew.io.dataset import recipe_of

    with progress(f"verifying {folder}", recipe_of(folder).n) as advance:
        result = run(folder, against or (), trust=trust, advance=advance)
    if as_json:
        print_json(result.to_dict())
    else:
        again = f", {result.rechecked:,} of them again in a second, slow way"
        echo(
            f"{folder}: {result.rows:,} rows, {result.repeated_rows:,} repeated, "
            f"{result.repeated_keys:,} repeated keys, {result.checked:,} checked"
            f"{again if result.rechecked else ''}"
        )
        for reason in result.skipped:
            echo(f"not looked at: {reason}")
        for fault in result.faults:
            echo(f"fault: {fault}")
        if not result.faults:
            echo("no fault found" + (" in what was looked at" if result.skipped else ""))
    return 1 if result.faults else 0
