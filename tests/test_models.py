"""The Calculator's model: the recurrence, training, resuming, checkpoints, scoring."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import torch

from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.domains import load_domain
from unskew.models.calculator.network import Expressions, ReaderConfig, Readers
from unskew.models.calculator.recurrence import run_lstms
from unskew.models.calculator.score import Estimate, accuracies, student_t
from unskew.models.calculator.train import TrainConfig, TrainingData, load_readers, train
from unskew.models.checkpoint import load_checkpoint, save_checkpoint
from unskew.models.runs import CHECKPOINT

CPU = torch.device("cpu")
SHORT = 3  # characters: a digit, or one operation


def expressions(n: int, seed: int = 0, max_length: int = SHORT) -> Expressions:
    source = load_domain("calculator").source("dcfg", {"p": 0.4, "max_length": max_length})
    batch, _ = source.draw(generator(seed, "test"), n)
    return Expressions.of(batch, max_length)


def reference(x: torch.Tensor, lstms: list[torch.nn.LSTM]) -> torch.Tensor:
    """The states of PyTorch's own LSTMs, one a member; x is (M, T, B, H)."""
    return torch.stack([lstm(part)[0] for lstm, part in zip(lstms, x, strict=True)])


def states_and_gradients(device: torch.device, dtype: torch.dtype, *, fused: bool):
    """Ours and PyTorch's states, and the gradients of inputs and recurrent weights."""
    torch.manual_seed(0)
    members, steps, rows, hidden = 3, 9, 16, 8
    lstms = [torch.nn.LSTM(hidden, hidden) for _ in range(members)]
    x = torch.randn(members, steps, rows, hidden, requires_grad=True)
    weight = torch.randn(members, steps, rows, hidden)
    expected = reference(x, lstms)
    parameters = [lstm.weight_hh_l0 for lstm in lstms]
    want = torch.autograd.grad((expected * weight).sum(), [x, *parameters])

    gates = torch.stack(
        [p @ m.weight_ih_l0.T + m.bias_ih_l0 + m.bias_hh_l0 for p, m in zip(x, lstms, strict=True)]
    )
    recurrent = torch.stack([p.T for p in parameters]).detach().requires_grad_()
    states = run_lstms(gates.to(device, dtype), recurrent.to(device, dtype), fused=fused)
    got = torch.autograd.grad((states.float().cpu() * weight).sum(), [x, recurrent])
    ours = [states.float().cpu(), got[0], got[1]]
    theirs = [expected, want[0], torch.stack([p.T for p in want[1:]])]
    return ours, theirs


def relative_error(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).detach().norm() / b.detach().norm())


def test_recurrence_equals_pytorchs_lstm_forward_and_backward():
    for ours, theirs in zip(*states_and_gradients(CPU, torch.float32, fused=False), strict=True):
        assert relative_error(ours, theirs) < 1e-5


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # torch.compile warns of its own doings
def test_fused_cells_equal_the_plain_ones(monkeypatch):
    """The cells as a GPU runs them, here compiled for the CPU; also never compiled twice."""
    monkeypatch.setattr(torch._dynamo.config, "error_on_recompile", True)
    for ours, theirs in zip(*states_and_gradients(CPU, torch.float32, fused=True), strict=True):
        assert relative_error(ours, theirs) < 1e-5


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore")
def test_recurrence_on_a_gpu_in_bf16_is_close_to_pytorchs_lstm():
    device = torch.device("cuda")
    for ours, theirs in zip(*states_and_gradients(device, torch.bfloat16, fused=True), strict=True):
        assert relative_error(ours, theirs) < 2e-2


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore")
def test_a_captured_step_learns_what_a_plain_one_does():
    config = TrainConfig(steps=300, rate=1e-2, warmup=20)
    scores = []
    for device in (CPU, torch.device("cuda")):
        data = TrainingData([expressions(5_000)], [0], device)
        model = train(ReaderConfig(32, SHORT, (0,)), config, data, None)
        scores.append(accuracies(model, expressions(2_000, seed=1))[0])
    assert scores[0] > 0.8
    assert abs(scores[0] - scores[1]) < 0.1


