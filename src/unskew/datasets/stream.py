"""Endless streams of examples, in parts that never overlap; a stream can stop and go on exactly.

A stream consists of blocks of examples. Each block has its own random generator, so anyone can
make any block at any time. No randomness is used twice, but a source with few different examples
repeats them. A pilot sample is drawn before the first block. Its frequencies decide what
homogenizing keeps, and they do not change, so a block never depends on another block.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance.best.rule import Rule
from unskew.balance.codebook import Codebook
from unskew.balance.histogram import Histogram, nothing_to_balance
from unskew.balance.theory import acceptance, expected_cost
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError, check_count, check_range, check_whole, warn_user
from unskew.core.recipe import Recipe
from unskew.core.repeatable import refuse_unrepeatable
from unskew.core.rng import generator
from unskew.core.variables.combine import joint
from unskew.core.variables.variable import describe
from unskew.datasets.open import open_recipe
from unskew.datasets.parts.pilots import balanced_variables, warn
from unskew.datasets.parts.shard import restricted
from unskew.datasets.parts.splits import not_wanted
from unskew.io.lookup import recipe_variables

BLOCK = 1024  # examples drawn at a time
PILOT = 65_536  # examples whose frequencies decide what homogenizing keeps
IN_VAIN = 1_000  # blocks in a row without a kept example before an error
COST_LIMIT = 100  # draws per kept example above which there is a warning, as in generate


class Stream(Iterator[Any]):
    """An endless iterator over the examples of a recipe. The ``n`` of the recipe does not count."""

    def __init__(
        self,
        recipe: Recipe,
        part: int = 0,
        parts: int = 1,
        state: Mapping[str, Any] | None = None,
        *,
        pilot: Mapping[str, Any] | None = None,
        is_tried: bool = False,
    ) -> None:
        """Start before the first example of a part, or at ``state``.

        ``pilot`` is the pilot of another stream of the recipe; with it, none is drawn here.
        ``is_tried`` says that another process has tried whether the source repeats its examples.
        """
        check_count("parts", parts, "have at least one")
        check_whole("part", part, 0, "count parts from 0")
        part, parts = int(part), int(parts)  # JSON does not take numbers of NumPy
        check_range("part", part, 0, parts - 1, step="count parts from 0")
        if recipe.given:
            raise UnskewError(f"a stream never ends, but {recipe.given} does; leave given out")
        if recipe.distinct:
            raise UnskewError("a stream cannot remember all its examples; leave distinct out")
        if recipe.splits:
            raise UnskewError(
                "a stream has no splits; leave splits out, and exclude what it must not show"
            )
        self.recipe, self.part, self.parts = recipe, part, parts
        opened = open_recipe(recipe)
        if opened.source.is_own and not is_tried:
            refuse_unrepeatable(opened.source)
        self._source = restricted(opened)
        self._pilot = _pilot(recipe, pilot or pilot_of(recipe)) if recipe.homogenize else None
        self._block, self._row, self._yielded = part, 0, 0
        self._examples: list[Any] | None = None  # those of the block, once it is made
        if state is not None:
            self.load_state_dict(state)

    def __next__(self) -> Any:
        """Return the next example; there always is one."""
        if self._examples is not None and self._row == len(self._examples):
            self._go_on()
        if self._examples is None:
            self._examples = list(self._current().examples())
        self._row += 1
        self._yielded += 1
        return self._examples[self._row - 1]

    def batches(self) -> Iterator[Batch]:
        """Yield the examples as batches, from the current position on."""
        while True:
            block = self._current()
            rest = block.slice(self._row, len(block))
            self._go_on()
            self._yielded += len(rest)
            yield rest

    def _current(self) -> Batch:
        """Return the block that holds the next example."""
        for _ in range(IN_VAIN):
            block = self.block(self._block)
            if self._row > len(block):
                raise UnskewError(
                    f"state has row {self._row} of block {self._block}, which has {len(block)}; "
                    "give what state() returned"
                )
            if self._row < len(block):
                return block
            self._go_on()
        raise UnskewError(
            f"nothing kept in {IN_VAIN * BLOCK:,} draws {self.recipe.price}; raise the epsilon or "
            "the closeness, or lower the budget"
        )

    def _go_on(self) -> None:
        self._block, self._row, self._examples = self._block + self.parts, 0, None

    def state(self) -> dict[str, Any]:
        """Return the position, ready for JSON. ``examples`` in it says how many came so far."""
        return {
            "recipe": _stream_hash(self.recipe),
            "part": self.part,
            "parts": self.parts,
            "block": self._block,
            "row": self._row,
            "examples": self._yielded,
        }

    state_dict = state  # PyTorch's loaders use this name and the next

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on at a position. It must be that of the same part of the same recipe."""
        try:
            numbers = [state[name] for name in ("part", "parts", "block", "row", "examples")]
            recipe = state["recipe"]
        except (KeyError, TypeError):
            raise UnskewError(f"state is {state!r}; give what state() returned") from None
        if not all(type(number) is int for number in numbers):
            raise UnskewError(f"state is {state!r}; its numbers must be whole: give it unchanged")
        part, parts, block, row, yielded = numbers
        if recipe != _stream_hash(self.recipe):
            raise UnskewError(
                f"state is that of another recipe ({recipe}, not {_stream_hash(self.recipe)}); "
                "give each recipe its own"
            )
        if (part, parts) != (self.part, self.parts):
            raise UnskewError(
                f"state is that of part {part} of {parts}, not of part {self.part} of "
                f"{self.parts}; give each part its own"
            )
        if block < 0 or block % parts != part or not 0 <= row <= BLOCK or yielded < 0:
            raise UnskewError(
                f"state has row {row} of block {block}, where part {part} of {parts} never "
                "stands; give what state() returned"
            )
        self._block, self._row, self._yielded, self._examples = block, row, yielded, None

    def block(self, number: int) -> Batch:
        """Return the kept examples of a block. They depend on nothing but its number."""
        check_whole("block", number, 0, "count from 0")
        recipe, number = self.recipe, int(number)
        rng = generator(recipe.seed, recipe.source, "stream", number)
        batch, _ = self._source.draw(rng, BLOCK)
        if self._pilot is None:
            return batch
        chances = self._pilot.chances(batch)
        accept = generator(recipe.seed, recipe.source, "stream accept", number)
        return batch.filter(accept.random(len(batch)) < chances)

    @property
    def pilot(self) -> Mapping[str, Any] | None:
        """The counts by which a homogenized stream keeps examples, ready for JSON."""
        return self._pilot.counted if self._pilot is not None else None

    def item(self, number: int) -> Any:
        """Return an example by its number, at once. A homogenized stream cannot do this."""
        check_whole("item", number, 0, "count from 0")
        if self._pilot is not None:
            raise UnskewError(
                "items of a homogenized stream have no numbers, because each block keeps another "
                "number of examples; leave homogenize out, or iterate"
            )
        block, row = divmod(int(number), BLOCK)
        return next(self.block(block).slice(row, 1).examples())


