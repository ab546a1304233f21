"""An endless stream of Karel tasks, made by worker processes beside the training.

Each worker makes every n-th block of the stream, where n is the number of workers. The blocks are
taken in their order. So the tasks do not depend on the number of workers or on their speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle

from unskew.core.errors import UnskewError, check_whole
from unskew.core.processes.crew import CLOSED, Crew
from unskew.core.recipe import Recipe
from unskew.datasets.stream import IN_VAIN, Stream, pilot_of
from unskew.models.karel.data.feeder import Arrays, arrays, joined

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
