"""Commands that make datasets and look them over: generate, verify."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.data import Exclude, Homogenize, Json, Settings, Trust, read_settings
from unskew.cli.printing import echo, print_json
from unskew.cli.progress import progress
from unskew.errors import UnskewError, check_count

if TYPE_CHECKING:
    from unskew.dataset import Dataset
    from unskew.engines import Engine
    from unskew.recipe import Recipe


def generate(
    source: Annotated[
        str,
        typer.Argument(help="A source, a named recipe, module:function, or a recipe's .json."),
    ],
    output: Annotated[
        str, typer.Option("-o", "--output", help="Folder of the dataset, or s3://bucket/prefix.")
    ],
    n: Annotated[
        int | None, typer.Option("-n", help="Examples to keep.", show_default="10,000")
    ] = None,
    homogenize: Homogenize = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon", help="Smaller is closer to uniform and dearer.", show_default="0.025"
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed.", show_default="0")] = None,
    settings: Settings = None,
    shard_size: Annotated[
        int | None,
        typer.Option(
            "--shard-size", help="Examples a part, homogenized on its own.", show_default="65,536"
        ),
    ] = None,
    splits: Annotated[
        list[str] | None,
        typer.Option(
            "--split",
            metavar="NAME=N",
            help="A split and its examples; repeatable. No program is in two of them.",
        ),
    ] = None,
    exclude: Exclude = None,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Leave out programs that came before.")
    ] = False,
    start_from: Annotated[
        str | None,
        typer.Option(
            "--given",
            metavar="DATASET",
            help="Make these examples anew: the same programs, new worlds.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Processes.", show_default="as many as there are cores"),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="local, or ray: parts are made on a Ray cluster.")
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option("--address", help="Of the Ray cluster.", show_default="this machine"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a recipe: draw, homogenize, and write a dataset of Parquet parts."""
    from unskew.generation import generate as run

    given: dict[str, Any] = {
        "n": n,
        "homogenize": tuple(homogenize) if homogenize else None,
        "epsilon": epsilon,
        "seed": seed,
        "shard_size": shard_size,
        "given": start_from,
        "splits": _splits(splits),
        "exclude": tuple(exclude) if exclude else None,
        "distinct": distinct or None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    recipe = _recipe(source, given, read_settings(settings))
    if epsilon is not None and not recipe.homogenize:
        raise UnskewError(
            f"--epsilon is {epsilon:g}, but nothing is homogenized; name a variable: --homogenize, "
            "or leave --epsilon out"
        )
    chosen = _engine(engine, workers, address, recipe.shards)
    with progress(f"generating {recipe.source}", recipe.n) as advance:
        dataset = run(recipe, output, advance, engine=chosen)
    if as_json:
        print_json({"folder": output, "rows": len(dataset), "tally": dataset.tally.to_dict()})
        return
    _print_generated(recipe, dataset, output)


def _recipe(source: str, given: dict[str, Any], settings: dict[str, str]) -> Recipe:
    """Return the recipe that a command asks for: one from a file, one by name, or a new one."""
    from dataclasses import replace

    from unskew.given import given_size
    from unskew.names import find_recipe, find_source
    from unskew.recipe import Recipe
    from unskew.store import place

    if source.endswith(".json"):
        if given or settings:
            raise UnskewError(
                f"{source} is a recipe and says it all; change it there, not by "
                f"{', '.join([*given, *(['set'] if settings else [])])}"
            )
        return Recipe.read(place(source))
    if "n" not in given and "splits" in given:
        given["n"] = sum(given["splits"].values())
    named = find_recipe(source)
    if named is not None:
        parameters = {**named.parameters, **settings}
        chosen = find_source(named.source, parameters).parameters
        parameters = {name: chosen[name] for name in parameters}
        return replace(named, parameters=parameters, **given)
    chosen = find_source(source, settings).parameters
    if "n" not in given:
        given["n"] = given_size(given["given"]) if "given" in given else 10_000
    return Recipe(source, parameters=dict(chosen), **given)


def _print_generated(recipe: Recipe, dataset: Dataset, output: str) -> None:
    from unskew.keys import not_wanted
    from unskew.report.words import dropped_details
    from unskew.tally import DETAIL
    from unskew.theory import cost_bound

    tally, rows, parts = dataset.tally, len(dataset), len(dataset.parts)
    echo(f"dataset: {output} ({rows:,} examples in {parts} part(s))")
    if recipe.homogenize:
        bound = cost_bound(recipe.epsilon)
        echo(
            f"homogenized by {' × '.join(recipe.homogenize)} at epsilon {recipe.epsilon:g}: "
            f"{tally.cost:.2f} draws per kept example (at most {bound:g} expected)"
        )
    valid = not_wanted(recipe)
    for reason, count in sorted(tally.dropped.items()):
        if DETAIL not in reason and reason not in valid:
            echo(f"dropped by the source: {count:,} ({reason})")
    for line in dropped_details(tally.dropped):
        echo(f"  {line}")
    for reason in sorted(valid & set(tally.dropped)):
        echo(f"valid, but left out: {tally.dropped[reason]:,} ({reason})")


def _engine(name: str, workers: int | None, address: str | None, shards: int) -> Engine | None:
    """Return who makes the parts; None where this process does."""
    from unskew.engines import processes, ray_cluster

    if name not in ("local", "ray"):
        raise UnskewError(f"--engine is {name!r}; give local or ray")
    if name == "ray":
        if workers is not None:
            raise UnskewError("--workers is for --engine local; Ray uses what its cluster has")
        return ray_cluster(address)
    if address is not None:
        raise UnskewError("--address is that of a Ray cluster; add --engine ray")
    if workers is not None:
        check_count("workers", workers, "use at least one")
    crew = min(workers or os.cpu_count() or 1, shards)
    return processes(crew) if crew > 1 else None


def _splits(given: list[str] | None) -> dict[str, int] | None:
    """Read ``--split name=number`` options."""
    if not given:
        return None
    found: dict[str, int] = {}
    for split in given:
        name, _, number = split.partition("=")
        if not (name and number.isdecimal()) or name in found:
            raise UnskewError(f"--split is {split!r}; write each once as name=number: train=1000")
        found[name] = int(number)
    return found


def verify(
    folder: Annotated[str, typer.Argument(help="A dataset that generate made.")],
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against", metavar="DATASET", help="It must share no program with it; repeatable."
        ),
    ] = None,
    trust: Trust = False,
    as_json: Json = False,
) -> int:
    """Check a dataset: checksums, rows, repeats and leaks. Exit code 1 where a fault was found."""
    from unskew.dataset import recipe_of
    from unskew.verifying import verify as run

    with progress(f"verifying {folder}", recipe_of(folder).n) as advance:
        found = run(folder, against or (), trust=trust, advance=advance)
    if as_json:
        print_json(found.to_dict())
    else:
        again = f", {found.rechecked:,} of them again in a second, slow way"
        echo(
            f"{folder}: {found.rows:,} rows, {found.repeated_rows:,} repeated, "
            f"{found.repeated_keys:,} repeated keys, {found.checked:,} checked"
            f"{again if found.rechecked else ''}"
        )
        for reason in found.skipped:
            echo(f"not looked at: {reason}")
        for fault in found.faults:
            echo(f"fault: {fault}")
        if not found.faults:
            echo("no fault found")
    return 1 if found.faults else 0
