"""The closest distribution that a number of draws can buy, against SciPy and against ε."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive import balancing
from unskew.balance import theory
from unskew.balance.best.balancer import Balancer
from unskew.balance.best.capped import closest, enough
from unskew.balance.best.cells import cells_of
from unskew.balance.best.price import (
    cheapest,
    conflicts,
    curve,
    held_out,
    shortfalls,
    total_variation,
)
from unskew.balance.best.raking import near, rake
from unskew.balance.best.rule import Pilot, Rule, pilot_of
from unskew.balance.best.targets import target_shares
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.core.variables.combine import as_variable
from unskew.io.lookup import find_source, resolve

seeds = st.integers(0, 2**32 - 1)


def some_cells(seed, variables=3, most_values=4, examples=200):
    """Codes of a random sample whose variables depend on each other, as cells."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, most_values + 1, variables)
    hidden = rng.random(examples) ** 2
    columns = [
        np.minimum(size - 1, (size * (0.6 * hidden + 0.4 * rng.random(examples))).astype(int))
        for size in sizes
    ]
    return cells_of(np.stack(columns, axis=1), sizes.tolist())


def some_targets(seed, cells):
    """A target for each variable over the values that the sample has."""
    rng = np.random.default_rng(seed)
    seen = [margin > 0 for margin in cells.margins(cells.shares)]
    weights = [rng.uniform(0.2, 1, len(has)) * has for has in seen]
    return [weight / weight.sum() for weight in weights]


# One variable.


@given(seeds, st.floats(1, 50))
def test_the_optimum_of_one_variable_is_what_a_solver_says(seed, draws):
    rng = np.random.default_rng(seed)
    p, target = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5)) * 0.9 + 0.02
    r = closest(p, target, draws)
    assert r.sum() == pytest.approx(1)
    assert (r <= draws * p * (1 + 1e-9)).all()
    best = balancing.nearest(p, np.arange(5)[:, None], [target], draws)
    assert balancing.divergence(r, target) <= best + 1e-6


@given(seeds, st.floats(1e-4, 1), st.integers(2, 40))
def test_no_source_is_served_better_by_epsilon(seed, epsilon, size):
    p = np.random.default_rng(seed).dirichlet(np.full(size, 0.3)) + 1e-12
    p /= p.sum()
    uniform = np.full(size, 1 / size)
    r = closest(p, uniform, theory.expected_cost(p, epsilon))
    paper = theory.homogenized(p, epsilon)
    assert balancing.divergence(r, uniform) <= balancing.divergence(paper, uniform) + 1e-9


def test_the_target_itself_costs_the_largest_ratio():
    p, target = np.array([0.7, 0.2, 0.1]), np.array([0.2, 0.3, 0.5])
    assert closest(p, target, 5) == pytest.approx(target)
    assert closest(p, target, 4)[2] == pytest.approx(0.4)


# Several variables.


@settings(max_examples=30)
@given(seeds, st.floats(1, 20))
def test_raking_is_as_close_as_a_solver_and_its_bound_holds(seed, draws):
    cells = some_cells(seed)
    targets = some_targets(seed, cells)
    fit = rake(cells, targets, draws, tolerance=1e-5)
    price = min(draws, enough(cells.shares))
    best = balancing.nearest(cells.shares, cells.codes, targets, price)
    assert fit.distance <= best + 1e-4
    assert fit.bound <= best + 1e-6
    reached = sum(map(balancing.divergence, fit.margins, targets))
    assert fit.distance == pytest.approx(reached, abs=1e-9)


@settings(max_examples=50)
@given(seeds, st.floats(1, 20))
def test_the_tables_cost_what_the_fit_says_and_give_its_margins(seed, draws):
    cells = some_cells(seed)
    targets = some_targets(seed, cells)
    fit = rake(cells, targets, draws)
    chances = np.minimum(1, np.exp(cells.total(fit.tables)))
    kept = chances @ cells.shares
    assert 1 / kept == pytest.approx(fit.draws, rel=1e-6)
    assert fit.draws <= draws * (1 + 1e-9)
    for margin, said in zip(cells.margins(chances * cells.shares / kept), fit.margins, strict=True):
        assert margin == pytest.approx(said, abs=1e-9)


