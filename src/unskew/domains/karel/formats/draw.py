"""Karel worlds and examples as SVG: no script, no style sheet, nothing loaded.

Lines and text have the text colour of their page (``currentColor``), so a drawing is light or dark
like the page. Markers and Karel have colours that show on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from unskew.core.arrays import Bytes
from unskew.domains.karel.examples import PROGRAM, example_pairs
from unskew.domains.karel.language.syntax import parse_tokens, readable_lines
from unskew.domains.karel.world import DIRECTIONS, WALL, World, grid_of, hero_of

KAREL, MARKER, ON_MARKER = "#2f86c6", "#e69f00", "#1b1f24"
LARGE, SMALL, LARGE_SIDE = 18.0, 13.0, 8  # a cell; worlds of more cells a side are drawn smaller
MOST_WIDE = 880.0  # a drawing is wider only if one pair is
FONT, LETTER, LINE = 13.0, 7.8, 18.0  # monospace: size, width of a letter, height of a line
ARROW, GAP, TITLE = 28.0, 32.0, 18.0  # between worlds, between pairs, above a pair
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"


def world_svg(world: World, cell: float = LARGE) -> str:
    """Return a world as the text of an SVG file. ``cell`` is the side of a cell."""
    height, width = grid_of(world).shape
    return _svg(width * cell, height * cell, _described(world), [_world(world, cell)])


def example_svg(example: Mapping[str, Any]) -> str:
    """Return an example as the text of an SVG file: its program, and its worlds."""
    program = parse_tokens(example[PROGRAM])
    lines = readable_lines(program)
    listing = [(4 * line.depth, line.text) for line in lines]
    text_width = max(indent + len(text) for indent, text in listing) * LETTER
    blocks = _pairs(*example_pairs(example))
    # The pairs stand beside the program if one pair has room there, else below it.
    beside = text_width + GAP + max(width for width, _, _ in blocks) <= MOST_WIDE
    left = text_width + GAP if beside else 0.0
    top = 0.0 if beside else len(listing) * LINE + GAP / 2
    placed, right, bottom = _flowed(blocks, left, top)
    size = (max(right, text_width), max(bottom, len(listing) * LINE))
    title = f"A program of {len(lines) - 1} lines and {len(blocks)} pairs of worlds"
    return _svg(*size, title, [_listing(listing), *placed])


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    margin = 2.0
    box = f"{-margin:g} {-margin:g} {width + 2 * margin:g} {height + 2 * margin:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" '
        f'width="{width + 2 * margin:g}" height="{height + 2 * margin:g}" fill="currentColor" '
        f'font-family="{SANS}" font-size="{FONT:g}"><title>{escape(title)}</title>\n'
        + "\n".join(parts)
        + "\n</svg>"
    )


def _listing(lines: Sequence[tuple[int, str]]) -> str:
    """Write the program; indent by position, as SVG drops spaces."""
    texts = "".join(
        f'<text x="{indent * LETTER:g}" y="{(row + 0.72) * LINE:g}">{escape(text)}</text>'
        for row, (indent, text) in enumerate(lines)
    )
    return f'<g font-family="{MONO}">{texts}</g>'


def _pairs(befores: Bytes, afters: Bytes) -> list[tuple[float, float, str]]:
    """Draw each pair; return its width, its height and the drawing."""
    most = max(max(grid_of(world).shape) for world in befores)
    cell = LARGE if most <= LARGE_SIDE else SMALL
    blocks = []
    for number, (before, after) in enumerate(zip(befores, afters, strict=True), start=1):
        height, width = (side * cell for side in grid_of(before).shape)
        middle = TITLE + height / 2
        drawn = (
            f'<text y="{TITLE * 0.6:g}" font-size="12" opacity=".65">pair {number}</text>'
            + _at(0, TITLE, _world(before, cell, f"Pair {number} before: "))
            + f'<path d="M{width + 6:g} {middle:g}h14m-5 -4l5 4l-5 4" fill="none" '
            'stroke="currentColor" stroke-width="1.5" opacity=".65" aria-hidden="true"/>'
            + _at(width + ARROW, TITLE, _world(after, cell, f"Pair {number} after: "))
        )
        wide, high = (side * cell for side in reversed(grid_of(after).shape))
        blocks.append((width + ARROW + wide, TITLE + max(height, high), drawn))
    return blocks


def _flowed(
    blocks: Sequence[tuple[float, float, str]], left: float, top: float
) -> tuple[list[str], float, float]:
    """Lay pairs next to each other, as many as fit, then below; return where they end."""
    placed: list[str] = []
    x, y, right, tallest = left, top, left, 0.0
    for width, height, drawn in blocks:
        if x > left and x + width > MOST_WIDE:
            x, y, tallest = left, y + tallest + GAP / 2, 0.0
        placed.append(_at(x, y, drawn))
        x, right, tallest = x + width + GAP, max(right, x + width), max(tallest, height)
    return placed, right, y + tallest


def _world(world: World, cell: float, name: str = "") -> str:
    """Draw the grid, its walls and markers, and Karel, from the upper left corner."""
    grid = grid_of(world)
    height, width = grid.shape
    row, column, facing = hero_of(world)
    parts = [_lines(height, width, cell)]
    for r in range(height):
        for c, value in enumerate(grid[r].tolist()):
            x, y, is_karel = c * cell, (height - 1 - r) * cell, (r, c) == (row, column)
            if value == WALL:
                parts.append(f'<path d="M{x:g} {y:g}h{cell:g}v{cell:g}h{-cell:g}z" opacity=".72"/>')
            if is_karel:
                parts.append(_karel(x, y, cell, facing, small=value > 0))
            if 0 < value < WALL:
                parts.append(_marker(x, y, cell, value, small=is_karel))
    return f'<g role="img"><title>{name}{_described(world)}</title>{"".join(parts)}</g>'


def _lines(height: int, width: int, cell: float) -> str:
    high, wide = height * cell, width * cell
    inner = "".join(f"M{c * cell:g} 0v{high:g}" for c in range(1, width))
    inner += "".join(f"M0 {r * cell:g}h{wide:g}" for r in range(1, height))
    return (
        f'<path d="{inner}" fill="none" stroke="currentColor" stroke-width=".75" opacity=".2"/>'
        f'<rect width="{wide:g}" height="{high:g}" fill="none" stroke="currentColor" '
        'stroke-width="1.25" opacity=".6"/>'
    )


def _marker(x: float, y: float, cell: float, count: int, small: bool) -> str:
    """Draw markers as a disc with their number; where Karel stands, in a corner."""
    radius = cell * (0.29 if small else 0.38)
    x, y = (x + cell - radius, y + radius) if small else (x + cell / 2, y + cell / 2)
    size = radius * 1.7
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{MARKER}"/>'
        f'<text x="{x:g}" y="{y + size * 0.36:g}" font-size="{size:g}" font-weight="600" '
        f'text-anchor="middle" fill="{ON_MARKER}">{count}</text>'
    )


def _karel(x: float, y: float, cell: float, facing: int, small: bool) -> str:
    """Draw Karel as an arrowhead that points where it looks; on markers, away from their disc."""
    x, y = (x + 0.36 * cell, y + 0.62 * cell) if small else (x + cell / 2, y + cell / 2)
    size = cell * (0.8 if small else 1)
    tip, back, side, notch = (part * size for part in (-0.43, 0.35, 0.34, 0.18))
    shape = f"M0 {tip:g}L{side:g} {back:g}L0 {notch:g}L{-side:g} {back:g}z"
    return (
        f'<path d="{shape}" fill="{KAREL}" transform="translate({x:g} {y:g}) '
        f'rotate({90 * facing})"/>'
    )


def _at(x: float, y: float, drawn: str) -> str:
    return f'<g transform="translate({x:g} {y:g})">{drawn}</g>' if x or y else drawn


def _described(world: World) -> str:
    grid = grid_of(world)
    row, column, facing = hero_of(world)
    walls = int((grid == WALL).sum())
    markers = int(grid[grid != WALL].sum())
    return (
        f"{grid.shape[0]} × {grid.shape[1]} cells, {walls} walls, {markers} markers, Karel in row "
        f"{row + 1} from below, column {column + 1}, facing {DIRECTIONS[facing]}"
    )
