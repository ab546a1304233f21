"""Measures of arrays and images: size, brightness, edges, connected parts, colours.

An array is a NumPy array, a list of equally long lists of numbers or texts, the bytes of a picture
file (with Pillow), or a text whose lines have equally many cells.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.measures.measure import Measure
from unskew.core.variables.path import is_list

MOST_CELLS = 4_000_000  # of a picture that is measured
_MOST_BYTES = 1 << 26
_MOST_LINES = 4096
_DIGITS = 9  # significant digits of a mean: more depend on the order in which is added
_FILES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"RIFF", b"II*\0", b"MM\0*")


class Picture:
    """One array of cells, rows first. What several measures need is worked out once."""

    def __init__(self, cells: NDArray[Any]) -> None:
        """Take the cells: rows × columns, or rows × columns × channels."""
        self.cells = cells

    @cached_property
    def numbers(self) -> NDArray[Any] | None:
        """The cells as numbers; None if they are none."""
        cells = self.cells
        if cells.dtype.kind not in "biuf":
            return None
        if cells.dtype.kind == "f" and not np.isfinite(cells).all():
            return None
        return cells

    @cached_property
    def coded(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
        """The colours in order, the number of each cell's colour, and how many cells have each.

        A cell of a picture with channels is a colour as a whole.
        """
        if self.cells.ndim == 3:
            flat = np.ascontiguousarray(self.cells.reshape(-1, self.cells.shape[2]))
            colours, codes = np.unique(flat, axis=0, return_inverse=True)
        else:
            colours, codes = np.unique(self.cells, return_inverse=True)
        codes = codes.reshape(self.cells.shape[:2])
        return colours, codes, np.bincount(codes.ravel(), minlength=len(colours))

    @cached_property
    def main(self) -> int:
        """The number of the most frequent colour; the background."""
        return int(self.coded[2].argmax())

    @cached_property
    def filled(self) -> NDArray[np.bool_]:
        """Which cells are not of the background."""
        filled: NDArray[np.bool_] = self.coded[1] != self.main
        return filled

    @cached_property
    def parts(self) -> list[int]:
        """The sizes of the connected parts that are not background; corners do not connect."""
        return _parts(self.filled)


def picture_of(value: Any) -> Picture | None:
    """Return the view of an array or image; None for another value."""
    cells = _cells(value)
    if cells is None or cells.ndim not in (2, 3) or not 0 < cells.size <= MOST_CELLS:
        return None
    if cells.ndim == 3 and cells.shape[0] in (1, 3, 4) and cells.shape[2] > 4:
        cells = np.moveaxis(cells, 0, 2)  # channels first
    if cells.ndim == 3 and cells.shape[2] == 1:
        cells = cells[:, :, 0]
    return Picture(cells)


def _cells(value: Any) -> NDArray[Any] | None:
    if isinstance(value, np.ndarray):
        return _stacked(value.tolist()) if value.dtype == object else value
    if isinstance(value, str):
        return _drawn(value)
    if isinstance(value, bytes):
        return _decoded(value)
    if is_list(value):
        return _stacked(value)
    if hasattr(value, "getbands"):  # an image of Pillow
        return np.asarray(value)
    if isinstance(value, dict) and isinstance(value.get("bytes"), bytes):
        return _decoded(value["bytes"])  # an image as Hugging Face holds it
    return None


def _stacked(rows: Sequence[Any]) -> NDArray[Any] | None:
    """Return a list of equally long lists as an array."""
    if not rows or not all(is_list(row) and len(row) == len(rows[0]) for row in rows):
        return None
    try:
        cells = np.array(rows)
    except ValueError:  # not equally deep
        return None
    return None if cells.dtype.kind not in "biufU" else cells


def _drawn(text: str) -> NDArray[Any] | None:
    """Return the cells of a text whose lines have equally many: of words, or of characters."""
    lines = text.strip("\n").split("\n", _MOST_LINES)
    if not 2 <= len(lines) < _MOST_LINES or len(text) > MOST_CELLS:
        return None
    words = [line.split() for line in lines]
    if len(words[0]) > 1 and all(len(line) == len(words[0]) for line in words):
        return np.array(words)
    if all(len(line) == len(lines[0]) for line in lines):
        return np.array([list(line) for line in lines])
    return None


def _decoded(data: bytes) -> NDArray[Any] | None:
    if not data.startswith(_FILES) or len(data) > _MOST_BYTES:
        return None
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > MOST_CELLS:
                return None
            palette = image.mode in ("P", "1")
            return np.asarray(image.convert("RGB") if palette else image)
    except Exception:  # a damaged file, or one that unpacks to too much
        return None


def _parts(filled: NDArray[np.bool_]) -> list[int]:
    """Return the sizes of connected parts: runs of each row are joined with those above."""
    parent: list[int] = []
    size: list[int] = []

    def root(run: int) -> int:
        while parent[run] != run:
            parent[run] = parent[parent[run]]
            run = parent[run]
        return run

    padded = np.zeros((filled.shape[0], filled.shape[1] + 2), dtype=np.int8)
    padded[:, 1:-1] = filled
    steps = np.diff(padded, axis=1)
    above: list[tuple[int, int, int]] = []
    for row in steps:
        starts, ends = np.flatnonzero(row == 1).tolist(), np.flatnonzero(row == -1).tolist()
        here: list[tuple[int, int, int]] = []
        at = 0
        for start, end in zip(starts, ends, strict=True):
            run = len(parent)
            parent.append(run)
            size.append(end - start)
            here.append((start, end, run))
            while at < len(above) and above[at][1] <= start:
                at += 1
            for first, last, other in above[at:]:
                if first >= end:
                    break
                if first < end and last > start:
                    a, b = root(other), root(run)
                    if a != b:
                        parent[b] = a
                        size[a] += size[b]
        above = here
    return [size[run] for run in range(len(parent)) if parent[run] == run]


def _rounded(number: Any) -> float:
    return float(f"{float(number):.{_DIGITS}g}")


def _numeric(of: Callable[[NDArray[Any]], Any]) -> Callable[[Picture], Hashable]:
    """Return the measure of the cells, rounded, if they are numbers."""

    def measured(picture: Picture) -> Hashable:
        return None if picture.numbers is None else _rounded(of(picture.numbers))

    return measured


def _wanted(picture: Picture, values: Sequence[str]) -> int:
    colours, _, counts = picture.coded
    names = [colour_name(colour) for colour in colours.tolist()]
    return sum(int(n) for name, n in zip(names, counts.tolist(), strict=True) if name in values)


def colour_name(colour: Any) -> str:
    """Return how a colour is written: #ff0000, or the value of the cell."""
    if isinstance(colour, list):
        whole = all(isinstance(part, int) and 0 <= part < 256 for part in colour)
        return "#" + "".join(f"{part:02x}" for part in colour) if whole else str(colour)
    return str(colour)


