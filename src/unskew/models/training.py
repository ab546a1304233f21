"""The training loop of both models: steps, reports, checkpoints, and a stop that loses no step.

A GPU records the work of a step once as a CUDA graph, and then replays it.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch

from unskew.core.errors import UnskewError
from unskew.models.ranks import ALONE, Ranks
from unskew.models.runs import held_interrupts

SAVE_SECONDS = 60.0  # a run that is killed loses at most this much work
Work: TypeAlias = Callable[[], None]
# Takes work and a number of warm-ups; returns a function that does the same work faster.
Capture: TypeAlias = Callable[[Work, int], Work]


def learning_rate(peak: float, at: float, warmup: float, end: float, first: float) -> float:
    """Return the learning rate: a linear warm-up, then half a cosine down to zero.

    Args:
        peak: The largest rate.
        at: Where the training is, in the unit of ``warmup`` and ``end``.
        warmup: Where the warm-up ends.
        end: Where the training ends.
        first: How far the warm-up is at the first step, so that its rate is not zero.
    """
    if at < warmup:
        return peak * (at + first) / warmup
    done = (at - warmup) / (end - warmup)
    return peak * (1 + math.cos(math.pi * min(1.0, done))) / 2


@dataclass(frozen=True)
class Position:
    """How far a training is."""

    step: int = 0  # steps taken
    seconds: float = 0.0  # of training, without reports and checkpoints
    done: float = 0.0  # share of the run, 0 to 1

    @property
    def finished(self) -> bool:
        """Whether no step is left."""
        return self.done >= 1


@dataclass(frozen=True)
class Progress:
    """A report of a training."""

    step: int
    loss: float
    rate: float
    examples_per_second: float
    seconds: float
    done: float
    accuracy: float | None = None  # share of the held-out tasks that the model solves, if checked


@dataclass(frozen=True)
class Every:
    """How often something is due: after a number of steps, or of seconds, or both."""

    steps: int | None = None
    seconds: float = math.inf

    def is_due(self, step: int, seconds: float) -> bool:
        """Return whether it is due after this step, ``seconds`` after the last time."""
        return (self.steps is not None and step % self.steps == 0) or seconds > self.seconds


@dataclass(frozen=True)
class Trainer:
    """What the loop needs to know of one model, and the functions that it calls."""

    device: torch.device
    batch: int  # examples in each step
    peak_rate: float
    steps_ahead: int  # steps that a GPU is given before the loop waits for it
    report_every: Every
    save_every: Every
    share_done: Callable[[int, float], float]  # of a run after these steps and seconds
    take_step: Callable[[Position], None]
    loss: Callable[[], float]
    rate: Callable[[Position], float]  # the learning rate to report
    report: Callable[[Progress], None]  # called in the first process only
    save: Callable[[Position], None]
    ranks: Ranks = ALONE
    clock: Callable[[], float] = time.perf_counter

    def position(self, step: int, seconds: float) -> Position:
        """Return a position on which all processes agree."""
        return Position(step, seconds, self.ranks.agree(self.share_done(step, seconds)))


def train_steps(trainer: Trainer, start: Position) -> None:
    """Take steps until the run is finished, and save it.

    Ctrl-C ends the current step, saves all steps taken, and then raises ``KeyboardInterrupt``.
    """
    with held_interrupts() as stop:
        at = reported = start
        begun = reported_at = saved_at = trainer.clock()
        while not at.finished:
            trainer.take_step(at)
            step = at.step + 1
            if trainer.device.type == "cuda" and step % trainer.steps_ahead == 0:
                torch.cuda.synchronize()
            now = trainer.clock()
            at = trainer.position(step, at.seconds + now - begun)
            if at.finished or trainer.report_every.is_due(step, now - reported_at):
                _report(trainer, at, reported)
                reported, reported_at = at, trainer.clock()
            # Only the first process decides, so that all of them save the same step.
            unsaved = trainer.ranks.agree(math.inf if stop.asked else now - saved_at)
            stopping = unsaved == math.inf
            if at.finished or stopping or trainer.save_every.is_due(step, unsaved):
                trainer.save(at)
                saved_at = trainer.clock()
            if stopping:
                stop.asked = True
                return
            begun = trainer.clock()


def _report(trainer: Trainer, at: Position, reported: Position) -> None:
    """Report a position with the speed since the last report; refuse a loss that is not finite."""
    if trainer.device.type == "cuda":
        torch.cuda.synchronize()
    loss = trainer.loss()
    if not math.isfinite(loss):
        raise UnskewError(
            f"the loss is {loss} at step {at.step}; lower --rate ({trainer.peak_rate})"
        )
    examples = (at.step - reported.step) * trainer.batch
    speed = examples / max(at.seconds - reported.seconds, 1e-9)
    if trainer.ranks.first:
        trainer.report(Progress(at.step, loss, trainer.rate(at), speed, at.seconds, at.done))


def cuda_graph(work: Work, warm_ups: int) -> Work:
    """Record what ``work`` gives to the GPU; return a function that does it again.

    Recording runs nothing. The warm-ups do: they run ``work``, so that its kernels are chosen,
    compiled and loaded. PyTorch requires another stream for them.
    """
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(warm_ups):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    # Meanwhile other threads may allocate memory, such as the one that fetches a stream's tasks.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        work()
    return graph.replay