@settings(max_examples=50)
@given(seeds, st.floats(1, 20))
def test_no_random_rule_of_the_same_price_passes_the_bound(seed, draws):
    cells = some_cells(seed)
    targets = some_targets(seed, cells)
    bound = rake(cells, targets, draws, most_steps=20).bound
    rng = np.random.default_rng(seed)
    for _ in range(20):
        r = cells.shares * rng.random(len(cells.shares)) ** 3
        r /= r.sum()
        cost = (r / cells.shares).max()
        if cost > draws:  # mixed with the source itself, which costs one draw
            part = (draws - 1) / (cost - 1)
            r = part * r + (1 - part) * cells.shares
        distance = sum(map(balancing.divergence, cells.margins(r), targets))
        assert distance >= bound - 1e-9


def test_where_no_cap_binds_it_is_plain_raking():
    joint = np.array([[0.3, 0.2, 0.1], [0.1, 0.1, 0.2]])
    targets = [np.array([0.5, 0.5]), np.array([0.2, 0.3, 0.5])]
    codes = np.array([(i, j) for i in range(2) for j in range(3)])
    examples = np.repeat(codes, np.rint(joint.ravel() * 1000).astype(int), axis=0)
    cells = cells_of(examples, (2, 3))
    fit = rake(cells, targets, 100, tolerance=1e-10)
    chances = np.minimum(1, np.exp(cells.total(fit.tables)))
    kept = (chances * cells.shares / (chances @ cells.shares)).reshape(2, 3)
    assert kept == pytest.approx(balancing.raked(joint, targets), abs=1e-4)
    assert fit.draws == pytest.approx((kept / joint).max(), rel=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_where_no_cap_binds_a_library_for_raking_agrees(seed):
    ipfn = pytest.importorskip("ipfn.ipfn").ipfn
    rng = np.random.default_rng(seed)
    table = rng.integers(20, 400, (3, 4, 2)).astype(float)  # every combination is there
    codes = np.argwhere(table > 0)
    cells = cells_of(np.repeat(codes, table.ravel().astype(int), axis=0), table.shape)
    targets = some_targets(seed, cells)
    axes = [[0], [1], [2]]
    stop = {"convergence_rate": 1e-12, "max_iteration": 5_000, "rate_tolerance": 0.0}
    raked = ipfn(table / table.sum(), targets, axes, **stop).iteration()
    fit = rake(cells, targets, enough(cells.shares), tolerance=1e-11)
    chances = np.minimum(1, np.exp(cells.total(fit.tables)))
    kept = chances * cells.shares / (chances @ cells.shares)
    assert kept == pytest.approx(raked.ravel(), abs=1e-4)
    assert fit.draws == pytest.approx((raked.ravel() / cells.shares).max(), rel=1e-3)


def test_more_draws_than_the_targets_need_are_not_used():
    cells = cells_of(np.array([[0]] * 3 + [[1]]), (2,))
    fit = rake(cells, [np.array([0.5, 0.5])], 50)
    assert fit.draws == pytest.approx(2)
    assert fit.distance == pytest.approx(0, abs=1e-3)


# A closeness.


@settings(max_examples=60)
@given(seeds, st.floats(0.01, 0.3))
def test_the_nearest_distribution_within_a_closeness_is_what_a_solver_says(seed, closeness):
    rng = np.random.default_rng(seed)
    shares, target = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5)) * 0.9 + 0.02
    q = near(shares, target, closeness)
    assert q.sum() == pytest.approx(1)
    assert (
        total_variation(q, target) <= closeness + 1e-9
        or total_variation(shares, target) <= closeness
    )
    said = balancing.divergence(shares, q)
    assert said == pytest.approx(balancing.near(shares, target, closeness), abs=2e-5)


