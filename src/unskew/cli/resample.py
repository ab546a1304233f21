"""The command that balances an existing dataset: resample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unskew.cli.engines import Address, EngineName, Workers, engine_of
from unskew.cli.options import Closeness, Jointly, Json, Like, Seed, Targets, Trust, read_targets
from unskew.cli.printing import echo, print_json
from unskew.cli.progress import progress


def resample(
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="A file, folder or pattern of data, or a dataset."),
    ],
    homogenize: Annotated[
        list[str],
        typer.Option(
            "--homogenize",
            metavar="VARIABLE",
            help="A column, my_module:my_function, or a variable of the domain. Repeatable. With "
            "--epsilon several variables count jointly; with --budget each of them gets closer to "
            "its target.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A .parquet, .jsonl or .csv file.")
    ],
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            help="Number of examples to keep.",
            show_default="as many as can be without repeats; with repeats, as many as DATA has",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon",
            help="A smaller value gets closer to uniform and keeps fewer.",
            show_default="0.025",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            metavar="ROWS",
            help="Keep one row in so many, as close to the targets as can be.",
        ),
    ] = None,
    closeness: Closeness = None,
    shares: Targets = None,
    like: Like = None,
    jointly: Jointly = False,
    repeats: Annotated[
        int | None, typer.Option("--repeats", help="How often an example may be taken.")
    ] = None,
    replacement: Annotated[
        bool, typer.Option("--replacement", help="Allow any number of repeats of examples.")
    ] = False,
    seed: Seed = 0,
    workers: Workers = None,
    engine: EngineName = "local",
    address: Address = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Choose examples from existing data so that variables get closer to uniform or a target."""
    from unskew.core.values.json_text import hashable
    from unskew.datasets.resampling.resample import resample as run

    crew = engine_of(engine, workers, address)
    targets = {
        name: target if isinstance(target, str) else {hashable(v): share for v, share in target}
        for name, target in read_targets(shares, homogenize).items()
    }
    with progress(f"resampling {data}, which is read twice", None) as advance:
        result = run(
            data,
            homogenize,
            n,
            path=output,
            epsilon=epsilon,
            budget=budget,
            closeness=closeness,
            target=targets or None,
            like=like,
            jointly=jointly,
            repeats=repeats,
            seed=seed,
            replacement=replacement,
            trust=trust or tuple(homogenize),
            advance=advance,
            engine=crew,
        )
    if as_json:
        print_json(result.to_dict())
        return
    copies = result.rows - result.distinct
    repeated = f", {copies:,} of them repeats" if replacement or repeats else ""
    echo(f"wrote {output} ({result.rows:,} of {result.tally.drawn:,} examples{repeated})")
    if not result.balance:
        echo(
            f"homogenized by {' × '.join(homogenize)} at epsilon "
            f"{0.025 if epsilon is None else epsilon:g}; without repeats it allows "
            f"{result.possible:,}"
        )
        return
    echo(
        f"balanced by {(' × ' if jointly else ', ').join(homogenize)}: without repeats this allows "
        f"{result.possible:,}"
    )
    for name, (before, after) in result.balance["total_variation"].items():
        echo(f"  {name}: total variation from the target {before:.3f} → {after:.3f}")
