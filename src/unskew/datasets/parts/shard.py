"""One shard of a recipe: its examples are drawn or derived, restricted and homogenized.

The names in the recipe were resolved before (``open_recipe``), so nothing here looks up a name.
The same recipe and index give the same examples anywhere, in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from unskew.balance.best.balancer import Balancer
from unskew.balance.best.goal import Balance
from unskew.balance.best.rule import Rule
from unskew.balance.homogenizer import Homogenizer
from unskew.balance.kept import Chooser, KeptBatches
from unskew.core.batch import Batch, concatenate
from unskew.core.errors import RowError, UnskewError
from unskew.core.recipe import Recipe
from unskew.core.rng import generator
from unskew.core.source import Source
from unskew.core.tally import Tally
from unskew.core.variables.combine import joint
from unskew.core.variables.variable import SalientVariable
from unskew.datasets.parts.pilots import recipe_balance
from unskew.datasets.parts.splits import Excluded, allowed, keys_in
from unskew.datasets.target import Target

DERIVED_AT_ONCE = 4096  # given examples that are made again at once
IN_VAIN = 1000  # draws in a row that left nothing
FEWEST = 256  # examples drawn at once to make up for what was left out


@dataclass(frozen=True)
class OpenRecipe:
    """A recipe with everything that it names."""

    recipe: Recipe
    source: Source
    variables: tuple[SalientVariable, ...]  # what is homogenized
    key: str  # the column whose content tells examples apart; empty: the whole row
    given: Target | None  # the examples that are made anew
    excluded: Mapping[str, Target]
    rule: Rule | None = None  # the frozen rule, of a recipe with a budget or a closeness

    def balanced(self) -> Balance:
        """Draw the pilot sample of a recipe with a goal, and fit its rule."""
        return recipe_balance(self.recipe, restricted(self), self.variables)

    def excluded_keys(self) -> Excluded:
        """Return the keys that the recipe leaves out, by the name of what they are in."""
        return {name: keys_in(target, self.key) for name, target in self.excluded.items()}


class DerivedBatches:
    """Makes a shard's given examples anew, and tallies what cannot be made."""

    def __init__(self, opened: OpenRecipe, given: Target, index: int) -> None:
        """Make nothing yet."""
        if opened.source.derive is None:
            name = opened.recipe.source
            raise UnskewError(f"{name} makes nothing of given examples; leave given out")
        self._derive = opened.source.derive
        self._opened, self._given, self._index = opened, given, index
        self.tally = Tally()

    def take(self, n: int) -> Iterator[Batch]:
        """Yield what is made of the ``n`` given examples of this shard."""
        recipe = self._opened.recipe
        rng = generator(recipe.seed, recipe.source, "draw", self._index)
        start = recipe.shard_at(self._index).index * recipe.shard_size
        rows = self._given.rows(start, start + n)
        excluded = self._opened.excluded_keys()
        for first in range(0, len(rows), DERIVED_AT_ONCE):
            try:
                batch, dropped = self._derive(rng, rows.slice(first, DERIVED_AT_ONCE))
            except RowError as error:
                raise error.at(self._given.where(start + first + error.row)) from error
            keep, why = allowed(batch, recipe, self._opened.key, "", excluded)
            batch = batch.filter(keep)
            self.tally += Tally(len(batch), len(batch), dropped + why)
            yield batch


def make_shard(
    opened: OpenRecipe, index: int, advance: Callable[[int], None] = lambda _: None
) -> tuple[Batch, Tally]:
    """Make one shard, and count what was drawn, dropped and kept for it."""
    rows, done = opened.recipe.shard_rows(index), 0
    batches = shard_batches(opened, index)
    taken = []
    for batch in batches.take(rows):
        taken.append(batch)
        done += len(batch)
        advance(len(batch))
    advance(rows - done)  # given examples that nothing was made from
    return concatenate(taken), batches.tally


def shard_batches(opened: OpenRecipe, index: int) -> KeptBatches | DerivedBatches:
    """Return the batches of a shard; ``take(rows)`` makes them."""
    if opened.given is not None:
        return DerivedBatches(opened, opened.given, index)
    recipe, split = opened.recipe, opened.recipe.shard_at(index)
    labels = (split.split, split.index) if recipe.splits else (index,)
    chooser: Chooser | None = None
    if opened.variables:
        rng = generator(recipe.seed, recipe.source, "accept", *labels)
        if recipe.has_goal:
            chooser = Balancer(opened.rule or opened.balanced().rule, rng)
        else:
            chooser = Homogenizer(joint(opened.variables), recipe.epsilon, rng)
    rng = generator(recipe.seed, recipe.source, "draw", *labels)
    return KeptBatches(restricted(opened, split.split), rng, chooser)


def restricted(opened: OpenRecipe, split: str = "") -> Source:
    """Return a source of only those examples that may be in a split of the recipe."""
    recipe, source = opened.recipe, opened.source
    if not recipe.splits and not recipe.exclude:
        return source
    excluded = cache(opened.excluded_keys)  # read when they are needed, and once

    def draw(rng: np.random.Generator, n: int) -> tuple[Batch, Counter[str]]:
        kept: list[Batch] = []
        dropped: Counter[str] = Counter()
        have, drawn, in_vain = 0, 0, 0
        while have < n:
            missing = n - have
            wanted = -(-missing * drawn // have) if have else n  # by the share left so far
            # Not too few: what a source draws may depend on the row, as where it takes lengths in
            # turn.
            asked = max(min(wanted, n), FEWEST) if drawn else n
            batch, reasons = source.draw(rng, asked)
            drawn += len(batch)
            dropped += reasons
            keep, why = allowed(batch, recipe, opened.key, split, excluded())
            if keep.sum() > missing:  # what comes after the last one needed is not counted
                batch = batch.head(int(np.flatnonzero(keep)[missing - 1]) + 1)
                keep, why = allowed(batch, recipe, opened.key, split, excluded())
            batch = batch.filter(keep)
            dropped += why
            have += len(batch)
            in_vain = 0 if len(batch) else in_vain + 1
            if in_vain == IN_VAIN:
                raise UnskewError(
                    f"nothing is left for split {split} of {recipe.source} after "
                    f"{drawn:,} draws; exclude less, or ask for fewer examples"
                )
            if len(batch):
                kept.append(batch)
        return concatenate(kept), dropped

    return replace(source, draw=draw)
