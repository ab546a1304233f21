"""Training the synthesizer: for so many minutes or steps, resumable, checked while it runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import Tensor

from unskew.core.errors import UnskewError, check_count, check_range
from unskew.models.checkpoint import AGAIN, check_shapes, load_checkpoint, save_checkpoint
from unskew.models.karel.data.rounds import Rounds
from unskew.models.karel.data.tasks import Tasks
from unskew.models.karel.decode.solve import solve
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig
from unskew.models.karel.train.step import Batches, StepConfig, TrainingStep
from unskew.models.ranks import ALONE, Ranks
from unskew.models.runs import CHECKPOINT, Stop, claim, cut_log, held_interrupts, log, settings

KIND = "karel-synthesizer"
MODEL = "model.safetensors"  # the weights alone, written last
SHIPPED = "shipped.safetensors"  # in the package: a small model, trained on uniform worlds
SAVE_SECONDS = 60.0  # a stop loses no more work than this
AHEAD = 4  # steps that are handed to a GPU before they are waited for


@dataclass(frozen=True)
class RunConfig:
    """What to train and for how long: so many minutes of training, or so many steps."""

    model: SynthesizerConfig = field(default_factory=SynthesizerConfig)
    step: StepConfig = field(default_factory=StepConfig)
    minutes: float | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        if (self.minutes is None) == (self.steps is None):
            raise UnskewError("give either minutes or steps, not both and not neither")
        if self.minutes is not None:
            check_range("minutes", self.minutes, 0.001, 100_000)
        if self.steps is not None:
            check_count("steps", self.steps)

    def progress(self, step: int, seconds: float) -> float:
        """Return how much of the run is done, 0 to 1."""
        done = step / self.steps if self.steps else seconds / (60 * (self.minutes or 1))
        return min(1.0, done)


@dataclass(frozen=True)
class Progress:
    """What the loop tells while it runs; accuracy is the generalization on the held-out tasks."""

    step: int
    loss: float
    rate: float
    examples_per_second: float
    seconds: float  # of training
    done: float  # of the run, 0 to 1
    accuracy: float | None = None


# Opens the batches of a run from a batch and what the feed's state was at it.
OpenBatches: TypeAlias = Callable[[int, Mapping[str, Any] | None], Batches]


def train(
    config: RunConfig,
    open_batches: OpenBatches,
    data: Mapping[str, Any],
    folder: Path,
    *,
    held_out: Tasks | None = None,
    every: float = 30.0,
    ranks: Ranks = ALONE,
    report: Callable[[Progress], None] = lambda _: None,
) -> Synthesizer:
    """Train in a folder, or go on there; ``data`` names what the batches are made of.

    Minutes are those of training: compiling, saving and checking are not counted. Checks come
    every so many seconds and do not change what is learnt. A finished run's model is loaded.
    """
    if ranks.agree(is_finished(config, data, folder, ranks)):
        return load_synthesizer(folder, ranks.device)
    if ranks.first:
        claim(folder, _settings(config, data, ranks))
    ranks.agree(0)  # the folder is there for all
    path = folder / CHECKPOINT
    start = _read_start(path, ranks)
    model = Synthesizer(config.model).to(ranks.device)
    batches = open_batches(start.step, start.feed)
    try:
        step = TrainingStep(model, batches, config.step, ranks)
        if start.tensors is not None:
            shapes = {name: tuple(tensor.shape) for name, tensor in step.tensors().items()}
            check_shapes(path, start.tensors, shapes)
            step.restore(start.tensors)
        if ranks.first:
            cut_log(folder, start.step)
        _Loop(config, step, folder, held_out, every, ranks, report).run(start.step, start.seconds)
    finally:
        if isinstance(batches, Rounds):
            batches.close()
    return model


def is_finished(
    config: RunConfig, data: Mapping[str, Any], folder: Path, ranks: Ranks = ALONE
) -> bool:
    """Whether a folder has this run's model; that of another run is refused."""
    if not (folder / MODEL).is_file():
        return False
    claim(folder, _settings(config, data, ranks))
    return True


def _settings(config: RunConfig, data: Mapping[str, Any], ranks: Ranks) -> dict[str, Any]:
    facts = asdict(config) | {"model": config.model.facts(), "step": config.step.facts()}
    return {"kind": KIND, **facts, "data": dict(data), "processes": ranks.size}


@dataclass(frozen=True)
class _Start:
    """Where a run goes on: steps and seconds of training, where the feed stood, the tensors."""

    step: int = 0
    seconds: float = 0.0
    feed: Mapping[str, Any] | None = None
    tensors: dict[str, Tensor] | None = None


def _read_start(path: Path, ranks: Ranks) -> _Start:
    """Return where the checkpoint of a run stands; the very beginning where there is none."""
    if not path.is_file():
        return _Start()
    tensors, facts = load_checkpoint(path)
    try:
        feed = facts["feeds"][ranks.rank] if facts["feeds"] else None
        return _Start(int(facts["step"]), float(facts["seconds"]), feed, tensors)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UnskewError(f"{path} does not say where it stands ({error!r}); {AGAIN}") from error


