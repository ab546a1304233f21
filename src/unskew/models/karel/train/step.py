"""One step of the synthesizer's training, on CPU and GPU. On a GPU a step is two captured graphs.

Weights, sums of gradients and Adam's moments are float32; a GPU computes in bfloat16. The number
of a batch decides everything that is random in a step. So a run needs only weights, moments and
this number to continue exactly. (Except on a GPU: the fastest convolutions of cuDNN do not always
add in the same order.)
"""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import torch
from torch import Tensor

from unskew.core.errors import check_count, check_range, check_whole
from unskew.models.checkpoint import begin_moments, training_tensors
from unskew.models.karel.data.rounds import Rounds
from unskew.models.karel.data.tasks import Minibatch, Minibatches
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig, best_dtype
from unskew.models.ranks import ALONE, Ranks
from unskew.models.runs import facts_without
from unskew.models.training import Capture, Work, cuda_graph, learning_rate

Batches: TypeAlias = Minibatches | Rounds
WARM_UPS = 2  # passes before a graph is captured


@dataclass(frozen=True)
class StepConfig:
    """How to train. Progress goes from 0 to 1 over a run, by steps or by time."""

    batch: int = 2048
    shown: tuple[int, int] = (5, 5)  # pairs shown, drawn evenly from this range for each batch
    rate: float = 1e-3
    warmup: float = 0.02  # of the run
    clip: float = 1.0
    decay: float = 0.0  # of the weights, as in AdamW
    seed: int = 0
    fan_in: int = 0  # a layer with more inputs learns slower, in proportion; 0: at the same rate

    def __post_init__(self) -> None:
        """Refuse values that cannot be trained with."""
        check_count("batch", self.batch)
        check_range("rate", self.rate, 1e-7, 1.0)
        check_range("warmup", self.warmup, 0.0, 0.9)
        check_range("clip", self.clip, 1e-6)
        check_range("decay", self.decay, 0.0, 1.0)
        check_whole("fan_in", self.fan_in, 0)

    def rate_at(self, progress: float) -> float:
        """Return the learning rate of a layer that learns at the full rate."""
        return learning_rate(self.rate, progress, self.warmup, 1, first=1e-3 * self.warmup)

    def share(self, inputs: int) -> float:
        """Return the share of the rate with which a layer of this many inputs learns.

        Adam moves every weight by about the rate. So the output of a layer moves by the rate times
        the number of inputs that agree. A pair of worlds has twenty thousand inputs, and most of
        them agree. If all layers learn at one rate, the part that all embeddings have in common
        grows fiftyfold within twenty steps.
        """
        return min(1.0, self.fan_in / inputs) if self.fan_in else 1.0

    def facts(self) -> dict[str, Any]:
        """Return the settings as a run keeps them."""
        return facts_without(self, "fan_in")


def begun_with_differences(
    model: SynthesizerConfig, step: StepConfig
) -> tuple[SynthesizerConfig, StepConfig]:
    """Return the settings of a model that sees from its first steps what programs change.

    Its first weights see only differences. The layer that embeds a pair has 324 inputs for each
    channel, and learns twenty times slower than the rest (at the usual sizes). Otherwise the layer
    would soon see again what all worlds have in common.
    """
    return replace(model, differences=True), replace(step, fan_in=16 * model.channels)


@dataclass(frozen=True)
class _Captured:
    """A step as two graphs, for batches that are copied into ``place``.

    Between the two, the ranks add up ``sums``. Neither graph has this step: NCCL may need all
    ranks to capture it at the same time, but each rank captures when its own layout changes.
    """

    place: Minibatch
    differentiate: Work
    sums: list[Tensor]
    update: Work