def _centre(axis: int) -> Callable[[Picture], float | None]:
    """Return the place of the middle of what is filled, from 0 to 1; None for nothing."""

    def centre(picture: Picture) -> float | None:
        filled = picture.filled
        along = filled.sum(axis=1 - axis)
        total, length = int(along.sum()), filled.shape[axis]
        if not total:
            return None
        return _rounded(int((along * (2 * np.arange(length) + 1)).sum()) / (2 * length * total))

    return centre


def _extent(axis: int) -> Callable[[Picture], int]:
    """Return the number of rows or columns from the first to the last with something filled."""

    def extent(picture: Picture) -> int:
        there = np.flatnonzero(picture.filled.any(axis=1 - axis))
        return int(there[-1] - there[0] + 1) if len(there) else 0

    return extent


def _edges(picture: Picture) -> int:
    codes = picture.coded[1]
    return int((codes[1:] != codes[:-1]).sum() + (codes[:, 1:] != codes[:, :-1]).sum())


def _channel(picture: Picture, channel: str) -> float | None:
    numbers, at = picture.numbers, ("red", "green", "blue", "alpha").index(channel)
    if numbers is None or numbers.ndim < 3 or numbers.shape[2] <= at:
        return None
    return _rounded(numbers[:, :, at].mean(dtype=np.float64))


def _brighter(axis: int, names: tuple[str, str]) -> Callable[[Picture], str | None]:
    """Return which half of a picture is brighter."""

    def brighter(picture: Picture) -> str | None:
        numbers = picture.numbers
        if numbers is None or numbers.shape[axis] < 2:
            return None
        half = numbers.shape[axis] // 2
        along = np.moveaxis(numbers, axis, 0).astype(np.float64)
        first, last = _rounded(along[:half].sum()), _rounded(along[-half:].sum())
        return "neither" if first == last else names[first < last]

    return brighter


def _place(axis: int) -> Callable[..., int | None]:
    """Return the row or column of the first cell that is one of some values."""

    def place(picture: Picture, *values: str) -> int | None:
        colours, codes, _ = picture.coded
        wanted = [n for n, colour in enumerate(colours.tolist()) if colour_name(colour) in values]
        there = np.argwhere(np.isin(codes, wanted))
        return int(there[0][axis]) if len(there) else None

    return place


def _numbered(picture: Picture) -> NDArray[np.bool_]:
    """Return which cells hold a number other than 0: of texts, which have such a digit."""
    numbers = picture.numbers
    if numbers is not None:
        there: NDArray[np.bool_] = (
            (numbers != 0) if numbers.ndim == 2 else (numbers != 0).any(axis=2)
        )
        return there
    colours, codes, _ = picture.coded
    digits = [any("0" < c <= "9" for c in colour_name(colour)) for colour in colours.tolist()]
    return np.array(digits, dtype=np.bool_)[codes]


