"""Karel's salient variables (section 4.1), of programs and of their input worlds.

All worlds of an example are drawn from one distribution, so an audit looks at the first of them.
To homogenize, which keeps or drops whole examples, there are also variables of all worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np

from unskew.core.arrays import Ints
from unskew.core.batch import Batch
from unskew.core.variable import SalientVariable, Values
from unskew.domains.karel import measures as m
from unskew.domains.karel.examples import (
    INPUTS,
    all_worlds,
    first_worlds,
    program_rows,
    world_numbers,
)
from unskew.domains.karel.world import SIDE, SMALLEST

SIDES = range(SMALLEST, SIDE + 1)
TENTHS = (0.0, *(tenth / 10 for tenth in range(1, 11)))
_BINS = "0, then up to 0.1, up to 0.2, …"
LONGEST = 65  # the longest original program; longer ones count as this


def _once(batch: Batch, name: str, count: Callable[[Batch], Ints]) -> Ints:
    """Count in a batch, once for all variables."""
    if name not in batch.memo:
        batch.memo[name] = count(batch)
    facts: Ints = batch.memo[name]
    return facts


def _program_facts(batch: Batch) -> Ints:
    """Return what is counted in the programs of a batch."""
    return _once(batch, "karel program facts", lambda b: m.program_facts(program_rows(b)))


def _world_facts(batch: Batch) -> Ints:
    """Return what is counted in the first input of each example."""
    return _once(batch, "karel world facts", lambda b: m.world_facts(first_worlds(b, INPUTS)))


def _set_facts(batch: Batch) -> Ints:
    """Return what is counted in all inputs of each example together."""
    return _once(batch, "karel set facts", _added)


def _added(batch: Batch) -> Ints:
    facts, numbers = m.world_facts(all_worlds(batch, INPUTS)), world_numbers(batch, INPUTS)
    return np.add.reduceat(facts, np.cumsum(numbers) - numbers) if len(numbers) else facts


Measure = Callable[[Ints], Values]


def _of_program(name: str, doc: str, measure: Measure, support: Iterable[float]) -> SalientVariable:
    return SalientVariable(name, lambda b: measure(_program_facts(b)), tuple(support), doc)


def _of_world(name: str, doc: str, measure: Measure, support: Iterable[float]) -> SalientVariable:
    doc = f"{doc} (of an example's first input)"
    return SalientVariable(name, lambda b: measure(_world_facts(b)), tuple(support), doc)


def _of_set(name: str, doc: str, measure: Measure, support: Iterable[float]) -> SalientVariable:
    return SalientVariable(name, lambda b: measure(_set_facts(b)), tuple(support), doc)


def _fact(fact: int) -> Measure:
    return lambda facts: facts[:, fact]


def _clipped(fact: int, most: int) -> Measure:
    return lambda facts: np.minimum(facts[:, fact], most)


def _share(part: int, whole: int) -> Measure:
    """Return the measure of a share, rounded up to tenths, so that 0 means nothing at all."""
    return lambda facts: -(-10 * facts[:, part] // np.maximum(facts[:, whole], 1)) / 10


def _nested(batch: Batch) -> Values:
    """Name the pairs of constructs of which one stands directly in the other."""
    inside = _program_facts(batch)[:, m.INSIDE]
    names = {bits: _names(bits) for bits in np.unique(inside).tolist()}
    values = np.empty(len(inside), dtype=object)
    values[:] = [names[bits] for bits in inside.tolist()]
    return values


def _names(bits: int) -> str:
    pairs = (pair for pair in product(m.KINDS, m.KINDS) if bits >> m.pair_bit(*pair[::-1]) & 1)
    return " ".join(f"{inner}-in-{outer}" for outer, inner in pairs) or "none"


def _pair(inner: str, outer: str) -> SalientVariable:
    bit = m.pair_bit(inner, outer)
    doc = f"whether {inner} stands directly inside {outer}"
    return _of_program(f"{inner}-in-{outer}", doc, lambda f: f[:, m.INSIDE] >> bit & 1, (0, 1))


def _mean_cells(batch: Batch) -> Values:
    sixteens: Values = -(-_set_facts(batch)[:, m.AREA] // (16 * world_numbers(batch, INPUTS)))
    return 16 * sixteens


PROGRAM = (
    _of_program(
        "size", f"tokens, at most {LONGEST}", _clipped(m.SIZE, LONGEST), range(5, LONGEST + 1)
    ),
    _of_program("actions", "actions, at most 20", _clipped(m.ACTIONS, 20), range(1, 21)),
    _of_program("moves", "moves, at most 10", _clipped(m.MOVES, 10), range(11)),
    _of_program(
        "marker_actions", "pickMarker and putMarker, at most 10", _clipped(m.MARKS, 10), range(11)
    ),
    _of_program("control_flow", "constructs, at most 7", _clipped(m.CONSTRUCTS, 7), range(8)),
    _of_program(
        "control_share",
        f"share of the statements that are constructs ({_BINS})",
        _share(m.CONSTRUCTS, m.STATEMENTS),
        TENTHS,
    ),
    _of_program("nesting", "depth of constructs, at most 5", _clipped(m.NESTING, 5), range(6)),
    SalientVariable("inside", _nested, None, "which constructs stand directly inside which"),
)
PAIRS = tuple(_pair(inner, outer) for outer, inner in product(m.KINDS, m.KINDS))
WORLD = (
    _of_world("height", "rows", _fact(m.ROWS), SIDES),
    _of_world("width", "columns", _fact(m.COLUMNS), SIDES),
    _of_world("grid_size", "cells", _fact(m.AREA), sorted({h * w for h in SIDES for w in SIDES})),
    _of_world(
        "marker_ratio",
        f"share of the cells that hold markers ({_BINS})",
        _share(m.MARKED, m.AREA),
        TENTHS,
    ),
    _of_world(
        "wall_ratio",
        f"share of the cells that are walls ({_BINS})",
        _share(m.WALLS, m.AREA),
        TENTHS,
    ),
    _of_world(
        "marker_count",
        "markers of the first cell from the bottom left that holds any, 0 where none does",
        _fact(m.COUNT),
        range(10),
    ),
    SalientVariable(
        "grids", lambda b: world_numbers(b, INPUTS), None, "input worlds of an example"
    ),
)
SET = (
    SalientVariable(
        "all_grid_size",
        _mean_cells,
        tuple(range(16, SIDE * SIDE + 1, 16)),
        "mean cells of all inputs of an example, rounded up to sixteens",
    ),
    _of_set(
        "all_marker_ratio",
        f"share of the cells of all inputs that hold markers ({_BINS})",
        _share(m.MARKED, m.AREA),
        TENTHS,
    ),
    _of_set(
        "all_wall_ratio",
        f"share of the cells of all inputs that are walls ({_BINS})",
        _share(m.WALLS, m.AREA),
        TENTHS,
    ),
    _of_set(
        "all_marker_count",
        "mean markers of the cells of all inputs that hold any, rounded, 0 where none does",
        lambda f: (2 * f[:, m.MARKERS] + f[:, m.MARKED]) // np.maximum(2 * f[:, m.MARKED], 1),
        range(10),
    ),
)
VARIABLES = (*PROGRAM, *WORLD, *SET, *PAIRS)
MAIN = tuple(variable.name for variable in (*PROGRAM, *WORLD))  # what an audit shows by default
