"""What a recipe reads besides itself: given and excluded examples, known by their content.

A dataset begun with one content and gone on with another would be a mixture that no recipe makes.
So the contents are noted when it is begun, and compared before any part is written.
"""

from __future__ import annotations

import hashlib
import json

from unskew.core.errors import UnskewError
from unskew.core.json_text import parse_json
from unskew.core.recipe import Recipe
from unskew.core.rowhash import content_hashes
from unskew.datasets.part import NOTES
from unskew.domains import domain_names
from unskew.io.files import write_text
from unskew.io.location import Place, place, plain_errors
from unskew.io.lookup import IF_TRUSTED, find_recipe, find_table, recipe_source, recipe_variables
from unskew.io.target import Target, open_target

RECORD = "inputs.json"  # in the folder of the notes


def open_input(name: str) -> Target:
    """Open a dataset or a file that a recipe names."""
    named = ":" in name or name.partition("/")[0] in domain_names()
    if name and not named:
        path = place(name)
        with plain_errors(path, reading=True):
            exists = path.exists()
        if not exists:
            raise UnskewError(f"{name} does not exist; name a dataset's folder, a file or a recipe")
    return open_target(name)


def content_of(name: str) -> str:
    """Return a name for the content of a recipe, a table, a dataset or a file."""
    recipe = find_recipe(name)
    if recipe is not None:
        return recipe.hash
    table = find_table(name)
    if table is not None:
        return hashlib.sha256(content_hashes(table()).tobytes()).hexdigest()[:16]
    opened = open_input(name)
    if opened.endless:
        raise UnskewError(f"{name} never ends; name a dataset, a file or a recipe")
    return opened.content()


def contents_of(recipe: Recipe) -> dict[str, str]:
    """Return the content of all that a recipe reads, by name."""
    return {name: content_of(name) for name in named_inputs(recipe)}


def named_inputs(recipe: Recipe) -> list[str]:
    """Return the names of all that a recipe reads; refuse a name that it does not trust."""
    names = [name for name in (recipe.given, *recipe.exclude) if name]
    refused = untrusted_inputs(recipe)
    if refused:
        raise UnskewError(f"the data names {', '.join(refused)}, which is not opened; {IF_TRUSTED}")
    return names


def check_trusted(recipe: Recipe) -> None:
    """Refuse a recipe that names code, files or addresses that it does not trust."""
    named_inputs(recipe)
    recipe_source(recipe)
    recipe_variables(recipe)


def untrusted_inputs(recipe: Recipe) -> list[str]:
    """Return the files and addresses that a recipe reads but does not trust."""
    return [
        name
        for name in (recipe.given, *recipe.exclude)
        if name and not (recipe.trusts(name) or find_recipe(name) or find_table(name))
    ]


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
    if recipe.given or recipe.exclude:
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
