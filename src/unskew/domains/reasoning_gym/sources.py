"""Makes every task a source: the library makes each item from a seed of its own.

The library gives item i the seed ``seed + i``, so two datasets of neighbouring seeds share all
items but one. Here the seed of each item is drawn from the random stream of the source.

The settings of a task that are numbers, yes or no, or choices among names are parameters of the
source. Lists and tuples (names, weights, operators), dates and free texts keep the library's
defaults.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from functools import cache, cached_property
from importlib.metadata import version
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from unskew.core.batch import Batch
from unskew.core.domain import Choice, Range
from unskew.core.errors import UnskewError, warn_user
from unskew.core.source import Source
from unskew.domains.reasoning_gym import library
from unskew.domains.reasoning_gym.examples import Row, as_batch, as_row

CHUNK = 1024  # some tasks take half a second an item
IN_VAIN = 100  # items in a row that the library fails to make
SEED_BITS = 63
_NARROW = {"pool_matrix": 32}  # NumPy's old seeding takes 32 bits at most
_PROBES = (0x5EED_0001, 0x5EED_0002, 0x5EED_0003)
# These tasks read a set or dict of texts, which has another order in every process.
ORDERED_BY_HASH = frozenset(
    ("isomorphic_strings", "knight_swap", "polynomial_multiplication", "ransom_note", "word_ladder")
)
VERSION = "version"
_OURS = ("seed", "size")  # each item has a seed of its own, and a source has no end
_WIDEST = float(2**53)
_DOC = "the library's"


class TaskSources(Mapping[str, Callable[..., Source]]):
    """The tasks by name; the library is loaded when the first one is asked for."""

    def __getitem__(self, name: str) -> Callable[..., Source]:
        """Return the function that makes a source; say how to get the library if it is missing."""
        if not library.is_installed():
            raise UnskewError(
                f"{library.DOMAIN_NAME}/{name} needs the library {library.DOMAIN_NAME}, which is "
                f"not installed; install it: {library.INSTALL}"
            )
        if name not in library.task_names():
            raise KeyError(name)
        return _maker(name)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the tasks; no name without the library."""
        return iter(library.task_names())

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(library.task_names())

    def __bool__(self) -> bool:
        """Whether there are tasks; this does not load the library."""
        return library.is_installed()


@dataclass(frozen=True)
class Setting:
    """One parameter: its type and range, its default, and how to make the library's value."""

    annotation: Any
    default: Any
    read: Callable[[Any], Any]


def settings_of(task: str) -> Mapping[str, Setting]:
    """Return the settings of a task that can be set here.

    The version is one of them, with one choice: the same recipe gives the same bytes only with
    the same library, so a recipe made with another one is refused.
    """
    config = library.config_class(task)
    hints = get_type_hints(config)
    entries = [entry for entry in fields(config) if entry.name not in _OURS]
    settings = {entry.name: _setting(hints[entry.name], entry.default) for entry in entries}
    here = version(library.DOMAIN_NAME)
    only = Annotated[str, Choice((here,), "of the library; a recipe holds to it")]
    settings[VERSION] = Setting(only, here, str)
    return {name: setting for name, setting in settings.items() if setting is not None}


@cache
def _maker(task: str) -> Callable[..., Source]:
    """Return the function that makes the source of a task, with its settings as parameters."""
    settings = settings_of(task)

    def make(**chosen: Any) -> Source:
        values = {name: settings[name].read(v) for name, v in chosen.items() if name != VERSION}
        return _source(task, values)

    make.__doc__ = library.task_doc(task)
    make.__annotations__ = {name: setting.annotation for name, setting in settings.items()}
    make.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(name, Parameter.KEYWORD_ONLY, default=s.default, annotation=s.annotation)
            for name, s in settings.items()
        ]
    )
    return make


