"""A run of the synthesizer: its data, its training by minutes or by steps, checks, the model."""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import torch

from unskew.core.errors import UnskewError, check_count, check_range
from unskew.models.checkpoint import (
    AGAIN,
    Saved,
    check_shapes,
    load_checkpoint,
    read_saved,
    restore,
    save_checkpoint,
)
from unskew.models.karel.data.feed import Mixture
from unskew.models.karel.data.rounds import Rounds
from unskew.models.karel.data.tasks import Minibatches, Tasks
from unskew.models.karel.decode.solve import solve
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig
from unskew.models.karel.train.step import Batches, StepConfig, TrainingStep
from unskew.models.ranks import ALONE, Ranks
from unskew.models.runs import CHECKPOINT, claim, cut_log, log, settings
from unskew.models.training import SAVE_SECONDS, Every, Position, Progress, Trainer, train_steps

KIND = "karel-synthesizer"
MODEL = "model.safetensors"  # the weights alone, written last
SHIPPED = "shipped.safetensors"  # in the package: a small model, trained on uniform worlds
STEPS_AHEAD = 4  # steps that a GPU is given before the loop waits for it


@dataclass(frozen=True)
class RunConfig:
    """What to train and for how long: for some minutes of training, or for some steps."""

    model: SynthesizerConfig = field(default_factory=SynthesizerConfig)
    step: StepConfig = field(default_factory=StepConfig)
    minutes: float | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that cannot be trained with."""
        if (self.minutes is None) == (self.steps is None):
            raise UnskewError("give minutes or steps, and not both")
        if self.minutes is not None:
            check_range("minutes", self.minutes, 0.001, 100_000)
        if self.steps is not None:
            check_count("steps", self.steps)

    def share_done(self, step: int, seconds: float) -> float:
        """Return how much of the run is done, 0 to 1."""
        done = step / self.steps if self.steps else seconds / (60 * (self.minutes or 1))
        return min(1.0, done)


# Opens the batches of a run, from the number of a batch and the state of the stream at this batch.
OpenBatches: TypeAlias = Callable[[int, Mapping[str, Any] | None], Batches]
# How a run opens its data, and what names the data in the settings of the run.
Data: TypeAlias = tuple[OpenBatches, dict[str, Any]]


def fixed(tasks: Tasks, step: StepConfig, ranks: Ranks = ALONE) -> Data:
    """Return a fixed set of tasks as the data of a run, which passes over it again and again."""
    on_device = tasks.to(ranks.device)

    def minibatches(_: int, __: Mapping[str, Any] | None) -> Batches:
        return Minibatches(on_device, step.batch, step.shown, step.seed, ranks=ranks)

    return minibatches, {"tasks": tasks.digest()}


def endless(
    mixture: Mixture,
    step: StepConfig,
    *,
    reuse: int = 1,
    workers: int | None = None,
    ranks: Ranks = ALONE,
) -> Data:
    """Return endless streams as the data of a run, which uses each task ``reuse`` times.

    ``workers`` processes make the streams; None means one for each core but one. With 0 this
    process makes them: a short run is done before other processes have started.
    """
    processes = max(1, (os.cpu_count() or 2) - 1) if workers is None else workers

    def rounds(number: int, state: Mapping[str, Any] | None) -> Batches:
        return Rounds(
            mixture, step.batch, step.shown, step.seed, ranks.device,
            reuse=reuse, workers=processes, number=number, state=state, ranks=ranks,
        )  # fmt: skip

    return rounds, {**mixture.facts(), "reuse": reuse}


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
    """Train in a folder, or continue there; return the model. A finished run is only loaded.

    Args:
        config: What to train. Its minutes count training only, not compiling, saving or checking.
        open_batches: Opens the batches that ``data`` names in the settings of the run.
        held_out: Tasks to check the model on. Checks do not change the training.
        every: Seconds between reports; each is a check, a line of metrics and a call of ``report``.
        ranks: The processes that train together.
    """
    if ranks.agree(is_finished(config, data, folder, ranks)):
        return load_synthesizer(folder, ranks.device)
    if ranks.first:
        claim(folder, _settings(config, data, ranks))
    ranks.agree(0)  # all processes wait until the folder is there
    path = folder / CHECKPOINT
    saved = read_saved(path)
    seconds, stream_state = _read_facts(path, saved, ranks)
    model = Synthesizer(config.model).to(ranks.device)
    batches = open_batches(saved.step, stream_state)
    try:
        step = TrainingStep(model, batches, config.step, ranks)
        restore(path, saved, step.tensors())
        if ranks.first:
            cut_log(folder, saved.step)
        notes = _Notes(step, folder, held_out, ranks, report)
        trainer = Trainer(
            device=ranks.device,
            batch=config.step.batch,
            peak_rate=config.step.rate,
            steps_ahead=STEPS_AHEAD,
            report_every=Every(seconds=every),
            save_every=Every(seconds=save_seconds),
            share_done=config.share_done,
            take_step=lambda at: step.run(at.step, at.done),
            loss=lambda: float(step.loss),
            rate=lambda at: config.step.rate_at(at.done),
            report=notes.write_report,
            save=notes.save,
            ranks=ranks,
        )
        start = trainer.position(saved.step, seconds)
        if start.finished:  # the run was stopped before it wrote its model
            notes.save(start)
        else:
            step.prepare(start.step)
            train_steps(trainer, start)
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
    """Return the settings of a run, as its folder keeps them."""
    facts = asdict(config) | {"model": config.model.facts(), "step": config.step.facts()}
    return {"kind": KIND, **facts, "data": dict(data), "processes": ranks.size}


def _read_facts(path: Path, saved: Saved, ranks: Ranks) -> tuple[float, Mapping[str, Any] | None]:
    """Return the seconds that a run has trained, and the state of this process's stream."""
    if saved.tensors is None:
        return 0.0, None
    try:
        states = saved.facts["feeds"]
        return float(saved.facts["seconds"]), states[ranks.rank] if states else None
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UnskewError(f"{path} does not say where it stands ({error!r}); {AGAIN}") from error


