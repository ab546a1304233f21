"""Samplers of rows: what an epoch holds, ranks, and going on from a saved state."""

import json
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew
from tests.statistics import fits
from unskew.core.errors import UnskewError
from unskew.core.rng import generator

ALARM = 1e-6
LABELS = ["a"] * 700 + ["b"] * 200 + ["c"] * 100
ROWS = [{"label": label} for label in LABELS]


def labels(rows) -> Counter:
    return Counter(LABELS[row] for row in rows)


def saved(sampler, used=None) -> dict:
    """Return the state as a file of JSON gives it back."""
    return json.loads(json.dumps(sampler.state_dict(used)))


def of_data(**settings):
    return unskew.Sampler(ROWS, "label", **{"epsilon": 0, **settings})


def of_weights(**settings):
    return unskew.Sampler(unskew.weights(ROWS, "label", epsilon=0), **settings)


def of_batches(**settings):
    return unskew.BatchSampler(ROWS, "label", 10, **settings)


KINDS = pytest.mark.parametrize("make", [of_data, of_weights, of_batches])


# What an epoch holds


@pytest.mark.parametrize("make", [of_data, of_weights])
def test_an_epoch_is_even_shuffled_and_without_repeats(make):
    sampler = make()
    rows = list(sampler)
    assert len(rows) == len(sampler) == len(set(rows)) == 300
    expected = {"a": 100, "b": 100, "c": 100}
    if make is of_data:
        assert labels(rows) == expected
    else:  # each row is rounded, so a value is not exact
        assert all(abs(labels(rows)[x] - 100) <= 30 for x in expected)
    assert all(type(row) is int for row in rows)
    assert rows != sorted(rows)


@pytest.mark.parametrize("make", [of_data, of_weights])
def test_with_replacement_there_are_as_many_as_in_the_data(make):
    rows = list(make(replacement=True))
    assert len(rows) == 1000
    times = Counter(rows)
    assert {times[row] for row in range(900, 1000)} <= {3, 4}
    assert len(list(make(replacement=True, n=5000))) == 5000


@KINDS
def test_each_epoch_is_new_and_follows_from_the_seed(make):
    sampler = make()
    epochs = [list(sampler) for _ in range(3)]
    assert epochs[0] != epochs[1] != epochs[2]
    assert epochs == [list(same) for same in [make()] * 3]
    assert epochs[0] != list(make(seed=1))
    sampler.set_epoch(1)
    assert list(sampler) == epochs[1]
    assert sampler.epoch == 1


def test_all_rows_of_a_value_get_their_turn():
    sampler = of_data(n=30)
    taken = Counter(row for _ in range(2000) for row in sampler)
    assert fits(np.array([taken[row] for row in range(700)]), np.full(700, 1 / 700)) > ALARM
    same = Counter(list(of_data(n=30)) * 2000)  # planted: each epoch is the first
    assert fits(np.array([same[row] for row in range(700)]), np.full(700, 1 / 700)) < ALARM


def test_weights_may_come_as_any_array():
    weights = [0.0, 1, 1, 2]
    assert len(unskew.Sampler(weights)) == 2
    assert list(unskew.Sampler(weights)) == list(unskew.Sampler(np.array(weights)))
    assert Counter(unskew.Sampler(weights, n=400, replacement=True)) == {1: 100, 2: 100, 3: 200}


# Ranks


@KINDS
@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_ranks_share_the_epoch_in_equal_disjoint_parts(make, ranks):
    whole = [str(item) for item in make()]
    parts = [[str(item) for item in make(rank=rank, ranks=ranks)] for rank in range(ranks)]
    assert {len(part) for part in parts} == {len(whole) // ranks}
    together = Counter(item for part in parts for item in part)
    assert together == Counter(whole[: len(whole) // ranks * ranks])
    assert len(make(ranks=ranks)) == len(parts[0])


# Going on


@KINDS
@given(stop=st.integers(0, 100), seed=st.integers(0, 3))
def test_a_loaded_state_gives_exactly_what_was_left(make, stop, seed):
    reference, sampler, other = make(seed=seed), make(seed=seed), make(seed=seed)
    _, second, third = (list(reference) for _ in range(3))
    list(sampler)
    items = iter(sampler)
    given_out = [next(items) for _ in range(stop)]
    other.load_state_dict(saved(sampler))
    if stop < len(second):
        assert given_out + list(other) == second
    assert list(other) == third


@KINDS
def test_what_was_asked_for_but_not_used_is_left(make):
    sampler = make()
    whole = list(make())
    ahead = iter(sampler)
    for _ in range(20):
        next(ahead)
    other = make()
    other.load_state_dict(saved(sampler, used=5))
    other.set_epoch(0)  # as a loop over epochs does; what is left stays
    assert list(other) == whole[5:]
    assert len(list(other)) == len(whole)  # the next epoch is whole
    with pytest.raises(UnskewError, match=f"an epoch has {len(whole)} items"):
        sampler.state_dict(used=len(whole) + 1)


def test_an_epoch_that_is_left_before_its_end_begins_again():
    sampler = of_data()
    first = next(iter(sampler))
    whole = list(sampler)
    assert whole[0] == first
    assert whole == list(of_data())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "was saved with seed 1, and this sampler has 0; make the sampler as"),
        ({"ranks": 2}, "was saved with ranks 2, and this sampler has 1"),
        ({"data": "x"}, "was saved with data 'x'"),
        ({"position": -1}, "position is -1; allowed is a whole number of at least 0"),
        ({"position": 999}, "is at item 999 of 300; it was altered"),
        ({"epoch": None}, "epoch is None; allowed is a whole number"),
    ],
)
def test_the_state_of_another_sampler_is_refused(change, message):
    sampler = of_data()
    with pytest.raises(UnskewError, match=message):
        sampler.load_state_dict({**saved(sampler), **change})
    with pytest.raises(UnskewError, match=r"the state is \[\]; load what state_dict"):
        sampler.load_state_dict([])


