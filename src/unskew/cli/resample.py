"""The command that balances an existing dataset: resample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unskew.cli.engines import Address, EngineName, Workers, engine_of
from unskew.cli.options import Json, Seed, Trust
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
            help="A column, my_module:my_function, or a variable of the domain. Repeat it to "
            "homogenize by several variables jointly.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .parquet or .jsonl file.")],
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            help="Number of examples to keep.",
            show_default="as many as epsilon allows; with --replacement, as many as DATA has",
        ),
    ] = None,
    epsilon: Annotated[
        float,
        typer.Option("--epsilon", help="A smaller value gets closer to uniform and keeps fewer."),
    ] = 0.025,
    replacement: Annotated[
        bool, typer.Option("--replacement", help="Allow repeats of examples with rare values.")
    ] = False,
    seed: Seed = 0,
    workers: Workers = None,
    engine: EngineName = "local",
    address: Address = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Choose examples from existing data so that a variable gets closer to uniform."""
    from unskew.datasets.resampling.resample import resample as run

    crew = engine_of(engine, workers, address)
    with progress(f"resampling {target}, which is read twice", None) as advance:
        result = run(
            target,
            homogenize,
            n,
            path=output,
            epsilon=epsilon,
            seed=seed,
            replacement=replacement,
            trust=trust or tuple(homogenize),
            advance=advance,
            engine=crew,
        )
    if as_json:
        print_json(result.to_dict())
        return
    repeated = f", {result.rows - result.distinct:,} of them repeats" if replacement else ""
    echo(f"wrote {output} ({result.rows:,} of {result.tally.drawn:,} examples{repeated})")
    echo(
        f"homogenized by {' × '.join(homogenize)} at epsilon {epsilon:g}; without repeats it "
        f"allows {result.possible:,}"
    )