@settings(max_examples=25)
@given(seeds, st.floats(0.02, 0.3))
def test_the_cheapest_way_to_a_closeness_is_that_of_a_linear_program(seed, closeness):
    cells = some_cells(seed, variables=2)
    targets = some_targets(seed, cells)
    answer = cheapest(cells, targets, closeness)
    exact = balancing.least_draws(cells.shares, cells.codes, targets, closeness)
    if np.isfinite(exact):
        assert answer.possible
        assert answer.least <= exact * (1 + 1e-6)
        assert exact * (1 - 1e-6) <= answer.fit.draws <= 1.1 * exact
        reached = map(total_variation, answer.fit.margins, targets)
        assert max(reached) <= closeness
    else:
        assert not answer.possible


def test_a_value_that_never_comes_cannot_be_had_at_any_price():
    cells = cells_of(np.array([[0], [0], [1]]), (3,))
    target = [np.array([0.4, 0.4, 0.2])]
    answer = cheapest(cells, target, 0.1)
    assert not answer.possible
    worst = shortfalls(answer.fit, target)[0]
    assert (worst.variable, worst.value, worst.share) == (0, 2, 0.0)
    assert cheapest(cells, target, 0.21).possible


def test_two_variables_that_fight_are_named():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 3, 3000), rng.integers(0, 3, 3000)
    examples = np.stack([one, one, other], axis=1)
    cells = cells_of(examples, (3, 3, 3))
    uniform = np.full(3, 1 / 3)
    targets = [uniform, np.array([0.8, 0.1, 0.1]), uniform]
    assert [(c.first, c.second) for c in conflicts(cells, targets)] == [(0, 1)]
    assert conflicts(cells, [uniform] * 3) == []


# The figures of the Calculator.


@pytest.fixture(scope="module")
def pilot():
    source = find_source("calculator/dcfg")
    names = ["length", "operations", "parentheses", "mean_depth", "max_depth"]
    rng = generator(0, "pilot")
    batches = [source.draw(rng, 50_000)[0] for _ in range(8)]
    return pilot_of(resolve(names, source.domain), batches)


def removed(shares, margin):
    """The percentage of the divergence from uniform that is gone."""
    uniform = np.full(len(margin), 1 / len(margin))
    return 100 * (1 - balancing.divergence(margin, uniform) / balancing.divergence(shares, uniform))


def uniform_targets(pilot):
    return [np.full(size, 1 / size) for size in pilot.sizes]


@pytest.mark.parametrize(("variable", "draws", "least"), [(0, 5.19, 80), (2, 10.67, 76)])
def test_one_variable_of_the_calculator(pilot, variable, draws, least):
    shares = pilot.shares()[variable]
    reached = closest(shares, uniform_targets(pilot)[variable], draws)
    assert removed(shares, reached) >= least


@pytest.mark.parametrize(("draws", "least"), [(10, 77.0), (20, 84.0)])
def test_five_variables_of_the_calculator(pilot, draws, least):
    fit = rake(pilot.cells(), uniform_targets(pilot), draws)
    shares = [removed(p, r) for p, r in zip(pilot.shares(), fit.margins, strict=True)]
    assert np.mean(shares) >= least
    assert fit.draws == pytest.approx(draws)


@given(seeds, st.floats(1e-3, 1))
@settings(max_examples=40)
def test_no_source_of_several_variables_is_served_better_by_epsilon(seed, epsilon):
    """The paper's rule counts tuples, or one of the variables."""
    cells = some_cells(seed)
    targets = [(m > 0) / (m > 0).sum() for m in cells.margins(cells.shares)]
    first = cells.margins(cells.shares)[0]
    kept_first = theory.acceptance(np.maximum(first, 1e-12), epsilon)[cells.codes[:, 0]]
    for chances in (theory.acceptance(cells.shares, epsilon), kept_first):
        kept = chances * cells.shares
        fit = rake(cells, targets, 1 / (kept / chances.max()).sum(), tolerance=1e-5)
        paper = sum(map(balancing.divergence, cells.margins(kept / kept.sum()), targets))
        assert fit.distance <= paper + 1e-4
        assert fit.bound <= paper + 1e-9


