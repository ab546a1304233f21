"""Training the Karel synthesizer: it learns, goes on exactly, and its schedule fits the run."""

import pytest
import torch

from tests.test_karel_model import TINY, tasks
from unskew.errors import UnskewError
from unskew.models.karel import Synthesizer, SynthesizerConfig
from unskew.models.karel_data import Minibatches
from unskew.models.karel_training import StepConfig, TrainingStep


def training(config: StepConfig, model: SynthesizerConfig = TINY, n: int = 64) -> TrainingStep:
    data = tasks(n, 0, "actions", max_length=3)
    batches = Minibatches(data, config.batch, config.shown, config.seed)
    return TrainingStep(Synthesizer(model), batches, config)


def test_a_run_goes_on_exactly_from_its_tensors():
    config = StepConfig(batch=8, shown=(1, 5), rate=1e-2)
    whole = training(config)
    for number in range(6):
        whole.run(number, number / 6)
        if number == 2:
            kept = {name: tensor.clone() for name, tensor in whole.tensors().items()}
    resumed = training(config)
    resumed.restore(kept)
    for number in range(3, 6):
        resumed.run(number, number / 6)
    for name, tensor in whole.tensors().items():
        assert torch.equal(tensor, resumed.tensors()[name]), name
    assert torch.equal(whole.loss, resumed.loss)


def test_the_rate_warms_up_and_falls_to_zero():
    config = StepConfig(rate=1e-2, warmup=0.1)
    assert 0 < config.rate_at(0) < 1e-4
    assert config.rate_at(0.05) == pytest.approx(5e-3, rel=0.01)
    assert config.rate_at(0.1) == pytest.approx(1e-2)
    assert config.rate_at(0.55) == pytest.approx(5e-3)
    assert config.rate_at(1.0) == pytest.approx(0, abs=1e-9)
    with pytest.raises(UnskewError, match="rate is 2"):
        StepConfig(rate=2)


def test_the_loss_falls():
    """To 0.37 to 0.43 of what it was, with five seeds of tasks, weights and batches."""
    step = training(StepConfig(batch=16, rate=1e-2, warmup=0.1))
    losses = []
    for number in range(80):
        step.run(number, number / 80)
        losses.append(float(step.loss))
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])
