"""Which files a path, a pattern or a folder stands for, and which split each is of.

A folder may be any folder of data files, a folder that ``save_to_disk`` of Hugging Face wrote, or
one with the layout of a Hugging Face repository.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, takewhile
from pathlib import Path, PurePosixPath

from unskew.core.errors import UnskewError
from unskew.core.values.json_text import parse_json
from unskew.io.location import ObjectPath, Place, check_inside, files_below, inside, plain_errors
from unskew.io.readers.streams import PACKED, unpacked_name
from unskew.io.tables import SPLITS

TEXTS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")  # may be packed
KINDS = (".parquet", *TEXTS, ".arrow", ".feather")

_SPLITS, _STATE, _INFO = "dataset_dict.json", "state.json", "dataset_info.json"
_OTHERS = ("dataset_infos.json", "config.json", "package.json", _SPLITS, _STATE, _INFO)
_NUMBERED = re.compile(r"-\d+-of-\d+$")
_NEAR = 3  # names that an error suggests


@dataclass(frozen=True)
class DataFile:
    """A file of examples, and the split that they are of; empty if there are no splits."""

    path: Place
    split: str = ""


def kind_of(path: Place) -> str:
    """Return the suffix that says how a file is read; empty if it is of no kind that is read."""
    name = path.name.lower()
    inner = unpacked_name(name)
    suffix = PurePosixPath(inner).suffix
    return suffix if suffix in (KINDS if inner == name else TEXTS) else ""


def is_pattern(path: Place) -> bool:
    """Whether a path has a sign that stands for several names."""
    return any(map(_has_magic, _parts(path)))


def data_files(path: Place) -> list[DataFile]:
    """Return the files that a file, a folder or a pattern stands for, in order."""
    with plain_errors(path, reading=True):
        if path.is_file():
            if not kind_of(path):
                raise UnskewError(f"{path} is of no kind that can be read; {_step()}")
            return [DataFile(path)]
        if path.is_dir():
            return saved_files(path) or _with_splits(_readable(path, path, files_below(path)), path)
        if isinstance(path, Path) and path.exists():
            raise UnskewError(
                f"{path} is no file or folder but a pipe or a device, which cannot be read twice; "
                "write the data to a file first"
            )
        base, matches = _matches(path)
        below = (files_below(match) if match.is_dir() else [match] for match in matches)
        files = list(dict.fromkeys(chain.from_iterable(below)))  # a folder and a file of it match
    if not files:
        raise UnskewError(f"{path} matches no file; {_near(path, base)}")
    return _with_splits(_readable(path, base, files), base)


def saved_files(folder: Place) -> list[DataFile]:
    """Return the files of a folder that ``save_to_disk`` wrote, in order; none if it did not."""
    if (folder / _SPLITS).is_file():
        splits = _names(folder, _SPLITS, "splits")
        return [DataFile(file, split) for split in splits for file in _saved(inside(folder, split))]
    is_saved = (folder / _STATE).is_file() and (folder / _INFO).is_file()
    return [DataFile(file) for file in _saved(folder)] if is_saved else []


def _saved(folder: Place) -> list[Place]:
    return [inside(folder, name) for name in _names(folder, _STATE, "_data_files")]


def _names(folder: Place, file: str, key: str) -> list[str]:
    """Return the names that a file of Hugging Face lists."""
    path = inside(folder, file)
    try:
        entries = parse_json(path.read_text(encoding="utf-8"))[key]
        names = [entry if isinstance(entry, str) else entry["filename"] for entry in entries]
    except FileNotFoundError:
        raise UnskewError(f"{path} does not exist; save the dataset again") from None
    except (ValueError, LookupError, TypeError) as error:
        raise UnskewError(
            f"{path} cannot be read ({type(error).__name__}: {error}); save the dataset again"
        ) from error
    if not names:
        raise UnskewError(f"{path} names no files; save the dataset again")
    if len(set(map(str, names))) < len(names):
        raise UnskewError(f"{path} names a file twice; save the dataset again")
    return names


def _readable(path: Place, folder: Place, files: Sequence[Place]) -> list[Place]:
    """Return the data files. JSON files next to others describe them; hidden files are no data."""
    above = len(_parts(folder))
    shown = [f for f in files if not any(p.startswith((".", "__")) for p in _parts(f)[above:])]
    readable = [file for file in shown if kind_of(file) and file.name not in _OTHERS]
    tables = [file for file in readable if kind_of(file) != ".json"]
    if readable:
        return tables or readable
    there = ", ".join(sorted({file.suffix or file.name for file in shown})[:5])
    raise UnskewError(
        f"{path} holds no data file{f' (only {there})' if there else ' (it is empty)'}; {_step()}"
    )


def _with_splits(files: list[Place], folder: Place) -> list[DataFile]:
    """Say which split each file is of, if every file is of one and they are not all the same."""
    splits = [_split_of(file, folder) for file in files]
    if all(splits) and len(set(splits)) > 1:
        return [DataFile(file, split) for file, split in zip(files, splits, strict=True)]
    return [DataFile(file) for file in files]


def _split_of(file: Place, folder: Place) -> str:
    """Return the split that a file's name or its folder names; empty if none does."""
    stem = PurePosixPath(unpacked_name(file.name)).stem
    name = _NUMBERED.sub("", stem)
    words = re.split(r"[-_.]", name)
    by_name = next((word for word in words if word.lower() in SPLITS), "")
    folders = _parts(file)[len(_parts(folder)) : -1]
    by_folder = next((part for part in folders if part.lower() in SPLITS), "")
    return by_name or by_folder or (name if name != stem else "")