def _setting(hint: Any, default: Any) -> Setting | None:
    """Return a field of the library's as a setting, or None if it cannot be one."""
    if default is MISSING:
        return None
    if isinstance(default, bool):
        yes_no = Choice(("false", "true"), _DOC)
        return Setting(Annotated[str, yes_no], str(default).lower(), lambda text: text == "true")
    if isinstance(default, Enum):
        members = {str(member.value): member for member in type(default)}
        names = Choice(tuple(members), _DOC)
        return Setting(Annotated[str, names], str(default.value), members.__getitem__)
    if get_origin(hint) is Literal and isinstance(default, str):
        return Setting(Annotated[str, Choice(get_args(hint), _DOC)], default, str)
    if isinstance(default, float) or (hint is float and isinstance(default, int)):
        any_number = Range(-_WIDEST, _WIDEST, _DOC, "a number")
        return Setting(Annotated[float, any_number], float(default), float)
    if isinstance(default, int):
        whole = Range(-_WIDEST, _WIDEST, _DOC, "a whole number")
        return Setting(Annotated[int, whole], default, int)
    return None


def _source(task: str, settings: Mapping[str, Any]) -> Source:
    name = f"{library.DOMAIN_NAME}/{task}"
    try:
        library.check_config(library.config_class(task)(**settings))
    except UnskewError as error:
        raise UnskewError(f"{name}: {error}") from error
    items, bits = Items(task, settings), _NARROW.get(task, SEED_BITS)

    def draw(rng: np.random.Generator, n: int) -> tuple[Batch, Counter[str]]:
        _warn_of_order(task, name)
        rows: list[Row] = []
        dropped: Counter[str] = Counter()
        in_vain = 0
        with library.quiet():
            while len(rows) < n:
                for seed in rng.integers(1 << bits, size=n - len(rows)).tolist():
                    try:
                        rows.append(items.row(seed))
                        in_vain = 0
                    except Exception as error:  # a task may raise anything, for some seeds only
                        dropped[f"the library raised {type(error).__name__}"] += 1
                        in_vain += 1
                        if in_vain == IN_VAIN:
                            raise UnskewError(
                                f"{name} failed on {IN_VAIN} items in a row "
                                f"({type(error).__name__}: {error}); change its settings"
                            ) from error
        return as_batch(rows), dropped

    return Source(name, draw, chunk=CHUNK)


@dataclass(frozen=True)
class Items:
    """Makes the items of one task, each from its seed alone."""

    task: str
    settings: Mapping[str, Any]

    def row(self, seed: int) -> Row:
        """Return the item of a seed: the first of the library's dataset of that seed."""
        if self.reusable is None:
            return as_row(self._dataset(seed)[0])
        return self._again(self.reusable, seed)

    def _dataset(self, seed: int) -> Any:
        library.seed_shared(seed)
        return library.factory().create_dataset(self.task, seed=seed, size=1, **self.settings)

    def _again(self, dataset: Any, seed: int) -> Row:
        library.seed_shared(seed)
        dataset.seed = dataset.config.seed = seed
        return as_row(dataset[0])

    @cached_property
    def reusable(self) -> Any:
        """Return a dataset that can be given other seeds, or None.

        Making a dataset may read a dictionary or an archive, so one dataset serves all seeds. This
        is wrong for a task that draws from its seed while the dataset is made. The library does
        not say which tasks do, so a few seeds are tried.
        """
        try:
            rows = [as_row(self._dataset(seed)[0]) for seed in _PROBES]
            dataset = self._dataset(_PROBES[-1])
            again = [self._again(dataset, seed) for seed in _PROBES]
        except Exception:
            return None  # an item fails under these settings; drawing counts it
        return dataset if again == rows else None


def _warn_of_order(task: str, name: str) -> None:
    if task in ORDERED_BY_HASH and os.environ.get("PYTHONHASHSEED", "random") == "random":
        warn_user(
            f"{name} gives other items in every process, whatever the seed: the library orders "
            "by Python's hash of texts; set PYTHONHASHSEED=0 before the command"
        )
