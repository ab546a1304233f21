"""Homogenizing: equal to the slow twin draw by draw, and true to the paper's theory."""

import warnings
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import unskew
from tests.naive.homogenize import sampled_homogenize
from tests.statistics import fits, has_rate
from unskew import HealthWarning, UnskewError
from unskew.balance import theory
from unskew.balance.acceptance import accept
from unskew.balance.homogenizer import Homogenizer
from unskew.balance.kept import PATIENCE, KeptBatches
from unskew.core.batch import ENDLESS, Batch
from unskew.core.rng import generator
from unskew.core.source import Source, plain_source
from unskew.core.variables.combine import over
from unskew.core.variables.variable import SalientVariable
from unskew.io.lookup import find_source

fixed = settings(derandomize=True)
EPSILONS = [0.0, 0.001, 0.025, 0.2, 3.0]
P = (0.5, 0.25, 0.15, 0.07, 0.03)


def codes_variable(support: Sequence[int] | None) -> SalientVariable:
    return SalientVariable("code", lambda batch: batch.columns["code"], support and tuple(support))


def batch_of(codes: Sequence[int]) -> Batch:
    return Batch({"code": np.asarray(codes, dtype=np.int64)})


def as_in_the_loop(keep: Sequence[bool], most: int) -> list[bool]:
    """Cut a keep sequence where the paper's loop ends: with the draw that is the last kept."""
    seen = []
    for kept in keep:
        if sum(seen) == most:
            break
        seen.append(kept)
    return seen


@st.composite
def runs(draw: Any) -> tuple[list[int], int]:
    """Codes 0..k−1, some of them rare, and how many codes there are."""
    size = draw(st.integers(1, 7))
    skew = draw(st.sampled_from([0.1, 0.5, 1.0]))
    weights = np.array([skew**x for x in range(size)])
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    length = draw(st.integers(0, 400))
    return rng.choice(size, p=weights / weights.sum(), size=length).tolist(), size


# Equal to the twin.


@fixed
@given(runs(), st.sampled_from(EPSILONS), st.booleans(), st.integers(0, 400), st.integers(0, 99))
def test_the_kernel_is_the_papers_loop(
    run: tuple[list[int], int], epsilon: float, grown: bool, most: int, seed: int
) -> None:
    codes, size = run
    uniforms = np.random.default_rng(seed).random(len(codes))
    counts = np.zeros(size, dtype=np.int64)
    state = np.array([0, 0, 0 if grown else size])
    keep = np.zeros(len(codes), dtype=np.bool_)
    seen = accept(
        np.array(codes, dtype=np.int64), uniforms, epsilon, grown, counts, state, keep, most
    )

    support = None if grown else range(size)
    expected, _ = sampled_homogenize(codes, int, support, epsilon, uniforms.tolist())
    stopped = as_in_the_loop(expected, most)
    assert keep[:seen].tolist() == stopped
    assert counts.tolist() == [codes[: len(stopped)].count(x) for x in range(size)]
    assert state[0] == len(stopped)


@fixed
@given(
    runs(),
    st.sampled_from(EPSILONS),
    st.booleans(),
    st.lists(st.integers(0, 400)),
    st.integers(0, 99),
)
def test_a_homogenizer_is_the_papers_loop_in_any_batches(
    run: tuple[list[int], int], epsilon: float, grown: bool, cuts: list[int], seed: int
) -> None:
    codes, size = run
    support = None if grown else range(size)
    made = Homogenizer(codes_variable(support), epsilon, generator(seed))
    keep: list[bool] = []
    edges = [0, *sorted(cuts), len(codes)]
    for start, end in pairwise(edges):
        keep += made.keep(batch_of(codes[start:end]), ENDLESS).tolist()

    uniforms = generator(seed).random(len(codes)).tolist()
    expected, counts = sampled_homogenize(codes, int, support, epsilon, uniforms)
    assert keep == expected
    assert made.histograms()[made.variable.name] == (
        Counter(counts),
        Counter(c for c, k in zip(codes, keep, strict=True) if k),
    )
    assert (made.drawn, made.kept) == (len(codes), sum(expected))


@pytest.mark.parametrize("most", [0, 1, 10, 57])
def test_a_homogenizer_counts_no_draw_past_the_last_one_kept(most: int) -> None:
    codes = generator(1).choice(3, p=[0.7, 0.2, 0.1], size=500).tolist()
    made = Homogenizer(codes_variable(range(3)), 0.025, generator(2))
    keep = made.keep(batch_of(codes), most)

    expected, _ = sampled_homogenize(codes, int, range(3), 0.025, generator(2).random(500).tolist())
    assert keep.tolist() == as_in_the_loop(expected, most)
    assert made.kept == most
    assert made.histograms()[made.variable.name][0].total() == made.drawn == len(keep)