class _Loop:
    """The steps of a run, with what is written and told between them."""

    def __init__(
        self,
        config: RunConfig,
        step: TrainingStep,
        folder: Path,
        held_out: Tasks | None,
        every: float,
        ranks: Ranks,
        report: Callable[[Progress], None],
    ) -> None:
        self.config, self.step, self.folder, self.ranks = config, step, folder, ranks
        self._held_out, self._every, self._report = held_out, every, report
        self._on_gpu = ranks.device.type == "cuda"
        self._board: Any = None

    def run(self, number: int, seconds: float) -> None:
        """Go on from so many steps and seconds to the end."""
        if self._done(number, seconds) >= 1:
            self._finish(number, seconds)
            return
        self.step.prepare(number)  # compiling is not counted
        self._seconds = seconds
        with held_interrupts() as stop:
            self._train(number, stop)

    def _train(self, number: int, stop: Stop) -> None:
        """Take steps until the end, or until asked to stop: then all of them are saved."""
        clock = checked = saved = time.perf_counter()
        told = (number, self._seconds)
        done = self._done(number, self._seconds)
        while done < 1:
            self.step.run(number, done)
            number += 1
            if self._on_gpu and number % AHEAD == 0:
                torch.cuda.synchronize()
            now = time.perf_counter()
            self._seconds += now - clock
            done = self._done(number, self._seconds)
            if done < 1 and now - checked > self._every:
                told = self._tell(number, told)
                checked = time.perf_counter()
            unsaved = self.ranks.agree(math.inf if stop.asked else now - saved)
            if done < 1 and unsaved > SAVE_SECONDS:
                self._save(number, self._feeds(number))
                saved = time.perf_counter()
                if unsaved == math.inf:
                    stop.asked = True  # whichever process was
                    return
            clock = time.perf_counter()
        self._tell(number, told)
        self._finish(number, self._seconds)

    def _done(self, number: int, seconds: float) -> float:
        return self.ranks.agree(self.config.progress(number, seconds))

    def _tell(self, number: int, told: tuple[int, float]) -> tuple[int, float]:
        """Check the model, and log and report how it goes."""
        done = self.config.progress(number, self._seconds)
        if self._on_gpu:
            torch.cuda.synchronize()
        loss = float(self.step.loss)
        if not math.isfinite(loss):
            raise UnskewError(
                f"the loss is {loss} at step {number}; lower --rate ({self.config.step.rate})"
            )
        accuracy = None
        if self._held_out is not None and self.ranks.first:
            solved = solve(self.step.model, self._held_out, beam=1)
            accuracy = float(solved.judged.generalizes[:, 0].mean())
        taken = (number - told[0]) * self.config.step.batch
        speed = taken / max(self._seconds - told[1], 1e-9)
        rate = self.config.step.rate_at(done)
        now = Progress(number, loss, rate, speed, self._seconds, done, accuracy)
        if self.ranks.first:
            log(self.folder, asdict(now))
            self._draw(now)
            self._report(now)
        return number, self._seconds

    def _draw(self, now: Progress) -> None:
        """Write the numbers for TensorBoard too, where it is installed."""
        if self._board is None and find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(self.folder), purge_step=now.step)
        if self._board is not None:
            for name in ("loss", "rate", "examples_per_second", "accuracy"):
                value = getattr(now, name)
                if value is not None:
                    self._board.add_scalar(name, value, now.step)
            self._board.flush()

    def _save(self, number: int, feeds: list[dict[str, Any]]) -> None:
        """Write everything that the next step depends on."""
        if self.ranks.first:
            facts = {"step": number, "seconds": self._seconds, "feeds": feeds}
            save_checkpoint(self.folder / CHECKPOINT, self.step.tensors(), facts)

    def _feeds(self, number: int) -> list[dict[str, Any]]:
        """Return where each process's feed stands for a batch; none where there is a dataset."""
        batches = self.step.batches
        if not isinstance(batches, Rounds):
            return []
        batches.choice(number)  # the first of a round has its chunk from here on
        return self.ranks.gather(batches.state())

    def _finish(self, number: int, seconds: float) -> None:
        """Write the last checkpoint and, last of all, the model by itself."""
        self._seconds = seconds
        if self._board is not None:
            self._board.close()
        self._save(number, [])  # nothing comes after it
        if not self.ranks.first:
            return
        facts = {"kind": KIND, "model": self.config.model.facts(), "step": number}
        save_checkpoint(self.folder / MODEL, dict(self.step.model.state_dict()), facts)


def load_synthesizer(run: Path, device: torch.device) -> Synthesizer:
    """Load the model of a run, or of a file that holds one."""
    path = run
    if run.is_dir():
        if settings(run).get("kind") != KIND:
            raise UnskewError(f"{run} holds no synthesizer of Karel programs; give a run that does")
        path = run / MODEL
        if not path.is_file():
            raise UnskewError(f"{run} is not finished; run its train command again")
    tensors, facts = load_checkpoint(path)
    try:
        config = SynthesizerConfig(**facts["model"])
    except (KeyError, TypeError, UnskewError) as error:
        reason = "no sizes in it" if isinstance(error, KeyError) else error
        raise UnskewError(f"{path} holds no synthesizer ({reason}); give another run") from error
    check_shapes(path, tensors, {name: each.shape for name, each in config.shapes().items()})
    model = Synthesizer(config)
    model.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    return model.to(device).eval()


def shipped_synthesizer() -> Synthesizer:
    """Load the small model that comes with the package."""
    with as_file(files("unskew.models.karel").joinpath(SHIPPED)) as path:
        return load_synthesizer(path, ALONE.device)
