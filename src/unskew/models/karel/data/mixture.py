"""Several endless streams of Karel tasks as one: of each so many of all that is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.core.errors import UnskewError, check_count
from unskew.core.recipe import Recipe
from unskew.core.rng import generator
from unskew.models.karel.data.feed import Feed, Place
from unskew.models.karel.data.feeder import Arrays
from unskew.models.runs import as_before


@dataclass(frozen=True)
class Mixture:
    """Recipes that are streamed, and of so many tasks how many are of each."""

    recipes: tuple[Recipe, ...]
    shares: tuple[int, ...] = ()  # left out, as many of each
    pilot: int | None = None  # examples that decide what homogenizing keeps; as streams have it

    def __post_init__(self) -> None:
        """Refuse what cannot be mixed."""
        if not self.recipes:
            raise UnskewError("a mixture of no streams has no tasks; give at least one recipe")
        if not self.shares:
            object.__setattr__(self, "shares", (1,) * len(self.recipes))
        if len(self.shares) != len(self.recipes):
            raise UnskewError(
                f"{len(self.shares)} shares for {len(self.recipes)} streams; give one for each"
            )
        for share in self.shares:
            check_count("share", share)
        if self.pilot is not None:
            check_count("pilot", self.pilot)
        if len({(recipe.source, recipe.seed) for recipe in self.recipes}) < len(self.recipes):
            raise UnskewError(
                "streams of one source and seed have examples in common; give each its own seed"
            )

    @classmethod
    def of(
        cls, recipes: Sequence[Recipe], shares: Sequence[int] = (), pilot: int | None = None
    ) -> Mixture:
        """Mix recipes that may be of one source and seed: each gets draws of its own."""
        apart = [
            replace(recipe, seed=int(generator(recipe.seed, "mixture", i).integers(2**31)))
            for i, recipe in enumerate(recipes)
        ]
        return cls((*recipes[:1], *apart[1:]), tuple(shares), pilot)

    def rows(self, n: int, number: int = 0) -> list[int]:
        """Return how many of n tasks are of each recipe, in the chunk of this number.

        What the shares leave over in one chunk comes in a later one; the largest has the rest.
        """
        whole = sum(self.shares)
        rows = [n * share // whole for share in self.shares]
        for i, share in enumerate(self.shares):
            left = n * share % whole
            rows[i] += (number + 1) * left // whole - number * left // whole
        largest = self.shares.index(max(self.shares))
        rows[largest] += n - sum(rows)
        if rows[largest] < 0:
            raise UnskewError(f"{n} tasks cannot be mixed of {len(rows)} streams; raise --batch")
        return rows

    def facts(self) -> dict[str, Any]:
        """Name the streams, as the settings of a run have them."""
        pilot = {} if self.pilot is None else {"pilot": self.pilot}
        if len(self.recipes) == 1:
            return {"stream": self.recipes[0].hash, **pilot}
        hashes = [recipe.hash for recipe in self.recipes]
        return {"streams": hashes, "shares": list(self.shares), **pilot}

    def settings(self) -> dict[str, Any]:
        """Return all that its tasks depend on, as what names a training has it."""
        return as_before(self, "pilot")


class Feeds:
    """The tasks of a mixture, for ever; ``take`` returns the next so many.

    Each stream has processes of its own, as many as there would be for one alone: those that
    are ahead sleep, so what is dear to make gets most of the machine.
    """

    def __init__(
        self,
        mixture: Mixture,
        workers: int,
        places: Sequence[Place] | None = None,
        *,
        number: int = 0,
        rank: int = 0,
        stride: int = 1,
    ) -> None:
        """Start the processes, before the chunk of this number.

        Of several ranks each takes every ``stride``-th block.
        """
        self._mixture, self._number = mixture, number
        starts = places or [Place(rank)] * len(mixture.recipes)
        self._feeds: list[Feed] = []
        try:
            for recipe, place in zip(mixture.recipes, starts, strict=True):
                feed = Feed(recipe, workers, place, stride=stride, pilot=mixture.pilot)
                self._feeds.append(feed)
        except BaseException:  # also Ctrl-C: nobody else can close what was not made
            self.close()
            raise

    @property
    def places(self) -> list[Place]:
        """Where each stream stands."""
        return [feed.place for feed in self._feeds]

    def take(self, n: int) -> Arrays:
        """Return the next n tasks, those of one recipe after those of another."""
        rows = self._mixture.rows(n, self._number)
        self._number += 1
        parts = [feed.take(k) for feed, k in zip(self._feeds, rows, strict=True) if k]
        pairs = {worlds.shape[1] for _, worlds in parts}
        if len(pairs) > 1:
            raise UnskewError(f"streams have {sorted(pairs)} pairs an example; mix one number")
        width = max(programs.shape[1] for programs, _ in parts)
        wide = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part, _ in parts]
        return np.concatenate(wide), np.concatenate([worlds for _, worlds in parts])

    def close(self) -> None:
        """Stop the processes."""
        for feed in self._feeds:
            feed.close()