def test_a_tiny_model_learns_single_operations():
    """400 steps take digits and one-operation expressions from 10 % to above 85 %."""
    data = TrainingData([expressions(5_000)], [0, 0], CPU)
    config = TrainConfig(steps=400, rate=1e-2, warmup=20)
    model = train(ReaderConfig(32, SHORT, (0, 1)), config, data, None)
    test = expressions(2_000, seed=1)
    before = accuracies(Readers(model.config), test)
    after = accuracies(model, test)
    assert before.max() < 0.3
    assert after.min() > 0.85


def test_a_model_trained_on_wrong_values_scores_as_chance():
    """The planted fault of the test above: with shuffled values nothing can be learned."""
    right = expressions(5_000)
    wrong = replace(right, values=generator(0, "shuffle").permutation(right.values))
    data = TrainingData([wrong], [0], CPU)
    model = train(
        ReaderConfig(32, SHORT, (0,)), TrainConfig(steps=100, rate=1e-2, warmup=20), data, None
    )
    assert accuracies(model, expressions(2_000, seed=1))[0] < 0.3


def test_members_do_not_influence_each_other():
    config = TrainConfig(steps=5, batch=16)
    sets = [expressions(64, seed=0), expressions(64, seed=1)]
    logits = []
    for members in ([0, 1], [0]):
        torch.manual_seed(0)
        data = TrainingData(sets, members, CPU)
        # the same rows for member 0, however many siblings it has
        index = torch.arange(16).expand(len(members), -1)
        data.batch = lambda rows, generator, d=data, i=index: (  # type: ignore[method-assign]
            d.tokens[d.set_of_member, i],
            d.lengths[d.set_of_member, i].long(),
            d.values[d.set_of_member, i].long(),
        )
        model = train(ReaderConfig(16, SHORT, tuple(range(len(members)))), config, data, None)
        tokens = torch.from_numpy(sets[0].tokens)[None].expand(len(members), -1, -1)
        lengths = torch.from_numpy(sets[0].lengths)[None].expand(len(members), -1)
        logits.append(model(tokens, lengths)[0].detach())
    assert torch.allclose(logits[0], logits[1], atol=1e-6)


def test_a_stopped_run_goes_on_exactly(tmp_path: Path):
    reader = ReaderConfig(16, SHORT, (0, 1))
    config = TrainConfig(steps=20, batch=16, log_every=5, save_every=5)
    data = TrainingData([expressions(500)], [0, 0], CPU)
    whole = train(reader, config, data, tmp_path / "whole")

    class StopError(Exception):
        pass

    def stop(progress):
        if progress.step == 15:
            raise StopError

    with pytest.raises(StopError):
        train(reader, config, data, tmp_path / "cut", stop)
    _, facts = load_checkpoint(tmp_path / "cut" / CHECKPOINT)
    assert facts["step"] == 10
    train(reader, config, data, tmp_path / "cut")
    resumed = load_readers(tmp_path / "cut", CPU)
    for name, parameter in whole.named_parameters():
        assert torch.equal(parameter, resumed.get_parameter(name)), name


class Interrupting(TrainingData):
    """Data with Ctrl-C in the middle of the seventh step, when the step asks for its batch."""

    batches = 0

    def batch(self, rows, generator):
        self.batches += 1
        if self.batches == 7:
            os.kill(os.getpid(), signal.SIGINT)
        return super().batch(rows, generator)