def ten(together, examples=5_000):
    """Codes of ten variables of 20 values, which depend on a number that all of them share."""
    rng = np.random.default_rng(0)
    shared = rng.random(examples)
    parts = [together * shared + (1 - together) * rng.random(examples) for _ in range(10)]
    columns = [np.minimum(19, (20 * part**1.5).astype(int)) for part in parts]
    return cells_of(np.stack(columns, axis=1), [20] * 10)


def test_ten_variables_of_twenty_values_are_all_close():
    targets = [np.full(20, 1 / 20)] * 10
    answer = cheapest(ten(0.5), targets, 0.02)
    assert answer.possible
    assert max(map(total_variation, answer.fit.margins, targets)) <= 0.02
    assert answer.fit.draws <= 1.1 * answer.least


def test_ten_variables_that_fight_come_with_the_proof():
    targets = [np.full(20, 1 / 20)] * 9 + [np.array([0.9] + [0.1 / 19] * 19)]
    answer = cheapest(ten(0.95), targets, 0.02)
    assert not answer.possible
    assert answer.fit.bound > 0
    assert conflicts(ten(0.95), targets)[0].second == 9


def test_the_draws_of_gcd():
    pytest.importorskip("reasoning_gym")
    source, rng = find_source("reasoning-gym/gcd"), generator(0, "pilot")
    batches = [source.draw(rng, 1_000)[0] for _ in range(10)]
    p = pilot_of(resolve("answer", source.domain), batches).shares()[0]
    uniform = np.full(len(p), 1 / len(p))
    paper = balancing.divergence(theory.homogenized(p, 0.025), uniform)
    cost = theory.expected_cost(p, 0.025)
    assert 3.8 < cost < 3.95
    assert balancing.divergence(closest(p, uniform, 0.91 * cost), uniform) <= paper


def test_a_fit_is_judged_by_examples_that_it_has_not_seen(pilot):
    targets = uniform_targets(pilot)
    fit = rake(pilot.cells(), targets, 10)
    judged = held_out(pilot.codes, pilot.sizes, targets, 10)
    for seen, unseen, target in zip(fit.margins, judged, targets, strict=True):
        assert total_variation(seen, target) == pytest.approx(
            total_variation(unseen, target), abs=0.01
        )


def test_a_curve_never_rises_and_ends_where_more_draws_buy_nothing():
    cells = cells_of(np.array([[0]] * 9 + [[1]] * 3), (2,))
    fits = curve(cells, [np.array([0.5, 0.5])])
    assert [fit.draws for fit in fits] == pytest.approx([1, 1.5, 2], abs=0.05)
    assert [fit.distance for fit in fits] == sorted([fit.distance for fit in fits], reverse=True)


# Targets.


def test_targets_by_name_and_by_share():
    shares = np.array([0.5, 0.3, 0.2])
    values = [1, 2, 4]
    assert target_shares("uniform", values, shares, "x") == pytest.approx([1 / 3] * 3)
    assert target_shares("natural", values, shares, "x") == pytest.approx(shares)
    assert target_shares("log", values, shares, "x") == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    roots = np.sqrt(shares)
    assert target_shares("sqrt", values, shares, "x") == pytest.approx(roots / roots.sum())
    assert target_shares({1: 3, 4: 1}, values, shares, "x") == pytest.approx([0.75, 0, 0.25])


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("unifrom", "uniform"),
        ({9: 1}, "'9'"),
        ({1: -1}, "-1"),
        ({1: True}, "True"),
        ({1: 0}, "no value"),
        (3, "uniform, natural, sqrt, log"),
    ],
)
def test_a_wrong_target_is_one_line(target, message):
    with pytest.raises(UnskewError, match=message) as error:
        target_shares(target, [1, 2], np.array([0.5, 0.5]), "x")
    assert "\n" not in str(error.value)