@KINDS
def test_a_sampler_goes_to_another_process(make):
    sampler = make()
    assert list(pickle.loads(pickle.dumps(sampler))) == list(sampler)  # noqa: S301 - our own


# Batches


def test_every_batch_has_the_same_number_of_each_value():
    sampler = unskew.BatchSampler(ROWS, "label", batch=12)
    batches = list(sampler)
    assert len(batches) == len(sampler) == 83
    assert all(labels(batch) == {"a": 4, "b": 4, "c": 4} for batch in batches)
    assert len({row for batch in batches for row in batch if row < 700}) == 332
    assert {LABELS[batch[0]] for batch in batches} == set("abc")  # shuffled


@given(
    st.integers(1, 40),
    st.dictionaries(st.sampled_from("abc"), st.floats(0.01, 10), min_size=1),
    st.integers(0, 9),
)
def test_shares_are_rounded_and_kept_over_an_epoch(batch, shares, seed):
    sampler = unskew.BatchSampler(ROWS, "label", batch, 200, shares=shares, seed=seed)
    batches = [labels(rows) for rows in sampler]
    for label in "abc":
        quota = batch * shares.get(label, 0) / sum(shares.values())
        counts = [rows[label] for rows in batches]
        assert {sum(rows.values()) for rows in batches} == {batch}
        assert all(abs(count - quota) < 1 + 1e-6 for count in counts)
        assert abs(sum(counts) - 200 * quota) < 8  # independent rounding: up to 40


def test_rows_of_a_value_come_again_only_after_all_others():
    rows = Counter(row for batch in unskew.BatchSampler(ROWS, "label", 30, 33) for row in batch)
    for label in "abc":
        times = [rows[row] for row in range(1000) if LABELS[row] == label]
        assert max(times) - min(times) <= 1


def test_a_value_that_gets_no_share_never_comes():
    batches = list(unskew.BatchSampler(ROWS, "label", 5, shares={"a": 3, "c": 2}))
    assert all(labels(batch) == {"a": 3, "c": 2} for batch in batches)


# Refusals


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: of_data(rank=2, ranks=2), "rank is 2; allowed is 0 to 1: ranks is 2"),
        (lambda: of_data(ranks=0), "ranks is 0; allowed is a whole number of at least 1"),
        (lambda: of_data(n=2, ranks=3), "n is 2, and there are 3 ranks; ask for at least one"),
        (lambda: of_data(n=301), "n is 301, but examples gives 300 at epsilon 0 without repeats"),
        (lambda: of_weights(n=301), "n is 301, but the weights give 300 rows without repeats"),
        (lambda: of_data(seed=-1), "seed is -1; allowed is a whole number of at least 0"),
        (lambda: unskew.Sampler(ROWS), "is no array of weights; give by=, or a weight for each"),
        (lambda: unskew.Sampler([[1.0]]), "is no array of weights"),
        (lambda: unskew.Sampler([1, -1.0]), "weights are from -1.0 to 1.0; each must be a finite"),
        (lambda: unskew.Sampler([1, float("nan")]), "each must be a finite number"),
        (lambda: unskew.Sampler(iter(ROWS), "label"), "can be read only once"),
        (lambda: of_batches(shares={"x": 1}), "unknown value of label 'x'; choose from a, b, c"),
        (lambda: of_batches(shares={"a": -1}), "the share of a is -1; allowed is at least 0"),
        (lambda: of_batches(shares={"a": 0}), "shares are all 0; give at least one value a share"),
        (lambda: of_batches(shares=[1]), r"shares are \[1\]; give a dict"),
        (lambda: of_batches(batches=0), "batches is 0; allowed is a whole number of at least 1"),
        (lambda: unskew.BatchSampler(ROWS, "label", 0), "batch is 0; allowed is a whole number"),
    ],
)
def test_what_cannot_be_sampled_is_one_line(make, message):
    with pytest.raises(UnskewError, match=message):
        make()


# A loader of PyTorch


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_gives_the_rows_of_the_sampler_with_and_without_workers(workers):
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.arange(1000))
    sampler = of_data()
    loader = torch.utils.data.DataLoader(data, 30, sampler=sampler, num_workers=workers)
    expected = of_data()
    for _ in range(2):
        assert [row for (batch,) in loader for row in batch.tolist()] == list(expected)
    batches = iter(loader)
    used = [row for _ in range(4) for row in next(batches)[0].tolist()]
    state = saved(sampler, used=len(used))
    del batches
    sampler = of_data()
    sampler.load_state_dict(state)
    loader = torch.utils.data.DataLoader(data, 30, sampler=sampler, num_workers=workers)
    assert used + [row for (batch,) in loader for row in batch.tolist()] == list(expected)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_gives_the_batches_of_the_batch_sampler(workers):
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.arange(1000))
    sampler = of_batches(batches=12)
    loader = torch.utils.data.DataLoader(data, batch_sampler=sampler, num_workers=workers)
    assert len(loader) == 12
    assert [batch.tolist() for (batch,) in loader] == list(of_batches(batches=12))


def test_reading_a_pool_twice_gives_the_same_epochs():
    shuffled = [ROWS[row] for row in generator(0, "order").permutation(1000)]
    first, second = (unskew.Sampler(shuffled, "label", epsilon=0) for _ in range(2))
    assert list(first) == list(second) != list(of_data())
