"""A target: anything that can be read as examples, whatever it is.

It is a source, a recipe, a table, a dataset, files, or live objects of any library. Every command
and every function that reads examples reads a target; ``datasets/open`` opens them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from unskew.core.batch import EXAMPLE, Batch
from unskew.core.domain import Domain
from unskew.core.errors import RowError, UnskewError
from unskew.core.recipe import Recipe
from unskew.core.source import Source
from unskew.io.dataset import Dataset
from unskew.io.location import Place
from unskew.io.objects.readable import Read
from unskew.io.tables import Columns, joined_rows


@dataclass(frozen=True)
class Section:
    """Examples of a target that can be read without those before them."""

    rows: int
    read: Callable[[], Iterator[Batch]]


# Reads one file of several, in the way that follows from the first batch of all files.
Piece: TypeAlias = Callable[[Batch, Columns], Iterator[Batch]]


@dataclass(frozen=True)
class Target:
    """Something to read as batches, and the domain whose variables apply.

    ``read(n)`` yields the first ``n`` examples; if ``n`` is None, all of them. A source never
    ends. ``read(n, columns)`` need give only these columns. ``repeatable`` says whether it can be
    read more than once. ``content()`` is a checksum of what will be read. ``where(row)`` says in
    which row of which file an example stands. ``sections`` is empty if only reading tells how
    many examples there are. ``pieces`` read the files at ``place`` one by one: together they give
    the batches of ``read``. There are none of what is not read from files.
    """

    label: str
    read: Read
    domain: Domain | None = None
    source: Source | None = None
    recipe: Recipe | None = None  # that makes the examples, or that made the dataset
    dataset: Dataset | None = None
    sections: tuple[Section, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)  # what a source threw away, by reason
    content: Callable[[], str] = lambda: ""
    where: Callable[[int], str] = lambda row: f"row {row + 1}"
    repeatable: bool = True
    place: Place | None = None
    pieces: tuple[Piece, ...] = ()

    @property
    def endless(self) -> bool:
        """Whether there is always another example."""
        return self.source is not None

    @contextmanager
    def rows_by_name(self) -> Iterator[None]:
        """Let an error of the row-th example say in which row of which file it stands."""
        try:
            yield
        except RowError as error:
            raise error.at(self.where(error.row)) from error

    def size(self) -> int:
        """Return the number of examples; refuse a target that does not say it in advance."""
        if self.source is not None:
            raise UnskewError(f"{self.label} never ends; give a dataset, a table or a named recipe")
        if self.recipe is not None and not self.sections:
            raise UnskewError(
                f"{self.label} leaves out some of its {self.recipe.n:,} examples when it is made; "
                "generate it first, and give its folder"
            )
        if self.sections:
            return sum(section.rows for section in self.sections)
        return sum(len(batch) for batch in self.read(None))

    def rows(self, start: int, stop: int) -> Batch:
        """Return the examples from ``start`` to before ``stop``."""
        skip, sections = start, []
        end = 0
        for section in self.sections:
            begin, end = end, end + section.rows
            if begin < stop and end > start:
                sections.append(section)
            elif end <= start:
                skip -= section.rows
        read = chain.from_iterable(s.read() for s in sections) if sections else self.read(stop)
        wanted = joined_rows(read, skip, stop - start)
        return Batch.from_arrow(wanted.to_arrow()) if wanted.is_plain else wanted


def column_names(batch: Batch) -> Sequence[str]:
    """Return the columns of a table, the keys of dicts, or the one name of other examples."""
    if not batch.is_plain:
        return list(batch.columns)
    rows = batch.columns[EXAMPLE].tolist()
    dicts = [row for row in rows if isinstance(row, dict)]
    if not dicts:
        return [EXAMPLE]
    return list(dict.fromkeys(key for row in dicts for key in row if isinstance(key, str)))