def test_log_needs_numbers_above_zero():
    with pytest.raises(UnskewError, match="a value is 0"):
        target_shares("log", [1, 0], np.array([0.5, 0.5]), "x")


# The frozen rule.


def test_a_rule_keeps_what_its_tables_say_and_survives_json():
    variables = [as_variable(lambda n: n % 3, "rest"), as_variable(lambda n: n > 4, "large")]
    batch = Batch.of([0, 1, 2, 3, 5, 6, 8])
    sample = pilot_of(variables, [batch])
    fit = rake(sample.cells(), uniform_targets(sample), 1.5)
    rule = Rule.of(sample, fit)
    tables = dict(zip(("rest", "large"), fit.tables, strict=True))
    for example, chance in zip([0, 1, 2, 3, 5, 6, 8], rule.chances(batch), strict=True):
        rest = sample.codebooks[0].values.index(example % 3)
        large = sample.codebooks[1].values.index(example > 4)
        assert chance == pytest.approx(
            min(1, np.exp(tables["rest"][rest] + tables["large"][large]))
        )
    again = Rule.from_dict(variables, rule.to_dict())
    assert again.chances(batch).tolist() == rule.chances(batch).tolist()


def test_a_value_that_the_pilot_did_not_have_is_kept_readily():
    variable = as_variable(lambda n: n, "n")
    sample = pilot_of([variable], [Batch.of([0] * 9 + [1])])
    rule = Rule.of(sample, rake(sample.cells(), uniform_targets(sample), 5))
    common, rare, new = rule.chances(Batch.of([0, 1, 7]))
    assert common < 0.2
    assert rare == new == 1


@pytest.mark.parametrize(
    "damage",
    [{}, {"n": 3}, {"n": {"values": [0], "table": [0, 1]}}, {"n": {"values": [], "table": []}}],
)
def test_damaged_tables_are_refused(damage):
    with pytest.raises(UnskewError, match="damaged"):
        Rule.from_dict([as_variable(lambda n: n, "n")], damage)


@given(seeds, st.integers(1, 60))
def test_the_kernel_keeps_what_the_tables_say_and_counts_it(seed, most):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 12, 40).tolist()
    variables = [as_variable(lambda n: n % 3, "rest"), as_variable(lambda n: n // 4, "part")]
    values = [[0, 1, 2], [0, 1]]  # the rule has not seen part = 2
    rule = Rule(variables, values, [rng.normal(-1, 1, len(known)) for known in values], 2.0)
    batch = Batch.of(numbers)
    balancer = Balancer(rule, np.random.default_rng(seed))
    keep = balancer.keep(batch, most)
    chances = rule.chances(batch)
    uniforms = np.random.default_rng(seed).random(40)
    expected = []
    for uniform, chance in zip(uniforms, chances, strict=True):
        if sum(expected) < most:
            expected.append(bool(uniform < chance))
    assert keep.tolist() == expected
    seen = numbers[: len(expected)]
    drawn, kept = balancer.histograms()["part"]
    assert drawn == Counter(n // 4 for n in seen)
    assert kept == Counter(n // 4 for n, is_kept in zip(seen, expected, strict=True) if is_kept)


def test_an_empty_pilot_is_refused():
    with pytest.raises(UnskewError, match="empty"):
        pilot_of([as_variable(lambda n: n, "n")], [])


def test_a_pilot_knows_its_shares():
    variable = as_variable(lambda n: n, "n")
    sample = pilot_of([variable], [Batch.of(["a", "b"]), Batch.of(["a", "a"])])
    assert isinstance(sample, Pilot)
    assert sample.shares()[0].tolist() == [0.75, 0.25]
