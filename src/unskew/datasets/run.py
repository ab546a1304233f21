"""Makes one part of a dataset. ``shard`` is pure; engines map it over the missing parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.datasets.engines.work import Work
from unskew.datasets.inputs import check_inputs
from unskew.datasets.open import open_recipe
from unskew.datasets.parts.part import make_part
from unskew.datasets.parts.pilots import frozen_rule
from unskew.datasets.parts.shard import make_shard
from unskew.io.dataset import RECIPE
from unskew.io.files import remove_left
from unskew.io.location import Place

if TYPE_CHECKING:
    from unskew.core.batch import Batch
    from unskew.core.tally import Tally

Advance: TypeAlias = Callable[[int], None]
PART_MAKER = "unskew.datasets.workers.parts"


def shard(
    recipe: Recipe,
    index: int,
    advance: Advance = lambda _: None,
    folder: Place | None = None,
) -> tuple[Batch, Tally]:
    """Make one shard. The same recipe and index give the same examples anywhere, in any order.

    A recipe with a goal keeps examples by the rule in ``folder``, or fits it anew.
    """
    opened = open_recipe(recipe)
    if recipe.has_goal and folder is not None:
        opened = replace(opened, rule=frozen_rule(folder, recipe, opened.variables))
    return make_shard(opened, index, advance)


def run_part(recipe: Recipe, folder: Place, index: int, advance: Advance = lambda _: None) -> None:
    """Make one part of a dataset, whoever asks for it."""
    batch, tally = shard(recipe, index, advance, folder)
    check_owner(folder, recipe)
    check_inputs(folder, recipe)  # after they were read: had they changed, it would be seen
    make_part(recipe, folder, index, batch, tally, drawn=recipe.distinct)


def part_work(recipe: Recipe, folder: Place, indices: Sequence[int]) -> Work:
    """Return the work of making some parts of a dataset."""
    return Work(
        PART_MAKER,
        {"recipe": recipe.to_dict(), "folder": str(folder.resolve())},
        indices,
        "part",
        "run the same command again, finished parts are kept",
        partial(remove_left, folder),
    )


def check_owner(folder: Place, recipe: Recipe) -> None:
    """Refuse a folder that is another recipe's.

    A disk gives a new folder to the first of two runs; a store may give it to both, and the last
    one's recipe stays. So it is read again before a part is written, and before the manifest is.
    """
    if Recipe.read(folder / RECIPE).hash != recipe.hash:
        raise UnskewError(
            f"{folder} was made by another recipe; choose a new folder or remove that one"
        )
