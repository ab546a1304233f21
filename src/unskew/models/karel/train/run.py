"""A run of the synthesizer: training by minutes or by steps, checks, checkpoints, the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
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
from unskew.models.resume import restore, steps_taken
from unskew.models.runs import CHECKPOINT, claim, cut_log, log, settings
from unskew.models.training import SAVE_SECONDS, Every, Position, Progress, Trainer, train_steps

KIND = "karel-synthesizer"
MODEL = "model.safetensors"  # the weights alone, written last
SHIPPED = "shipped.safetensors"  # in the package: a small model, trained on uniform worlds
STEPS_AHEAD = 4  # that a GPU is given before the loop waits for it


@dataclass(frozen=True)
class RunConfig:
    """What to train and for how long: for some minutes of training, or some steps."""

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


# Opens the batches of a run, from the number of a batch and the feed's state at this batch.
OpenBatches: TypeAlias = Callable[[int, Mapping[str, Any] | None], Batches]


def train(
    config: RunConfig,
    open_batches: OpenBatches,
    data: Mapping[str, Any],
    folder: Path,
    *,
    held_out: Tasks | None = None,
    every: float = 30.0,
    save_seconds: float = SAVE_SECONDS,
    ranks: Ranks = ALONE,
    report: Callable[[Progress], None] = lambda _: None,
) -> Synthesizer:
    """Train in a folder, or go on there. The model of a finished run is only loaded.

    Args:
        config: What to train. Its minutes count training only, not compiling, saving or checking.
        open_batches: Opens the batches.
        data: What names the data in the settings of the run.
        folder: The folder of the run.
        held_out: Tasks that the model is checked on. Checks do not change what is learnt.
        every: Seconds between reports; each is a check, a line of metrics and a call of ``report``.
        save_seconds: Seconds between checkpoints.
        ranks: The processes that train together.
        report: Called with each report.
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
            restore(path, start.tensors, step.tensors())
        if ranks.first:
            cut_log(folder, start.step)
        notes = _Notes(step, folder, held_out, ranks, report)
        trainer = Trainer(
            device=ranks.device,
            batch=config.step.batch,
            peak_rate=config.step.rate,
            steps_ahead=STEPS_AHEAD,
            report_every=Every(seconds=every),
            save_every=Every(seconds=save_seconds),
            share_done=config.progress,
            take_step=lambda at: step.run(at.step, at.done),
            loss=lambda: float(step.loss),
            rate=lambda at: config.step.rate_at(at.done),
            report=notes.report,
            save=notes.save,
            ranks=ranks,
        )
        position = trainer.position(start.step, start.seconds)
        if position.finished:  # stopped before it wrote its model
            notes.save(position)
        else:
            step.prepare(start.step)
            train_steps(trainer, position)
    finally:
        if isinstance(batches, Rounds):
            batches.close()
    return model


def is_finished(
    config: RunConfig, data: Mapping[str, Any], folder: Path, ranks: Ranks = ALONE
) -> bool:
    """Return whether a folder has the model of this run; refuse the model of another run."""
    if not (folder / MODEL).is_file():
        return False
    claim(folder, _settings(config, data, ranks))
    return True


def _settings(config: RunConfig, data: Mapping[str, Any], ranks: Ranks) -> dict[str, Any]:
    facts = asdict(config) | {"model": config.model.facts(), "step": config.step.facts()}
    return {"kind": KIND, **facts, "data": dict(data), "processes": ranks.size}


@dataclass(frozen=True)
class _Start:
    """Where a run goes on: after these steps and seconds, with this state of its feed."""

    step: int = 0
    seconds: float = 0.0
    feed: Mapping[str, Any] | None = None
    tensors: dict[str, Tensor] | None = None


def _read_start(path: Path, ranks: Ranks) -> _Start:
    """Return where the checkpoint of a run stands, or the beginning if there is none."""
    if not path.is_file():
        return _Start()
    tensors, facts = load_checkpoint(path)
    step = steps_taken(path, facts)
    try:
        feed = facts["feeds"][ranks.rank] if facts["feeds"] else None
        return _Start(step, float(facts["seconds"]), feed, tensors)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UnskewError(f"{path} does not say where it stands ({error!r}); {AGAIN}") from error


class _Notes:
    """Writes the metrics, the checkpoints and the model of a run."""

    def __init__(
        self,
        step: TrainingStep,
        folder: Path,
        held_out: Tasks | None,
        ranks: Ranks,
        report: Callable[[Progress], None],
    ) -> None:
        self._step, self._folder, self._ranks = step, folder, ranks
        self._held_out, self._report = held_out, report
        self._board: Any = None

    def report(self, progress: Progress) -> None:
        """Check the model on the held-out tasks; log and report how far the training is."""
        if self._held_out is not None:
            solved = solve(self._step.model, self._held_out, beam=1)
            accuracy = float(solved.judged.generalizes[:, 0].mean())
            progress = replace(progress, accuracy=accuracy)
        log(self._folder, asdict(progress))
        self._draw(progress)
        self._report(progress)

    def _draw(self, progress: Progress) -> None:
        """Write the numbers for TensorBoard too, if it is installed."""
        if self._board is None and find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(self._folder), purge_step=progress.step)
        if self._board is not None:
            for name in ("loss", "rate", "examples_per_second", "accuracy"):
                value = getattr(progress, name)
                if value is not None:
                    self._board.add_scalar(name, value, progress.step)
            self._board.flush()

    def save(self, at: Position) -> None:
        """Write everything that the next step depends on; at the end, write the model last."""
        feeds = [] if at.finished else self._feeds(at.step)
        if not self._ranks.first:
            return
        facts = {"step": at.step, "seconds": at.seconds, "feeds": feeds}
        save_checkpoint(self._folder / CHECKPOINT, self._step.tensors(), facts)
        if at.finished:
            if self._board is not None:
                self._board.close()
            model = self._step.model
            facts = {"kind": KIND, "model": model.config.facts(), "step": at.step}
            save_checkpoint(self._folder / MODEL, dict(model.state_dict()), facts)

    def _feeds(self, number: int) -> list[dict[str, Any]]:
        """Return the state of each process's feed at a batch; nothing if the data is a dataset."""
        batches = self._step.batches
        if not isinstance(batches, Rounds):
            return []
        batches.choice(number)  # the first batch of a round needs the chunk that is read here
        return self._ranks.gather(batches.state())


def load_synthesizer(run: Path, device: torch.device) -> Synthesizer:
    """Return the model of a run (a folder), or of a file of a model."""
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
    check_shapes(path, tensors, {name: part.shape for name, part in config.shapes().items()})
    model = Synthesizer(config)
    model.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    return model.to(device).eval()


def shipped_synthesizer() -> Synthesizer:
    """Return the small model that comes with the package."""
    with as_file(files("unskew.models.karel").joinpath(SHIPPED)) as path:
        return load_synthesizer(path, ALONE.device)
