"""The results of experiments as the terminal and the page read them, and how numbers are written.

A result is what ``results/*.json`` holds. It has tables, and a table has cells. A cell has the
paper's number and ours; either may be None. Every name and text is made visible and cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from typing import Any

from unskew.audits.report.words import shown
from unskew.core.errors import UnskewError

FORMS = ("table", "heatmap", "lines")
FULL = "full"
LONGEST = 120  # characters of a name
LIMITS = {"note": 1_000, "found": 600, "question": 400}  # characters of longer texts
NONE = "–"
NATS = "nats a token"  # the unit of losses
PROBLEMS_OF = "problems of "  # a unit that counts problems begins so


@dataclass(frozen=True)
class Ours:
    """Our number in a cell."""

    mean: float
    low: float | None = None  # of the 95 % interval
    high: float | None = None
    values: Sequence[float] = ()  # a number for each seed
    tasks: int = 0
    common: float | None = None  # of the programs that all test sets have


@dataclass(frozen=True)
class Cell:
    """The paper's number and ours."""

    row: str
    column: str
    paper: float | None
    ours: Ours | None
    empty: bool = False  # whether there are no tasks to run

    @property
    def mean(self) -> float | None:
        """Our number."""
        return self.ours.mean if self.ours else None


@dataclass(frozen=True)
class Table:
    """A table of a result."""

    title: str
    unit: str
    form: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Cell]
    sides: Sequence[str] = ()  # what the rows are, and what the columns are
    note: str = ""
    found: str = ""  # a sentence or two about the whole table
    figure: str = ""  # tables with the same figure are drawn together
    label: str = ""  # the name of the table in its figure
    paper_of: int = 0  # of how many problems the paper counts, if they are other problems
    stated: Sequence[str] = ()  # rows that have only the paper's numbers, such as a bound
    log: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Any], experiment: str = "a result") -> Table:
        """Read a table; refuse data that is no table."""
        facts = _facts(cls, data, experiment)
        facts["cells"] = [_cell(cell, experiment) for cell in data["cells"]]
        table = cls(**facts)
        if table.form not in FORMS:
            raise UnskewError(
                f"a table of {experiment} has the form {table.form!r}; allowed are "
                f"{', '.join(FORMS)}"
            )
        for cell in table.cells:
            if cell.row not in table.rows or cell.column not in table.columns:
                raise UnskewError(
                    f"{experiment} has a cell {cell.row}, {cell.column} outside its table; "
                    "run it again"
                )
        return table

    @property
    def name(self) -> str:
        """The name of the table in its figure."""
        return self.label or self.title

    @cached_property
    def places(self) -> dict[tuple[str, str], Cell]:
        """The cells by row and column."""
        return {(cell.row, cell.column): cell for cell in self.cells}

    @property
    def to_run(self) -> list[Cell]:
        """The cells that we can run."""
        return [cell for cell in self.cells if cell.row not in self.stated and not cell.empty]

    @property
    def not_run(self) -> list[Cell]:
        """The cells that we can run and did not run."""
        return [cell for cell in self.to_run if cell.ours is None]

    @property
    def ours(self) -> list[Ours]:
        """Our numbers."""
        return [cell.ours for cell in self.cells if cell.ours is not None]

    @property
    def has_paper(self) -> bool:
        """Whether the paper has a number for any cell."""
        return any(cell.paper is not None for cell in self.cells)

    @property
    def has_common(self) -> bool:
        """Whether we have a number for the programs that all test sets have."""
        return any(ours.common is not None for ours in self.ours)

    @property
    def counts_problems(self) -> bool:
        """Whether the numbers count problems. The paper counts other problems than we do."""
        return self.unit.startswith(PROBLEMS_OF)

    @cached_property
    def decimals(self) -> int:
        """How many decimals the numbers need: none, one or two."""
        numbers = [ours.mean for ours in self.ours]
        numbers += [cell.paper for cell in self.cells if cell.paper is not None]
        return next((n for n in (0, 1) if all(round(x, n) == x for x in numbers)), 2)

    def why_missing(self, cell: Cell) -> str:
        """Say why a cell has no number of ours."""
        if cell.row in self.stated:
            return NONE
        return "no tasks" if cell.empty else "not run"

    def difference(self, cell: Cell) -> float | None:
        """Return our number less the paper's; None if the two cannot be compared."""
        if cell.ours is None or cell.paper is None or self.counts_problems:
            return None
        return cell.ours.mean - cell.paper

    def signed_difference(self, cell: Cell) -> str:
        """Write our number less the paper's with its sign, or a dash."""
        gap = self.difference(cell)
        return NONE if gap is None else signed(gap, self.decimals)

    def is_outside(self, cell: Cell) -> bool:
        """Return whether the paper's number lies outside our interval."""
        if self.difference(cell) is None or cell.ours is None or cell.paper is None:
            return False
        low, high = cell.ours.low, cell.ours.high
        return low is not None and high is not None and not low <= cell.paper <= high

    def number(self, value: float | None) -> str:
        """Write a number. A whole number of problems has no decimals; no number is a dash."""
        if value is None:
            return NONE
        is_whole = self.counts_problems and float(value).is_integer()
        return plain(value, 0 if is_whole else self.decimals)

    def interval(self, cell: Cell) -> str:
        """Write our interval, or a dash if there is none."""
        if cell.ours is None or cell.ours.low is None or cell.ours.high is None:
            return NONE
        return f"{plain(cell.ours.low, self.decimals)} to {plain(cell.ours.high, self.decimals)}"

    def seeds(self, cell: Cell) -> str:
        """List the number of each seed if there are several seeds."""
        values = cell.ours.values if cell.ours else ()
        return ", ".join(map(self.number, values)) if len(values) > 1 else ""


