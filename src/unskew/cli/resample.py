"""The command that makes data of others more even: resample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unskew.cli.data import Json, Seed, Trust
from unskew.cli.printing import echo, print_json
from unskew.cli.progress import progress


def resample(
    target: Annotated[
        str, typer.Argument(metavar="DATA", help="A .parquet or .jsonl file, or a folder of them.")
    ],
    homogenize: Annotated[
        list[str],
        typer.Option(
            "--homogenize",
            metavar="VARIABLE",
            help="A column, my_module:my_function, or a variable of the domain; given twice or "
            "more, by all of them jointly.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .parquet or .jsonl file.")],
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            help="Examples.",
            show_default="as many as epsilon allows, or as DATA has if repeated",
        ),
    ] = None,
    epsilon: Annotated[
        float, typer.Option("--epsilon", help="Smaller is closer to uniform and leaves fewer.")
    ] = 0.025,
    replacement: Annotated[
        bool, typer.Option("--replacement", help="Repeat examples of rare values.")
    ] = False,
    seed: Seed = 0,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Choose examples of existing data such that a variable is closer to uniform."""
    from unskew.resampling import resample as run

    with progress(f"resampling {target}, which is read twice", None) as advance:
        made = run(
            target,
            output,
            homogenize,
            n,
            epsilon=epsilon,
            seed=seed,
            replacement=replacement,
            trust=trust or tuple(homogenize),
            advance=advance,
        )
    if as_json:
        print_json(made.to_dict())
        return
    repeated = f", {made.rows - made.distinct:,} of them repeats" if replacement else ""
    echo(f"wrote {output} ({made.rows:,} of {made.tally.drawn:,} examples{repeated})")
    echo(
        f"homogenized by {' × '.join(homogenize)} at epsilon {epsilon:g}; without repeats it "
        f"allows {made.possible:,}"
    )
