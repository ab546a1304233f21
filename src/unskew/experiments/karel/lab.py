"""Training and scoring what the experiments ask for, once: a stop loses little, nothing is redone.

In the working folder lie ``data`` (fixed training sets), ``runs`` (models in training and
trained) and ``entries``: for each model a JSON file with its settings, how it was trained and
its scores. What an entry has is taken from there, so the entries alone are enough to make the
tables again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unskew.dataset import Dataset
from unskew.domains.karel.judging import Share
from unskew.engines import processes
from unskew.errors import UnskewError
from unskew.experiments.karel.beside import counted
from unskew.experiments.karel.scales import find_scale
from unskew.experiments.karel.testing import PROBLEMS, WIDE, TestSets
from unskew.experiments.karel.trainings import Training
from unskew.experiments.provenance import UNKNOWN, provenance
from unskew.experiments.saying import Say
from unskew.files import plain_errors, write_text
from unskew.generation import generate
from unskew.models.karel import Synthesizer
from unskew.models.karel_data import Tasks, joined
from unskew.models.karel_opening import endless, fixed
from unskew.models.karel_reading import read_examples
from unskew.models.karel_run import MODEL, OpenBatches, Progress, load_synthesizer, train
from unskew.models.karel_scoring import mean_loss, score
from unskew.models.ranks import ALONE
from unskew.models.runs import METRICS
from unskew.recipe import Recipe, facts_of

MISSES = 12  # unsolved tasks of a test set that are kept with what was predicted
TOLD = (
    "name", "seed", "hash", "data", "steps", "batch", "shown", "examples", "distinct", "passes",
    "seconds", "at_once",
)  # fmt: skip
FEW = 4_096  # examples that are made before a process that makes them has started
AT_ONCE, MADE_BY = "at_once", "provenance.json"  # files of a run
SCORED = {"tasks", "beam", "set", "shares", "by", "misses", "dropped"}
BY = {"actions-test": ("actions",), "msr-test": ("control_flow",)}


@dataclass(frozen=True)
class Exam:
    """What a model is scored on: a test set, and how many pairs are shown (five)."""

    test: str
    shown: int | None = None

    @property
    def key(self) -> str:
        """Its name in an entry."""
        return self.test if self.shown is None else f"{self.test}, {self.shown} shown"

    @classmethod
    def of(cls, key: str) -> Exam:
        """Return what has this name."""
        test, _, shown = key.partition(", ")
        return cls(test, int(shown.removesuffix(" shown")) if shown else None)


class Lab:
    """Everything that was trained and scored at a scale, and the means to do the rest."""

    def __init__(
        self, name: str, work: Path, say: Say | None = None, *, cores: int | None = None
    ) -> None:
        """Work at a scale and in a folder, which may already have some of it.

        ``cores`` says how many make data, all unless said; what they make is the same.
        """
        self.name, self.scale, self.work, self.say = name, find_scale(name), work, say or Say()
        self._cores = cores or os.cpu_count() or 1
        self.tests = TestSets(self.scale)

    def entry(self, training: Training, exams: Sequence[Exam]) -> dict[str, Any]:
        """Return a model's entry with these scores, training and scoring what is missing.

        A model that must be trained again is scored on all that its entry had, too; what a stop
        leaves of that is ``owed``.
        """
        found = self.known(training)
        scores, owed = found.get("scores", {}), found.get("owed", [])
        wanted = {exam.key: exam for exam in exams}
        if self._is_trained(training):
            wanted |= {key: Exam.of(key) for key in owed}
        if found and wanted.keys() <= scores.keys():
            return found
        model = self._trained(training)
        weights = self._weights(training)
        wanted |= {key: Exam.of(key) for key in owed}
        if found.get("weights") != weights:  # trained again: nothing is known of it
            wanted |= {key: Exam.of(key) for key in scores}
            found = {**self._facts(training), "weights": weights, "scores": {}}
        left = [key for key in wanted if key not in found["scores"]]
        while left:
            self.say.stage(f"scoring {training.name} on {left[0]}")
            found["scores"][left[0]] = self._score(model, wanted[left[0]])
            del left[0]
            found = {name: fact for name, fact in found.items() if name != "owed"}
            self._write(training, found | ({"owed": left} if left else {}))
        return found

    def can_tell(self, training: Training, exams: Sequence[Exam]) -> bool:
        """Whether a model need not be trained to score it on these."""
        scores = self.known(training).get("scores", {})
        return self._is_trained(training) or all(exam.key in scores for exam in exams)

    def known(self, training: Training) -> dict[str, Any]:
        """Return a model's entry as far as it is there, with the scores of today's exams."""
        path = self._path(training)
        if not path.is_file():
            return {}
        try:
            with plain_errors(path, reading=True):
                found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise UnskewError(f"{path} is no JSON ({error}); remove it") from error
        if not _is_entry(found) or found["hash"] != training.hash:
            raise UnskewError(f"{path} is not the entry of {training.name}; remove it")
        scores = {key: score for key, score in found["scores"].items() if self._holds(key, score)}
        # The same model may go by two names.
        return {**found, "scores": scores, "name": training.name}

    def _holds(self, key: str, score: dict[str, Any]) -> bool:
        """Whether a score is of the test set and with the beam that the scale now has."""
        test = key.partition(", ")[0]
        return bool(score["beam"] == self._beam(test) and score["set"] == self.tests.label(test))

    def _is_trained(self, training: Training) -> bool:
        return (self.work / "runs" / training.hash / MODEL).is_file()

    def _path(self, training: Training) -> Path:
        return self.work / "entries" / f"{training.hash}.json"

    def _write(self, training: Training, entry: dict[str, Any]) -> None:
        write_text(self._path(training), json.dumps(entry, indent=1) + "\n")

    def _trained(self, training: Training) -> Synthesizer:
        folder = self.work / "runs" / training.hash
        if (folder / MODEL).is_file():
            return load_synthesizer(folder, ALONE.device)
        self.say.stage(f"training {training.name}, seed {training.seed}: {training.data}")
        if training.mixture is not None:
            few = training.steps * training.step.batch <= FEW
            workers = 0 if few else max(1, self._cores - 1)  # one is left to whoever trains
            opened = endless(training.mixture, training.step, reuse=training.reuse, workers=workers)
        else:
            tasks = [self._set(recipe) for recipe in training.sets]
            opened = fixed(joined(tasks), training.step)
        self._train(training, opened, folder)
        return load_synthesizer(folder, ALONE.device)

    def _train(
        self, training: Training, opened: tuple[OpenBatches, dict[str, Any]], folder: Path
    ) -> None:
        """Train, and note how many processes did at once, at most."""
        with counted(self.work / "busy") as count:
            most = max(count(), _at_once(folder))

            def report(now: Progress) -> None:
                nonlocal most
                most = max(most, count())
                self.say.step(now)

            try:
                train(training.config, *opened, folder, report=report)
            finally:
                if folder.is_dir():
                    write_text(folder / AT_ONCE, str(most))
                    write_text(folder / MADE_BY, json.dumps(provenance(), indent=1) + "\n")

    def _set(self, recipe: Recipe) -> Tasks:
        """Return a fixed training set, made by all cores and kept."""
        folder = self.work / "data" / recipe.hash
        crew = min(self._cores, recipe.shards)
        dataset = generate(recipe, folder, engine=processes(crew) if crew > 1 else None)
        self.say.stage(f"{len(dataset):,} examples of {recipe.source}")
        return Tasks.of(read_examples(str(folder)))

    def _weights(self, training: Training) -> str:
        """Name the weights of a trained model; a GPU does not make the same ones twice."""
        model = self.work / "runs" / training.hash / MODEL
        return hashlib.sha256(model.read_bytes()).hexdigest()[:16]

    def _facts(self, training: Training) -> dict[str, Any]:
        """Say how a model was trained; of a set, how often it was gone through."""
        lines = (self.work / "runs" / training.hash / METRICS).read_text().splitlines()
        curve = [json.loads(line) for line in lines]
        examples = training.steps * training.step.batch
        distinct = self._distinct(training, examples)
        return {
            "name": training.name,
            "seed": training.seed,
            "hash": training.hash,
            "data": training.data,
            "steps": training.steps,
            "batch": training.step.batch,
            "shown": list(training.step.shown),
            "examples": examples,
            "distinct": distinct,
            "passes": round(examples / distinct, 2),
            "seconds": round(curve[-1]["seconds"], 1),
            "at_once": _at_once(self.work / "runs" / training.hash),
            "loss": curve[-1]["loss"],
            "settings": json.loads(json.dumps(facts_of(training), default=dict)),
            "provenance": _made_by(self.work / "runs" / training.hash),
        }

    def _distinct(self, training: Training, examples: int) -> int:
        """Return how many examples were drawn for a model."""
        if training.mixture is not None:
            return -(-examples // training.reuse)
        folders = [self.work / "data" / recipe.hash for recipe in training.sets]
        return sum(len(Dataset.open(folder)) for folder in folders)

    def _beam(self, test: str) -> int:
        return self.scale.wide_beam if test in WIDE else self.scale.beam

    def _score(self, model: Synthesizer, exam: Exam) -> dict[str, Any]:
        """Score a model, and note on which tasks it fails and what it says there."""
        test = self.tests[exam.test]
        beam = self._beam(exam.test)
        by = BY.get(exam.test, ())
        found = score(model, test.examples, beam, shown=exam.shown, by=by, misses=MISSES)
        label = self.tests.label(exam.test)
        facts = {**found.to_dict(), "set": label, "dropped": test.dropped}
        for miss in facts["misses"]:  # of the whole set, wherever it is made again
            miss["row"] = int(test.rows[miss["row"]])
        if exam.test != PROBLEMS:  # which have one to four pairs
            facts["loss"] = mean_loss(model, Tasks.of(test.examples), shown=found.shown)
        if test.common is not None:
            facts["common"] = asdict(Share.of(found.solved[test.common]))
        return facts


def _at_once(run: Path) -> int:
    """Return how many models were trained at once, as far as was noted."""
    return int((run / AT_ONCE).read_text()) if (run / AT_ONCE).is_file() else 1


def _made_by(run: Path) -> dict[str, Any]:
    """Return what trained a run, which need not be what scores it."""
    if not (run / MADE_BY).is_file():
        return dict.fromkeys(provenance(), UNKNOWN)
    found: dict[str, Any] = json.loads((run / MADE_BY).read_text(encoding="utf-8"))
    return found


def _is_entry(found: Any) -> bool:
    """Whether what was read has all that tables are made of."""
    if not isinstance(found, dict) or not isinstance(found.get("scores"), dict):
        return False
    whole = found.keys() >= {*TOLD, "provenance"} and all(
        isinstance(score, dict) and score.keys() >= SCORED for score in found["scores"].values()
    )
    return whole and isinstance(found["seconds"], int | float)
