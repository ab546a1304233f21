"""Pilot samples: the rule by which a recipe with a budget keeps examples is fitted to one.

The pilot is drawn once for a dataset or a stream, and the rule is written down. So all parts, all
workers and all machines keep examples by the same rule.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unskew.balance.best.goal import Balance, Goal, balance
from unskew.balance.best.rule import Pilot, Rule, pilot_of
from unskew.balance.histogram import too_sparse
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError, check_whole, warn_user
from unskew.core.recipe import Recipe
from unskew.core.rng import generator
from unskew.core.source import Source
from unskew.core.values.json_text import hashable, parse_json
from unskew.core.variables.combine import joint
from unskew.core.variables.variable import SalientVariable
from unskew.datasets.pace import duration
from unskew.datasets.parts.part import NOTES
from unskew.io.files import create_text
from unskew.io.location import Place, inside

RULE = f"{NOTES}/balance.json"  # in the folder of a dataset
_ANEW = "choose a new folder"
FIRST = 4_096  # draws by which the size of a pilot is worked out
LARGEST = 1 << 19  # draws
LARGEST_OWN = 1 << 14  # draws of a user's own source, which may be slow
OFTEN_KEPT = 0.9  # a value whose draws are kept more often than this need not be known well
SILENT = 10.0  # seconds; a pilot that takes longer says so
ERROR = 0.05  # relative standard error wanted of the rarest share that matters


def goal_of(recipe: Recipe) -> Goal:
    """Return what a recipe wants to reach."""
    targets = {
        name: target if isinstance(target, str) else {hashable(v): share for v, share in target}
        for name, target in recipe.target.items()
    }
    return Goal(recipe.budget or None, recipe.closeness or None, targets)


def warn(messages: Sequence[str]) -> None:
    """Show what stands in the way of the targets."""
    for message in messages:
        warn_user(message)


def balanced_variables(
    variables: Sequence[SalientVariable], jointly: bool
) -> tuple[SalientVariable, ...]:
    """Return the variables that get a table each: one for all if they count jointly."""
    return (joint(variables),) if jointly else tuple(variables)


def fitted(
    source: Source,
    variables: Sequence[SalientVariable],
    goal: Goal,
    rng: np.random.Generator,
    draws: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> Balance:
    """Draw a pilot sample, and fit the rule to it.

    Without a number of draws, a first look says how many are needed: the share of a value that is
    often dropped must be known to 5 %. Other values need not be known so well. A warning comes
    early if drawing takes long by this ``clock``.
    """
    if draws:
        check_whole("pilot", draws, 2, "give more examples, or 0 to have the number worked out")
    size = draws or FIRST
    batches = list(_told(source, _drawn(source, rng, size), size, clock))
    first = _fit(variables, batches, goal)
    most = LARGEST_OWN if source.is_own else LARGEST
    wanted = min(most, _wanted(first))
    if draws or wanted <= FIRST:
        return first
    size = wanted - FIRST
    batches += _told(source, _drawn(source, rng, size), size, clock)
    return _fit(variables, batches, goal)


def _fit(variables: Sequence[SalientVariable], batches: Sequence[Batch], goal: Goal) -> Balance:
    """Fit the rule to a sample; warn if it balances combinations that are too sparse."""
    sample = _pilot(variables, batches, goal)
    fit = balance(sample, goal)
    sparse: list[str] = []
    for codebook, shares in zip(sample.codebooks, fit.shares, strict=True):
        if codebook.variable.parts:
            counts = np.rint(shares * fit.pilot).astype(np.int64)
            sparse += too_sparse(codebook.variable.name, counts)
    return replace(fit, warnings=(*fit.warnings, *sparse))


def _pilot(variables: Sequence[SalientVariable], batches: Sequence[Batch], goal: Goal) -> Pilot:
    """Return the sample. It also knows the values that the targets name and no example has."""
    sample = pilot_of(variables, batches)
    for codebook in sample.codebooks:
        target = goal.targets.get(codebook.variable.name)
        if isinstance(target, Mapping):
            codebook.learn(value for value, share in target.items() if share)
    return sample


def recipe_balance(recipe: Recipe, source: Source, variables: Sequence[SalientVariable]) -> Balance:
    """Fit the rule of a recipe; the pilot has random numbers of its own."""
    rng = generator(recipe.seed, recipe.source, "pilot")
    chosen = balanced_variables(variables, recipe.jointly)
    return fitted(source, chosen, goal_of(recipe), rng, recipe.pilot)


def frozen_rule(folder: Place, recipe: Recipe, variables: Sequence[SalientVariable]) -> Rule | None:
    """Return the rule that the dataset in a folder was begun with; None if there is none."""
    try:
        text = inside(folder, RULE).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    try:
        data = parse_json(text)
    except ValueError as error:
        raise UnskewError(f"{folder / RULE} cannot be read ({error}); {_ANEW}") from error
    if not isinstance(data, dict) or data.get("recipe") != recipe.hash:
        raise UnskewError(f"{folder / RULE} is of another recipe; {_ANEW}")
    return Rule.from_dict(balanced_variables(variables, recipe.jointly), data)


def freeze(folder: Place, recipe: Recipe, balance: Balance) -> None:
    """Write the rule of a dataset, unless another run has just done so."""
    data = {"recipe": recipe.hash, **balance.to_dict()}
    create_text(folder / RULE, json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def frozen_facts(folder: Place) -> dict[str, Any]:
    """Return what the file of the rule says; nothing if there is none."""
    try:
        data = parse_json((folder / RULE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _drawn(source: Source, rng: np.random.Generator, n: int) -> Iterator[Batch]:
    left, sampler = n, source.sampler
    while left > 0:
        if sampler is not None:  # it may be slow
            batch, _ = sampler.some(rng, left, n - left)
        else:
            batch, _ = source.draw(rng, min(left, source.chunk))
        left -= len(batch)
        yield batch


def _told(
    source: Source, batches: Iterator[Batch], n: int, clock: Callable[[], float]
) -> Iterator[Batch]:
    """Pass on ``n`` examples of a pilot; warn after the first ones if all will take long."""
    begin, done, is_told = clock(), 0, source.sampler is None
    for batch in batches:
        yield batch
        done += len(batch)
        seconds = clock() - begin
        if not is_told and seconds * n > SILENT * done:
            is_told = True
            warn_user(
                f"{n:,} examples of sampler {source.name!r} are drawn first, to fit the rule: "
                f"they come at {done / seconds:.3g} a second, and all take "
                f"{duration(n * seconds / done)}; in Python, give pilot for fewer (pilot=1_000), "
                "and cache to keep them"
            )


def _wanted(first: Balance) -> int:
    """Return how many draws tell the rarest share that matters up to the wanted error."""
    rarest = 1.0
    for shares, reached in zip(first.shares, first.reached, strict=True):
        dropped = (shares > 0) & (reached < OFTEN_KEPT * first.draws * shares)
        rarest = min([rarest, *shares[dropped].tolist()])
    return math.ceil(1 / (rarest * ERROR**2))
