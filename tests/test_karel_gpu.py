"""The synthesizer on a GPU: its kernels against plain PyTorch, its captured step, its decoder."""

import pytest
import torch

from tests.karel_gradients import SMALL, Case, errors, of_the_model, of_the_twin, too_inexact
from tests.naive.karel_model import plain_copy
from tests.test_karel_model import tasks
from unskew.models.karel.data.tasks import Minibatches
from unskew.models.karel.decode.beam import beam_search
from unskew.models.karel.network.channels import expand
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig
from unskew.models.karel.train.step import StepConfig, TrainingStep

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore")]
GPU = torch.device("cuda")


def test_worlds_are_expanded_as_on_the_cpu():
    worlds = tasks(100).worlds.flatten(0, 1)
    assert torch.equal(expand(worlds.to(GPU), torch.float32).cpu(), expand(worlds, torch.float32))


@pytest.mark.parametrize("config", [SynthesizerConfig(), SMALL])
def test_float32_costs_gradients_no_more_than_pytorchs_own_modules(config):
    assert too_inexact(Case.of(config, 64, GPU)) == {}


@pytest.mark.parametrize("config", [SynthesizerConfig(), SMALL])
def test_bfloat16_is_as_near_as_its_digits_allow(config):
    """Sums of many small terms are off by a tenth."""
    case = Case.of(config, 64, GPU)
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        expected = of_the_twin(case, plain_copy(case.model))
        actual = errors(of_the_model(case, torch.bfloat16), expected)
    assert actual.pop("logits") < 2e-2
    assert {name: error for name, error in actual.items() if not error < 0.2} == {}


def uncaptured(job, warm_ups):
    return job


def test_captured_steps_are_the_steps():
    """Twenty batches of one to five shown pairs, as graphs and without; a tenth of a nat apart."""
    config = StepConfig(batch=32, shown=(1, 5), rate=1e-3, warmup=0.1, fan_in=256)
    data, losses = tasks(64).to(GPU), []
    for captured in (True, False):
        batches = Minibatches(data, config.batch, config.shown)
        model = Synthesizer(SMALL).to(GPU)
        step = TrainingStep(model, batches, config, capture=None if captured else uncaptured)
        seen = []
        for number in range(20):
            step.run(number, number / 20)
            seen.append(float(step.loss))
        losses.append(seen)
    assert losses[0][-1] < losses[0][0] - 0.2
    assert losses[0] == pytest.approx(losses[1], abs=0.1)


def test_a_beam_in_float32_finds_what_the_cpu_finds():
    worlds = tasks(6).worlds[:, :5]
    model = Synthesizer(SMALL)
    expected = beam_search(model, worlds, 8, 20)
    made = beam_search(model.to(GPU), worlds.to(GPU), 8, 20)
    assert torch.equal(made.programs.cpu(), expected.programs)
    assert torch.allclose(made.scores.cpu(), expected.scores, atol=1e-4)