# Batches change nothing.


def skewed(rng: np.random.Generator) -> int:
    return int(rng.geometric(0.4))


def kept_with_chunk(chunk: int, n: int) -> tuple[list[int], dict[str, Any]]:
    plain = plain_source(skewed)
    source = Source("skewed", plain.draw, chunk=chunk)
    made = Homogenizer(unskew.clip(lambda x: x, 1, 5), 0.025, generator(5, "accept"))
    batches = KeptBatches(source, generator(5, "draw"), made)
    kept = [x for batch in batches.take(n) for x in batch.examples()]
    return kept, batches.tally.to_dict()


def test_the_size_of_batches_changes_nothing() -> None:
    kept, tally = kept_with_chunk(1, 500)
    assert len(kept) == tally["kept"] == 500
    assert tally["drawn"] > 500
    for chunk in (2, 7, 256, 5000):
        assert kept_with_chunk(chunk, 500) == (kept, tally)


def test_batches_taken_are_never_empty_and_end_with_n() -> None:
    source = Source("skewed", plain_source(skewed).draw, chunk=3)
    made = Homogenizer(over(lambda x: min(x, 9), range(1, 10)), 0.025, generator(1))
    sizes = [len(batch) for batch in KeptBatches(source, generator(2), made).take(200)]
    assert min(sizes) > 0
    assert sum(sizes) == 200


def test_without_a_homogenizer_everything_is_kept() -> None:
    batches = KeptBatches(plain_source(skewed), generator(3))
    kept = [x for batch in batches.take(600) for x in batch.examples()]
    rng = generator(3)
    assert kept == [skewed(rng) for _ in range(600)]
    assert (batches.tally.drawn, batches.tally.kept, batches.tally.cost) == (600, 600, 1.0)


def test_what_a_source_dropped_is_counted_for_the_draws_that_were_used() -> None:
    """Half of all draws are dropped, so beside n draws stand about n dropped ones.

    False alarms: 1e-9. Caught for certain: counts off by a quarter (the last line).
    """
    source = find_source("calculator/dcfg", {"p": 0.5, "max_length": 1})
    batches = KeptBatches(source, generator(3))
    list(batches.take(2000))
    dropped = batches.tally.dropped.total()
    assert has_rate(dropped, dropped + 2000, 0.5) > 1e-9
    assert has_rate(2500, 2500 + 2000, 0.5) < 1e-9


def test_a_source_that_gives_nothing_is_refused() -> None:
    empty = Source("empty", lambda rng, n: (batch_of([]), Counter()))
    with pytest.raises(UnskewError, match="'empty' gave nothing"):
        next(KeptBatches(empty, generator(0)).take(1))


# The function most people need.


def test_the_same_seed_gives_the_same_examples() -> None:
    def first(seed: int) -> list[int]:
        return list(
            islice(unskew.homogenize(skewed, by={"x": lambda x: min(x, 6)}, seed=seed), 300)
        )

    assert first(1) == first(1)
    assert first(1) != first(2)


def test_homogenize_is_the_papers_loop_over_the_samplers_own_draws() -> None:
    examples = unskew.homogenize(skewed, by=lambda x: min(x, 6), epsilon=0.05, seed=9)
    kept = list(islice(examples, 200))
    rng = generator(9, "skewed", "draw", 0)
    draws = [skewed(rng) for _ in range(5000)]
    uniforms = generator(9, "skewed", "accept", 0).random(5000).tolist()
    keep, _ = sampled_homogenize(draws, lambda x: min(x, 6), None, 0.05, uniforms)
    assert kept == [x for x, k in zip(draws, keep, strict=True) if k][:200]


def test_homogenize_brings_a_variable_closer_to_uniform() -> None:
    by = {"x": unskew.clip(lambda x: x, 1, 6)}
    before = unskew.audit(skewed, by=by, n=5000)
    after = unskew.audit(islice(unskew.homogenize(skewed, by=by), 5000), by=by)
    assert before.compare(after).kl_removed("x") > 80


