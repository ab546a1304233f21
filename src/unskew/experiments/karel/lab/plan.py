"""From scores to tables: each cell is a model on a test set, the paper's number beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from unskew.domains.karel.running.judge import Share, wilson
from unskew.domains.karel.sources import TRIES
from unskew.experiments.karel.lab.lab import TOLD, Exam, Lab
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import repeats
from unskew.experiments.karel.lab.trainings import Training, seeds_of, training
from unskew.experiments.provenance import commit_of, joined
from unskew.experiments.tables import NATS
from unskew.models.calculator.score import Estimate

GENERALIZES = "generalizes"
FIRST_CONSISTENT = f"{GENERALIZES}, first consistent"  # of the beam's, with what is shown


@dataclass(frozen=True)
class Cell:
    """One number: what share of a test set, or how many of it, a model solves."""

    row: str
    column: str
    model: str
    exam: Exam
    paper: float | None = None
    by: tuple[str, Any] | None = None  # a variable and its value: only the tasks that have it
    solved: str = GENERALIZES  # how a solution is counted


@dataclass(frozen=True)
class Table:
    """Cells under a title; ``form`` is how they are best looked at."""

    title: str
    cells: tuple[Cell, ...]
    unit: str = "%"  # or NATS, or the number of tasks, of which so many are solved
    form: str = "table"  # or heatmap, or lines (columns along the axis, a line a row)
    says: str = ""  # what the paper says of all, where it has no number for a cell
    note: str = ""
    worst: bool = False  # whether each row's lowest cell is named
    sides: tuple[str, str] = ("model", "tested on")  # what rows and columns are
    figure: str = ""  # tables of an experiment with the same one are drawn together
    label: str = ""  # of the table in its figure
    paper_of: int = 0  # how many tasks the paper counted, where it is a number of others


@dataclass(frozen=True)
class Experiment:
    """A question, and the tables that answer it at a scale."""

    name: str
    title: str
    section: str  # of the paper; empty where the experiment is ours
    question: str
    tables: Callable[[Scale], Sequence[Table]]
    failures: tuple[str, ...] = ()  # models whose failures are worth looking at

    def run(self, lab: Lab, only: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the tables, training and scoring what is not there yet.

        ``only`` names the models that may be trained, as ``baseline`` or ``baseline:1`` for one
        seed; cells of the others have a number of ours only where it was there already.
        """
        tables = self.tables(lab.scale)
        entries: dict[str, list[dict[str, Any]]] = {}
        for model, exams in _wanted(tables).items():
            trainings = [training(model, lab.scale, seed) for seed in seeds_of(model, lab.scale)]
            found = [
                lab.entry(each, exams) if _may(each, only) else lab.known(each)
                for each in trainings
            ]
            entries[model] = [entry for entry in found if entry]
        trained = [entry for found in entries.values() for entry in found]
        return self.result(lab.name, tables, entries) | {
            "seconds": round(sum(entry["seconds"] for entry in trained), 1),
            "provenance": joined([entry["provenance"] for entry in trained]),
        }

    def left(self, lab: Lab, only: Sequence[str] | None = None) -> int:
        """Return how many steps are still to be trained."""
        wanted = self.wanted(lab.scale, only)
        return sum(each.steps for each, exams in wanted if not lab.can_tell(each, exams))

    def wanted(
        self, scale: Scale, only: Sequence[str] | None = None
    ) -> Iterator[tuple[Training, list[Exam]]]:
        """Yield every model that may be trained, and what it must be scored on."""
        for model, exams in _wanted(self.tables(scale)).items():
            for seed in seeds_of(model, scale):
                each = training(model, scale, seed)
                if _may(each, only):
                    yield each, exams

    def models(self, scale: Scale) -> list[str]:
        """Return the models that the tables at a scale are about."""
        return list(_wanted(self.tables(scale)))

    def result(
        self, scale: str, tables: Sequence[Table], entries: dict[str, list[dict[str, Any]]]
    ) -> dict[str, Any]:
        """Return everything that is told about the experiment, as plain data."""
        return {
            "experiment": self.name,
            "scale": scale,
            "title": self.title,
            "section": self.section,
            "question": self.question,
            "tables": [_numbers(table, entries) for table in tables],
            "failures": list(_failures(self.failures, tables, entries)),
            "trainings": [
                {name: entry[name] for name in TOLD} | {"commit": commit_of(entry["provenance"])}
                for found in entries.values()
                for entry in found
            ],
            "tests": _tests(tables, entries),
            "tries": TRIES,
        }


def _may(each: Training, only: Sequence[str] | None) -> bool:
    return only is None or each.name in only or f"{each.name}:{each.seed}" in only


def _wanted(tables: Iterable[Table]) -> dict[str, list[Exam]]:
    """Return what each model must be scored on."""
    wanted: dict[str, dict[Exam, None]] = {}
    for table in tables:
        for cell in table.cells:
            wanted.setdefault(cell.model, {})[cell.exam] = None
    return {model: list(exams) for model, exams in wanted.items()}