@dataclass(frozen=True)
class Result:
    """The result of an experiment."""

    experiment: str
    title: str
    tables: Sequence[Table]
    seconds: float
    provenance: Mapping[str, Any]
    scale: str = FULL
    section: str = ""  # of the paper
    question: str = ""
    failures: Sequence[Mapping[str, Any]] = ()
    trainings: Sequence[Mapping[str, Any]] = ()
    tests: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tries: int = 0  # draws after which the search for valid worlds ends

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Result:
        """Read a result; refuse data that is not the result of an experiment."""
        name = shown(str(data.get("experiment", "?")), LONGEST)
        facts = _facts(cls, data, name)
        return cls(**facts | {"tables": [Table.of(table, name) for table in data["tables"]]})

    @property
    def is_karel(self) -> bool:
        """Whether the experiment is of Karel."""
        return self.experiment.startswith("karel")


def _cell(data: Mapping[str, Any], experiment: str) -> Cell:
    ours = data.get("ours")
    facts = _facts(Cell, data, experiment)
    return Cell(**facts | {"ours": ours and Ours(**_facts(Ours, ours, experiment))})


def _facts(kind: type[Any], data: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """Return the fields of a record with visible texts; refuse a record that lacks one."""
    for part in fields(kind):
        is_needed = part.default is MISSING and part.default_factory is MISSING
        if is_needed and part.name not in data:
            raise UnskewError(
                f"a {kind.__name__.lower()} of {experiment} has no {part.name}; "
                "run the experiment again"
            )
    return {
        part.name: _visible(data[part.name], LIMITS.get(part.name, LONGEST))
        for part in fields(kind)
        if part.name in data
    }


def _visible(value: Any, longest: int) -> Any:
    """Make a text visible, or each text of a list."""
    if isinstance(value, list):
        return [_visible(item, longest) for item in value]
    return shown(value, longest) if isinstance(value, str) and value else value


def plain(value: float, places: int) -> str:
    """Write a number with a true minus sign."""
    return f"{value:,.{places}f}".replace("-", "−")


def signed(value: float, places: int) -> str:
    """Write a difference with its sign; a difference that rounds to zero has no sign."""
    text = f"{abs(value):.{places}f}"
    if float(text) == 0:
        return text
    return ("+" if value > 0 else "−") + text


def duration(seconds: float) -> str:
    """Write a time in hours and minutes, or in minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
