"""Where a result came from: code, hardware, versions, so that it can be made again."""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

import unskew

_LIBRARIES = ("numpy", "numba", "pyarrow", "torch")


def provenance() -> dict[str, Any]:
    """Return the facts that go with every committed result."""
    return {
        "unskew": unskew.__version__,
        "source_sha256": source_hash(),
        "hardware": hardware(),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
    }


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
        return "unknown"
