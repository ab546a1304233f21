"""The provenance of a result: the code, hardware and versions that made it."""

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

import unskew

PACKAGE = Path(unskew.__file__).parent
UNKNOWN = "unknown"
_LIBRARIES = ("numpy", "numba", "pyarrow", "torch")


def provenance() -> dict[str, Any]:
    """Return the facts that every committed result has."""
    return {
        "unskew": unskew.__version__,
        "commit": commit(),
        "source_sha256": source_hash(),
        "hardware": hardware(),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in _LIBRARIES},
    }


def joined(provenances: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the provenance of several results: one value if they agree, else all values."""
    provenances = [facts | {"commit": facts.get("commit", UNKNOWN)} for facts in provenances]
    whole: dict[str, Any] = {}
    for name in dict.fromkeys(name for facts in provenances for name in facts):
        values = [facts[name] for facts in provenances if name in facts]
        distinct = [value for i, value in enumerate(values) if value not in values[:i]]
        if len(distinct) == 1:
            whole[name] = distinct[0]
        elif all(isinstance(value, str) for value in distinct):
            whole[name] = "; ".join(distinct)
        else:
            whole[name] = distinct
    return whole


def commit(home: Path = PACKAGE) -> str:
    """Return the commit of the code in ``home``, or ``unknown``; say so if it was changed since.

    In a checkout git knows the commit. In an archive git wrote it into ``commit.txt``.
    """
    written = (home / "experiments" / "commit.txt").read_text(encoding="utf-8").strip()
    if not written.startswith("$"):
        return written
    if not (home.parents[1] / ".git").exists():
        return UNKNOWN
    head = _git(home, "rev-parse", "HEAD") or UNKNOWN
    return f"{head}, changed" if _git(home, "status", "--porcelain", ".") else head


def _git(folder: Path, *arguments: str) -> str:
    """Return what a git command prints in a folder; empty if it fails."""
    git = shutil.which("git")
    if git is None:
        return ""
    command = [git, "--no-optional-locks", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() if done.returncode == 0 else ""


def hardware() -> str:
    """Return a line about this machine."""
    cpu = f"{os.cpu_count()} × {platform.machine()} CPU"
    if torch.cuda.is_available():
        return f"{torch.cuda.get_device_name()}, {cpu}"
    return cpu


def source_hash() -> str:
    """Return a hash of the package's Python files. It names the code where there is no git."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(str(path.relative_to(PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