def _numbers(table: Table, entries: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    cells = [_cell(cell, table.unit, entries.get(cell.model, [])) for cell in table.cells]
    found = _found(table, cells)
    texts = {
        "figure": table.figure,
        "label": table.label,
        "found": " ".join([*found, table.says] if found else []),
        "note": " ".join(text for text in (table.says, table.note, *found) if text),
    }
    return {
        "title": table.title,
        "unit": table.unit,
        "form": table.form,
        "sides": list(table.sides),
        "rows": list(dict.fromkeys(cell.row for cell in table.cells)),
        "columns": list(dict.fromkeys(cell.column for cell in table.cells)),
        "cells": cells,
        **({"paper_of": table.paper_of} if table.paper_of else {}),
        **{name: text.strip() for name, text in texts.items() if text},
    }


def _found(table: Table, cells: list[dict[str, Any]]) -> list[str]:
    """Say in short what a table as a whole has; of some there is nothing to say."""
    own, others = own_and_others(cells)
    told = []
    if table.worst:
        told.append(_worst(cells))
    if own and others:
        told.append(
            f"Of those run: {min(own):.1f} to {max(own):.1f} on a model's own kind of data, "
            f"{sum(own) / len(own):.1f} in the mean; {sum(others) / len(others):.1f} in the mean "
            f"on that of another."
        )
    return told


def own_and_others(cells: Sequence[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Return what models have on what they were trained on, and on what others were."""
    kinds = {cell["row"] for cell in cells} & {cell["column"] for cell in cells}
    own, others = list[float](), list[float]()
    for cell in cells:
        if cell["ours"] is not None and kinds >= {cell["row"], cell["column"]}:
            found = own if cell["row"] == cell["column"] else others
            found.append(cell["ours"]["mean"])
    return own, others


def _worst(cells: list[dict[str, Any]]) -> str:
    """Name the lowest cell of each row, by its lowest seed."""
    lowest: dict[str, tuple[float, str]] = {}
    for cell in cells:
        if cell["ours"] is not None:
            found = (min(cell["ours"]["values"]), cell["column"])
            lowest[cell["row"]] = min(found, lowest.get(cell["row"], found))
    named = "; ".join(f"{row} {value:.1f} on {test}" for row, (value, test) in lowest.items())
    return f"The worst cell of each, of those run and by its lowest seed: {named or 'none'}."


def _cell(cell: Cell, unit: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a cell as plain data; ``empty`` where a scale has no task for it."""
    ours = _loss(cell, entries) if unit == NATS else _ours(cell, entries, percent=unit == "%")
    told = {"row": cell.row, "column": cell.column, "paper": cell.paper, "ours": ours}
    scored = any(cell.exam.key in entry["scores"] for entry in entries)
    return told | ({"empty": True} if ours is None and scored else {})


def _ours(cell: Cell, entries: list[dict[str, Any]], *, percent: bool) -> dict[str, Any] | None:
    """Return the mean over seeds and its interval: the wider of seeds' and tasks' (Wilson's).

    Tasks of one program count as one task: they may come out alike.
    """
    scores = [each["scores"][cell.exam.key] for each in entries if cell.exam.key in each["scores"]]
    found = [share for score in scores if (share := _share(cell, score)) is not None]
    if not found:
        return None
    shares = [Share(each["hits"], each["n"]) for each in found]
    times = [100.0 if percent else share.n for share in shares]
    values = [share.share * factor for share, factor in zip(shares, times, strict=True)]
    mean = sum(values) / len(values)
    tasks = shares[0].n / repeats(cell.exam.test)
    low, high = _interval(values, wilson(mean / times[0], tasks), times[0])
    common = [100 * score["common"]["hits"] / score["common"]["n"] for score in scores
              if cell.by is None and cell.solved == GENERALIZES
              and score.get("common", {}).get("n")]  # fmt: skip
    return {
        "mean": mean,
        "low": low,
        "high": high,
        "values": values,
        "tasks": shares[0].n,
        "common": sum(common) / len(common) if common else None,
    }


def _loss(cell: Cell, entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the mean loss over seeds; of one seed there is no interval."""
    scores = [each["scores"][cell.exam.key] for each in entries if cell.exam.key in each["scores"]]
    if not scores:
        return None
    seeds = Estimate.of([score["loss"] for score in scores])
    several = len(scores) > 1
    return {
        "mean": seeds.mean,
        "low": max(0.0, seeds.mean - seeds.half_width) if several else None,
        "high": seeds.mean + seeds.half_width if several else None,
        "values": list(seeds.values),
        "tasks": scores[0]["tasks"],
        "common": None,
    }


def _interval(values: list[float], tasks: tuple[float, float], times: float) -> tuple[float, float]:
    low, high = (end * times for end in tasks)
    if len(values) > 1:
        seeds = Estimate.of(values)
        low, high = (
            min(low, seeds.mean - seeds.half_width),
            max(high, seeds.mean + seeds.half_width),
        )
    return max(0.0, low), min(times, high)


def _share(cell: Cell, score: dict[str, Any]) -> dict[str, Any] | None:
    if cell.by is None:
        share: dict[str, Any] = score["shares"][cell.solved]
        return share
    variable, value = cell.by
    return next((row for row in score["by"][variable] if row["value"] == value), None)


def _failures(
    models: Sequence[str], tables: Iterable[Table], entries: dict[str, list[dict[str, Any]]]
) -> Iterable[dict[str, Any]]:
    """Yield tasks that a model's first seed does not solve, and what it says there."""
    wanted = _wanted(tables)
    for model in models:
        for entry in entries.get(model, [])[:1]:
            for exam in wanted.get(model, []):
                if exam.shown is None and exam.key in entry["scores"]:
                    for miss in entry["scores"][exam.key]["misses"]:
                        yield {"model": model, "test": f"karel/{exam.test}", **miss}


def _tests(
    tables: Iterable[Table], entries: dict[str, list[dict[str, Any]]]
) -> dict[str, dict[str, int]]:
    """Return how many tasks each test set has, how many programs had no worlds, and the beam."""
    tests = {}
    for model, exams in _wanted(tables).items():
        for entry in entries.get(model, []):
            for exam in exams:
                if exam.shown is None and exam.key in entry["scores"]:
                    score = entry["scores"][exam.key]
                    facts = {name: score[name] for name in ("tasks", "dropped", "beam")}
                    tests[f"karel/{exam.test}"] = facts
    return tests
