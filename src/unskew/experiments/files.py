"""The JSON files of experiments: results and entries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unskew.core.errors import UnskewError
from unskew.core.values.json_text import parse_json
from unskew.io.files import write_text
from unskew.io.location import plain_errors


def read_json(path: Path) -> Any:
    """Return the value in a JSON file that an earlier run wrote."""
    try:
        with plain_errors(path, reading=True):
            return parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnskewError(f"{path} is not JSON ({error}); remove it") from error


def write_json(path: Path, value: Any) -> None:
    """Write a value to a JSON file, whole or not at all."""
    write_text(path, json.dumps(value, indent=1) + "\n")