def _matches(path: Place) -> tuple[Place, list[Place]]:
    """Return the folder before the first sign of a pattern, and what the pattern matches."""
    parts = _parts(path)
    fixed = list(takewhile(lambda part: not _has_magic(part), parts))
    pattern = "/".join(parts[len(fixed) :])
    if any("**" in part and part != "**" for part in parts):
        raise UnskewError(
            f"pattern {path} has ** beside other signs; write it alone: data/**/*.csv"
        )
    if isinstance(path, ObjectPath):
        base = ObjectPath(path.scheme, "/".join(fixed), path.options, path.files)
        try:
            regex = re.compile(_regex(pattern))
        except re.error as error:
            raise UnskewError(f"pattern {path} cannot be read ({error}); correct it") from error
        below = ("/".join(_parts(file)[len(fixed) :]) for file in files_below(base))
        return base, [base / name for name in below if regex.fullmatch(name)]
    folder = Path(*fixed)
    matches = sorted(folder.glob(pattern)) if pattern else []
    for match in matches:
        check_inside(folder, match)
    return folder, [*matches]


def _regex(pattern: str) -> str:
    """Return a pattern of names as a regular expression."""
    signs = {"**/": "(.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]*\])", pattern)
    return "".join(
        signs.get(piece) or (piece.replace("[!", "[^") if piece[:1] == "[" else re.escape(piece))
        for piece in pieces
    )


def _near(path: Place, base: Place) -> str:
    """Name files whose names are near to those that a pattern asks for."""
    if not base.is_dir():
        return f"there is no folder {base}"
    names = [entry.name for entry in base.iterdir() if not entry.name.startswith(".")]
    near = get_close_matches(path.name, names, _NEAR, 0.3) or sorted(names)[:_NEAR]
    return f"{base} has {', '.join(near)}" if near else f"{base} is empty"


def _parts(path: Place) -> tuple[str, ...]:
    return tuple(path.key.split("/")) if isinstance(path, ObjectPath) else path.parts


def _has_magic(part: str) -> bool:
    return glob.has_magic(part)


def _step() -> str:
    packed = " and ".join(PACKED)
    return f"point at {', '.join(KINDS)} files; texts may end in {packed} too"
