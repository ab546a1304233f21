"""An experiment: a question, the tables that answer it, and the models that they need."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from unskew.domains.karel.sources import TRIES
from unskew.experiments.karel.lab.lab import TRAINING_FACTS, Exam, Lab
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.tables import (
    Entries,
    TablePlan,
    exams_by_model,
    failures,
    table_of,
    tests,
)
from unskew.experiments.karel.lab.trainings import Training, seeds_of, training
from unskew.experiments.provenance import UNKNOWN, joined


@dataclass(frozen=True)
class Experiment:
    """A question, and the tables that answer it."""

    name: str
    title: str
    section: str  # of the paper; empty if the experiment is ours
    question: str
    tables: Callable[[Scale], Iterable[TablePlan]]
    failures: tuple[str, ...] = ()  # the models whose failures the page shows

    def trainings(self, scale: Scale) -> Iterator[tuple[Training, list[Exam]]]:
        """Yield the training of every model and seed, and what to score it on."""
        for model, exams in exams_by_model(self.tables(scale)).items():
            for seed in seeds_of(model, scale):
                yield training(model, scale, seed), exams

    def wanted(
        self, scale: Scale, only: Sequence[str] | None = None
    ) -> Iterator[tuple[Training, list[Exam]]]:
        """Yield the trainings that may run. ``only`` limits them to the models that it names."""
        return (pair for pair in self.trainings(scale) if _may_run(pair[0], only))

    def steps_left(self, lab: Lab, only: Sequence[str] | None = None) -> int:
        """Return how many steps are still to be trained."""
        wanted = self.wanted(lab.scale, only)
        return sum(model.steps for model, exams in wanted if lab.needs_training(model, exams))

    def run(self, lab: Lab, only: Sequence[str] | None = None) -> dict[str, Any]:
        """Train and score what is missing, and return the result.

        ``only`` names the models that may be trained, as ``baseline``, or as ``baseline:1`` for
        one seed. For all other models the result has what an earlier run left.
        """
        entries: Entries = {}
        for model, exams in self.trainings(lab.scale):
            entry = lab.entry(model, exams) if _may_run(model, only) else lab.known(model)
            entries.setdefault(model.name, []).extend([entry] if entry else [])
        trained = [entry for of_model in entries.values() for entry in of_model]
        tables = list(self.tables(lab.scale))
        return {
            "experiment": self.name,
            "scale": lab.name,
            "title": self.title,
            "section": self.section,
            "question": self.question,
            "tables": [table_of(table, entries) for table in tables],
            "failures": failures(self.failures, tables, entries),
            "trainings": [
                {name: entry[name] for name in TRAINING_FACTS}
                | {"commit": entry["provenance"].get("commit", UNKNOWN)}
                for entry in trained
            ],
            "tests": tests(tables, entries),
            "tries": TRIES,
            "seconds": round(sum(entry["seconds"] for entry in trained), 1),
            "provenance": joined([entry["provenance"] for entry in trained]),
        }


def _may_run(model: Training, only: Sequence[str] | None) -> bool:
    return only is None or model.name in only or f"{model.name}:{model.seed}" in only
