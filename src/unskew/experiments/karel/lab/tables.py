"""The tables of experiments: which numbers they need, and these numbers from the scores.

Each cell says which number it needs, and has the paper's number. The results are plain data.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from unskew.core.interval import wilson
from unskew.domains.karel.running.judge import Share
from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.test_sets import repeats
from unskew.experiments.table import NATS, Ours
from unskew.models.calculator.score import Estimate

GENERALIZES = "generalizes"
ANY, FIRST_CONSISTENT = f"{GENERALIZES}, any", f"{GENERALIZES}, first consistent"
Entries: TypeAlias = dict[str, list[dict[str, Any]]]  # the entries of each model, seed by seed


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
class ColumnPlan:
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


def grid(models: Iterable[str], columns: Mapping[str, ColumnPlan]) -> tuple[CellPlan, ...]:
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


def table_of(table: TablePlan, entries: Entries) -> dict[str, Any]:
    """Return a table with our numbers and the paper's."""
    cells = [cell_of(cell, table.unit, entries.get(cell.model, [])) for cell in table.cells]
    findings = list(_findings(table, cells))
    optional = {
        "paper_of": table.paper_of,
        "figure": table.figure,
        "label": table.label,
        "found": " ".join([*findings, table.says]).strip() if findings else "",
        "note": " ".join(text for text in (table.says, table.note, *findings) if text),
    }
    return {
        "title": table.title,
        "unit": table.unit,
        "form": table.form,
        "sides": list(table.sides),
        "rows": list(dict.fromkeys(cell.row for cell in table.cells)),
        "columns": list(dict.fromkeys(cell.column for cell in table.cells)),
        "cells": cells,
        **{name: value for name, value in optional.items() if value},
    }


def cell_of(cell: CellPlan, unit: str, entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a cell with our number and the paper's; ``empty`` if a scale has no task for it."""
    key = cell.exam.key
    scores = [entry["scores"][key] for entry in entries if key in entry["scores"]]
    ours = _loss(scores) if unit == NATS else _solved(cell, scores, percent=unit == "%")
    facts = {"row": cell.row, "column": cell.column, "paper": cell.paper, "ours": ours}
    return facts | ({"empty": True} if ours is None and scores else {})


def _solved(
    cell: CellPlan, scores: Sequence[dict[str, Any]], *, percent: bool
) -> dict[str, Any] | None:
    """Return the mean over seeds of what a model solves, with an interval.

    The tasks of one program count as one task in the interval, since their results may be alike.
    """
    rows = [row for score in scores if (row := _share(cell, score)) is not None]
    if not rows:
        return None
    shares = [Share(row["hits"], row["n"]) for row in rows]
    factors = [100.0 if percent else share.n for share in shares]
    values = [share.share * factor for share, factor in zip(shares, factors, strict=True)]
    mean = sum(values) / len(values)
    tasks = shares[0].n / repeats(cell.exam.test)
    low, high = wider_interval(values, wilson(mean / factors[0], tasks), factors[0])
    is_whole = cell.by is None and cell.solved == GENERALIZES
    common = [
        100 * score["common"]["hits"] / score["common"]["n"]
        for score in scores
        if is_whole and score.get("common", {}).get("n")
    ]
    of_common = sum(common) / len(common) if common else None
    return asdict(Ours(mean, low, high, values, shares[0].n, of_common))


def _loss(scores: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the mean loss over seeds, with an interval if there are several seeds."""
    if not scores:
        return None
    seeds = Estimate.of([score["loss"] for score in scores])
    low = high = None
    if len(scores) > 1:
        low, high = max(0.0, seeds.mean - seeds.half_width), seeds.mean + seeds.half_width
    return asdict(Ours(seeds.mean, low, high, list(seeds.values), scores[0]["tasks"]))


def wider_interval(
    values: Sequence[float], tasks: tuple[float, float], most: float
) -> tuple[float, float]:
    """Return an interval that covers the one over the seeds and the one over the tasks.

    ``tasks`` is the interval over the tasks as shares of one; ``most`` is the largest value.
    """
    low, high = (end * most for end in tasks)
    if len(values) > 1:
        seeds = Estimate.of(values)
        low = min(low, seeds.mean - seeds.half_width)
        high = max(high, seeds.mean + seeds.half_width)
    return max(0.0, low), min(most, high)


def _share(cell: CellPlan, score: dict[str, Any]) -> dict[str, Any] | None:
    """Return how many tasks of a cell are solved; None if no task has the cell's value."""
    if cell.by is None:
        return dict(score["shares"][cell.solved])
    variable, value = cell.by
    return next((row for row in score["by"][variable] if row["value"] == value), None)


def _findings(table: TablePlan, cells: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield what can be said about a table as a whole."""
    if table.worst:
        yield _worst(cells)
    own, others = own_and_others(cells)
    if own and others:
        yield (
            f"The models that were run solve {min(own):.1f} to {max(own):.1f} % of their own kind "
            f"of data ({sum(own) / len(own):.1f} % on average), and "
            f"{sum(others) / len(others):.1f} % of other kinds on average."
        )


def own_and_others(cells: Sequence[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Return what models solve of the kind of data they were trained on, and of other kinds."""
    kinds = {cell["row"] for cell in cells} & {cell["column"] for cell in cells}
    own, others = list[float](), list[float]()
    for cell in cells:
        if cell["ours"] is not None and kinds >= {cell["row"], cell["column"]}:
            values = own if cell["row"] == cell["column"] else others
            values.append(cell["ours"]["mean"])
    return own, others


def _worst(cells: Sequence[dict[str, Any]]) -> str:
    """Name the lowest cell of each row, by its lowest seed."""
    lowest: dict[str, tuple[float, str]] = {}
    for cell in cells:
        if cell["ours"] is not None:
            value = (min(cell["ours"]["values"]), cell["column"])
            lowest[cell["row"]] = min(value, lowest.get(cell["row"], value))
    named = "; ".join(f"{row} {value:.1f} on {test}" for row, (value, test) in lowest.items())
    return (
        f"The lowest number of each model (its lowest seed, of the cells run): {named or 'none'}."
    )


def failures(
    models: Iterable[str], tables: Iterable[TablePlan], entries: Entries
) -> list[dict[str, Any]]:
    """Return the tasks that the first seed of a model does not solve, and what it wrote there."""
    first = {model: entries[model][:1] for model in models if model in entries}
    scores = list(_scores(tables, first))
    return [
        {"model": model, "test": test, **miss}
        for model in first
        for name, test, score in scores
        if name == model
        for miss in score["misses"]
    ]


def tests(tables: Iterable[TablePlan], entries: Entries) -> dict[str, dict[str, int]]:
    """Return for each test set its tasks, the programs that it leaves out, and the beam."""
    return {
        test: {fact: score[fact] for fact in ("tasks", "dropped", "beam")}
        for _, test, score in _scores(tables, entries)
    }


def _scores(
    tables: Iterable[TablePlan], entries: Entries
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each model, test set and score, where the model saw all pairs."""
    for model, exams in exams_by_model(tables).items():
        for entry in entries.get(model, []):
            for exam in exams:
                if exam.shown is None and exam.key in entry["scores"]:
                    yield model, f"karel/{exam.test}", entry["scores"][exam.key]