class TrainingStep:
    """A model, its optimizer and its batches; ``run`` takes one step."""

    def __init__(
        self,
        model: Synthesizer,
        batches: Batches,
        config: StepConfig,
        ranks: Ranks = ALONE,
        capture: Capture | None = None,
    ) -> None:
        """Prepare to train a model that is on the device of the tasks.

        ``capture`` makes the parts of a step faster. By default a GPU captures them as graphs,
        and a CPU runs them as they are.
        """
        self.model, self.batches, self.config, self._ranks = model, batches, config, ranks
        self._tasks = batches.tasks
        self._device = self._tasks.programs.device
        on_gpu = self._device.type == "cuda"
        self._capture = capture or (cuda_graph if on_gpu else None)
        self._optimizer = torch.optim.AdamW(
            self._groups(),
            weight_decay=config.decay,
            foreach=False,
            fused=on_gpu,
            capturable=on_gpu,
        )
        begin_moments(model, self._optimizer)
        self.loss = torch.zeros((), device=self._device)
        self._captured: dict[int, _Captured] = {}  # by the number of pairs shown, of one layout
        self._layout = batches.layout

    def run(self, number: int, progress: float) -> None:
        """Take a step on batch ``number``; ``loss`` becomes the loss before the step."""
        choice = self.batches.choice(number)
        for group in self._optimizer.param_groups:
            group["lr"].fill_(group["share"] * self.config.rate_at(progress))
        if self._capture is None:
            self._differentiate(choice)
            self._ranks.add_up(self._sums())
            self._update()
            return
        captured = self._captured_for(choice, self._capture)
        captured.place.tasks.copy_(choice.tasks)
        captured.place.pairs.copy_(choice.pairs)
        captured.differentiate()
        self._ranks.add_up(captured.sums)
        captured.update()

    def _groups(self) -> list[dict[str, Any]]:
        """Return the parameters, grouped by the share of the rate with which they learn."""
        shapes = self.model.config.shapes()
        groups: dict[float, list[Tensor]] = {}
        for name, value in self.model.named_parameters():
            groups.setdefault(self.config.share(shapes[name].inputs), []).append(value)
        return [
            {"params": values, "lr": torch.tensor(0.0, device=self._device), "share": share}
            for share, values in groups.items()
        ]

    def prepare(self, number: int) -> None:
        """Capture the graphs that the batches from this one on need; take no step."""
        if self._capture is None:
            return
        tasks = self.batches.choice(number).tasks
        low, high = self.config.shown
        for shown in range(low, high + 1):
            pairs = torch.arange(shown, device=self._device).expand(len(tasks), shown)
            self._captured_for(Minibatch(tasks, pairs), self._capture)

    def _differentiate(self, choice: Minibatch) -> None:
        """Set the gradients and the loss to this rank's part of the whole batch."""
        worlds = self._tasks.worlds[choice.tasks.unsqueeze(1), choice.pairs]
        programs = self._tasks.programs[choice.tasks]
        self._optimizer.zero_grad()
        loss = self.model.loss(worlds, programs, self.batches.steps, best_dtype(self._device))
        loss = loss * self.batches.weight  # the sum over all ranks is the loss of the whole batch
        loss.backward()  # type: ignore[no-untyped-call]
        self.loss.copy_(loss.detach())

    def _sums(self) -> list[Tensor]:
        """Return the tensors that the ranks add up."""
        return [self.loss, *(p.grad for p in self.model.parameters() if p.grad is not None)]

    def _update(self) -> None:
        """Clip the gradients, and update the weights."""
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self._optimizer.step()

    def _captured_for(self, choice: Minibatch, capture: Capture) -> _Captured:
        """Return the captured step for batches that show this number of pairs; capture it if new.

        A rank may capture alone, so nothing here waits for the other ranks.
        """
        if self._layout != self.batches.layout:
            self._captured.clear()  # these are of no use now, and each holds gigabytes
            self._layout = self.batches.layout
        shown = choice.pairs.shape[1]
        if shown not in self._captured:
            place = Minibatch(choice.tasks.clone(), choice.pairs.clone())
            with torch.backends.cudnn.flags(enabled=True, benchmark=True, deterministic=False):
                differentiate = capture(lambda: self._differentiate(place), WARM_UPS)
                update = capture(self._update, 0)
            self._captured[shown] = _Captured(place, differentiate, self._sums(), update)
        return self._captured[shown]

    def tensors(self) -> dict[str, Tensor]:
        """Return weights and moments by their names in a checkpoint."""
        return training_tensors(self.model, self._optimizer)