def test_several_variables_are_homogenized_jointly() -> None:
    """Of 8,000 kept each of four pairs has a quarter; unhomogenized one has 72 %, one 2 %.

    False alarms: a ratio of 1.2 is over six standard deviations off, about 1e-9.
    """

    def pair(rng: np.random.Generator) -> tuple[int, int]:
        x = int(rng.random() < 0.8)
        return x, x if rng.random() < 0.9 else 1 - x

    by = {"left": lambda s: s[0], "right": lambda s: s[1]}
    examples = unskew.homogenize(pair, by=by, epsilon=0.0)
    counts = Counter(islice(examples, 1000, 9000))
    assert max(counts.values()) < 1.2 * min(counts.values())
    assert len(counts) == 4
    assert set(examples.tally.drawn_values) == {"left × right"}


def test_a_built_in_source_is_homogenized_by_name() -> None:
    examples = unskew.homogenize("calculator/dcfg", by="operations", seed=1)
    kept = list(islice(examples, 2000))
    assert set(kept[0]) == {"expression", "value"}
    plain = unskew.audit("calculator/dcfg", by="operations", n=2000)
    most_common = plain.variables["operations"].most_frequent[0][1]
    digits = sum(len(example["expression"]) == 1 for example in kept)
    assert digits / 2000 < most_common / 3


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: 1, "must take one argument"),
        (lambda rng, n: 1, "must take one argument"),
        (5, "cannot be called"),
        ("calculator/dcgf", "did you mean 'calculator/dcfg'"),
    ],
)
def test_a_sampler_that_cannot_be_called_is_refused(draw: Any, message: str) -> None:
    with pytest.raises(UnskewError, match=message):
        unskew.homogenize(draw, by=lambda x: x)


def test_an_error_of_the_sampler_is_told_with_its_name() -> None:
    def broken(rng: np.random.Generator) -> int:
        raise KeyError("lost")

    with pytest.raises(UnskewError, match="sampler 'broken' raised KeyError: 'lost'"):
        next(unskew.homogenize(broken, by=lambda x: x))


def test_a_sampler_that_exits_is_named_and_ctrl_c_is_not_its_mistake() -> None:
    def leaves(rng: np.random.Generator) -> int:
        raise SystemExit(0)

    def interrupted(rng: np.random.Generator) -> int:
        raise KeyboardInterrupt

    with pytest.raises(UnskewError, match="sampler 'leaves' raised SystemExit: 0"):
        next(unskew.homogenize(leaves, by=lambda x: x))
    with pytest.raises(KeyboardInterrupt):
        next(unskew.homogenize(interrupted, by=lambda x: x))


@pytest.mark.parametrize("epsilon", [-0.1, float("nan"), float("inf")])
def test_an_epsilon_out_of_range_is_refused(epsilon: float) -> None:
    with pytest.raises(UnskewError, match="epsilon is"):
        unskew.homogenize(skewed, by=lambda x: x, epsilon=epsilon)


def test_a_cost_limit_below_one_is_refused() -> None:
    with pytest.raises(UnskewError, match="cost_limit is"):
        unskew.homogenize(skewed, by=lambda x: x, cost_limit=0.5)


# The theory on real draws.


