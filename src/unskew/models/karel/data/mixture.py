"""Several endless streams of Karel tasks as one stream, in fixed proportions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from unskew.core.errors import UnskewError, check_count
from unskew.core.recipe import Recipe
from unskew.core.rng import generator
from unskew.models.karel.data.feed import Feed, Place
from unskew.models.karel.data.feeder import Arrays, joined
from unskew.models.runs import facts_without


@dataclass(frozen=True)
class Mixture:
    """Recipes that are streamed, and the proportions of their tasks."""

    recipes: tuple[Recipe, ...]
    shares: tuple[int, ...] = ()  # by default all are equal
    pilot: int | None = None  # examples that decide what homogenizing keeps; None as in a stream

    def __post_init__(self) -> None:
        """Refuse streams that cannot be mixed."""
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
        """Mix recipes that may have one source and seed: all but the first get new seeds."""
        others = [
            replace(recipe, seed=int(generator(recipe.seed, "mixture", i).integers(2**31)))
            for i, recipe in enumerate(recipes[1:], start=1)
        ]
        return cls((*recipes[:1], *others), tuple(shares), pilot)

    def rows(self, n: int, number: int = 0) -> list[int]:
        """Return how many of n tasks are of each recipe, in the chunk of this number.

        Fractions of a task add up from chunk to chunk. The largest share fills the chunk.
        """
        whole = sum(self.shares)
        rows = [(number + 1) * n * s // whole - number * n * s // whole for s in self.shares]
        largest = self.shares.index(max(self.shares))
        rows[largest] += n - sum(rows)
        if rows[largest] < 0:
            raise UnskewError(f"{n} tasks cannot be mixed of {len(rows)} streams; raise --batch")
        return rows

    def facts(self) -> dict[str, Any]:
        """Return what names the streams in the settings of a run."""
        pilot = {} if self.pilot is None else {"pilot": self.pilot}
        if len(self.recipes) == 1:
            return {"stream": self.recipes[0].hash, **pilot}
        hashes = [recipe.hash for recipe in self.recipes]
        return {"streams": hashes, "shares": list(self.shares), **pilot}

    def settings(self) -> dict[str, Any]:
        """Return everything that the tasks depend on, as plain data."""
        return facts_without(self, "pilot")


class Feeds:
    """The endless tasks of a mixture; ``take`` returns the next n.

    Each stream has its own processes, as many as a single stream would have. Processes that are
    ahead sleep, so the stream that costs most gets most of the machine.
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
        """Start the processes before the chunk of this number.

        With several ranks, each takes every ``stride``-th block.
        """
        self._mixture, self._number = mixture, number
        starts = places or [Place(rank)] * len(mixture.recipes)
        self._feeds: list[Feed] = []
        try:
            for recipe, place in zip(mixture.recipes, starts, strict=True):
                feed = Feed(recipe, workers, place, stride=stride, pilot=mixture.pilot)
                self._feeds.append(feed)
        except BaseException:  # also after Ctrl-C, since nobody else can close the processes
            self.close()
            raise

    @property
    def places(self) -> list[Place]:
        """The place of each stream."""
        return [feed.place for feed in self._feeds]

    def take(self, n: int) -> Arrays:
        """Return the next n tasks, recipe by recipe."""
        rows = self._mixture.rows(n, self._number)
        self._number += 1
        parts = [feed.take(k) for feed, k in zip(self._feeds, rows, strict=True) if k]
        pairs = {worlds.shape[1] for _, worlds in parts}
        if len(pairs) > 1:
            raise UnskewError(f"streams have {sorted(pairs)} pairs an example; mix one number")
        return joined(parts)

    def close(self) -> None:
        """Stop the processes."""
        for feed in self._feeds:
            feed.close()
