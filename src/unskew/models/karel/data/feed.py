"""Endless streams of Karel tasks, in fixed proportions, made by worker processes.

Each worker makes every n-th block of a stream, where n is the number of workers. The blocks are
taken in their order. So the tasks do not depend on the number of workers or on their speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

from unskew.core.errors import UnskewError, check_count, check_whole
from unskew.core.processes.crew import CLOSED, Crew
from unskew.core.recipe import Recipe
from unskew.core.rng import generator
from unskew.datasets.stream import IN_VAIN, Stream, pilot_of
from unskew.models.karel.data.feeder import Arrays, arrays, joined
from unskew.models.runs import facts_without

FEEDER = "unskew.models.karel.data.feeder"
AHEAD = 6  # blocks that each worker may be ahead
ONE_THREAD = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # the workers share the machine


@dataclass(frozen=True)
class Place:
    """Where a feed stands: the next block, and how many of its examples were taken."""

    block: int = 0
    row: int = 0


START = Place()


class Feed:
    """The tasks of a recipe, without end; ``take`` returns the next n."""

    def __init__(
        self,
        recipe: Recipe,
        workers: int,
        place: Place = START,
        *,
        stride: int = 1,
        pilot: int | None = None,
    ) -> None:
        """Start the workers; they begin at ``place`` and make every ``stride``-th block.

        With ``workers=0``, blocks are made in this process. ``pilot`` is how many examples decide
        what homogenizing keeps; None means as many as for any stream.
        """
        check_whole("workers", workers, 0, "give 0 to make the tasks in this process")
        pilot_sample = pilot_of(recipe, pilot) if pilot and recipe.homogenize else None
        self._stream = Stream(recipe, pilot=pilot_sample)
        if workers:
            # A recipe that cannot be run is refused here and not in a worker. Kernels are compiled
            # here once, and not by all workers at the same time.
            self._stream.block(place.block)
        self.place, self._stride, self._is_open = place, stride, True
        self._asked = place.block  # the next block to ask for
        self._made: dict[int, Arrays] = {}
        self._rest: Arrays | None = None  # of the block at ``place``
        self._workers, self._turns = workers, cycle(range(workers))
        task = {"recipe": recipe.to_dict(), "pilot": self._stream.pilot}
        self._crew = Crew(FEEDER, task, workers, environment=ONE_THREAD)
        try:
            for _ in range(AHEAD * workers):
                self._ask()
        except BaseException:  # also Ctrl-C: nobody else can close a feed that does not exist yet
            self.close()
            raise

    def take(self, n: int) -> Arrays:
        """Return the next n tasks, with programs padded to the longest of them."""
        parts, have, in_vain = list[Arrays](), 0, 0
        block, row = self.place.block, self.place.row
        while have < n:
            if self._rest is None:
                self._rest = self._block(block)
            programs, worlds = (array[row : row + n - have] for array in self._rest)
            if len(programs):
                parts.append((programs, worlds))
            in_vain = 0 if len(programs) else in_vain + 1  # homogenizing may keep nothing
            if in_vain == IN_VAIN:
                raise UnskewError(f"nothing kept in {in_vain:,} blocks; raise epsilon")
            have, row = have + len(programs), row + len(programs)
            if row >= len(self._rest[0]):
                block, row, self._rest = block + self._stride, 0, None
        self.place = Place(block, row)
        return joined(parts)

    def close(self) -> None:
        """Stop the workers. Whoever waits for tasks then hears that they are closed."""
        self._is_open = False
        self._crew.close()

    def _block(self, number: int) -> Arrays:
        """Return the tasks of a block; blocks are wanted in their order."""
        if not self._is_open:
            raise UnskewError(CLOSED)
        if not self._workers:
            return arrays(self._stream.block(number))
        while number not in self._made:
            _, _, message = self._crew.answer()
            programs, worlds = message["arrays"]
            self._made[message["done"]] = programs, worlds
        self._ask()
        return self._made.pop(number)

    def _ask(self) -> None:
        """Ask a worker for one more block: the workers take turns."""
        self._crew.ask(next(self._turns), f"block {self._asked}", self._asked)
        self._asked += self._stride


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
            raise UnskewError(f"the streams have {sorted(pairs)} pairs an example; give one number")
        return joined(parts)

    def close(self) -> None:
        """Stop the processes."""
        for feed in self._feeds:
            feed.close()
