"""One step of the synthesizer's training, on CPU and GPU; on a GPU a captured graph.

Weights, gradients' sums and Adam's moments are float32; a GPU computes in bfloat16. Everything a
step leaves to chance is in the number of its batch, so weights, moments and that number are all
that a run needs to go on exactly. (Exactly up to the order in which a GPU adds: cuDNN's
fastest convolutions do not always add in the same one.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from unskew.errors import check_count, check_range
from unskew.models.karel import Synthesizer, best_dtype
from unskew.models.karel_data import Choice, Minibatches
from unskew.models.karel_rounds import Rounds
from unskew.models.ranks import ALONE, Ranks

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

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        check_count("batch", self.batch)
        check_range("rate", self.rate, 1e-7, 1.0)
        check_range("warmup", self.warmup, 0.0, 0.9)
        check_range("clip", self.clip, 1e-6)
        check_range("decay", self.decay, 0.0, 1.0)

    def rate_at(self, progress: float) -> float:
        """Return the learning rate: a linear warm-up, then half a cosine down to zero."""
        if progress < self.warmup:
            return self.rate * (progress + 1e-3 * self.warmup) / self.warmup
        done = (progress - self.warmup) / (1 - self.warmup)
        return self.rate * (1 + math.cos(math.pi * min(1.0, done))) / 2


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
        self._rate = torch.tensor(config.rate, device=self._device)
        self._optimizer = torch.optim.AdamW(
            model.parameters(),
            lr=self._rate,
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
        self._graphs: dict[tuple[int, int], tuple[torch.cuda.CUDAGraph, Choice]] = {}

    def run(self, number: int, progress: float) -> None:
        """Take a step on batch ``number``; ``loss`` then has the loss before it."""
        choice = self.batches.choice(number)
        self._rate.fill_(self.config.rate_at(progress))
        if not self._on_gpu:
            self._step(choice)
            return
        kind = (self.batches.layout, choice.pairs.shape[1])
        if kind not in self._graphs:
            self._graphs[kind] = self._capture(choice)
        graph, place = self._graphs[kind]
        place.tasks.copy_(choice.tasks)
        place.pairs.copy_(choice.pairs)
        graph.replay()

    def prepare(self, number: int) -> None:
        """Compile what batches from this one on need; no step is taken."""
        tasks = self.batches.choice(number).tasks
        low, high = self.config.shown
        for shown in range(low, high + 1) if self._on_gpu else ():
            pairs = torch.arange(shown, device=self._device).expand(len(tasks), shown)
            self._graphs[self.batches.layout, shown] = self._capture(Choice(tasks, pairs))

    def _step(self, choice: Choice) -> None:
        self._differentiate(choice)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self._optimizer.step()

    def _differentiate(self, choice: Choice) -> None:
        worlds = self._tasks.worlds[choice.tasks.unsqueeze(1), choice.pairs]
        programs = self._tasks.programs[choice.tasks]
        self._optimizer.zero_grad()
        loss = self.model.loss(worlds, programs, self.batches.steps, best_dtype(self._device))
        loss = loss * self.batches.weight  # of all ranks together it is the whole batch's
        loss.backward()  # type: ignore[no-untyped-call]
        self.loss.copy_(loss.detach())
        self._ranks.add_up(
            [self.loss, *(p.grad for p in self.model.parameters() if p.grad is not None)]
        )

    def _capture(self, choice: Choice) -> tuple[torch.cuda.CUDAGraph, Choice]:
        """Capture a step for batches with as many shown pairs; no step is taken."""
        place = Choice(choice.tasks.clone(), choice.pairs.clone())
        with torch.backends.cudnn.flags(enabled=True, benchmark=True, deterministic=False):
            side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(WARM_UPS):
                    self._differentiate(place)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self._step(place)
        return graph, place

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
