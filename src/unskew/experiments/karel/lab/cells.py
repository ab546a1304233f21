"""The cells of tables: each says which number it needs, and has the paper's number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from unskew.experiments.karel.lab.lab import Exam

GENERALIZES = "generalizes"
ANY, FIRST_CONSISTENT = f"{GENERALIZES}, any", f"{GENERALIZES}, first consistent"


@dataclass(frozen=True)
class CellPlan:
    """One number: the share (or the number) of the tasks of an exam that a model solves."""

    row: str
    column: str
    model: str
    exam: Exam
    paper: float | None = None
    by: tuple[str, Any] | None = None  # a variable and a value: count only tasks with this value
    solved: str = GENERALIZES  # when a task counts as solved


@dataclass(frozen=True)
class TablePlan:
    """The cells of a table, and how to show the table."""

    title: str
    cells: tuple[CellPlan, ...]
    unit: str = "%"  # or the unit of a loss, or "problems of 41" for a number of solved tasks
    form: str = "table"  # or "heatmap", or "lines": columns along the axis, a line for each row
    says: str = ""  # what the paper says about the table where it has no number for a cell
    note: str = ""
    worst: bool = False  # whether to name the lowest cell of each row
    sides: tuple[str, str] = ("model", "tested on")  # what rows and columns are
    figure: str = ""  # tables of an experiment with the same figure are drawn together
    label: str = ""  # the name of the table in its figure
    paper_of: int = 0  # of how many tasks the paper counts, if its tasks are others


@dataclass(frozen=True)
class Column:
    """A column of a table: what its cells have in common, and the paper's numbers.

    ``paper`` has a number for a model or for a kind of models. The kind of a model is its name up
    to a comma: ``baseline, whole`` and ``baseline, passes`` are both the paper's baseline.
    """

    exam: Exam
    by: tuple[str, Any] | None = None
    solved: str = GENERALIZES
    paper: Mapping[str, float] = field(default_factory=dict)

    def cell(self, row: str, column: str, model: str) -> CellPlan:
        """Return the cell of a model in this column."""
        kind = model.partition(",")[0]
        paper = self.paper.get(model, self.paper.get(kind))
        return CellPlan(row, column, model, self.exam, paper, self.by, self.solved)


def grid(models: Iterable[str], columns: Mapping[str, Column]) -> tuple[CellPlan, ...]:
    """Return a cell for each model and each column; ``models`` may have a title for each model."""
    titles = models if isinstance(models, Mapping) else {model: model for model in models}
    return tuple(
        column.cell(row, title, model)
        for model, row in titles.items()
        for title, column in columns.items()
    )


def exams_by_model(tables: Iterable[TablePlan]) -> dict[str, list[Exam]]:
    """Return what each model of the tables must be scored on."""
    exams: dict[str, dict[Exam, None]] = {}
    for table in tables:
        for cell in table.cells:
            exams.setdefault(cell.model, {})[cell.exam] = None
    return {model: list(of_model) for model, of_model in exams.items()}
