"""Looking a dataset over: is it what its recipe and its manifest say, and clear of others?"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.batch import Batch
from unskew.dataset import MANIFEST, Dataset, read_parquet
from unskew.domain import Domain
from unskew.errors import UnskewError
from unskew.keys import excluded_keys, key_hashes, split_of
from unskew.names import domain_of
from unskew.recipe import Recipe
from unskew.rowhash import row_hashes
from unskew.store import Place, files_below, plain_errors, sha256
from unskew.streams import stream

RECHECKED = 200  # rows that are worked out again, slowly


@dataclass
class Verified:
    """What was found: faults, and facts that are none."""

    rows: int = 0
    rechecked: int = 0
    repeated_rows: int = 0
    repeated_keys: int = 0
    faults: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "rows": self.rows,
            "rechecked": self.rechecked,
            "repeated_rows": self.repeated_rows,
            "repeated_keys": self.repeated_keys,
            "faults": self.faults,
        }


def verify(
    folder: str | Place,
    against: Sequence[str] = (),
    *,
    make: Callable[[Recipe, int], Batch],
    advance: Callable[[int], None] = lambda _: None,
) -> Verified:
    """Check files, rows and keys; ``against`` names datasets that must share no key with it."""
    dataset = Dataset.open(folder)
    found = Verified()
    whole = _check_files(dataset, found)
    domain = domain_of(dataset.recipe.source)
    keys: dict[str, list[NDArray[np.uint64]]] = {}
    rows: list[NDArray[np.uint64]] = []
    schema = None
    for part in whole:
        split = part.name.rsplit("-", 3)[0]
        for batch in read_parquet(part):
            names = tuple(batch.columns)
            schema = schema or names
            if names != schema:
                found.faults.append(f"{part.name}: columns {names}, elsewhere {schema}")
            found.rows += len(batch)
            rows.append(row_hashes(batch))
            keys.setdefault(split, []).append(key_hashes(batch, domain))
            _check_rows(batch, domain, part.name, found)
            advance(len(batch))
    found.repeated_rows = _repeats(rows)
    found.repeated_keys = sum(_repeats(hashes) for hashes in keys.values())
    _check_keys(dataset.recipe, keys, found)
    for name in (*dataset.recipe.exclude, *against):
        _check_leak(name, dataset.recipe.source, keys, make, found)
    return found


def _check_files(dataset: Dataset, found: Verified) -> list[Place]:
    """Compare the files with the manifest; return those that can be read."""
    manifest = json.loads((dataset.folder / MANIFEST).read_text(encoding="utf-8"))
    if manifest["recipe"] != dataset.recipe.hash:
        found.faults.append(f"{MANIFEST} is of another recipe than recipe.json")
    named = {part["file"]: part for part in manifest["parts"]}
    data = dataset.folder / "data"
    files = [path for path in files_below(data) if path == data / path.name]
    there = {f"data/{path.name}" for path in files if path.suffix == ".parquet"}
    found.faults += [f"{name} is not in {MANIFEST}" for name in sorted(there - set(named))]
    whole = []
    for name, facts in named.items():
        path = dataset.folder / name
        if name not in there:
            found.faults.append(f"{name} is missing")
            continue
        with plain_errors(path, reading=True):
            checksum = sha256(path)
        if checksum == facts["sha256"]:
            whole.append(path)
        else:
            found.faults.append(f"{name} is not what its checksum says")
    return whole


def _check_rows(batch: Batch, domain: Domain | None, name: str, found: Verified) -> None:
    """Check every row as the domain does, and a few of them again, slowly."""
    if domain is None:
        return
    try:
        wrong = np.flatnonzero(~domain.check(batch))
        if len(wrong):
            found.faults.append(f"{name}: {len(wrong)} rows are wrong, the first is {wrong[0]}")
        if domain.recheck is None or found.rechecked >= RECHECKED:
            return
        picked = stream(0, "verify", name).permutation(len(batch))[: RECHECKED - found.rechecked]
        for row in picked.tolist():
            found.rechecked += 1
            if not domain.recheck(next(batch.slice(row, 1).examples())):
                found.faults.append(f"{name}: row {row} comes out otherwise when worked out again")
    except UnskewError as error:
        found.faults.append(f"{name}: {error}")


def _repeats(hashes: Sequence[NDArray[np.uint64]]) -> int:
    every = np.concatenate(hashes) if hashes else np.empty(0, np.uint64)
    return len(every) - len(np.unique(every))


def _check_keys(recipe: Recipe, keys: dict[str, list[NDArray[np.uint64]]], found: Verified) -> None:
    """Check that no key is in two splits, each in its own, and none twice where none may be."""
    joined = {split: np.unique(np.concatenate(hashes)) for split, hashes in keys.items()}
    names = sorted(joined)
    for i, split in enumerate(names):
        for other in names[i + 1 :]:
            shared = len(np.intersect1d(joined[split], joined[other]))
            if shared:
                found.faults.append(f"{shared} keys are in both {split} and {other}")
        if recipe.splits and split in recipe.splits:
            number = list(recipe.splits).index(split)
            astray = int((split_of(joined[split], recipe) != number).sum())
            if astray:
                found.faults.append(f"{astray} keys in {split} belong to another split")
    if recipe.distinct and found.repeated_keys:
        found.faults.append(f"{found.repeated_keys} keys repeat in a dataset of distinct ones")


def _check_leak(
    name: str,
    source: str,
    keys: dict[str, list[NDArray[np.uint64]]],
    make: Callable[[Recipe, int], Batch],
    found: Verified,
) -> None:
    other = excluded_keys(name, make, source)
    for split, hashes in keys.items():
        shared = len(np.intersect1d(np.concatenate(hashes), other))
        if shared:
            found.faults.append(f"{shared} keys of {split} are also in {name}")
