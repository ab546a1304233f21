"""One step of the synthesizer's training, on CPU and GPU; on a GPU two captured graphs.

Weights, gradients' sums and Adam's moments are float32; a GPU computes in bfloat16. Everything a
step leaves to chance is in the number of its batch, so weights, moments and that number are all
that a run needs to go on exactly. (Exactly up to the order in which a GPU adds: cuDNN's
fastest convolutions do not always add in the same one.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import torch
from torch import Tensor

from unskew.core.errors import check_count, check_range, check_whole
from unskew.models.karel.data.rounds import Rounds
from unskew.models.karel.data.tasks import Choice, Minibatches
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig, best_dtype
from unskew.models.ranks import ALONE, Ranks
from unskew.models.runs import as_before

Batches: TypeAlias = Minibatches | Rounds
WARM_UPS = 2  # passes before a graph is captured: kernels are chosen, compiled and loaded


@dataclass(frozen=True)
class StepConfig:
    """How to train; progress goes from 0 to 1 over a run, by steps or by time."""

    batch: int = 2048
    shown: tuple[int, int] = (5, 5)  # pairs shown, drawn evenly from this range for each batch
    rate: float = 1e-3
    warmup: float = 0.02  # of the run
    clip: float = 1.0
    decay: float = 0.0  # of the weights, as in AdamW
    seed: int = 0
    fan_in: int = 0  # a layer of more inputs learns slower, in proportion; 0: all learn alike

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        check_count("batch", self.batch)
        check_range("rate", self.rate, 1e-7, 1.0)
        check_range("warmup", self.warmup, 0.0, 0.9)
        check_range("clip", self.clip, 1e-6)
        check_range("decay", self.decay, 0.0, 1.0)
        check_whole("fan_in", self.fan_in, 0)

    def rate_at(self, progress: float) -> float:
        """Return the rate of a layer that is not slowed: a linear warm-up, then half a cosine."""
        if progress < self.warmup:
            return self.rate * (progress + 1e-3 * self.warmup) / self.warmup
        done = (progress - self.warmup) / (1 - self.warmup)
        return self.rate * (1 + math.cos(math.pi * min(1.0, done))) / 2

    def share(self, inputs: int) -> float:
        """Return the share of the rate with which a layer of so many inputs learns.

        Adam moves every weight by about the rate, so what a layer adds up moves by as many times
        as it has inputs that agree. Of the twenty thousand that a pair of worlds has, most do: at
        one rate for all, what pairs have in common grows fiftyfold within twenty steps.
        """
        return min(1.0, self.fan_in / inputs) if self.fan_in else 1.0

    def facts(self) -> dict[str, Any]:
        """Return the settings as a run keeps them."""
        return as_before(self, "fan_in")


def begun_with_differences(
    model: SynthesizerConfig, step: StepConfig
) -> tuple[SynthesizerConfig, StepConfig]:
    """Return the settings of a model that sees from its first steps what programs change.

    Its first weights do, and the layer that embeds a pair, which has 324 inputs a channel, learns
    twenty times slower than the rest (at the usual sizes), or it would soon see again what all
    worlds have in common.
    """
    return replace(model, differences=True), replace(step, fan_in=16 * model.channels)


@dataclass(frozen=True)
class _Captured:
    """A step as two graphs and what the ranks add up between them, for batches put in a place.

    Adding up is in neither: NCCL may want all ranks to capture it at once, but each has a layout
    of its own, which changes when its own tasks need it.
    """

    place: Choice
    differentiate: Callable[[], None]
    sums: list[Tensor]
    update: Callable[[], None]


class TrainingStep:
    """A model, its optimizer and its batches; ``run`` takes one step."""

    def __init__(
        self,
        model: Synthesizer,
        batches: Batches,
        config: StepConfig,
        ranks: Ranks = ALONE,
    ) -> None:
        """Take over a model that is on the device of the tasks."""
        self.model, self.batches, self.config, self._ranks = model, batches, config, ranks
        self._tasks = batches.tasks
        self._device = self._tasks.programs.device
        self._on_gpu = self._device.type == "cuda"
        self._optimizer = torch.optim.AdamW(
            self._groups(),
            weight_decay=config.decay,
            foreach=False,
            fused=self._on_gpu,
            capturable=self._on_gpu,
        )
        for parameter in model.parameters():  # made here, so that no step is needed to make them
            self._optimizer.state[parameter] = {
                "step": torch.zeros((), device=self._device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        self.loss = torch.zeros((), device=self._device)
        self._captured: dict[int, _Captured] = {}  # by the number of pairs shown, of one layout
        self._layout = batches.layout

    def run(self, number: int, progress: float) -> None:
        """Take a step on batch ``number``; ``loss`` then has the loss before it."""
        choice = self.batches.choice(number)
        self._set_rates(progress)
        if not self._on_gpu:
            self._step(choice)
            return
        captured = self._captured_for(choice)
        captured.place.tasks.copy_(choice.tasks)
        captured.place.pairs.copy_(choice.pairs)
        captured.differentiate()
        self._ranks.add_up(captured.sums)
        captured.update()

    def _set_rates(self, progress: float) -> None:
        for group in self._optimizer.param_groups:
            group["lr"].fill_(group["share"] * self.config.rate_at(progress))

    def _groups(self) -> list[dict[str, Any]]:
        """Return the parameters, those together that learn with the same share of the rate."""
        shapes = self.model.config.shapes()
        groups: dict[float, list[Tensor]] = {}
        for name, value in self.model.named_parameters():
            groups.setdefault(self.config.share(shapes[name].inputs), []).append(value)
        return [
            {"params": values, "lr": torch.tensor(0.0, device=self._device), "share": share}
            for share, values in groups.items()
        ]

    def prepare(self, number: int) -> None:
        """Compile what batches from this one on need; no step is taken."""
        tasks = self.batches.choice(number).tasks
        low, high = self.config.shown
        for shown in range(low, high + 1) if self._on_gpu else ():
            pairs = torch.arange(shown, device=self._device).expand(len(tasks), shown)
            self._captured_for(Choice(tasks, pairs))

    def _step(self, choice: Choice) -> None:
        self._differentiate(choice)
        self._ranks.add_up(self._sums())
        self._update()

    def _differentiate(self, choice: Choice) -> None:
        """Set gradients and loss to this rank's part of the batch's."""
        worlds = self._tasks.worlds[choice.tasks.unsqueeze(1), choice.pairs]
        programs = self._tasks.programs[choice.tasks]
        self._optimizer.zero_grad()
        loss = self.model.loss(worlds, programs, self.batches.steps, best_dtype(self._device))
        loss = loss * self.batches.weight  # of all ranks together it is the whole batch's
        loss.backward()  # type: ignore[no-untyped-call]
        self.loss.copy_(loss.detach())

    def _sums(self) -> list[Tensor]:
        """Return what the ranks add up."""
        return [self.loss, *(p.grad for p in self.model.parameters() if p.grad is not None)]

    def _update(self) -> None:
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self._optimizer.step()

    def _captured_for(self, choice: Choice) -> _Captured:
        """Return a captured step for batches with as many shown pairs; no step is taken."""
        if self._layout != self.batches.layout:
            self._captured.clear()  # none of them is used again, and each holds gigabytes
            self._layout = self.batches.layout
        shown = choice.pairs.shape[1]
        if shown not in self._captured:
            self._captured[shown] = self._capture(choice)
        return self._captured[shown]

    def _capture(self, choice: Choice) -> _Captured:
        """Capture a step. One rank may do so alone, so nothing here waits for the others."""
        place = Choice(choice.tasks.clone(), choice.pairs.clone())
        with torch.backends.cudnn.flags(enabled=True, benchmark=True, deterministic=False):
            with _on_another_stream():
                self._warm_up(place)
            differentiate = _recorded(lambda: self._differentiate(place))
            update = _recorded(self._update)
        return _Captured(place, differentiate, self._sums(), update)

    def _warm_up(self, place: Choice) -> None:
        for _ in range(WARM_UPS):
            self._differentiate(place)

    def tensors(self) -> dict[str, Tensor]:
        """Return weights and moments by name, as a checkpoint keeps them."""
        named = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            state: dict[str, Any] = self._optimizer.state[parameter]
            named |= {f"optimizer.{name}.{key}": value for key, value in state.items()}
        return named

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Take over what ``tensors`` returned, in place: graphs stay valid."""
        with torch.no_grad():
            for name, tensor in self.tensors().items():
                tensor.copy_(tensors[name])


@contextmanager
def _on_another_stream() -> Iterator[None]:
    """Run what comes beside the current stream, as a warm-up before capturing must be."""
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        yield
    torch.cuda.current_stream().wait_stream(side)


def _recorded(job: Callable[[], None]) -> Callable[[], None]:
    """Capture what a job does on the GPU; return what does it again."""
    graph = torch.cuda.CUDAGraph()
    # Other threads may allocate meanwhile: the one that fetches tasks does.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        job()
    return graph.replay
