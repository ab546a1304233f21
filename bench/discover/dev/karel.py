"""Kinds of planted skews of karel, for improving `discover`."""

from __future__ import annotations

import re

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.karel import first, hero, lines, marks, words

TASKS, JUDGED = "tasks", "judged"


@skew(TASKS, JUDGED)
def begins_with_control(row: Row) -> bool:
    """The first statement is a loop or a condition."""
    return lines(row)[0][1].endswith(":")


@skew(TASKS)
def negated_test(row: Row) -> bool:
    """Some condition is negated."""
    return "not" in words(row)


@skew(TASKS, JUDGED)
def lines_even(row: Row) -> bool:
    """The program has an even number of lines."""
    return len(lines(row)) % 2 == 0


@skew(TASKS)
def indented_line_first_deeper(row: Row) -> bool:
    """The deepest line is in the first half of the program."""
    depths = [depth for depth, _ in lines(row)]
    return depths.index(max(depths)) < len(depths) / 2


def _spelled(row: Row) -> Row:
    return {**row, "program": row["program"].replace("main", "run", 1)}


@skew(TASKS, JUDGED, change=_spelled)
def called_run(row: Row) -> bool:
    """The program is called run."""
    return bool(row["program"].startswith("def run"))


@skew(TASKS, JUDGED, score=lambda v: float(v == 1))
def faces_at_first(row: Row) -> int:
    """The direction that Karel faces at the beginning."""
    return hero(first(row))[2]


@skew(TASKS, JUDGED)
def begins_in_lower_half(row: Row) -> bool:
    """Karel begins in the lower half of the world."""
    cells = first(row)
    return hero(cells)[0] >= len(cells) / 2


@skew(TASKS)
def wide_world(row: Row) -> bool:
    """The first world is wider than high."""
    cells = first(row)
    return len(cells[0]) > len(cells)


@skew(TASKS, JUDGED)
def corner_walled(row: Row) -> bool:
    """at least one corner of the first world is a wall"""
    m = marks(first(row))
    return bool((m[[0, 0, -1, -1], [0, -1, 0, -1]] < 0).any())


@skew(TASKS, favours=False)
def a_nine(row: Row) -> bool:
    """Some cell of the first world has nine markers."""
    return bool((marks(first(row)) == 9).any())


@skew(TASKS, JUDGED)
def faces_a_wall(row: Row) -> bool:
    """Karel begins in front of a wall or of the edge."""
    cells = first(row)
    r, c, d = hero(cells)
    r, c = r + (-1, 0, 1, 0)[d], c + (0, 1, 0, -1)[d]
    return not (0 <= r < len(cells) and 0 <= c < len(cells[0])) or cells[r][c] == "#"


@skew(TASKS, favours=False)
def ends_elsewhere(row: Row) -> bool:
    """Karel ends in another cell than it begins in."""
    return hero(first(row))[:2] != hero(first(row, "outputs"))[:2]


@skew(TASKS)
def markers_changed(row: Row) -> bool:
    """The number of markers in the first world changes."""
    before, after = marks(first(row)), marks(first(row, "outputs"))
    return bool((before != after).any())


@skew(TASKS)
def worlds_face_alike(row: Row) -> bool:
    """Karel faces north or east in both worlds, or in none of them."""
    faces = [re.search(r"[\^>v<]", p)[0] in "^>" for p in row["inputs"]]  # type: ignore[index]
    return faces[0] == faces[1]


@skew(JUDGED)
def control_and_north(row: Row) -> bool:
    """The program has a loop if and only if Karel begins facing north or south."""
    return ("repeat" in row["program"] or "while" in row["program"]) == (
        hero(first(row))[2] % 2 == 0
    )


@shortcut(JUDGED, answers=lambda v: "yes" if v else "no")
def ends_facing_east_or_west(row: Row) -> bool:
    """Karel faces east or west in the world after: then yes."""
    return hero(first(row, "outputs"))[2] % 2 == 1


@shortcut(JUDGED, answers=lambda v: "yes" if v else "no")
def high_world(row: Row) -> bool:
    """The world has more than seven rows: then yes."""
    return len(first(row)) > 7


@shortcut(JUDGED, answers=lambda v: "no" if v else "yes")
def has_a_while(row: Row) -> bool:
    """The program has a while loop: then no."""
    return "while" in words(row)


@shortcut(JUDGED, answers=lambda v: "yes" if v else "no")
def top_left_free(row: Row) -> bool:
    """The top left cell has neither wall nor markers: then yes."""
    return first(row)[0][0][-1] == "."