@dataclass
class _Notes:
    """Writes the metrics, the checkpoints and the model of a run."""

    step: TrainingStep
    folder: Path
    held_out: Tasks | None
    ranks: Ranks
    report: Callable[[Progress], None]
    board: Any = None  # of TensorBoard

    def write_report(self, progress: Progress) -> None:
        """Check the model on the held-out tasks; log and report how far the training is."""
        if self.held_out is not None:
            judged = solve(self.step.model, self.held_out, beam=1).judged
            progress = replace(progress, accuracy=float(judged.generalizes[:, 0].mean()))
        log(self.folder, asdict(progress))
        self._write_to_board(progress)
        self.report(progress)

    def _write_to_board(self, progress: Progress) -> None:
        """Write the numbers for TensorBoard too, if it is installed."""
        if self.board is None and find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self.board = SummaryWriter(str(self.folder), purge_step=progress.step)
        if self.board is not None:
            for name in ("loss", "rate", "examples_per_second", "accuracy"):
                if (value := getattr(progress, name)) is not None:
                    self.board.add_scalar(name, value, progress.step)
            self.board.flush()

    def save(self, at: Position) -> None:
        """Write everything that the next step depends on; at the end, write the model last."""
        states, batches = list[dict[str, Any]](), self.step.batches
        if isinstance(batches, Rounds) and not at.finished:
            batches.choice(at.step)  # the first batch of a round needs the chunk that is read here
            states = self.ranks.gather(batches.state())
        if not self.ranks.first:
            return
        facts = {"step": at.step, "seconds": at.seconds, "feeds": states}
        save_checkpoint(self.folder / CHECKPOINT, self.step.tensors(), facts)
        if at.finished:
            if self.board is not None:
                self.board.close()
            model = self.step.model
            facts = {"kind": KIND, "model": model.config.facts(), "step": at.step}
            save_checkpoint(self.folder / MODEL, dict(model.state_dict()), facts)


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
