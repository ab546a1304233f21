"""Endless streams of examples, in parts that never overlap, resumed exactly.

A stream is blocks of examples, each drawn from a random stream of its own, so that any block can
be made at any time by anyone. No randomness is used twice; a source of few examples gives the
same ones again all the same. What homogenizing keeps is decided by a table of frequencies that
is drawn once, before the first block, and then stays: a block never depends on another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.batch import Batch
from unskew.codebook import Codebook
from unskew.errors import UnskewError, check_count, check_range
from unskew.generation import make
from unskew.keys import restricted
from unskew.names import domain_of, find_source, find_variables
from unskew.recipe import Recipe
from unskew.salient import joint
from unskew.streams import stream as generator

BLOCK = 1024  # examples drawn at a time
PILOT = 65_536  # examples whose frequencies decide what homogenizing keeps


class Stream(Iterator[Any]):
    """The examples of a recipe, for ever; its ``n`` does not count.

    Of ``parts`` streams each takes every so many-th block, so together they are the whole and no
    draw is in two of them. ``state`` is where one stands, ready for JSON; given back, it goes on
    with the very next example.
    """

    def __init__(
        self, recipe: Recipe, part: int = 0, parts: int = 1, state: Mapping[str, int] | None = None
    ) -> None:
        """Stand before the first example of a part, or where ``state`` says."""
        check_count("parts", parts, "have at least one")
        check_range("part", part, 0, parts - 1, step="count parts from 0")
        if recipe.given:
            raise UnskewError(f"a stream never ends, but {recipe.given} does; leave given out")
        if recipe.distinct:
            raise UnskewError("a stream cannot remember for ever what came; leave distinct out")
        if recipe.splits:
            raise UnskewError(
                "a stream has no splits; leave splits out, and exclude what it must not show"
            )
        self.recipe, self.part, self.parts = recipe, part, parts
        found = find_source(recipe.source, recipe.parameters)
        self._source = restricted(found, recipe, 0, make)
        self._chances = _pilot(recipe) if recipe.homogenize else None
        self._block, self._row = _read(state, part, parts)
        self._examples: list[Any] | None = None

    def __next__(self) -> Any:
        """Return the next example; there always is one."""
        while True:
            if self._examples is None:
                self._examples = list(self.block(self._block).examples())
            if self._row < len(self._examples):
                self._row += 1
                return self._examples[self._row - 1]
            self._block, self._row, self._examples = self._block + self.parts, 0, None

    def batches(self) -> Iterator[Batch]:
        """Yield block after block, from where it stands, as columns."""
        while True:
            block = self.block(self._block)
            rest = block.slice(self._row, len(block))
            self._block, self._row, self._examples = self._block + self.parts, 0, None
            if len(rest):
                yield rest

    def state(self) -> dict[str, int]:
        """Return where the stream stands."""
        return {"block": self._block, "row": self._row, "part": self.part, "parts": self.parts}

    def block(self, number: int) -> Batch:
        """Return the examples that are kept of a block; the same whoever asks, and when."""
        recipe = self.recipe
        rng = generator(recipe.seed, recipe.source, "stream", number)
        batch, _ = self._source.draw(rng, BLOCK)
        if self._chances is None:
            return batch
        chances = self._chances(batch)
        accept = generator(recipe.seed, recipe.source, "stream accept", number)
        return batch.filter(accept.random(len(batch)) < chances)

    def item(self, number: int) -> Any:
        """Return an example by its number, without those before it."""
        check_range("item", number, 0, step="count from 0")
        if self._chances is not None:
            raise UnskewError(
                "items of a homogenized stream have no numbers: what is kept is known block by "
                "block; leave homogenize out, or iterate"
            )
        block, row = divmod(number, BLOCK)
        return next(self.block(block).slice(row, 1).examples())


def stream(
    recipe: Recipe | str, part: int = 0, parts: int = 1, state: Mapping[str, int] | None = None
) -> Stream:
    """Return the endless stream of a recipe, or of a source by name."""
    chosen = Recipe(recipe, 1) if isinstance(recipe, str) else recipe
    return Stream(chosen, part, parts, state)


def _read(state: Mapping[str, int] | None, part: int, parts: int) -> tuple[int, int]:
    if state is None:
        return part, 0
    try:
        block, row = int(state["block"]), int(state["row"])
        same = (state["part"], state["parts"]) == (part, parts)
    except (KeyError, TypeError, ValueError):
        raise UnskewError(f"state is {state!r}; give what state() returned") from None
    if not same or block % parts != part or block < 0 or row < 0:
        raise UnskewError(
            f"state is that of part {state['part']} of {state['parts']}, not of part {part} of "
            f"{parts}; give each part its own"
        )
    return block, row


class _pilot:  # noqa: N801 - a function that remembers a table
    """How likely a row is kept: (min p + ε) / (p(x) + ε), p counted in a pilot sample."""

    def __init__(self, recipe: Recipe) -> None:
        variable = joint(find_variables(recipe.homogenize, domain_of(recipe.source)))
        source = restricted(find_source(recipe.source, recipe.parameters), recipe, 0, make)
        rng = generator(recipe.seed, recipe.source, "stream pilot")
        codebook = Codebook(variable)
        counts = np.zeros(0, dtype=np.int64)
        left = PILOT
        while left > 0:
            batch, _ = source.draw(rng, min(left, source.chunk))
            codes = codebook.encode(variable.measure(batch))
            grown = np.bincount(codes, minlength=len(codebook.values))
            grown[: len(counts)] += counts
            counts, left = grown, left - len(batch)
        p = counts / counts.sum()
        self._known = len(codebook.values)
        # 0/0 at ε = 0 is a value that never came: were it to come, it would be kept.
        with np.errstate(invalid="ignore"):
            chances = (p.min() + recipe.epsilon) / (p + recipe.epsilon)
        self._chances = np.nan_to_num(chances, nan=1.0)
        self._codebook, self._variable = codebook, variable

    def __call__(self, batch: Batch) -> NDArray[np.float64]:
        codes = self._codebook.encode(self._variable.measure(batch))
        found = np.ones(len(codes))
        known = codes < self._known  # a value that the pilot did not have is rare: it is kept
        found[known] = self._chances[codes[known]]
        return found
