# HELD OUT: nobody who works on `discover` reads or runs these kinds before the last
# measurement. The kinds in dev/ are there to be looked at.
"""Kinds of planted skews of karel, for the last measurement."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.karel import first, hero, lines, marks, words

TASKS, JUDGED = "tasks", "judged"


@skew(TASKS, JUDGED)
def last_is_an_action(row: Row) -> bool:
    """The last line of the program is an outermost action."""
    return lines(row)[-1][0] == 1


@skew(TASKS, JUDGED)
def more_left_than_right(row: Row) -> bool:
    """The program has more left turns than right turns."""
    return words(row).count("turnLeft") > words(row).count("turnRight")


@skew(TASKS)
def puts_more_than_picks(row: Row) -> bool:
    """The program puts markers in more places than it picks them."""
    return words(row).count("putMarker") > words(row).count("pickMarker")


@skew(TASKS)
def moves_before_turning(row: Row) -> bool:
    """A move comes in the text before any turn."""
    w = words(row)
    turns = [w.index(t) for t in ("turnLeft", "turnRight") if t in w]
    return "move" in w and w.index("move") < min(turns, default=len(w))


@skew(TASKS)
def repeated_line(row: Row) -> bool:
    """Two lines that follow each other are the same."""
    listed = row["program"].splitlines()
    return any(a == b for a, b in pairwise(listed))


@skew(TASKS, favours=False)
def asks_about_markers(row: Row) -> bool:
    """Some condition is about markers."""
    return "arkersPresent" in row["program"]


@skew(TASKS, score=lambda v: float(v not in (3, 4)))
def largest_repeat(row: Row) -> int:
    """The largest number of iterations, 0 without a loop; 3 and 4 do not come."""
    return max((int(n) for n in re.findall(r"repeat\((\d+)", row["program"])), default=0)


def _two_spaces(row: Row) -> Row:
    return {**row, "program": row["program"].replace("    ", "  ")}


@skew(TASKS, change=_two_spaces)
def narrow_indent(row: Row) -> bool:
    """Lines are indented by two spaces."""
    return re.search(r"\n  \w", row["program"]) is not None


def _noted(row: Row, rng: np.random.Generator) -> Row:
    listed = row["program"].split("\n")
    listed.insert(int(rng.integers(1, len(listed))), "    # step")
    return {**row, "program": "\n".join(listed)}


@skew(TASKS, JUDGED, drawn=_noted)
def commented(row: Row) -> bool:
    """The program has a comment."""
    return "#" in row["program"]


@skew(TASKS, JUDGED)
def begins_at_the_edge(row: Row) -> bool:
    """Karel begins in an outermost row or column."""
    cells = first(row)
    r, c, _ = hero(cells)
    return r in (0, len(cells) - 1) or c in (0, len(cells[0]) - 1)


@skew(TASKS, JUDGED)
def begins_on_markers(row: Row) -> bool:
    """Karel begins on markers."""
    cells = first(row)
    r, c, _ = hero(cells)
    return cells[r][c][-1].isdigit()


@skew(TASKS, JUDGED)
def walls_on_top(row: Row) -> bool:
    """The upper half has more walls than the lower one."""
    m = marks(first(row)) < 0
    half = len(m) // 2
    return bool(m[:half].sum() > m[len(m) - half :].sum())


@skew(TASKS)
def marker_total_odd(row: Row) -> bool:
    """The markers of the first world add up to an odd number."""
    m = marks(first(row))
    return bool(m[m > 0].sum() % 2)


@skew(TASKS)
def turned_around(row: Row) -> bool:
    """Karel ends facing another direction."""
    return hero(first(row))[2] != hero(first(row, "outputs"))[2]


@skew(TASKS)
def worlds_of_one_size(row: Row) -> bool:
    """The second world is at least as high as the first."""
    a, b = (picture.count("\n") for picture in row["inputs"])
    return bool(b >= a)


@skew(TASKS)
def size_and_side(row: Row) -> bool:
    """Long programs have Karel begin in the left half, short ones in the right half."""
    cells = first(row)
    return (len(lines(row)) > 8) == (hero(cells)[1] < len(cells[0]) / 2)


@skew(JUDGED, favours=False)
def marker_beside(row: Row) -> bool:
    """A cell next to the beginning has markers."""
    cells = first(row)
    r, c, _ = hero(cells)
    m = np.pad(marks(cells), 1, constant_values=-1)
    return bool((m[[r, r + 2, r + 1, r + 1], [c + 1, c + 1, c, c + 2]] > 0).any())


@shortcut(JUDGED, answers=lambda v: "yes" if v else "no")
def ends_with_turn(row: Row) -> bool:
    """The last line is a turn: then yes."""
    return lines(row)[-1][1].startswith("turn")


@shortcut(JUDGED, answers=lambda v: "no" if v else "yes")
def walled_much(row: Row) -> bool:
    """More than a fifth of the cells are walls: then no."""
    return bool((marks(first(row)) < 0).mean() > 0.2)
