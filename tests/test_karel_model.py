"""The Karel synthesizer: its twin, its data, its training step."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.naive.karel_model import plain_copy
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.domains import load_domain
from unskew.domains.karel.world import to_tensor
from unskew.models.karel.data.tasks import Minibatches, Tasks, joined
from unskew.models.karel.network.channels import expand
from unskew.models.karel.network.packed import Steps
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig

CPU = torch.device("cpu")
TINY = SynthesizerConfig(channels=8, blocks=2, pair=16, token=8, hidden=16, seed=3)


def tasks(n: int, seed: int = 0, source: str = "msr", **options: int) -> Tasks:
    made = load_domain("karel").source(source, options)
    return Tasks.of(made.draw(generator(seed, "test"), n)[0])


def tensors(worlds: np.ndarray) -> torch.Tensor:
    """The original dataset's tensors of worlds (…, 260), by the reference."""
    flat = worlds.reshape(-1, worlds.shape[-1])
    stacked_worlds = np.stack([to_tensor(world) for world in flat])
    return torch.from_numpy(
        stacked_worlds.reshape(*worlds.shape[:-1], *stacked_worlds.shape[1:])
    ).float()


def test_the_model_has_the_papers_size():
    parameters = sum(p.numel() for p in Synthesizer(SynthesizerConfig()).parameters())
    assert parameters == 12_450_291
    assert parameters == pytest.approx(12.4e6, rel=0.005)


def test_first_weights_may_see_nothing_but_what_changed():
    """Equal embeddings where nothing did, whatever stands there; of size one where a run did."""
    config = SynthesizerConfig(pair=64, hidden=32, differences=True)
    model = Synthesizer(config)
    pairs = tasks(60, source="uniform").worlds[:, 0]
    still = pairs[:, [0, 0]]
    with torch.no_grad():
        same = model.encode(still, torch.float32)
        told = model.encode(pairs, torch.float32)
        plain = Synthesizer(replace(config, differences=False)).encode(still, torch.float32)
    first, usual = (c.shapes() for c in (config, replace(config, differences=False)))
    louder = {name: first[name].bound / usual[name].bound for name in first}
    assert louder["tokens"] == pytest.approx(10)
    assert louder["from_below1"] == louder["answer"] == pytest.approx(3)
    assert louder["from_pair"] == louder["from_token"] == louder["recurrent1"] == 1
    assert same.abs().max() < 1e-4
    assert 0.5 < told.std(dim=0).mean() < 2
    assert plain.std(dim=0).mean() > 0.05


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"pair": 0}, "pair is 0; allowed is a whole number of at least 1"),
        ({"pair": -3}, "pair is -3; allowed"),
        ({"hidden": 10**7}, "hidden is 10000000; allowed is from 1 to 65536"),
        ({"layers": 2.0}, "layers is 2.0; allowed is a whole number"),
        ({"blocks": "2"}, "blocks is '2'; allowed is a whole number"),
        ({"token": 0}, "token is 0"),
        ({"channels": 7}, "channels is 7; give an even number"),
        ({"seed": -1}, "seed is -1; allowed"),
        ({"pair": 65_536, "channels": 128}, r"2,\d+,\d+,\d+ parameters; allowed are 1,000,000,000"),
    ],
)
def test_sizes_that_make_no_model_are_refused(sizes, message):
    with pytest.raises(UnskewError, match=message):
        SynthesizerConfig(**sizes)


def test_parameters_are_counted_before_they_are_drawn():
    model = Synthesizer(TINY)
    assert TINY.parameters == sum(p.numel() for p in model.parameters())


def test_worlds_are_expanded_to_the_datasets_tensor():
    worlds = tasks(200).worlds.flatten(0, 1)
    made = expand(worlds, torch.float32)
    assert made.shape == (1200, 18, 18, 32)
    expected = tensors(worlds.numpy())
    assert torch.equal(made.permute(0, 3, 1, 2), expected.flatten(1, 2))


def batch_of(data: Tasks, rows: int, shown: int):
    batches = Minibatches(data, rows, (shown, shown), seed=1)
    choice = batches.choice(0)
    worlds = data.worlds[choice.tasks.unsqueeze(1), choice.pairs]
    return batches, worlds, data.programs[choice.tasks]


def relative_error(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).detach().norm() / b.detach().norm())


