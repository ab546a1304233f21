"""Karel: programs that are drawn evenly, on worlds whose walls and markers vary evenly."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from bench.discover.kinds import Row
from unskew.core.arrays import Bytes
from unskew.domains.karel import Status, parse, run, to_picture
from unskew.domains.karel.language.tokens import stacked
from unskew.domains.karel.world import BYTES, FACING, HEIGHT, POSITION, SIDE, WALL, WIDTH

ACTIONS = ("move", "turnLeft", "turnRight", "pickMarker", "putMarker")
TESTS = ("frontIsClear", "leftIsClear", "rightIsClear", "markersPresent", "noMarkersPresent")
TRIED, SIZES = 48, (4, 13)  # worlds for each program; side of a world


def block(rng: np.random.Generator, size: int, depth: int) -> list[str]:
    """Return the lines of a block with about ``size`` statements."""
    lines: list[str] = []
    while size > 0:
        if size < 2 or depth >= 3 or rng.random() < 0.55:
            lines.append(f"{ACTIONS[rng.integers(5)]}()")
            size -= 1
            continue
        inner = int(rng.integers(1, size))
        word = ("repeat", "if", "ifelse", "while")[rng.integers(4)]
        test = f"{('', 'not ')[rng.integers(2)]}{TESTS[rng.integers(5)]}()"
        head = f"repeat({rng.integers(2, 7)}):" if word == "repeat" else f"{word[:5]}({test}):"
        if word == "ifelse":
            head = f"if({test}):"
        lines += [head, *("    " + line for line in block(rng, inner, depth + 1))]
        if word == "ifelse":
            other = block(rng, int(rng.integers(1, 3)), depth + 1)
            lines += ["else:", *("    " + line for line in other)]
        size -= inner + 1
    return lines


def worlds(rng: np.random.Generator, n: int) -> Bytes:
    """Return packed worlds: sides, shares of walls and of markers, place and direction even."""
    result = np.full((n, BYTES), WALL, dtype=np.uint8)
    for world in result:
        height, width = rng.integers(*SIZES, size=2).tolist()
        cells = np.zeros((height, width), dtype=np.uint8)
        cells[rng.random((height, width)) < rng.uniform(0, 0.6)] = 1
        cells *= rng.integers(1, 10, (height, width)).astype(np.uint8)
        cells[rng.random((height, width)) < rng.uniform(0, 0.4)] = WALL
        row, column = int(rng.integers(height)), int(rng.integers(width))
        cells[row, column] = 0 if rng.random() < 0.5 else rng.integers(1, 9)
        world[: SIDE * SIDE].reshape(SIDE, SIDE)[:height, :width] = cells
        world[HEIGHT], world[WIDTH] = height, width
        world[POSITION], world[FACING] = row * SIDE + column, rng.integers(4)
    return result


def tasks(rng: np.random.Generator, n: int) -> list[Row]:
    """Return programs with two worlds before and after each."""
    return _rows(rng, n, 2)


def judged(rng: np.random.Generator, n: int) -> list[Row]:
    """Return programs with a world before and one that may be after it: yes or no, evenly.

    In a wrong world Karel faces another direction.
    """
    rows = []
    for row in _rows(rng, n, 1):
        before, after = row["inputs"][0], row["outputs"][0]
        right = bool(rng.random() < 0.5)
        if not right:
            after = turned(after, int(rng.integers(1, 4)))
        answer = "yes" if right else "no"
        rows.append({"program": row["program"], "before": before, "after": after, "answer": answer})
    return rows


def turned(picture: str, quarters: int) -> str:
    """Return a picture in which Karel is turned to the right."""
    return re.sub(r"[\^>v<]", lambda m: "^>v<"[("^>v<".index(m[0]) + quarters) % 4], picture)


def _rows(rng: np.random.Generator, n: int, pairs: int) -> list[Row]:
    rows: list[Row] = []
    pool = worlds(rng, 4096)
    while len(rows) < n:
        texts = [_program(rng) for _ in range(512)]
        programs = stacked([parse(text) for text in texts])
        before = pool[rng.integers(len(pool), size=512 * TRIED)]
        runs = run(programs, before, max_ticks=400)
        fine = (runs.status == Status.OK).reshape(512, TRIED)
        for i, text in enumerate(texts):
            chosen = i * TRIED + np.flatnonzero(fine[i])[:pairs]
            if len(chosen) == pairs:
                rows.append(_row(text, before[chosen], runs.worlds[chosen]))
    return rows[:n]


def _program(rng: np.random.Generator) -> str:
    lines = block(rng, int(rng.integers(2, 11)), 0)
    return "\n".join(["def main():", *("    " + line for line in lines)])


def _row(text: str, before: Bytes, after: Bytes) -> Row:
    return {
        "program": text,
        "inputs": [to_picture(world) for world in before],
        "outputs": [to_picture(world) for world in after],
    }


def lines(row: Row) -> list[tuple[int, str]]:
    """Return the depth and the text of each line below the first."""
    below = row["program"].splitlines()[1:]
    return [((len(line) - len(line.lstrip())) // 4, line.strip()) for line in below]


def words(row: Row) -> list[str]:
    """Return the keywords and actions of a program, in order."""
    return re.findall(r"[A-Za-z]+", row["program"].split("\n", 1)[1])


def first(row: Row, which: str = "inputs") -> list[list[str]]:
    """Return the cells of the first world before or after, the top row first."""
    single = {"inputs": "before", "outputs": "after"}[which]
    picture = row[which][0] if which in row else row[single]
    return [line.split() for line in picture.splitlines()]


def hero(cells: list[list[str]]) -> tuple[int, int, int]:
    """Return Karel's row from the top, its column, and its direction, 0 to 3 from north."""
    for r, line in enumerate(cells):
        for c, cell in enumerate(line):
            if cell[0] in "^>v<":
                return r, c, "^>v<".index(cell[0])
    raise ValueError("a world without Karel")


def marks(cells: list[list[str]]) -> NDArray[np.int64]:
    """Return the number of markers of each cell; −1 for a wall."""
    codes = {".": 0, "#": -1}
    return np.array(
        [[codes[c[-1]] if c[-1] in codes else int(c[-1]) for c in line] for line in cells]
    )


VARIANTS = {"tasks": tasks, "judged": judged}
