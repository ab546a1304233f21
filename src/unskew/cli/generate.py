"""The command that runs a recipe: generate."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.engines import Address, engine_of
from unskew.cli.options import (
    Budget,
    Closeness,
    Exclude,
    Homogenize,
    Jointly,
    Json,
    Like,
    Settings,
    Targets,
    option,
    read_settings,
    read_splits,
    read_targets,
)
from unskew.cli.printing import echo, print_json
from unskew.cli.progress import progress
from unskew.core.errors import UnskewError

if TYPE_CHECKING:
    from unskew.core.recipe import Recipe
    from unskew.io.dataset import Dataset


def generate(
    source: Annotated[
        str,
        typer.Argument(
            help="A source, a named recipe, module:function, or the .json file of a recipe."
        ),
    ],
    output: Annotated[
        str, option("Folder for the dataset, or s3://bucket/prefix.", "-o", "--output")
    ],
    n: Annotated[int | None, option("Number of examples to keep.", "-n", default="10,000")] = None,
    homogenize: Homogenize = None,
    epsilon: Annotated[
        float | None,
        option("A smaller value gets closer to uniform and costs more draws.", default="0.025"),
    ] = None,
    budget: Budget = None,
    closeness: Closeness = None,
    target: Targets = None,
    like: Like = None,
    jointly: Jointly = False,
    seed: Annotated[int | None, option("The same seed gives the same bytes.", default="0")] = None,
    settings: Settings = None,
    shard_size: Annotated[
        int | None,
        option(
            "Examples in each part. With --epsilon, every part is homogenized on its own.",
            default="65,536",
        ),
    ] = None,
    splits: Annotated[
        list[str] | None,
        option(
            "A split and its number of examples. Repeatable. No program is in two splits.",
            "--split",
            metavar="NAME=N",
        ),
    ] = None,
    exclude: Exclude = None,
    distinct: Annotated[bool, option("Keep each program only once.", "--distinct")] = False,
    given: Annotated[
        str | None,
        option(
            "Keep the programs of this dataset and draw new worlds for them.", metavar="DATASET"
        ),
    ] = None,
    workers: Annotated[
        int | None, option("Number of processes.", default="one for each core")
    ] = None,
    engine: Annotated[str, option("local, or ray to make the parts on a Ray cluster.")] = "local",
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Run a recipe: draw, homogenize, and write a dataset of Parquet parts."""
    from unskew.core.recipe import check_price
    from unskew.datasets.generate import generate as run

    check_price(budget, closeness)
    fields: dict[str, Any] = {
        "n": n,
        "homogenize": tuple(homogenize) if homogenize else None,
        "epsilon": epsilon,
        "seed": seed,
        "shard_size": shard_size,
        "given": given,
        "splits": read_splits(splits),
        "exclude": tuple(exclude) if exclude else None,
        "distinct": distinct or None,
        "budget": budget,
        "closeness": closeness,
        "target": read_targets(target, homogenize) or None,
        "jointly": jointly or None,
    }
    chosen = {name: value for name, value in fields.items() if value is not None}
    recipe = _recipe(source, chosen, read_settings(settings))
    if like is not None:
        recipe = _like(recipe, like)
    if epsilon is not None and not recipe.homogenize:
        raise UnskewError(
            f"--epsilon is {epsilon:g}, but nothing is homogenized; name a variable: --homogenize, "
            "or leave out --epsilon"
        )
    if epsilon is not None and recipe.has_goal:
        raise UnskewError(
            f"--epsilon is {epsilon:g}, but a budget or a closeness decides what is kept; leave "
            "out one of them"
        )
    crew = engine_of(engine, workers, address, os.cpu_count() or 1, recipe.shards)
    with progress(f"generating {recipe.source}", recipe.n) as advance:
        dataset = run(recipe, output, advance, engine=crew)
    if as_json:
        print_json({"folder": output, "rows": len(dataset), "tally": dataset.tally.to_dict()})
        return
    _print_generated(recipe, dataset, output)


def _recipe(source: str, given: dict[str, Any], settings: dict[str, str]) -> Recipe:
    """Return a recipe: read from a file, found by its name, or made from the options."""
    from dataclasses import replace

    from unskew.core.recipe import Recipe
    from unskew.datasets.open import named_recipe, open_input
    from unskew.io.location import place
    from unskew.io.lookup import find_source

    if source.endswith(".json"):
        if given or settings:
            raise UnskewError(
                f"{source} is a recipe and has all settings; change the file, and leave out "
                f"{', '.join([*given, *(['set'] if settings else [])])}"
            )
        return Recipe.read(place(source))
    if "n" not in given and "splits" in given:
        given["n"] = sum(given["splits"].values())
    named = named_recipe(source, settings)
    if named is not None:
        return replace(named, **given)
    if Path(source).exists() and ":" not in source:
        raise UnskewError(
            f"{source} is data, and generate makes new examples; choose from the data with "
            f"unskew resample {source}"
        )
    chosen = find_source(source, settings).parameters
    if "n" not in given:
        given["n"] = open_input(given["given"]).size() if "given" in given else 10_000
    return Recipe(source, parameters=dict(chosen), **given)


def _like(recipe: Recipe, like: str) -> Recipe:
    """Return the recipe with the shares of other data as its targets."""
    from dataclasses import replace

    from unskew.datasets.parts.pilots import balanced_variables
    from unskew.datasets.shapes import shapes_of
    from unskew.io.lookup import recipe_variables

    if recipe.target:
        raise UnskewError(f"there is --target and --like {like}; give one of them")
    if not recipe.homogenize or not recipe.has_goal:
        raise UnskewError(
            f"--like is {like}, without a price; give --homogenize, and --budget or --closeness"
        )
    variables = balanced_variables(recipe_variables(recipe), recipe.jointly)
    return replace(recipe, target=shapes_of(variables, None, like))


def _print_generated(recipe: Recipe, dataset: Dataset, output: str) -> None:
    """Print what was made, what it cost, and what was dropped."""
    from unskew.audits.report.words import dropped_details, some
    from unskew.balance.theory import cost_bound
    from unskew.core.tally import by_kind
    from unskew.datasets.parts.splits import not_wanted

    tally, rows, parts = dataset.tally, len(dataset), len(dataset.parts)
    echo(f"dataset: {output} ({rows:,} examples in {some(parts, 'part')})")
    if recipe.homogenize:
        most = "" if recipe.has_goal else f" (at most {cost_bound(recipe.epsilon):g} expected)"
        echo(
            f"homogenized by {recipe.balanced} {recipe.price.replace('ε =', 'epsilon')}: "
            f"{tally.cost:.2f} draws per kept example{most}"
        )
        for name, (before, after) in dataset.apart.items():
            echo(f"  {name}: total variation from the target {before:.3f} → {after:.3f} expected")
    valid = not_wanted(recipe)
    for reason, count in sorted(by_kind(tally.dropped).items()):
        if reason not in valid:
            echo(f"dropped by the source: {count:,} ({reason})")
    for line in dropped_details(tally.dropped):
        echo(f"  {line}")
    for reason in sorted(valid & set(tally.dropped)):
        echo(f"valid, but left out: {tally.dropped[reason]:,} ({reason})")
