"""The content of what a recipe reads: given and excluded examples.

A dataset that was begun with one content and continued with another would be a mixture that no
recipe makes. So the contents are noted when a dataset is begun. They are compared before any part
is written.
"""

from __future__ import annotations

import json

from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.core.values.json_text import parse_json
from unskew.datasets.open import open_input
from unskew.datasets.parts.part import NOTES
from unskew.io.files import write_text
from unskew.io.location import Place

RECORD = "inputs.json"  # in the folder of the notes


def content_of(name: str) -> str:
    """Return a name for the content of a recipe, a table, a dataset or a file."""
    return open_input(name).content()


def contents_of(recipe: Recipe) -> dict[str, str]:
    """Return the content of everything that a recipe reads, by name."""
    return {name: content_of(name) for name in recipe.inputs}


def record_inputs(folder: Place, contents: dict[str, str]) -> None:
    """Note what a dataset is begun with; refuse to go on with anything else."""
    if not contents:
        return
    notes = folder / NOTES
    if (notes / RECORD).is_file():
        _compare(folder, contents)
    elif notes.is_dir() and any(entry.name.endswith(".json") for entry in notes.iterdir()):
        raise UnskewError(
            f"{folder} has no {NOTES}/{RECORD}, so what its parts were made of is not known; "
            "choose a new folder"
        )
    else:
        write_text(notes / RECORD, json.dumps(contents, indent=2, ensure_ascii=False) + "\n")


def check_inputs(folder: Place, recipe: Recipe) -> None:
    """Refuse a part whose inputs have changed since its dataset was begun."""
    if recipe.inputs:
        _compare(folder, contents_of(recipe))


def _compare(folder: Place, contents: dict[str, str]) -> None:
    record = folder / NOTES / RECORD
    try:
        begun = parse_json(record.read_text(encoding="utf-8"))
        changed = [name for name, content in contents.items() if begun[name] != content]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UnskewError(
            f"{record} cannot be read ({type(error).__name__}); choose a new folder"
        ) from error
    if changed:
        raise UnskewError(
            f"{', '.join(changed)} has changed since {folder} was begun; restore it, or choose a "
            "new folder"
        )
