"""Karel's salient variables (section 4.1), of programs and of their input worlds.

The worlds of an example are drawn alike, so an audit looks at the first of them: it is distributed
as any other. To homogenize, which acts on whole examples, there are variables of all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

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


def _program_facts(batch: Batch) -> NDArray[np.int64]:
    """Count in the programs of a batch, once for all variables."""
    if "karel program facts" not in batch.memo:
        batch.memo["karel program facts"] = m.program_facts(program_rows(batch))
    facts: NDArray[np.int64] = batch.memo["karel program facts"]
    return facts


def _world_facts(batch: Batch) -> NDArray[np.int64]:
    """Count in the first inputs of a batch, once for all variables."""
    if "karel world facts" not in batch.memo:
        batch.memo["karel world facts"] = m.world_facts(first_worlds(batch, INPUTS))
    facts: NDArray[np.int64] = batch.memo["karel world facts"]
    return facts


def _set_facts(batch: Batch) -> NDArray[np.int64]:
    """Add up the counts in all inputs of each example."""
    if "karel set facts" not in batch.memo:
        facts = m.world_facts(all_worlds(batch, INPUTS))
        starts = np.cumsum(world_numbers(batch, INPUTS)) - world_numbers(batch, INPUTS)
        batch.memo["karel set facts"] = np.add.reduceat(facts, starts) if len(starts) else facts
    added: NDArray[np.int64] = batch.memo["karel set facts"]
    return added


def _of_program(
    name: str, doc: str, measure: Callable[[NDArray[np.int64]], Values], support: range
) -> SalientVariable:
    return SalientVariable(
        name,
        lambda batch: measure(_program_facts(batch)),
        tuple(support),
        doc,
    )


def _of_world(
    name: str, doc: str, measure: Callable[[NDArray[np.int64]], Values], support: tuple[float, ...]
) -> SalientVariable:
    return SalientVariable(
        name,
        lambda batch: measure(_world_facts(batch)),
        support,
        f"{doc} (of an example's first input)",
    )


def _of_set(
    name: str, doc: str, measure: Callable[[NDArray[np.int64]], Values], support: tuple[float, ...]
) -> SalientVariable:
    return SalientVariable(name, lambda batch: measure(_set_facts(batch)), support, doc)


def _tenths(part: NDArray[np.int64], whole: NDArray[np.int64]) -> Values:
    """Return a share rounded up to tenths, so that only nothing at all is 0."""
    tenths: Values = -(-10 * part // np.maximum(whole, 1)) / 10
    return tenths


def _clipped(fact: int, most: int) -> Callable[[NDArray[np.int64]], Values]:
    return lambda facts: np.minimum(facts[:, fact], most)


def _nested(batch: Batch) -> Values:
    """Name the pairs of constructs of which one stands directly in the other."""
    inside = _program_facts(batch)[:, m.INSIDE]
    names = {bits: _names(bits) for bits in np.unique(inside).tolist()}
    values = np.empty(len(inside), dtype=object)
    values[:] = [names[bits] for bits in inside.tolist()]
    return values


def _names(bits: int) -> str:
    pairs = [
        f"{inner}-in-{outer}"
        for outer in m.KINDS
        for inner in m.KINDS
        if bits >> m.pair_bit(inner, outer) & 1
    ]
    return " ".join(pairs) or "none"


def _pair(inner: str, outer: str) -> SalientVariable:
    bit = m.pair_bit(inner, outer)
    return SalientVariable(
        f"{inner}-in-{outer}",
        lambda batch: _program_facts(batch)[:, m.INSIDE] >> bit & 1,
        (0, 1),
        f"whether {inner} stands directly inside {outer}",
    )


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
    SalientVariable(
        "control_share",
        lambda batch: _share(_program_facts(batch)),
        TENTHS,
        f"share of the statements that are constructs ({_BINS})",
    ),
    _of_program("nesting", "depth of constructs, at most 5", _clipped(m.NESTING, 5), range(6)),
    SalientVariable("inside", _nested, None, "which constructs stand directly inside which"),
)
PAIRS = tuple(_pair(inner, outer) for outer in m.KINDS for inner in m.KINDS)
WORLD = (
    _of_world("height", "rows", lambda f: f[:, m.ROWS], tuple(range(SMALLEST, SIDE + 1))),
    _of_world("width", "columns", lambda f: f[:, m.COLUMNS], tuple(range(SMALLEST, SIDE + 1))),
    SalientVariable(
        "grid_size",
        lambda batch: _world_facts(batch)[:, m.AREA],
        tuple(sorted({h * w for h in SIDES for w in SIDES})),
        "cells (of an example's first input)",
    ),
    _of_world(
        "marker_ratio",
        f"share of the cells that hold markers ({_BINS})",
        lambda f: _tenths(f[:, m.MARKED], f[:, m.AREA]),
        TENTHS,
    ),
    _of_world(
        "wall_ratio",
        f"share of the cells that are walls ({_BINS})",
        lambda f: _tenths(f[:, m.WALLS], f[:, m.AREA]),
        TENTHS,
    ),
    _of_world(
        "marker_count",
        "markers of the first cell from the bottom left that holds any, 0 where none does",
        lambda f: f[:, m.COUNT],
        tuple(range(10)),
    ),
    SalientVariable(
        "grids", lambda batch: world_numbers(batch, INPUTS), None, "input worlds of an example"
    ),
)


SET = (
    SalientVariable(
        "all_grid_size",
        lambda batch: _sixteens(_set_facts(batch)[:, m.AREA], world_numbers(batch, INPUTS)),
        tuple(range(16, SIDE * SIDE + 1, 16)),
        "mean cells of all inputs of an example, rounded up to sixteens",
    ),
    _of_set(
        "all_marker_ratio",
        f"share of the cells of all inputs that hold markers ({_BINS})",
        lambda f: _tenths(f[:, m.MARKED], f[:, m.AREA]),
        TENTHS,
    ),
    _of_set(
        "all_wall_ratio",
        f"share of the cells of all inputs that are walls ({_BINS})",
        lambda f: _tenths(f[:, m.WALLS], f[:, m.AREA]),
        TENTHS,
    ),
    _of_set(
        "all_marker_count",
        "mean markers of the cells of all inputs that hold any, rounded, 0 where none does",
        lambda f: (2 * f[:, m.MARKERS] + f[:, m.MARKED]) // np.maximum(2 * f[:, m.MARKED], 1),
        tuple(range(10)),
    ),
)


def _sixteens(cells: NDArray[np.int64], worlds: NDArray[np.int64]) -> Values:
    sixteens: Values = 16 * -(-cells // (16 * worlds))
    return sixteens


def _share(facts: NDArray[np.int64]) -> Values:
    return _tenths(facts[:, m.CONSTRUCTS], facts[:, m.STATEMENTS])


VARIABLES = (*PROGRAM, *WORLD, *SET, *PAIRS)
MAIN = tuple(variable.name for variable in (*PROGRAM, *WORLD))  # what an audit shows by default