def excluded_share(recipe: Recipe) -> float:
    """Return the share of the first draws that is left out because an excluded dataset has it."""
    source = restricted(open_recipe(recipe))
    batch, dropped = source.draw(generator(recipe.seed, recipe.source, "stream", 0), BLOCK)
    left_out = sum(dropped[reason] for reason in not_wanted(recipe))
    return left_out / (left_out + len(batch))


def stream(
    recipe: Recipe | str, part: int = 0, parts: int = 1, state: Mapping[str, Any] | None = None
) -> Stream:
    """Return an endless stream of examples.

    Args:
        recipe: a recipe, or the name of a source.
        part: the number of this stream, from 0.
        parts: how many streams share the work. Each of them takes every n-th block of examples,
            so no draw is in two of them.
        state: what ``Stream.state`` returned. The stream goes on with the next example.
    """
    if not isinstance(recipe, (str, Recipe)):
        what = getattr(recipe, "__name__", None) or type(recipe).__name__
        raise UnskewError(
            f"stream got {what}, but takes a source's name or a Recipe; name your own function as "
            "'my_module:draw', or call homogenize(draw, by=…)"
        )
    chosen = Recipe(recipe, 1) if isinstance(recipe, str) else recipe
    return Stream(chosen, part, parts, state)


def _stream_hash(recipe: Recipe) -> str:
    """Return the hash of everything in a recipe that a stream depends on."""
    return replace(recipe, n=1, shard_size=1).hash


