"""Checks a dataset: is it what its recipe and its manifest say, and apart from others?"""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.core.domain import Domain, right_rows
from unskew.core.errors import HealthWarning, RowError, UnskewError, one_line
from unskew.core.recipe import Recipe, Trust, trusted_names
from unskew.core.rng import generator
from unskew.core.rowhash import row_hashes
from unskew.core.usercode import own_code
from unskew.datasets.inputs import check_inputs
from unskew.datasets.manifest import Verified, Whole, inspect_files
from unskew.datasets.open import open_input, untrusted_inputs
from unskew.datasets.parts.part import part_batch, part_bytes
from unskew.datasets.parts.splits import SeenKeys, key_hashes, keys_in, split_of
from unskew.datasets.run import shard
from unskew.io.dataset import read_parquet, recipe_of
from unskew.io.location import Place, place, read_bytes
from unskew.io.lookup import (
    IF_TRUSTED,
    is_code,
    recipe_domain,
    recipe_key,
    recipe_source,
    recipe_variables,
    untrusted_code,
)

RECHECKED = 200  # rows that are worked out again, slowly
MOST_ASKED = 1 << 20  # rows of a part that is made again, where fewer than asked may be there
Hashes: TypeAlias = NDArray[np.uint64]


def verify(
    folder: str | Place,
    against: Sequence[str] = (),
    *,
    trust: Trust = False,
    advance: Callable[[int], None] = lambda _: None,
) -> Verified:
    """Check the files, rows and keys of a dataset; return the faults.

    Args:
        folder: a path, or a prefix in an object store.
        against: datasets that must share no key with this one.
        trust: whether to open the code, files and addresses that the recipe names. Without it,
            ``Verified.skipped`` says what was not checked. Built-in sources need no trust. With
            it, code that cannot be imported is a fault.
        advance: called with a number of rows each time that so many are done.
    """
    path = place(folder)
    recipe = recipe_of(path, _with(against, trust))
    verified = Verified()
    whole = inspect_files(path, recipe, verified)
    withheld = _say_withheld(recipe, verified)
    importable = withheld or _check_importable(recipe, verified)
    domain = recipe_domain(recipe)
    if domain is None and importable and not untrusted_code(recipe, recipe.source):
        verified.skipped.append(
            f"rows were not checked: {recipe.source} belongs to no domain, so nothing says which "
            "rows are right"
        )
    sampled = _sampled(whole)
    keys: dict[str, list[Hashes]] = {}
    rows: list[Hashes] = []
    for part in whole:
        start = 0
        try:
            for batch in read_parquet(part.path):
                rows.append(row_hashes(batch))
                keys.setdefault(part.split, []).append(key_hashes(batch, recipe_key(recipe)))
                _check_rows(batch, domain, part, start, sampled.get(part.index, []), verified)
                start += len(batch)
                advance(len(batch))
        except UnskewError as error:
            verified.faults.append(str(error))
        verified.rows += start
    verified.repeated_rows = _repeats(rows)
    verified.repeated_keys = sum(_repeats(hashes) for hashes in keys.values())
    if importable and not withheld:
        _check_made(path, recipe, whole, verified)
    others = [name for name in (*recipe.exclude, *against) if name not in untrusted_inputs(recipe)]
    compared = recipe.splits or recipe.distinct or others
    if compared and importable and not untrusted_code(recipe, recipe.source):
        _check_keys(recipe, keys, verified)
        for name in others:
            _check_leak(name, recipe_key(recipe), keys, verified)
    elif against:  # what tells examples apart is not known here: whole rows are compared
        for name in against:
            _check_leak(name, "", keys, verified)
    for lines in (verified.faults, verified.skipped):
        lines[:] = map(one_line, lines)  # a recipe and a manifest may name anything
    return verified


def _with(against: Sequence[str], trust: Trust) -> Trust:
    """Trust the names that the person gave as well."""
    names = trusted_names(trust)
    return True if names is None else (*names, *against)


