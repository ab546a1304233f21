"""The synthesizer on a GPU: its kernels against plain PyTorch, its captured step, its decoder."""

import pytest
import torch
from torch.nn import functional

from tests.naive.karel_model import plain_copy
from tests.test_karel_model import batch_of, relative_error, tasks
from unskew.models.karel import Synthesizer, SynthesizerConfig
from unskew.models.karel_beam import beam_search
from unskew.models.karel_data import Minibatches, expand
from unskew.models.karel_training import StepConfig, TrainingStep

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore")]
GPU = torch.device("cuda")
SMALL = SynthesizerConfig(channels=16, pair=64, token=32, hidden=64)


def test_worlds_are_expanded_as_on_the_cpu():
    worlds = tasks(100).worlds.flatten(0, 1)
    assert torch.equal(expand(worlds.to(GPU), torch.float32).cpu(), expand(worlds, torch.float32))


@pytest.mark.parametrize("config", [SynthesizerConfig(), SMALL])
@pytest.mark.parametrize(
    ("dtype", "of_logits", "of_gradients"),
    [(torch.float32, 1e-5, 5e-3), (torch.bfloat16, 2e-2, 0.2)],
)
def test_logits_and_gradients_equal_pytorchs_own_modules(config, dtype, of_logits, of_gradients):
    """In float32 to its precision; in bfloat16 sums of many small terms are off by a tenth.

    A sum near zero may fall on either side of a ReLU's kink: gradients behind it differ by more.
    """
    data = tasks(128)
    batches, worlds, programs = batch_of(data, 64, 5)
    model = Synthesizer(config)
    plain = plain_copy(model).to(GPU)
    channels = expand(worlds.flatten(0, 1), torch.float32).permute(0, 3, 1, 2).to(GPU)
    before, after = channels.view(64, 5, 2, 16, 18, 18).unbind(dim=2)
    batches = Minibatches(data.to(GPU), 64, (5, 5), seed=1)
    steps, model = batches.steps, model.to(GPU)
    worlds, programs = worlds.to(GPU), programs.to(GPU)
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        tokens = functional.pad(programs.long(), (1, 0))[:, :-1]
        expected = plain(before, after, tokens)[steps.rows, steps.times]
        logits, targets = model.logits(worlds, programs, steps, dtype)
        assert relative_error(logits, expected) < of_logits
        for made in (logits, expected):
            functional.cross_entropy(made, targets, ignore_index=0).backward()
    for parameter in model.parameters():
        parameter.data = parameter.grad  # the copy then places gradients as it places weights
    copied = dict(plain_copy(model).named_parameters())
    for name, parameter in plain.named_parameters():
        if "bias_hh" not in name:
            assert relative_error(copied[name].to(GPU), parameter.grad) < of_gradients, name


def test_captured_steps_are_the_steps():
    """Twenty batches of one to five shown pairs, as graphs and without; a tenth of a nat apart."""
    config = StepConfig(batch=32, shown=(1, 5), rate=1e-3, warmup=0.1)
    data, losses = tasks(64).to(GPU), []
    for captured in (True, False):
        batches = Minibatches(data, config.batch, config.shown)
        step = TrainingStep(Synthesizer(SMALL).to(GPU), batches, config)
        found = []
        for number in range(20):
            if captured:
                step.run(number, number / 20)
            else:
                step._rate.fill_(config.rate_at(number / 20))
                step._step(batches.choice(number))
            found.append(float(step.loss))
        losses.append(found)
    assert losses[0][-1] < losses[0][0] - 0.2
    assert losses[0] == pytest.approx(losses[1], abs=0.1)


def test_a_beam_in_float32_finds_what_the_cpu_finds():
    worlds = tasks(6).worlds[:, :5]
    model = Synthesizer(SMALL)
    expected = beam_search(model, worlds, 8, 20)
    made = beam_search(model.to(GPU), worlds.to(GPU), 8, 20)
    assert torch.equal(made.programs.cpu(), expected.programs)
    assert torch.allclose(made.scores.cpu(), expected.scores, atol=1e-4)