@pytest.mark.parametrize("shown", [1, 5])
def test_the_model_equals_pytorchs_own_modules(shown):
    """Logits and every gradient, in float32: the rearrangements change nothing."""
    torch.manual_seed(0)
    model = Synthesizer(TINY)
    data = tasks(40)
    batches, worlds, programs = batch_of(data, 8, shown)
    logits, targets = model.logits(worlds, programs, batches.steps, torch.float32)

    plain = plain_copy(model)
    before, after = (tensors(worlds[:, :, side].numpy()) for side in (0, 1))
    tokens = torch.nn.functional.pad(programs.long(), (1, 0))[:, :-1]
    steps = batches.steps
    expected = plain(before, after, tokens)[steps.rows, steps.times]
    assert torch.equal(targets, programs.long()[steps.rows, steps.times])
    assert relative_error(logits, expected) < 1e-5

    weight = torch.randn_like(logits)
    (logits * weight).sum().backward()
    (expected * weight).sum().backward()
    for parameter in model.parameters():
        parameter.data = parameter.grad  # the copy then places gradients as it places weights
    copied = dict(plain_copy(model).named_parameters())
    for name, parameter in plain.named_parameters():
        if "bias_hh" not in name:
            assert relative_error(copied[name], parameter.grad) < 1e-4, name


def test_packed_places_are_the_tokens_of_each_program():
    steps = Steps.of([3, 2, 2], CPU)
    assert steps.sizes == (3, 3, 1)
    assert steps.rows.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert steps.times.tolist() == [0, 0, 0, 1, 1, 1, 2]
    with pytest.raises(UnskewError, match="from the longest"):
        Steps.of([2, 3], CPU)


def test_batches_are_stratified_fair_and_without_padding_to_speak_of():
    data = tasks(1037)
    rows = 32
    batches = Minibatches(data, rows, seed=5)
    lengths = data.lengths()
    row_lengths = batches.steps.lengths
    padding = 0
    for epoch in range(3):
        seen = torch.cat(
            [
                batches.choice(epoch * batches.batches_an_epoch + place).tasks
                for place in range(batches.batches_an_epoch)
            ]
        )
        assert len(seen.unique()) == len(seen) == 1024
        assert (lengths[seen].view(-1, rows) <= row_lengths).all()
        padding += int((row_lengths - lengths[seen].view(-1, rows)).sum())
    assert padding / (3 * 1024) < 0.15 * float(lengths.float().mean())


def test_every_task_is_as_likely_to_be_left_out():
    """13 of 45 are left out of each of 400 epochs; the chance of a false alarm is 1e-4."""
    data = tasks(45)
    batches = Minibatches(data, 32, seed=2)
    seen = torch.zeros(45)
    for epoch in range(400):
        seen[batches.choice(epoch).tasks] += 1
    expected = 400 * 32 / 45
    spread = (400 * (32 / 45) * (13 / 45)) ** 0.5
    assert (seen - expected).abs().max() < 4.9 * spread


def test_a_batch_is_the_same_whatever_came_before():
    data = tasks(100)
    one, two = Minibatches(data, 16, (1, 5), 7), Minibatches(data, 16, (1, 5), 7)
    for number in range(20):
        one.choice(number)
    for number in (19, 3, 13):
        a, b = one.choice(number), two.choice(number)
        assert torch.equal(a.tasks, b.tasks)
        assert torch.equal(a.pairs, b.pairs)
    shown = {one.choice(number).pairs.shape[1] for number in range(60)}
    assert shown == {1, 2, 3, 4, 5}
    pairs = one.choice(0).pairs
    assert all(len(set(row)) == len(row) for row in pairs.tolist())


def test_what_cannot_be_batched_is_refused():
    data = tasks(10)
    with pytest.raises(UnskewError, match="do not fill"):
        Minibatches(data, 11)
    with pytest.raises(UnskewError, match="have 6 pairs"):
        Minibatches(data, 5, (0, 5))
    with pytest.raises(UnskewError, match="shape"):
        Tasks.of_arrays(data.programs.numpy(), data.worlds.numpy()[:, :, :1])


def test_sets_are_appended():
    one, two = tasks(5, 0, "actions", max_length=2), tasks(7, 1)
    both = joined([one, two])
    assert len(both) == 12
    assert both.lengths().tolist() == one.lengths().tolist() + two.lengths().tolist()
    assert both.digest() != joined([two, one]).digest()