@cache
def settled(epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a million codes and which of them are kept, once the counts have settled."""
    made = Homogenizer(codes_variable(range(len(P))), epsilon, generator(11, "accept"))
    rng = generator(11, "draw")
    for _ in range(10):
        made.keep(batch_of(rng.choice(len(P), p=P, size=1_000_000)), ENDLESS)
    codes = rng.choice(len(P), p=P, size=1_000_000)
    return codes, made.keep(batch_of(codes), ENDLESS)


def fit_to_theory(epsilon: float, run_at: float) -> float:
    codes, keep = settled(run_at)
    counts = np.bincount(codes[keep], minlength=len(P)).tolist()
    return fits(counts, theory.homogenized(P, epsilon))


@pytest.mark.parametrize("epsilon", [0.0, 0.025, 0.2])
def test_kept_values_settle_to_the_distribution_of_the_theory(epsilon: float) -> None:
    """Chi-square fit of what is kept in a million draws to ``theory.homogenized``.

    False alarms: 1e-6 each, a little more since counts over 10 million draws are not the
    probabilities themselves. Caught for certain: ε off by a fifth (the twin below).
    """
    assert fit_to_theory(epsilon, run_at=epsilon) > 1e-6


@pytest.mark.parametrize(("epsilon", "planted"), [(0.0, 0.003), (0.025, 0.03), (0.2, 0.22)])
def test_a_slightly_wrong_epsilon_is_flagged(epsilon: float, planted: float) -> None:
    assert fit_to_theory(epsilon, run_at=planted) < 1e-6


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.025, 0.2, 1.0])
class TestCost:
    """Binomial test of how many of 200,000 draws are kept.

    False alarms: 1e-6 each, a little more as above. Caught for certain: a cost off by a
    twentieth.
    """

    draws = 200_000

    def kept(self, epsilon: float) -> int:
        return int(settled(epsilon)[1][: self.draws].sum())

    def test_it_is_that_of_the_theory(self, epsilon: float) -> None:
        rate = 1 / theory.expected_cost(P, epsilon)
        assert has_rate(self.kept(epsilon), self.draws, rate) > 1e-6

    def test_it_is_under_its_bound(self, epsilon: float) -> None:
        assert self.draws / self.kept(epsilon) < theory.cost_bound(epsilon)

    def test_a_twentieth_more_is_flagged(self, epsilon: float) -> None:
        rate = 1 / (1.05 * theory.expected_cost(P, epsilon))
        assert has_rate(self.kept(epsilon), self.draws, rate) < 1e-6


def test_the_bound_on_the_cost_is_reached_where_a_value_cannot_occur() -> None:
    """With all mass on one of two values each draw is kept with probability ε / (1 + ε).

    False alarms: 1e-6. Caught for certain: a cost off by a tenth.
    """
    epsilon, draws = 0.025, 200_000
    made = Homogenizer(codes_variable(range(2)), epsilon, generator(4))
    with pytest.warns(HealthWarning):
        keep = made.keep(batch_of([0] * draws), ENDLESS)
    assert has_rate(int(keep.sum()), draws, 1 / theory.cost_bound(epsilon)) > 1e-6
    assert has_rate(int(keep.sum()), draws, 1.1 / theory.cost_bound(epsilon)) < 1e-6


THEOREM = {"xi": 0.05, "delta": 0.05}
RUNS = 400


def runs_outside_xi(q: Sequence[float], drawn_from: Sequence[float], draws: int) -> int:
    """Count the runs, of RUNS, after which some |P_r[X=x] − 1/|X|| is above ξ.

    P_r is that of the paper's lemma: proportional to P_q[X=x] / C[x], with the counts C of a
    homogenizer at ε = 0 after so many draws.
    """
    size, outside = len(q), 0
    for run in range(RUNS):
        made = Homogenizer(codes_variable(range(size)), 0.0, generator(run, "accept"))
        codes = generator(run, "draw").choice(size, p=drawn_from, size=draws)
        made.keep(batch_of(codes), ENDLESS)
        counts = np.array([made.histograms()[made.variable.name][0][x] for x in range(size)])
        weights = np.asarray(q) / np.maximum(counts, 1e-9)
        r = weights / weights.sum()
        outside += bool(np.abs(r - 1 / size).max() > THEOREM["xi"])
    return outside


def breaks_the_theorem(outside: int) -> bool:
    """Whether more runs were outside than a failure rate δ explains, at a false alarm of 1e-6."""
    return bool(stats.binom.sf(outside - 1, RUNS, THEOREM["delta"]) < 1e-6)


def test_the_theorem_holds_after_its_number_of_draws() -> None:
    """ξ holds in at least 1 − δ of 400 runs.

    False alarms: below 1e-6, since a run fails with at most δ = 5 %. Caught for certain: a
    failure rate above 20 %, or counts from a q whose rarest value is off by half (the twins).
    """
    q = (0.4, 0.3, 0.2, 0.1)
    draws = theory.samples_needed(len(q), min(q), **THEOREM)
    outside = runs_outside_xi(q, q, draws)
    assert not breaks_the_theorem(outside)
    assert outside <= THEOREM["delta"] * RUNS


@pytest.mark.parametrize(
    ("drawn_from", "share"),
    [((0.4, 0.25, 0.2, 0.15), 1), ((0.4, 0.3, 0.2, 0.1), 1 / 200)],
    ids=["counts of another distribution", "too few draws"],
)
def test_a_planted_fault_breaks_the_theorem(drawn_from: Sequence[float], share: float) -> None:
    q = (0.4, 0.3, 0.2, 0.1)
    draws = int(theory.samples_needed(len(q), min(q), **THEOREM) * share)
    assert breaks_the_theorem(runs_outside_xi(q, drawn_from, draws))


# Health.


def warnings_of(made: Homogenizer, batches: Sequence[Sequence[int]]) -> list[str]:
    """Homogenize batches of codes and return what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for codes in batches:
            made.keep(batch_of(codes), ENDLESS)
    assert {warning.category for warning in caught} <= {HealthWarning}
    return [str(warning.message) for warning in caught]


def test_values_never_seen_are_named_once_with_what_they_cost() -> None:
    made = Homogenizer(codes_variable([0, 1, 7]), 0.025, generator(0))
    (message,) = warnings_of(made, [[0, 1] * 500] * 20)
    assert "'code' never took 7 in 1000 draws; leaving it out" in message
    with_it = theory.expected_cost([0.5, 0.5, 0.0], 0.025)
    assert f"from {with_it:.1f} to 1.0 draws" in message
    health = made.health()
    assert health.never_seen == (7,)
    assert health.drawn == made.drawn == 20_000
    assert health.bound == 41.0
    assert health.cost == health.drawn / health.kept


def test_a_cost_above_its_limit_is_warned_of_once() -> None:
    made = Homogenizer(codes_variable([0, 1]), 0.0, generator(0), cost_limit=2.0)
    (message,) = warnings_of(made, [[0] * 990 + [1] * 10] * 20)
    assert "homogenizing 'code' costs" in message
    assert "above the limit of 2; raise epsilon (0)" in message


def test_both_warnings_may_come_and_neither_before_a_thousand_draws() -> None:
    made = Homogenizer(codes_variable([0, 1, 2]), 0.001, generator(0), cost_limit=2.0)
    assert warnings_of(made, [[0] * 999]) == []
    warned = warnings_of(made, [[0] * 1000] * 100)
    assert [message.split()[0] for message in warned] == ["'code'", "homogenizing"]


def test_a_healthy_run_warns_of_nothing() -> None:
    made = Homogenizer(codes_variable(range(5)), 0.025, generator(0))
    made.keep(batch_of(generator(1).choice(5, p=P, size=50_000)), ENDLESS)
    assert made.health().warnings == ()
    assert made.health().never_seen == ()


def test_a_support_that_grows_has_no_value_that_was_never_seen() -> None:
    made = Homogenizer(codes_variable(None), 0.025, generator(0))
    made.keep(batch_of([0, 1] * 5000 + [2] * 10), 1500)
    assert made.drawn < 10_000
    assert made.health().never_seen == ()
    assert 2 not in made.histograms()[made.variable.name][0]


def test_an_impossible_value_at_epsilon_zero_ends_with_an_error() -> None:
    zeros = Source("zeros", lambda rng, n: (batch_of(np.zeros(n)), Counter()), chunk=100_000)
    made = Homogenizer(codes_variable([0, 1]), 0.0, generator(0))
    batches = KeptBatches(zeros, generator(1), made)
    with (
        pytest.warns(HealthWarning) as caught,
        pytest.raises(UnskewError, match=r"nothing kept in \d+ draws at epsilon 0: .*never took 1"),
    ):
        next(batches.take())
    assert "never took 1" in str(caught[0].message)
    assert made.drawn == PATIENCE
    assert batches.tally.kept == 0
    assert batches.tally.cost == float("inf")


def test_patience_starts_again_with_each_one_kept() -> None:
    made = Homogenizer(codes_variable([0, 1]), 0.0, generator(0), cost_limit=1e9)
    for _ in range(3):
        made.keep(batch_of([0] * (2 * PATIENCE // 3) + [1]), ENDLESS)
    assert made.kept >= 3


# Memory.


def array_cells(thing: object, counted: dict[int, object] | None = None) -> int:
    """Count the cells of all arrays and the entries of all collections that an object holds.

    What several objects share is counted once.
    """
    counted = {} if counted is None else counted
    if id(thing) in counted:
        return 0
    counted[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        return thing.size
    if isinstance(thing, (list, tuple, set, dict)):
        inner = thing.values() if isinstance(thing, dict) else thing
        return len(thing) + sum(array_cells(part, counted) for part in inner)
    if hasattr(thing, "__dict__") and not callable(thing):
        return sum(array_cells(part, counted) for part in vars(thing).values())
    return 0


@pytest.mark.parametrize("support", [range(5), None], ids=["declared", "grown"])
def test_memory_does_not_grow_with_the_draws(support: Sequence[int] | None) -> None:
    made = Homogenizer(codes_variable(support), 0.025, generator(0))
    rng = generator(1)
    made.keep(batch_of([*range(5)] * 10), ENDLESS)
    before = array_cells(made)
    for _ in range(20):
        made.keep(batch_of(rng.choice(5, p=P, size=100_000)), ENDLESS)
    assert made.drawn == 2_000_050
    assert array_cells(made) == before < 50
