"""Karel's salient variables (section 4.1), of programs and of their input worlds.

All worlds of an example are drawn from one distribution, so an audit looks at the first of them.
To homogenize, which keeps or drops whole examples, there are also variables of all worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from unskew.core.arrays import Ints
from unskew.core.batch import Batch
from unskew.core.variables.variable import SalientVariable, Values
from unskew.domains.karel import measures as m
from unskew.domains.karel.examples import INPUTS, all_worlds, program_rows, world_numbers
from unskew.domains.karel.world import SIDE, SMALLEST

SIDES = range(SMALLEST, SIDE + 1)
TENTHS = (0.0, *(tenth / 10 for tenth in range(1, 11)))
_BINS, _FIRST = "0, then up to 0.1, up to 0.2, …", " (of an example's first input)"
LONGEST = 65  # the longest original program; longer ones count as this
_PAIR_NAMES = {
    m.pair_bit(inner, outer): f"{inner}-in-{outer}" for outer, inner in product(m.KINDS, m.KINDS)
}

Facts = Callable[[Batch], Ints]


def _once(count: Facts) -> Facts:
    """Return a function that counts in a batch once, for all variables."""
    key = f"karel {count.__name__}"

    def counted(batch: Batch) -> Ints:
        if key not in batch.memo:
            batch.memo[key] = count(batch)
        facts: Ints = batch.memo[key]
        return facts

    return counted


@_once
def _program_facts(batch: Batch) -> Ints:
    """Return what is counted in the programs of a batch."""
    return m.program_facts(program_rows(batch))


@_once
def _world_facts(batch: Batch) -> Ints:
    """Return what is counted in the first input of each example."""
    numbers = world_numbers(batch, INPUTS)
    return m.world_facts(all_worlds(batch, INPUTS)[np.cumsum(numbers) - numbers])


@_once
def _set_facts(batch: Batch) -> Ints:
    """Return what is counted in all inputs of each example together."""
    facts, numbers = m.world_facts(all_worlds(batch, INPUTS)), world_numbers(batch, INPUTS)
    return np.add.reduceat(facts, np.cumsum(numbers) - numbers) if len(numbers) else facts


def _variable(
    name: str, doc: str, facts: Facts, measure: Callable[[Ints], Values], support: Iterable[float]
) -> SalientVariable:
    """Return the variable that is measured on these facts."""
    return SalientVariable(name, lambda batch: measure(facts(batch)), tuple(support), doc)


def _of_program(name: str, doc: str, fact: int, support: range) -> SalientVariable:
    """Return the variable of a count; larger counts than the support has are its largest."""
    return _variable(
        name, doc, _program_facts, lambda f: np.minimum(f[:, fact], support[-1]), support
    )


def _of_world(name: str, doc: str, fact: int, support: Iterable[float]) -> SalientVariable:
    return _variable(name, doc + _FIRST, _world_facts, lambda f: f[:, fact], support)


def _ratio(name: str, doc: str, facts: Facts, part: int, whole: int = m.AREA) -> SalientVariable:
    """Return the variable of a share, rounded up to tenths, so that 0 means nothing at all."""
    return _variable(
        name, doc, facts, lambda f: -(-10 * f[:, part] // np.maximum(f[:, whole], 1)) / 10, TENTHS
    )


def _nested(batch: Batch) -> Values:
    """Name the pairs of constructs, one directly inside the other."""
    inside = _program_facts(batch)[:, m.INSIDE]
    names = {bits: _names(bits) for bits in np.unique(inside).tolist()}
    values = np.empty(len(inside), dtype=object)
    values[:] = [names[bits] for bits in inside.tolist()]
    return values


def _names(bits: int) -> str:
    return " ".join(name for bit, name in _PAIR_NAMES.items() if bits >> bit & 1) or "none"


def _pair(inner: str, outer: str) -> SalientVariable:
    bit = m.pair_bit(inner, outer)
    doc = f"whether {inner} stands directly inside {outer}"
    name = f"{inner}-in-{outer}"
    return _variable(name, doc, _program_facts, lambda f: f[:, m.INSIDE] >> bit & 1, (0, 1))


def _mean_cells(batch: Batch) -> Values:
    sixteens: NDArray[np.int64] = -(
        -_set_facts(batch)[:, m.AREA] // (16 * world_numbers(batch, INPUTS))
    )
    return 16 * sixteens


PROGRAM = (
    _of_program("size", f"tokens, at most {LONGEST}", m.SIZE, range(5, LONGEST + 1)),
    _of_program("actions", "actions, at most 20", m.ACTIONS, range(1, 21)),
    _of_program("moves", "moves, at most 10", m.MOVES, range(11)),
    _of_program("marker_actions", "pickMarker and putMarker, at most 10", m.MARKS, range(11)),
    _of_program("control_flow", "constructs, at most 7", m.CONSTRUCTS, range(8)),
    _ratio(
        "control_share",
        f"share of the statements that are constructs ({_BINS})",
        *(_program_facts, m.CONSTRUCTS, m.STATEMENTS),
    ),
    _of_program("nesting", "depth of constructs, at most 5", m.NESTING, range(6)),
    SalientVariable("inside", _nested, None, "which constructs stand directly inside which"),
)
PAIRS = tuple(_pair(inner, outer) for outer, inner in product(m.KINDS, m.KINDS))
_MARKED = f"share of the cells that hold markers ({_BINS})"
_WALLS = f"share of the cells that are walls ({_BINS})"
WORLD = (
    _of_world("height", "rows", m.ROWS, SIDES),
    _of_world("width", "columns", m.COLUMNS, SIDES),
    _of_world("grid_size", "cells", m.AREA, sorted({h * w for h in SIDES for w in SIDES})),
    _ratio("marker_ratio", _MARKED + _FIRST, _world_facts, m.MARKED),
    _ratio("wall_ratio", _WALLS + _FIRST, _world_facts, m.WALLS),
    _of_world(
        "marker_count",
        "markers of the first cell from the bottom left that holds any, 0 where none does",
        *(m.COUNT, range(10)),
    ),
    SalientVariable(
        "grids", lambda batch: world_numbers(batch, INPUTS), None, "input worlds of an example"
    ),
)
_ALL = ("of the cells", "of the cells of all inputs")
SET = (
    SalientVariable(
        "all_grid_size",
        _mean_cells,
        tuple(range(16, SIDE * SIDE + 1, 16)),
        "mean cells of all inputs of an example, rounded up to sixteens",
    ),
    _ratio("all_marker_ratio", _MARKED.replace(*_ALL), _set_facts, m.MARKED),
    _ratio("all_wall_ratio", _WALLS.replace(*_ALL), _set_facts, m.WALLS),
    _variable(
        "all_marker_count",
        "mean markers of the cells of all inputs that hold any, rounded, 0 where none does",
        _set_facts,
        lambda f: (2 * f[:, m.MARKERS] + f[:, m.MARKED]) // np.maximum(2 * f[:, m.MARKED], 1),
        range(10),
    ),
)
VARIABLES = (*PROGRAM, *WORLD, *SET, *PAIRS)
MAIN = tuple(variable.name for variable in (*PROGRAM, *WORLD))  # what an audit shows by default
