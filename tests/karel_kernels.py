"""Steps of Karel's sampling alone, for tests: whole worlds, and which programs can be covered."""

import numpy as np

from unskew.core.arrays import Bytes, Flags, Ints
from unskew.core.compiled import compiled
from unskew.domains.karel import world as w
from unskew.domains.karel.language.compiler import Code
from unskew.domains.karel.running.chance import Chance, chance
from unskew.domains.karel.running.hidden import clear, hidden_rooms, reveal_all
from unskew.domains.karel.sampling.coverable import is_coverable
from unskew.domains.karel.sampling.pairs import make_room
from unskew.domains.karel.sampling.worlds import Worlds, start_hidden


def draw_worlds(
    rng: np.random.Generator, n: int, kind: int, r_wall: float, r_marker: float, counts: int
) -> Bytes:
    """Draw ``n`` worlds, (n, 260).

    Only narrow worlds use ``r_wall`` and ``r_marker``; worlds like the original's do not use
    ``counts``.
    """
    rows = np.empty((n, w.BYTES), dtype=np.uint8)
    _draw_rows(chance(rng), (kind, r_wall, r_marker, counts), rows)
    return rows


@compiled
def _draw_rows(state: Chance, worlds: Worlds, rows: Bytes) -> None:
    before, after, left = hidden_rooms(1)
    hidden = (state, left[0], before[0])
    for row in range(len(rows)):
        start_hidden(worlds, after[0], hidden)
        reveal_all(after[0], hidden)
        rows[row] = after[0]
        clear(before, after, left)


def coverable(rng: np.random.Generator, code: Code) -> Flags:
    """Return for each program whether valid runs were found that take every branch."""
    passes = np.zeros(len(code), dtype=np.bool_)
    _coverable_rows(chance(rng), code.instructions, code.tests, passes)
    return passes


@compiled
def _coverable_rows(state: Chance, code: Ints, tests: Ints, passes: Flags) -> None:
    before, world, left = hidden_rooms(1)
    hidden, room = (state, left[0], before[0]), make_room()
    for row in range(len(code)):
        passes[row] = is_coverable(code[row], tests[row], world[0], hidden, room)
