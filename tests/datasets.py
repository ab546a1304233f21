"""Datasets for tests: what a folder holds, and runs in which something happens on the way."""

import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np

from unskew.datasets.engines.work import Arrays, Engine, Work
from unskew.datasets.workers.parts import answering
from unskew.io.location import sha256


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, hidden files too."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def finished_contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, but not what a killed writer left half-written."""
    files = contents(folder)
    return {name: data for name, data in files.items() if not name.endswith(".part")}


def edit_json(path: Path, change: Callable[[Any], object]) -> None:
    """Change what a JSON file holds."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def agree_with_part(folder: Path, number: int) -> None:
    """Write the checksum of a part that was changed into the manifest, as a careful hand would."""

    def change(manifest: Any) -> None:
        part = manifest["parts"][number]
        part["sha256"] = sha256(folder / part["file"])

    edit_json(folder / "manifest.json", change)


def one_by_one(before: Callable[[int], object]) -> Engine:
    """Return an engine that makes parts in this process and calls ``before`` ahead of each."""

    def engine(work: Work) -> Generator[tuple[int, Arrays], None, None]:
        make = answering(work.task)
        for index in work.numbers:
            before(index)
            make(index)
            yield index, ()

    return engine


# What to do when ``digit`` is drawn the next time: a test acts in the middle of a part.
AT_THE_NEXT_DRAW: list[Callable[[], object]] = []


def digit(rng: np.random.Generator) -> int:
    """Draw a digit. The source is ``tests.datasets:digit``."""
    while AT_THE_NEXT_DRAW:
        AT_THE_NEXT_DRAW.pop()()
    return int(rng.integers(10))