def _say_withheld(recipe: Recipe, verified: Verified) -> bool:
    """Say which checks are left out because they would run or open what the data names."""
    code = untrusted_code(recipe, recipe.source, *recipe.homogenize)
    opened = untrusted_inputs(recipe)
    if code or opened:
        checks = ["no part was made again"]
        checks += ["rows and keys were not checked"] if recipe.source in code else []
        checks += ["keys were not compared with what is named"] if opened else []
        names = ", ".join(dict.fromkeys([*code, *opened]))
        verified.skipped.append(
            f"{', '.join(checks)}: the data names {names}, which is not run or opened; {IF_TRUSTED}"
        )
    return bool(code or opened)


def _own_code(recipe: Recipe) -> list[str]:
    """Return the names of a recipe that are code of somebody's own, and not of the package."""
    return [name for name in (recipe.source, *recipe.homogenize) if is_code(name)]


def _check_importable(recipe: Recipe, verified: Verified) -> bool:
    """Return whether the source and the variables of a recipe can be imported; if not, say why."""
    try:
        recipe_source(recipe)
        recipe_variables(recipe)
    except UnskewError as error:
        unchecked = "no part was made again, and keys were not compared"
        if ":" in recipe.source:
            unchecked = f"rows were not checked, {unchecked}"
        _note_unable(recipe, verified, f"{unchecked}: {error}")
        return False
    return True


def _note_unable(recipe: Recipe, verified: Verified, text: str) -> None:
    """Note that the source or a variable of a recipe cannot be run.

    It is a fault of code of somebody's own: who trusts it asked for these checks. The library of a
    built-in domain may not be installed.
    """
    (verified.faults if _own_code(recipe) else verified.skipped).append(text)


def _sampled(whole: Sequence[Whole]) -> dict[int, list[int]]:
    """Choose rows to work out again: each split in turn, and each part of it."""
    rng = generator(0, "verify")
    there = [part for part in whole if part.footer.rows]
    lots = {part.split: deque[Whole]() for part in there}
    for number in rng.permutation(len(there)):
        lots[there[number].split].append(there[number])
    quotas: Counter[int] = Counter()
    while any(lots.values()) and quotas.total() < RECHECKED:
        for lot in [lot for lot in lots.values() if lot][: RECHECKED - quotas.total()]:
            part = lot.popleft()
            quotas[part.index] += 1
            if quotas[part.index] < part.footer.rows:
                lot.append(part)
    rows = {part.index: part.footer.rows for part in there}
    return {
        index: sorted(rng.choice(rows[index], quota, replace=False).tolist())
        for index, quota in quotas.items()
    }


def _check_rows(
    batch: Batch,
    domain: Domain | None,
    part: Whole,
    start: int,
    sampled: Sequence[int],
    verified: Verified,
) -> None:
    """Check every row by the domain's check, and the sampled ones again in its slow way."""
    if domain is None:
        return
    name = part.path.name
    try:
        with own_code(f"the check of {domain.name}", "the rows of the part were not all checked"):
            _check_batch(batch, domain, name, start, sampled, verified)
    except RowError as error:
        verified.faults.append(str(error.at(f"{name}: row {start + error.row + 1}")))
    except UnskewError as error:
        verified.faults.append(f"{name}: {error}")


def _check_batch(
    batch: Batch,
    domain: Domain,
    name: str,
    start: int,
    sampled: Sequence[int],
    verified: Verified,
) -> None:
    wrong = start + 1 + np.flatnonzero(~right_rows(batch, domain))  # rows count from 1
    verified.checked += len(batch)
    if len(wrong):
        first = "it is" if len(wrong) == 1 else "the first is"
        verified.faults.append(f"{name}: {_are(len(wrong), 'row')} wrong; {first} row {wrong[0]}")
    if domain.recheck is None:
        return
    for row in (row for row in sampled if start <= row < start + len(batch)):
        verified.rechecked += 1
        if not domain.recheck(next(batch.slice(row - start, 1).examples())):
            verified.faults.append(
                f"{name}: row {row + 1} comes out otherwise when worked out again"
            )


