"""Training the Karel synthesizer: it learns, goes on exactly, and its schedule fits the run."""

import weakref
from dataclasses import replace

import pytest
import torch

from tests.test_karel_model import TINY, tasks
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.domains import load_domain
from unskew.models.checkpoint import copy_tensors
from unskew.models.karel.data.tasks import Minibatches, Tasks
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig
from unskew.models.karel.train.step import StepConfig, TrainingStep


def training(config: StepConfig, model: SynthesizerConfig = TINY, **more) -> TrainingStep:
    data = tasks(64, 0, "actions", max_length=3)
    batches = Minibatches(data, config.batch, config.shown, config.seed)
    return TrainingStep(Synthesizer(model), batches, config, **more)


def test_a_run_goes_on_exactly_from_its_tensors():
    config = StepConfig(batch=8, shown=(1, 5), rate=1e-2)
    whole = training(config)
    for number in range(6):
        whole.run(number, number / 6)
        if number == 2:
            kept = {name: tensor.clone() for name, tensor in whole.tensors().items()}
    resumed = training(config)
    copy_tensors(kept, resumed.tensors())
    for number in range(3, 6):
        resumed.run(number, number / 6)
    for name, tensor in whole.tensors().items():
        assert torch.equal(tensor, resumed.tensors()[name]), name
    assert torch.equal(whole.loss, resumed.loss)


class Recorder:
    """A GPU's way of taking a step, on the CPU: a graph is a function that does the job again."""

    def __init__(self):
        self.graphs = []

    def __call__(self, job, warm_ups):
        for _ in range(warm_ups):
            job()

        def graph():
            job()

        self.graphs.append(weakref.ref(graph))
        return graph

    def kept(self):
        """How many graphs are still there."""
        return sum(graph() is not None for graph in self.graphs)


class Adding:
    """A rank that counts how often it adds up with the others."""

    def __init__(self):
        self.times = 0

    def add_up(self, tensors):
        assert len(tensors) > 1
        self.times += 1


def test_ranks_add_up_once_a_step_whoever_captures():
    """A layout that changes in one rank alone must not make it add up more often than the rest."""
    config = StepConfig(batch=8, shown=(1, 5), rate=1e-2)
    ranks, recorder = Adding(), Recorder()
    step, plain = training(config, ranks=ranks, capture=recorder), training(config)
    step.prepare(0)
    assert (ranks.times, len(recorder.graphs)) == (0, 10)  # two for each number of pairs
    for number in range(6):
        if number == 3:
            step.batches.layout += 1
        step.run(number, number / 6)
        plain.run(number, number / 6)
        assert ranks.times == number + 1
    assert len(recorder.graphs) > 10
    for name, tensor in plain.tensors().items():
        assert torch.equal(tensor, step.tensors()[name]), name


def test_steps_captured_for_a_layout_that_is_gone_are_let_go():
    recorder = Recorder()
    step = training(StepConfig(batch=8, shown=(2, 5)), capture=recorder)
    step.prepare(0)
    step.run(0, 0)
    assert recorder.kept() == len(recorder.graphs) == 2 * 4
    step.batches.layout += 1
    step.run(1, 0.1)
    assert recorder.kept() == 2


def test_a_warm_up_adds_nothing_up_and_changes_no_weight():
    ranks = Adding()
    step = training(StepConfig(batch=8), ranks=ranks, capture=Recorder())
    before = {name: tensor.clone() for name, tensor in step.tensors().items()}
    step.prepare(0)
    assert ranks.times == 0
    assert all(torch.equal(tensor, step.tensors()[name]) for name, tensor in before.items())
    step.run(0, 0.5)
    assert ranks.times == 1
    assert any(not torch.equal(tensor, step.tensors()[name]) for name, tensor in before.items())


def test_the_rate_warms_up_and_falls_to_zero():
    config = StepConfig(rate=1e-2, warmup=0.1)
    assert 0 < config.rate_at(0) < 1e-4
    assert config.rate_at(0.05) == pytest.approx(5e-3, rel=0.01)
    assert config.rate_at(0.1) == pytest.approx(1e-2)
    assert config.rate_at(0.55) == pytest.approx(5e-3)
    assert config.rate_at(1.0) == pytest.approx(0, abs=1e-9)
    with pytest.raises(UnskewError, match="rate is 2"):
        StepConfig(rate=2)


def moved(step: TrainingStep) -> dict[str, float]:
    """By how much the first step moves each parameter at most."""
    before = {name: value.detach().clone() for name, value in step.model.named_parameters()}
    step.run(0, 0.5)
    now = dict(step.model.named_parameters())
    return {name: float((now[name] - before[name]).abs().max().detach()) for name in before}


def test_a_layer_of_many_inputs_learns_slower_in_proportion():
    """Adam's first step moves each weight by its rate, whatever the gradient."""
    sizes = SynthesizerConfig(channels=4, blocks=1, pair=32, token=24, hidden=16, layers=2)
    config = StepConfig(batch=16, rate=1e-3, fan_in=8)
    steps = moved(training(config, sizes))
    rate = config.rate_at(0.5)
    inputs = {"pair": 18 * 18 * 4, "from_pair": 32, "from_token": 24}
    inputs |= dict.fromkeys(("before", "after"), 16 * 9)
    inputs |= dict.fromkeys(("convolution0", "convolution1", "convolution2"), 4 * 9)
    inputs |= dict.fromkeys(("recurrent0", "from_below1", "recurrent1", "answer"), 16)
    for name, step in steps.items():
        share = 8 / inputs[name] if name in inputs else 1.0  # biases, tokens, first states
        assert step == pytest.approx(rate * share, rel=0.01), name
    alike = moved(training(replace(config, fan_in=0), sizes))
    assert all(step == pytest.approx(rate, rel=0.01) for step in alike.values())
    with pytest.raises(UnskewError, match="fan_in is -1"):
        StepConfig(fan_in=-1)


def marked(n: int) -> Tasks:
    """One or two actions in worlds of which most cells hold eight or nine markers."""
    domain, rng = load_domain("karel"), generator(0, "test")
    short = domain.source("actions", {"max_length": 2}).draw(rng, n)[0]
    full = domain.source("narrow", {"r_wall": 0.05, "r_marker": 0.85, "counts": "A"})
    return Tasks.of(full.derive(rng, short)[0])


def common(model: Synthesizer, data: Tasks) -> float:
    """How large what the pairs' embeddings have in common is."""
    with torch.no_grad():
        return float(model.encode(data.worlds[:, 0], torch.float32).mean(0).norm())


def test_what_pairs_have_in_common_grows_slower():
    """In five steps 4 to 7-fold instead of 30 to 61-fold, with six seeds of all."""
    data, grown = marked(128), {}
    for fan_in in (0, 256):
        config = StepConfig(batch=32, shown=(1, 1), rate=1.4e-3, warmup=0.0, fan_in=fan_in)
        sizes = SynthesizerConfig(channels=32, blocks=1, pair=64, token=32, hidden=64, layers=1)
        batches = Minibatches(data, config.batch, config.shown, config.seed)
        step = TrainingStep(Synthesizer(sizes), batches, config)
        before = common(step.model, data)
        for number in range(5):
            step.run(number, 0.0)
        grown[fan_in] = common(step.model, data) / before
    assert grown[0] > 25
    assert grown[256] < 10


def test_the_loss_falls():
    """To 0.37 to 0.43 of what it was, with five seeds of tasks, weights and batches."""
    step = training(StepConfig(batch=16, rate=1e-2, warmup=0.1))
    losses = []
    for number in range(80):
        step.run(number, number / 80)
        losses.append(float(step.loss))
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])
