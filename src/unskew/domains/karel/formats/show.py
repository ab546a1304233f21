"""Karel examples as text for a terminal of any width: whole, or one tick at a time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from unskew.core.errors import UnskewError
from unskew.domains.karel.examples import INPUTS, PROGRAM, example_pairs
from unskew.domains.karel.language.syntax import Line, Program, parse_tokens, readable_lines
from unskew.domains.karel.running.interpreter import Status
from unskew.domains.karel.running.trace import Step, steps
from unskew.domains.karel.world import World, cell_texts, grid_of

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
    listing: list[str] = []
    if PROGRAM in example or INPUTS not in example:  # a problem may have no program yet
        listing = _indented(readable_lines(parse_tokens(example[PROGRAM])), width)
    if INPUTS not in example:  # a table of programs alone
        return "\n".join(listing)
    pairs = enumerate(zip(*example_pairs(example), strict=True), start=1)
    blocks = [[f"pair {number}", *_pair(*pair, width)] for number, pair in pairs]
    return "\n".join([*listing, *_flowed(blocks, width)])


def trace(example: Mapping[str, Any], width: int | None = None) -> Iterator[str]:
    """Yield a frame for each tick of each run: the program with its place, and the world."""
    for name in (PROGRAM, INPUTS):
        if name not in example:
            raise UnskewError(f"the example has no {name}; there is nothing to trace")
    program = parse_tokens(example[PROGRAM])
    for number, (before, after) in enumerate(zip(*example_pairs(example), strict=True), start=1):
        run = list(steps(program, before))
        frames = _Frames(program, before, width or _columns())
        ticks = sum(step.status != Status.OUT_OF_TICKS for step in run)
        yield f"pair {number}, {ticks} ticks\n{frames.draw(None, before)}"
        last = before
        for step in run:
            yield f"{frames.title(step, ticks)}\n{frames.draw(step, last)}"
            last = step.world
        status = run[-1].status if run else Status.OK
        says = "as" if np.array_equal(last, after) and status == Status.OK else "not as"
        yield f"pair {number} ends {says} the example says"


class _Frames:
    """Draws the ticks of one run, all of one shape."""

    def __init__(self, program: Program, world: World, width: int) -> None:
        self._lines = readable_lines(program)
        self._row_of = {line.place: row for row, line in enumerate(self._lines)}
        texts = _indented(self._lines, width - 6)
        left = 6 + max(map(len, texts))
        self._listing = [f"{f'{row:>3}   {text}':<{left}}" for row, text in enumerate(texts, 1)]
        height, cells = grid_of(world).shape
        room = width - left - len(GAP)  # beside the program
        self._beside = NARROW * cells <= room
        self._cell = WIDE if WIDE * cells <= (room if self._beside else width) else NARROW
        self._rows = max(height, MOST_LINES) if self._beside else FEW_LINES

    def title(self, step: Step, ticks: int) -> str:
        """Return which tick it is and what happens in it."""
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
        first = (current or 0) - self._rows // 2
        first = max(0, min(first, len(self._listing) - self._rows))
        listing = self._listing[first : first + self._rows]
        if current is not None:
            text = self._listing[current]
            listing[current - first] = f"{text[:4]}>{text[5:]}"
        picture = _picture(last if step is None else step.world, self._cell, last)
        if self._beside:
            return "\n".join(_joined([listing, picture], GAP))
        return "\n".join(line.rstrip() for line in [*listing, *picture])


def _columns() -> int:
    return shutil.get_terminal_size((PIPED, 24)).columns


def _indented(lines: Sequence[Line], width: int) -> list[str]:
    """Indent by four spaces, or by fewer where the program is too wide."""
    for indent in (4, 3, 2, 1):
        texts = [" " * indent * line.depth + line.text for line in lines]
        if max(map(len, texts)) <= width:
            break
    return texts


def _picture(world: World, cell: int, last: World) -> list[str]:
    """Draw a world, the top row first; cells that differ from the ``last`` world have a star."""
    return [
        "".join(
            (text + ("*" if text != old else " "))[:cell]
            for text, old in zip(row, old_row, strict=True)
        )
        for row, old_row in zip(cell_texts(world)[::-1], cell_texts(last)[::-1], strict=True)
    ]


def _pair(before: World, after: World, width: int) -> list[str]:
    """Set two worlds next to each other, or one below the other if they are too wide."""
    left, right = _picture(before, NARROW, before), _picture(after, NARROW, after)
    if len(left[0]) + len(ARROW) + len(right[0]) > width:
        return [*left, ARROW.strip(), *right]
    middle = (len(left) - 1) // 2
    return _joined([left, [*[""] * middle, ARROW, *[""] * (len(left) - middle - 1)], right], "")


def _flowed(blocks: Sequence[list[str]], width: int) -> Iterator[str]:
    """Lay blocks next to each other, as many as fit, then below."""
    row: list[list[str]] = []
    taken = 0
    for block in blocks:
        block_width = max(map(len, block))
        if row and taken + len(GAP) + block_width > width:
            yield from ("", *_joined(row, GAP))
            row, taken = [], 0
        taken += block_width + (len(GAP) if row else 0)
        row.append(block)
    yield from ("", *_joined(row, GAP))


def _joined(blocks: Sequence[Sequence[str]], gap: str) -> list[str]:
    """Join blocks of lines side by side."""
    widths = [max(map(len, block)) for block in blocks]
    return [
        gap.join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        for row in zip_longest(*blocks, fillvalue="")
    ]