def pilot_of(recipe: Recipe, draws: int | None = None) -> dict[str, Any]:
    """Draw a pilot sample; return what homogenizing needs to know of it, ready for JSON.

    For ε these are the values of the variable and their counts; for a budget or a closeness, the
    tables of the rule.
    """
    if recipe.has_goal:
        return _rule(recipe).to_dict()
    variable = joint(recipe_variables(recipe))
    source = restricted(open_recipe(recipe))
    rng = generator(recipe.seed, recipe.source, "stream pilot")
    histogram = Histogram(Codebook(variable))
    left = PILOT if draws is None else draws
    while left > 0:
        batch, _ = source.draw(rng, min(left, source.chunk))
        histogram.add(batch)
        left -= len(batch)
    return {"values": histogram.codebook.values, "counts": histogram.counts.tolist()}


def _rule(recipe: Recipe) -> Rule:
    """Fit the rule of a recipe with a goal, and say what stands in its way."""
    balance = open_recipe(recipe).balanced()
    warn(balance.warnings)
    return balance.rule


def _pilot(recipe: Recipe, counted: Mapping[str, Any]) -> _Pilot | _Frozen:
    if not recipe.has_goal:
        return _Pilot(recipe, counted)
    variables = balanced_variables(recipe_variables(recipe), recipe.jointly)
    return _Frozen(Rule.from_dict(variables, counted), counted)


@dataclass(frozen=True)
class _Frozen:
    """The probability to keep a row, from the tables of a rule."""

    rule: Rule
    counted: Mapping[str, Any]

    def chances(self, batch: Batch) -> NDArray[np.float64]:
        return self.rule.chances(batch)


class _Pilot:
    """The probability to keep a row: (min p + ε) / (p(x) + ε), with p from a pilot sample."""

    def __init__(self, recipe: Recipe, counted: Mapping[str, Any]) -> None:
        self.counted = counted
        self._variable = joint(recipe_variables(recipe))
        # A value of several variables is a tuple, which JSON makes a list.
        values = [tuple(v) if isinstance(v, list) else v for v in counted["values"]]
        counts = np.array(counted["counts"])
        drawn = int(counts.sum())
        p = counts / drawn
        never = [value for value, count in zip(values, counts, strict=True) if not count]
        _judge(self._variable.name, p, never, drawn, recipe.epsilon)
        warn(nothing_to_balance(self._variable.name, counts))
        self._acceptance = acceptance(p, recipe.epsilon)
        self._codebook = Codebook(self._variable)
        self._codebook.learn(values)

    def chances(self, batch: Batch) -> NDArray[np.float64]:
        codes = self._codebook.measure(batch)
        chances = np.ones(len(codes))
        known = codes < len(self._acceptance)  # a value that the pilot does not have is rare
        chances[known] = self._acceptance[codes[known]]
        return chances


def _judge(
    name: str, p: NDArray[np.float64], never: Sequence[Hashable], drawn: int, epsilon: float
) -> None:
    """Refuse a variable by which nothing would be kept; warn of a high cost."""
    it = "it" if len(never) == 1 else "them"
    if never and epsilon == 0:
        raise UnskewError(
            f"{name!r} never took {describe(never)} in {drawn:,} draws, so at epsilon 0 nothing "
            f"is kept; raise epsilon above 0, or leave {it} out of the support"
        )
    cost = expected_cost(p, epsilon)
    if cost > COST_LIMIT:
        unseen = (
            f"it never took {describe(never)}: leave {it} out of the support, " if never else ""
        )
        warn_user(
            f"homogenizing {name!r} costs {cost:.1f} draws per kept example, above the limit of "
            f"{COST_LIMIT}; {unseen}raise epsilon ({epsilon:g}), or clip or bin the variable"
        )
