"""Karel examples as text for a terminal of any width: whole, or one tick at a time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError
from unskew.domains.karel.examples import INPUTS, OUTPUTS, PROGRAM
from unskew.domains.karel.language.syntax import Line, Program, parse_tokens, readable_lines
from unskew.domains.karel.running.interpreter import Status
from unskew.domains.karel.running.trace import Step, steps
from unskew.domains.karel.world import ARROWS, WALL, World, from_bytes, grid_of, hero_of

PIPED = 100  # columns where there is no terminal
ARROW, GAP = "  ->  ", "     "
WIDE, NARROW = 3, 2  # characters a cell, with and without room for a star
MOST_LINES, FEW_LINES = 7, 3  # of the program, beside a smaller world and above one
WHY = {
    Status.WALL: "a wall is in the way",
    Status.NO_MARKER: "no marker is there",
    Status.FULL: "the cell is full",
}


def show(example: Mapping[str, Any], width: int | None = None) -> str:
    """Return an example as text: its program, and its worlds before and after.

    ``width`` is the number of columns. Without it, it is the width of the terminal, or 100.
    """
    width = width or _columns()
    if INPUTS not in example:  # a table of programs alone
        return "\n".join(_indented(readable_lines(parse_tokens(example[PROGRAM])), width))
    befores, afters = _worlds(example)
    pairs = enumerate(zip(befores, afters, strict=True), start=1)
    blocks = [[f"pair {number}", *_pair(*pair, width)] for number, pair in pairs]
    listing = []
    if PROGRAM in example:  # a problem may have none yet
        listing = _indented(readable_lines(parse_tokens(example[PROGRAM])), width)
    return "\n".join([*listing, *_flowed(blocks, width)])


def trace(example: Mapping[str, Any], width: int | None = None) -> Iterator[str]:
    """Yield a frame for each tick of each run: the program with its place, and the world."""
    width = width or _columns()
    program, befores, afters = _parts(example)
    for number, (before, after) in enumerate(zip(befores, afters, strict=True), start=1):
        done = list(steps(program, before))
        frames = _Frames(program, before, width)
        ticks = sum(step.status != Status.OUT_OF_TICKS for step in done)
        yield f"pair {number}, {ticks} ticks\n{frames.draw(None, before)}"
        last = before
        for step in done:
            yield f"{frames.title(step, ticks)}\n{frames.draw(step, last)}"
            last = step.world
        ended = done[-1].status if done else Status.OK
        says = "as" if np.array_equal(last, after) and ended == Status.OK else "not as"
        yield f"pair {number} ends {says} the example says"


class _Frames:
    """Draws the ticks of one run, all of one shape."""

    def __init__(self, program: Program, world: World, width: int) -> None:
        self._lines = readable_lines(program)
        self._row_of = {line.place: row for row, line in enumerate(self._lines)}
        self._listing = [
            f"{row:>3}   {text}"
            for row, text in enumerate(_indented(self._lines, width - 6), start=1)
        ]
        self._left = max(map(len, self._listing))
        height, cells = grid_of(world).shape
        self._cell = WIDE
        self._beside = self._left + len(GAP) + WIDE * cells <= width
        if not self._beside:
            self._beside = self._left + len(GAP) + NARROW * cells <= width
            fits = WIDE * cells <= width and not self._beside
            self._cell = WIDE if fits else NARROW
        self._rows = max(height, MOST_LINES) if self._beside else FEW_LINES

    def title(self, step: Step, ticks: int) -> str:
        """Say which tick it is and what happens in it."""
        text = self._lines[self._row_of[step.place]].text.rstrip(":")
        if step.status == Status.OUT_OF_TICKS:
            return f"no tick is left for {text}"
        if step.outcome is not None:
            text += " is true" if step.outcome else " is false"
        if step.status != Status.OK:
            text += f" fails: {WHY[step.status]}"
        return f"tick {step.tick} of {ticks}: {text}"

    def draw(self, step: Step | None, last: World) -> str:
        """Draw the program around its current line, and the world; what changed has a star."""
        current = None if step is None else self._row_of[step.place]
        listing = [
            f"{text[:4]}>{text[5:]}" if row == current else text
            for row, text in enumerate(self._listing)
        ]
        first = max(0, min((current or 0) - self._rows // 2, len(listing) - self._rows))
        listing = listing[first : first + self._rows]
        world = last if step is None else step.world
        picture = _picture(world, self._cell, last)
        if not self._beside:
            return "\n".join([*listing, *picture])
        return _beside(listing, picture, GAP, self._left)


def _parts(example: Mapping[str, Any]) -> tuple[Program, NDArray[np.uint8], NDArray[np.uint8]]:
    missing = [name for name in (PROGRAM, INPUTS) if name not in example]
    if missing:
        raise UnskewError(f"the example has no {missing[0]}; there is nothing to trace")
    return parse_tokens(example[PROGRAM]), *_worlds(example)


def _worlds(example: Mapping[str, Any]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    befores, afters = from_bytes(example[INPUTS]), from_bytes(example[OUTPUTS])
    if len(befores) != len(afters):
        raise UnskewError(
            f"the example has {len(befores)} inputs and {len(afters)} outputs; give pairs"
        )
    return befores, afters


def _columns() -> int:
    return shutil.get_terminal_size((PIPED, 24)).columns


def _indented(lines: Sequence[Line], width: int) -> list[str]:
    """Indent by four spaces, or by fewer where the program is too wide."""
    for indent in (4, 3, 2, 1):
        texts = [" " * indent * line.depth + line.text for line in lines]
        if max(map(len, texts)) <= width:
            break
    return texts


def _picture(world: World, cell: int, last: World | None = None) -> list[str]:
    """Draw a world, the top row first; cells that were drawn otherwise before have a star."""
    texts = _cells(world)
    before = texts if last is None else _cells(last)
    lines = []
    for row, old in zip(reversed(texts), reversed(before), strict=True):
        line = ""
        for text, was in zip(row, old, strict=True):
            line += (text + ("*" if text != was else " "))[:cell]
        lines.append(line.rstrip())
    return lines


def _cells(world: World) -> list[list[str]]:
    """Return each cell's two characters, Karel's arrow and what lies there; row 0 first."""
    r, c, facing = hero_of(world)
    contents = [
        [" #" if value == WALL else f" {value or '.'}" for value in row]
        for row in grid_of(world).tolist()
    ]
    contents[r][c] = ARROWS[facing] + contents[r][c][1]
    return contents


def _pair(before: World, after: World, width: int) -> list[str]:
    """Set two worlds next to each other, or below where they are too wide for that."""
    left, right = _picture(before, NARROW), _picture(after, NARROW)
    wide = NARROW * grid_of(before).shape[1]
    if wide + len(ARROW) + max(map(len, right)) > width:
        return [*left, ARROW.strip(), *right]
    middle = (len(left) - 1) // 2
    gaps = [ARROW if row == middle else " " * len(ARROW) for row in range(len(left))]
    rows = zip_longest(left, gaps, right, fillvalue="")
    return [f"{row:<{wide}}{gap}{other}".rstrip() for row, gap, other in rows]


def _flowed(blocks: Sequence[list[str]], width: int) -> Iterator[str]:
    """Lay blocks next to each other, as many as fit, then below."""
    row: list[list[str]] = []
    taken = 0
    for block in blocks:
        wide = max(map(len, block))
        if row and taken + len(GAP) + wide > width:
            yield from ("", *_together(row))
            row, taken = [], 0
        taken += wide + (len(GAP) if row else 0)
        row.append(block)
    yield from ("", *_together(row))


def _together(blocks: Sequence[list[str]]) -> Iterator[str]:
    widths = [max(map(len, block)) for block in blocks]
    for parts in zip_longest(*blocks, fillvalue=""):
        yield GAP.join(f"{part:<{w}}" for part, w in zip(parts, widths, strict=True)).rstrip()


def _beside(left: Sequence[str], right: Sequence[str], gap: str, width: int) -> str:
    rows = zip_longest(left, right, fillvalue="")
    return "\n".join(f"{row:<{width}}{gap}{other}".rstrip() for row, other in rows)