def _number_at(rows: slice) -> Callable[[Picture], str | None]:
    """Return the first cell that holds a number, in the order of the rows."""

    def number(picture: Picture) -> str | None:
        colours, codes, _ = picture.coded
        there = np.flatnonzero(_numbered(picture)[rows])
        if not len(there):
            return None
        name = colour_name(colours[codes[rows].ravel()[there[0]]].tolist())
        return name if picture.numbers is not None else "".join(filter(str.isdigit, name))

    return number


def _touches_edge(picture: Picture) -> bool:
    filled = picture.filled
    return bool(filled[[0, -1]].any() or filled[:, [0, -1]].any())


def _filled_shape(picture: Picture) -> str | None:
    rows, columns = _extent(0)(picture), _extent(1)(picture)
    if not rows:
        return None
    return "wide" if columns > rows else "tall" if columns < rows else "square"


def _quadrant(picture: Picture) -> str | None:
    row, column = _centre(0)(picture), _centre(1)(picture)
    if row is None or column is None:
        return None
    return f"{'upper' if row < 0.5 else 'lower'} {'left' if column < 0.5 else 'right'}"


def _mirrored(axis: int) -> Callable[[Picture], bool]:
    return lambda picture: bool((picture.coded[1] == np.flip(picture.coded[1], axis)).all())


def _of(name: str, doc: str, of: Any, **more: Any) -> Measure:
    return Measure(name, doc, "an array or image", of, picture_of, **more)


MEASURES = (
    _of("shape", "size: rows × columns", lambda p: " × ".join(map(str, p.cells.shape))),
    _of("rows", "number of rows", lambda p: p.cells.shape[0]),
    _of("columns", "number of columns", lambda p: p.cells.shape[1]),
    _of("area", "number of cells", lambda p: p.cells.shape[0] * p.cells.shape[1]),
    _of("brightness", "mean of the cells", _numeric(lambda n: n.mean(dtype=np.float64))),
    _of("contrast", "spread of the cells", _numeric(lambda n: n.std(dtype=np.float64))),
    _of("darkest", "smallest cell", _numeric(np.min)),
    _of("brightest", "largest cell", _numeric(np.max)),
    *(
        _of(f"{name}ness", f"mean of {name}", lambda p, c=name: _channel(p, c))
        for name in ("red", "green", "blue")
    ),
    _of("brighter_half", "brighter half: upper or lower", _brighter(0, ("upper", "lower"))),
    _of("brighter_side", "brighter half: left or right", _brighter(1, ("left", "right"))),
    _of("colours", "number of different cells", lambda p: len(p.coded[2])),
    _of("main_colour", "most frequent cell", lambda p: colour_name(p.coded[0][p.main].tolist())),
    _of(
        "filled_cells",
        "number of cells that are not the most frequent one",
        lambda p: int(p.filled.sum()),
    ),
    _of(
        "filled",
        "share of cells that are not the most frequent one",
        lambda p: _rounded(p.filled.mean()),
    ),
    _of(
        "cells",
        "number of cells that are {}",
        lambda p, *v: _wanted(p, v),
        takes="texts",
        example="cells(world, #)",
    ),
    _of(
        "share",
        "share of cells that are {}",
        lambda p, *v: _rounded(_wanted(p, v) / p.coded[1].size),
        takes="texts",
        example="share(world, #)",
    ),
    _of(
        "numbered",
        "share of cells that hold a number other than 0",
        lambda p: _rounded(_numbered(p).mean()),
    ),
    _of("first_numbered", "first cell that holds a number", _number_at(slice(None))),
    _of(
        "lowest_numbered",
        "first cell that holds a number, from the lowest row",
        _number_at(slice(None, None, -1)),
    ),
    _of("parts", "number of connected parts", lambda p: len(p.parts)),
    _of("largest_part", "cells of the largest connected part", lambda p: max(p.parts, default=0)),
    _of("centre_row", "height of the middle of what is filled: 0 is the top", _centre(0)),
    _of("centre_column", "place of the middle of what is filled: 0 is the left", _centre(1)),
    _of("quadrant", "quarter that holds the middle of what is filled", _quadrant),
    _of("touches_edge", "yes or no: does what is filled touch the edge", _touches_edge),
    _of("filled_shape", "shape of what is filled: wide, tall or square", _filled_shape),
    _of("row_of", "first row with {}", _place(0), takes="texts", example="row_of(world, ^)"),
    _of(
        "column_of",
        "column of the first {}",
        _place(1),
        takes="texts",
        example="column_of(world, ^)",
    ),
    _of("filled_rows", "rows from the first to the last that is filled", _extent(0)),
    _of("filled_columns", "columns from the first to the last that is filled", _extent(1)),
    _of("edges", "number of neighbouring cells that differ", _edges),
    _of("mirrored", "yes or no: is the left the mirror of the right", _mirrored(1)),
    _of("upside_down", "yes or no: is the top the mirror of the bottom", _mirrored(0)),
)