def test_ctrl_c_ends_the_step_and_saves_it(tmp_path: Path):
    reader, config = ReaderConfig(8, SHORT), TrainConfig(steps=12, batch=8)
    data = TrainingData([expressions(50)], [0], CPU)
    whole = train(reader, config, data, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(reader, config, Interrupting([expressions(50)], [0], CPU), tmp_path / "cut")
    assert load_checkpoint(tmp_path / "cut" / CHECKPOINT)[1]["step"] == 7
    train(reader, config, data, tmp_path / "cut")
    resumed = load_readers(tmp_path / "cut", CPU)
    for name, parameter in whole.named_parameters():
        assert torch.equal(parameter, resumed.get_parameter(name)), name


def test_a_finished_run_is_not_trained_again(tmp_path: Path):
    reader, config = ReaderConfig(8, SHORT), TrainConfig(steps=3, batch=4)
    data = TrainingData([expressions(50)], [0], CPU)
    train(reader, config, data, tmp_path / "run")
    seen = []
    train(reader, config, data, tmp_path / "run", seen.append)
    assert seen == []


def test_a_folder_of_another_run_is_refused(tmp_path: Path):
    data = TrainingData([expressions(50)], [0], CPU)
    train(ReaderConfig(8, SHORT), TrainConfig(steps=1, batch=4), data, tmp_path / "run")
    with pytest.raises(UnskewError, match="other settings"):
        train(ReaderConfig(9, SHORT), TrainConfig(steps=1, batch=4), data, tmp_path / "run")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(UnskewError, match="not empty"):
        train(ReaderConfig(8, SHORT), TrainConfig(steps=1), data, tmp_path / "full")


def test_metrics_are_json_lines(tmp_path: Path):
    data = TrainingData([expressions(50)], [0], CPU)
    config = TrainConfig(steps=4, batch=4, log_every=2)
    train(ReaderConfig(8, SHORT), config, data, tmp_path / "run")
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [2, 4]


def test_runs_with_a_checkpoint_of_another_are_refused(tmp_path: Path):
    """In a line, and before a model of the size that it claims is made."""
    reader, config = ReaderConfig(8, SHORT), TrainConfig(steps=2, batch=4)
    data = TrainingData([expressions(50)], [0], CPU)
    train(reader, config, data, tmp_path)
    path = tmp_path / CHECKPOINT
    tensors, facts = load_checkpoint(path)
    sizes = facts["reader"]
    for more, message in (
        ({"reader": {**sizes, "hidden": 10**7}}, "not of this model: answer is"),
        (
            {"reader": {**sizes, "seeds": [0, 1]}},
            r"answer is \(1, 8, 10\), its settings say \(2, 8",
        ),
        ({"reader": {**sizes, "max_length": 10**12}}, "max_length is 1000000000000; allowed is"),
        ({"reader": {**sizes, "max_length": "9"}}, "max_length is '9'; allowed is"),
        ({"reader": {**sizes, "seeds": [None]}}, "seed is None; allowed is"),
        ({"reader": {"hidden": 8}}, "holds no readers"),
        ({"reader": {**sizes, "width": 3}}, "holds no readers"),
        ({"reader": None}, "holds no readers"),
    ):
        save_checkpoint(path, tensors, {**facts, **more})
        with pytest.raises(UnskewError, match=message):
            load_readers(tmp_path, CPU)
    for wrong, message in (
        ({"step": None}, r"does not say where it stands \(step None\)"),
        ({"tensors": {"model.dense": torch.zeros(1)}}, r"model.dense is \(1,\), its settings say"),
        ({"tensors": {"more": torch.zeros(1)}}, r"more is \(1,\), its settings say none"),
    ):
        save_checkpoint(path, {**tensors, **wrong.pop("tensors", {})}, {**facts, **wrong})
        with pytest.raises(UnskewError, match=message):
            train(reader, config, data, tmp_path)


def test_scores_do_not_depend_on_the_batch_size():
    model = Readers(ReaderConfig(16, 20, (0, 1)))
    data = expressions(300, max_length=20)
    assert np.array_equal(accuracies(model, data, rows=7), accuracies(model, data, rows=300))


def test_expressions_too_long_for_the_model_are_refused():
    batch, _ = load_domain("calculator").source("bal", {"min_depth": 3}).draw(generator(0, "x"), 10)
    with pytest.raises(UnskewError, match="reads at most 3"):
        Expressions.of(batch, 3)


def test_the_learning_rate_warms_up_and_falls_to_zero():
    config = TrainConfig(steps=100, rate=1.0, warmup=10)
    rates = [config.rate_at(step) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == pytest.approx(1.0)
    assert rates[-1] < 0.001


def test_student_t_is_scipys():
    for freedom in [*range(1, 40), 100, 1000]:
        assert student_t(freedom) == pytest.approx(scipy.stats.t.ppf(0.975, freedom), abs=1.5e-3)


def test_intervals_cover_the_truth_19_times_in_20():
    """2,000 intervals of five draws; 93.5 to 96.5 % must cover (3 sigma). A planted fault, the
    normal quantile instead of Student's, covers 88 % and is flagged."""
    draws = generator(0, "cover").normal(size=(2000, 5))
    estimates = [Estimate.of(row) for row in draws]
    covered = np.mean([abs(e.mean) <= e.half_width for e in estimates])
    planted = np.mean([abs(e.mean) <= e.half_width * 1.96 / student_t(4) for e in estimates])
    assert 0.935 < covered < 0.965
    assert planted < 0.935