def _check_made(
    folder: Place,
    recipe: Recipe,
    whole: Sequence[Whole],
    verified: Verified,
) -> None:
    """Make one part again and compare its columns and rows: the smallest, which costs least.

    Where no key may repeat it is the first, since the others depend on those before them. Bytes
    are not compared: another version of Arrow writes the same rows in others.
    """
    able = [part for part in whole if _can_be_made(recipe, part)]
    if not able:
        verified.skipped.append("no part was made again: none is whole and of the recipe's size")
        return
    part = min(able, key=lambda part: (part.footer.rows, part.index))
    try:
        check_inputs(folder, recipe)
    except UnskewError as error:
        verified.skipped.append(f"no part was made again: {error}")
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HealthWarning)  # it was shown when it was generated
            batch = shard(recipe, part.index, folder=folder)[0]
        made = part_batch(part_bytes(recipe, part.index, batch))
    except UnskewError as error:
        _note_unable(recipe, verified, f"no part was made again: {error}")
        return
    if recipe.distinct:
        made = made.filter(SeenKeys(recipe_key(recipe)).first(made))
    try:
        there = part_batch(read_bytes(part.path))
    except (OSError, ValueError):
        return  # this was reported when its rows were read
    same = made.to_arrow().schema.equals(there.to_arrow().schema)
    if not same or not np.array_equal(row_hashes(made), row_hashes(there)):
        reasons = ["it was altered", "made by another version of its source"]
        if _own_code(recipe):
            reasons.append("its code gives other examples in another process (a set has no order)")
        verified.faults.append(
            f"{part.path.name} is not what its recipe makes: "
            f"{', '.join(reasons[:-1])}, or {reasons[-1]}"
        )


def _can_be_made(recipe: Recipe, part: Whole) -> bool:
    """Whether a part is as large as the recipe says: a stranger's recipe may ask for any number."""
    asked, there = recipe.shard_rows(part.index), part.footer.rows
    if recipe.distinct and part.index:
        return False
    if recipe.distinct or recipe.given:  # some rows may have been left out
        return asked <= max(MOST_ASKED, 10 * there)
    return asked == there


def _repeats(hashes: Sequence[Hashes]) -> int:
    every = np.concatenate(hashes) if hashes else np.empty(0, np.uint64)
    return len(every) - len(np.unique(every))


def _check_keys(recipe: Recipe, keys: dict[str, list[Hashes]], verified: Verified) -> None:
    """Check that each key is in its own split only, and once where repeats are left out."""
    joined = {split: np.unique(np.concatenate(hashes)) for split, hashes in keys.items()}
    names = sorted(joined)
    for i, split in enumerate(names):
        for other in names[i + 1 :]:
            shared = len(np.intersect1d(joined[split], joined[other]))
            if shared:
                verified.faults.append(f"{_are(shared, 'key')} in both {split} and {other}")
        if recipe.splits and split in recipe.splits:
            number = list(recipe.splits).index(split)
            astray = int((split_of(joined[split], recipe) != number).sum())
            if astray:
                verified.faults.append(f"{_are(astray, 'key')} in {split}, but of another split")
    if recipe.distinct and verified.repeated_keys:
        repeated = _are(verified.repeated_keys, "key")
        verified.faults.append(f"{repeated} repeated in a dataset of distinct ones")


def _check_leak(
    name: str,
    key: str,
    keys: dict[str, list[Hashes]],
    verified: Verified,
) -> None:
    other = keys_in(open_input(name), key)
    for split, hashes in keys.items():
        shared = len(np.intersect1d(np.concatenate(hashes), other))
        if shared:
            verified.faults.append(f"{_are(shared, 'key')} in {split} and also in {name}")


def _are(count: int, what: str) -> str:
    """Begin a sentence about how many there are of something."""
    return f"1 {what} is" if count == 1 else f"{count:,} {what}s are"
