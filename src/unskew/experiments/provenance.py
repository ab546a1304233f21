"""Where a result came from: code, hardware, versions, so that it can be made again."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

import unskew

UNKNOWN = "unknown"
_LIBRARIES = ("numpy", "numba", "pyarrow", "torch")


def provenance() -> dict[str, Any]:
    """Return the facts that go with every committed result."""
    return {
        "unskew": unskew.__version__,
        "commit": commit(),
        "source_sha256": source_hash(),
        "hardware": hardware(),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
    }


def joined(each: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what several results have in common, and where they differ all of it."""
    told = [{**facts, "commit": commit_of(facts)} for facts in each]
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for facts in told for name in facts):
        values = [facts[name] for facts in told if name in facts]
        distinct = [value for i, value in enumerate(values) if value not in values[:i]]
        are_texts = all(isinstance(value, str) for value in distinct)
        whole = "; ".join(distinct) if are_texts else distinct
        found[name] = distinct[0] if len(distinct) == 1 else whole
    return found


def commit_of(facts: dict[str, Any]) -> str:
    """Name the commit of a result, where it is noted."""
    return str(facts.get("commit", UNKNOWN))


def commit() -> str:
    """Name the commit: git knows it in a checkout, and writes it into an archive; else unknown.

    Where the package's code is no longer that of the commit, it says so.
    """
    home = Path(unskew.__file__).parent
    written = (home / "experiments" / "commit.txt").read_text(encoding="utf-8").strip()
    if not written.startswith("$"):
        return written
    if not (home.parents[1] / ".git").exists():
        return UNKNOWN
    head = _git(home, "rev-parse", "HEAD") or UNKNOWN
    return f"{head}, changed" if _git(home, "status", "--porcelain", ".") else head


def _git(folder: Path, *arguments: str) -> str:
    """Return what git says in a folder; nothing where it cannot."""
    git = shutil.which("git")
    if git is None:
        return ""
    asked = [git, "--no-optional-locks", "-C", str(folder), *arguments]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() if done.returncode == 0 else ""


def hardware() -> str:
    """Describe the machine in a line."""
    cpu = f"{os.cpu_count()} × {platform.machine()} CPU"
    if torch.cuda.is_available():
        return f"{torch.cuda.get_device_name()}, {cpu}"
    return cpu


def source_hash() -> str:
    """Hash the package's own Python files: it names the code even where there is no git."""
    root = Path(unskew.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return UNKNOWN
