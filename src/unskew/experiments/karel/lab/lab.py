"""The lab trains and scores each model once, for all experiments that share the model.

The working folder has three folders. ``data`` holds fixed training sets, ``runs`` holds models in
training and trained models, and ``entries`` holds a JSON file for each model: its settings, how it
was trained, and its scores. The lab takes everything that an entry has from the entry. So the
entries alone are enough to make the tables again, and a stop loses little work.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe, facts_of
from unskew.datasets.engines import processes
from unskew.datasets.generate import generate
from unskew.domains.karel.running.judge import Share
from unskew.experiments.karel.lab.scales import find_scale
from unskew.experiments.karel.lab.test_sets import PROBLEMS, WIDE, TestSets
from unskew.experiments.karel.lab.trainings import Training
from unskew.experiments.provenance import UNKNOWN, provenance
from unskew.experiments.say import Say
from unskew.io.dataset import Dataset
from unskew.io.files import write_text
from unskew.io.location import plain_errors
from unskew.models.karel.data.examples import read_examples
from unskew.models.karel.data.tasks import Tasks, joined
from unskew.models.karel.network.synthesizer import Synthesizer
from unskew.models.karel.score import mean_loss, score
from unskew.models.karel.train.run import MODEL, endless, fixed, load_synthesizer, train
from unskew.models.ranks import ALONE
from unskew.models.runs import METRICS, read_json, write_json
from unskew.models.training import Progress

MISSES = 12  # unsolved tasks of a test set that an entry keeps, with the predicted programs
TRAINING_FACTS = (  # the facts of an entry that a result shows for each model
    "name", "seed", "hash", "data", "steps", "batch", "shown", "examples", "distinct", "passes",
    "seconds", "at_once",
)  # fmt: skip
SCORE_FACTS = {"tasks", "beam", "set", "shares", "by", "misses", "dropped"}
FEW = 4_096  # examples that this process can make before a worker process has started
COUNT_FILE, PROVENANCE_FILE = "at_once", "provenance.json"  # files of a run
BY = {"actions-test": ("actions",), "msr-test": ("control_flow",)}


@dataclass(frozen=True)
class Exam:
    """What a model is scored on: a test set, and how many pairs it sees (None means five)."""

    test: str
    shown: int | None = None

    @property
    def key(self) -> str:
        """The name of the exam in an entry."""
        return self.test if self.shown is None else f"{self.test}, {self.shown} shown"

    @classmethod
    def of(cls, key: str) -> Exam:
        """Return the exam with this key."""
        test, _, shown = key.partition(", ")
        return cls(test, int(shown.removesuffix(" shown")) if shown else None)


class Lab:
    """Everything that was trained and scored at a scale, and the means to do the rest."""

    def __init__(
        self, name: str, work: Path, say: Say | None = None, *, cores: int | None = None
    ) -> None:
        """Open a working folder at the scale ``name``; the folder may have earlier results.

        ``cores`` processes make the data; None means one for each core. The data does not depend
        on this number.
        """
        self.name, self.scale, self.work, self.say = name, find_scale(name), work, say or Say()
        self._cores = cores or os.cpu_count() or 1
        self.tests = TestSets(self.scale)

    def entry(self, training: Training, exams: Sequence[Exam]) -> dict[str, Any]:
        """Return the entry of a model with these scores; train and score what is missing.

        A model that must be trained again is also scored on every exam of its earlier entry. If a
        stop interrupts this, the entry lists the exams that are left as ``owed``.
        """
        entry = self.known(training)
        scores, owed = entry.get("scores", {}), entry.get("owed", [])
        keys = {exam.key for exam in exams}
        if self._is_trained(training):
            keys |= set(owed)
        if entry and keys <= scores.keys():
            return entry
        model = self._trained(training)
        # A GPU does not make the same weights twice.
        weights = hashlib.sha256((self._run(training) / MODEL).read_bytes()).hexdigest()[:16]
        missing = dict.fromkeys([*(exam.key for exam in exams), *owed])
        if entry.get("weights") != weights:  # trained again, so the old scores are of another model
            missing |= dict.fromkeys(scores)
            entry = {**self._facts(training), "weights": weights, "scores": {}}
        left = [key for key in missing if key not in entry["scores"]]
        entry.pop("owed", None)
        while left:
            key = left.pop(0)
            self.say.stage(f"scoring {training.name} on {key}")
            entry["scores"][key] = self.score(model, Exam.of(key))
            write_json(self._path(training), entry | ({"owed": left} if left else {}))
        return entry

    def needs_training(self, training: Training, exams: Sequence[Exam]) -> bool:
        """Return whether a model must be trained before these scores are there."""
        scores = self.known(training).get("scores", {})
        return not self._is_trained(training) and any(exam.key not in scores for exam in exams)

    def known(self, training: Training) -> dict[str, Any]:
        """Return the entry of a model with the scores that are still valid; {} if it has none."""
        path = self._path(training)
        if not path.is_file():
            return {}
        entry = read_json(path, "remove it")
        if not _is_entry(entry) or entry["hash"] != training.hash:
            raise UnskewError(f"{path} is not the entry of {training.name}; remove it")
        scores = {key: facts for key, facts in entry["scores"].items() if self._holds(key, facts)}
        # One model may have two names; the entry has the name under which it was trained.
        return {**entry, "scores": scores, "name": training.name}

    def score(self, model: Synthesizer, exam: Exam) -> dict[str, Any]:
        """Return the scores of a model on an exam, with its first unsolved tasks."""
        test = self.tests[exam.test]
        by = BY.get(exam.test, ())
        result = score(
            model, test.examples, self._beam(exam.test), shown=exam.shown, by=by, misses=MISSES
        )
        label = self.tests.label(exam.test)
        facts = {**result.to_dict(), "set": label, "dropped": test.dropped}
        for miss in facts["misses"]:  # count rows in the whole set; this may be a part of it
            miss["row"] = int(test.rows[miss["row"]])
        if exam.test != PROBLEMS:  # problems have one to four pairs, so they have no such loss
            facts["loss"] = mean_loss(model, Tasks.of(test.examples), shown=result.shown)
        if test.common is not None:
            facts["common"] = asdict(Share.of(result.solved[test.common]))
        return facts

    def _holds(self, key: str, facts: dict[str, Any]) -> bool:
        """Return whether a score is of the test set and the beam that the scale has now."""
        test = Exam.of(key).test
        return bool(facts["beam"] == self._beam(test) and facts["set"] == self.tests.label(test))

    def _run(self, training: Training) -> Path:
        return self.work / "runs" / training.hash

    def _path(self, training: Training) -> Path:
        return self.work / "entries" / f"{training.hash}.json"

    def _is_trained(self, training: Training) -> bool:
        return (self._run(training) / MODEL).is_file()

    def _trained(self, training: Training) -> Synthesizer:
        """Return a trained model; train it first if it is not there."""
        if not self._is_trained(training):
            self.say.stage(f"training {training.name}, seed {training.seed}: {training.data}")
            self._train(training)
        return load_synthesizer(self._run(training), ALONE.device)

    def _train(self, training: Training) -> None:
        """Train a model, and note the largest number of processes that trained at the same time."""
        if training.mixture is not None:
            workers = 0 if training.examples <= FEW else max(1, self._cores - 1)
            batches = endless(
                training.mixture, training.step, reuse=training.reuse, workers=workers
            )
        else:
            tasks = [self._training_set(recipe) for recipe in training.sets]
            batches = fixed(joined(tasks), training.step)
        folder = self._run(training)
        with counted(self.work / "busy") as count:
            most = max(count(), _processes(folder))

            def report(progress: Progress) -> None:
                nonlocal most
                most = max(most, count())
                self.say.step(progress)

            try:
                train(training.config, *batches, folder, report=report)
            finally:
                if folder.is_dir():
                    write_text(folder / COUNT_FILE, str(most))
                    write_json(folder / PROVENANCE_FILE, provenance())

    def _training_set(self, recipe: Recipe) -> Tasks:
        """Return a fixed training set; all cores make it, and the folder keeps it."""
        folder = self.work / "data" / recipe.hash
        workers = min(self._cores, recipe.shards)
        dataset = generate(recipe, folder, engine=processes(workers) if workers > 1 else None)
        self.say.stage(f"{len(dataset):,} examples of {recipe.source}")
        return Tasks.of(read_examples(str(folder)))

    def _facts(self, training: Training) -> dict[str, Any]:
        """Return how a model was trained: on what, for how long, and by which machine."""
        folder = self._run(training)
        last = json.loads((folder / METRICS).read_text().splitlines()[-1])
        made_by = dict.fromkeys(provenance(), UNKNOWN)
        if (folder / PROVENANCE_FILE).is_file():  # another machine than this one may have trained
            made_by = read_json(folder / PROVENANCE_FILE, "remove it")
        distinct = training.streamed
        if training.mixture is None:
            folders = [self.work / "data" / recipe.hash for recipe in training.sets]
            distinct = sum(len(Dataset.open(data)) for data in folders)
        return {
            "name": training.name,
            "seed": training.seed,
            "hash": training.hash,
            "data": training.data,
            "steps": training.steps,
            "batch": training.step.batch,
            "shown": list(training.step.shown),
            "examples": training.examples,
            "distinct": distinct,
            "passes": round(training.examples / distinct, 2),
            "seconds": round(last["seconds"], 1),
            "at_once": _processes(folder),
            "loss": last["loss"],
            "settings": json.loads(json.dumps(facts_of(training), default=dict)),
            "provenance": made_by,
        }

    def _beam(self, test: str) -> int:
        return self.scale.wide_beam if test in WIDE else self.scale.beam


def _processes(run: Path) -> int:
    """Return the largest number of processes that trained together with this run; 1 if unknown."""
    return int((run / COUNT_FILE).read_text()) if (run / COUNT_FILE).is_file() else 1


def _is_entry(entry: Any) -> bool:
    """Return whether a JSON value has everything that the tables need."""
    return (
        isinstance(entry, dict)
        and entry.keys() >= {*TRAINING_FACTS, "provenance", "scores"}
        and isinstance(entry["seconds"], int | float)
        and isinstance(entry["scores"], dict)
        and all(
            isinstance(facts, dict) and facts.keys() >= SCORE_FACTS
            for facts in entry["scores"].values()
        )
    )


@contextmanager
def counted(folder: Path) -> Iterator[Callable[[], int]]:
    """Register this process; yield the function that counts the registered processes."""
    own_file = folder / str(os.getpid())
    with plain_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        own_file.touch()
    try:
        yield lambda: sum(_runs(path.name) for path in folder.iterdir())
    finally:
        own_file.unlink(missing_ok=True)


def _runs(process: str) -> bool:
    """Return whether a process of this machine runs; a killed one has left its file behind."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:  # it is another user's
        return True
    return True
