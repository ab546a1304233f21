"""Gradients of the Karel synthesizer, and what float32 costs PyTorch's own modules.

A sum near zero falls on either side of a ReLU's kink as it is rounded. Cells that look alike
share their sums, so one kink moves a gradient by a thousandth, where rounding alone moves it by a
millionth; which of them fall how is as good as chance. Float32 is therefore judged by what
happens to the plain twin in it when its weights are off by little more than its precision.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from tests.naive.karel_model import PlainSynthesizer, plain_copy
from tests.test_karel_model import batch_of, relative_error, tasks, tensors
from unskew.models.karel.network.packed import Steps
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig

SMALL = SynthesizerConfig(channels=16, pair=64, token=32, hidden=64)
NUDGED, NUDGE = 6, 2.0**-20  # copies of the twin whose weights are off, and by which part at most
TIMES, BESIDES = 3, 1e-6  # how much worse than the twin the model may be


@dataclass(frozen=True)
class Case:
    """A model and a batch that both it and its twin can read."""

    model: Synthesizer
    worlds: Tensor
    programs: Tensor
    steps: Steps

    @classmethod
    def of(
        cls, config: SynthesizerConfig, rows: int, device: torch.device, seed: int = 0
    ) -> "Case":
        batches, worlds, programs = batch_of(tasks(2 * rows, seed), rows, 5)
        steps = Steps.of(batches.steps.lengths.tolist(), device)
        return cls(Synthesizer(config).to(device), worlds.to(device), programs.to(device), steps)


def of_the_model(case: Case, dtype: torch.dtype) -> dict[str, Tensor]:
    """Logits, and gradients by the names of the twin's parameters."""
    logits, targets = case.model.logits(case.worlds, case.programs, case.steps, dtype)
    case.model.zero_grad()
    functional.cross_entropy(logits, targets, ignore_index=0).backward()
    shaped = Synthesizer(case.model.config)
    for mine, parameter in zip(case.model.parameters(), shaped.parameters(), strict=True):
        parameter.data = mine.grad.cpu()  # the copy then places gradients as it places weights
    return {"logits": logits, **_without_second_bias(dict(plain_copy(shaped).named_parameters()))}


def of_the_twin(case: Case, plain: PlainSynthesizer) -> dict[str, Tensor]:
    """The same of PyTorch's own modules, in the precision of their weights."""
    device, kind = case.worlds.device, plain.start_cell.dtype
    plain = plain.to(device)
    before, after = (
        tensors(case.worlds[:, :, side].cpu().numpy()).to(device, kind) for side in (0, 1)
    )
    tokens = functional.pad(case.programs.long(), (1, 0))[:, :-1]
    places = (case.steps.rows, case.steps.times)
    logits = plain(before, after, tokens)[places]
    functional.cross_entropy(logits, case.programs.long()[places], ignore_index=0).backward()
    gradients = {name: parameter.grad for name, parameter in plain.named_parameters()}
    return {"logits": logits, **_without_second_bias(gradients)}


def _without_second_bias(named: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """An LSTM of PyTorch has two biases that are only ever added; the model has one."""
    return {name: tensor for name, tensor in named.items() if "bias_hh" not in name}


def errors(result: Mapping[str, Tensor], exact: Mapping[str, Tensor]) -> dict[str, float]:
    """Relative errors, by name."""
    return {
        name: relative_error(result[name].to(tensor.device, tensor.dtype), tensor)
        for name, tensor in exact.items()
    }


def too_inexact(case: Case) -> dict[str, tuple[float, float]]:
    """What float32 costs the model and may cost at most, wherever it costs more."""
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        exact = of_the_twin(case, plain_copy(case.model).double())
        costs = [errors(of_the_twin(case, twin), exact) for twin in _twins(case.model)]
        made = errors(of_the_model(case, torch.float32), exact)
    allowed = {name: TIMES * max(cost[name] for cost in costs) + BESIDES for name in exact}
    return {name: (made[name], allowed[name]) for name in exact if not made[name] <= allowed[name]}


def _twins(model: Synthesizer) -> list[PlainSynthesizer]:
    """The twin in float32, as it is and with its weights off by little more than rounding."""
    generator = torch.Generator().manual_seed(0)
    nudged = [plain_copy(model) for _ in range(NUDGED)]
    with torch.no_grad():
        for parameter in (parameter for twin in nudged for parameter in twin.parameters()):
            off = 2 * torch.rand(parameter.shape, generator=generator) - 1
            parameter.mul_(1 + NUDGE * off)
    return [plain_copy(model), *nudged]
