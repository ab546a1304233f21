"""Rows of existing data for a price: subsets, weights, repeats and samplers by one capped rule."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew
from tests.commands import exit_code
from tests.naive import balancing
from unskew.balance.allotment import allot
from unskew.balance.best.cells import cells_of
from unskew.balance.best.price import total_variation
from unskew.balance.best.rounding import evened
from unskew.core.errors import HealthWarning, UnskewError
from unskew.core.rng import generator
from unskew.datasets.engines import processes

NAMES = ["one", "two", "three"]
seeds = st.integers(0, 2**32 - 1)


def skewed(n=6000, seed=0, values=5):
    """Columns that depend on each other, in which small values are frequent."""
    rng = np.random.default_rng(seed)
    shared = rng.random(n)
    return {
        name: np.minimum(values - 1, (-2 * np.log(0.5 * shared + 0.5 * rng.random(n))).astype(int))
        for name in NAMES
    }


def apart(columns, name, target=None):
    counts = np.bincount(columns[name])
    wanted = np.where(counts > 0, 1.0, 0.0) if target is None else np.asarray(target, float)
    return total_variation(counts / counts.sum(), wanted / wanted.sum())


def cells_and_uniform(columns):
    names = list(columns)
    found = [np.unique(columns[name], return_inverse=True) for name in names]
    codes = np.stack([inverse for _, inverse in found], axis=1)
    sizes = [len(values) for values, _ in found]
    return cells_of(codes, sizes), [np.full(size, 1 / size) for size in sizes]


# Subsets.


def test_a_budget_keeps_one_row_in_so_many_and_each_variable_is_close():
    columns = skewed()
    result = unskew.resample(columns, NAMES, budget=3)
    assert result.rows == 2000
    assert result.distinct == 2000
    for name in NAMES:
        assert apart(result.data, name) < 0.7 * apart(columns, name)
        before, after = result.variables[name]
        assert (before.n, after.n) == (6000, 2000)
    assert set(result.balance["total_variation"]) == set(NAMES)
    assert result.balance["bound"] <= result.balance["distance"] + 1e-9
    assert "TV from the target" in repr(result)
    with pytest.raises(UnskewError, match="3 variables"):
        _ = result.before


@settings(max_examples=15)
@given(seeds, st.floats(1.2, 6))
def test_a_subset_is_as_close_as_a_solver_can_bring_it(seed, budget):
    columns = skewed(400, seed, values=3)
    cells, uniform = cells_and_uniform(columns)
    result = unskew.resample(columns, NAMES, budget=budget)
    best = balancing.nearest(cells.shares, cells.codes, uniform, budget)
    reached = [np.bincount(result.data[n]) for n in NAMES]
    divergence = sum(
        balancing.divergence(counts[counts > 0] / counts.sum(), uniform[j][: (counts > 0).sum()])
        for j, counts in enumerate(reached)
    )
    assert result.balance["bound"] <= best + 1e-4
    assert result.balance["distance"] <= best + 2e-3
    assert divergence <= best + 0.02  # whole rows


@given(seeds, st.integers(5, 400), st.integers(1, 4))
def test_whole_numbers_bring_the_margins_closer_than_chance(seed, n, variables):
    rng = np.random.default_rng(seed)
    cells = cells_of(rng.integers(0, 5, (300, variables)), [5] * variables)
    shares = rng.dirichlet(np.ones(len(cells.shares)))
    by_chance = allot(shares, n, generator(seed, "allot"))
    closer = evened(cells, by_chance, n * shares, generator(seed, "even"))
    assert closer.sum() == n
    assert (np.abs(closer - n * shares) < 1 + 1e-9).all()

    def error(allotted):
        rows = zip(cells.margins(allotted.astype(float)), cells.margins(n * shares), strict=True)
        return sum(float(((ours - wanted) ** 2).sum()) for ours, wanted in rows)

    assert error(closer) <= error(by_chance) + 1e-6


def test_the_margins_of_a_subset_differ_from_the_fit_by_few_rows():
    result = unskew.resample(skewed(20_000), NAMES, n=1000, target="uniform")
    for name in NAMES:
        assert result.balance["total_variation"][name][1] < 0.01
        random_rows = np.random.default_rng(0).multinomial(1000, np.full(5, 1 / 5)) / 1000
        assert total_variation(random_rows, np.full(5, 1 / 5)) > 0.01  # planted: rows by chance


def test_a_closeness_takes_as_many_rows_as_it_can():
    columns = skewed()
    near = unskew.resample(columns, NAMES, closeness=0.05)
    far = unskew.resample(columns, NAMES, closeness=0.2)
    assert near.rows < far.rows
    for name in NAMES:
        assert near.balance["total_variation"][name][1] <= 0.052
        assert far.balance["total_variation"][name][1] <= 0.202


def test_a_number_of_rows_is_a_price():
    columns = skewed()
    by_rows = unskew.resample(columns, NAMES, n=1500, target="uniform")
    by_budget = unskew.resample(columns, NAMES, budget=4)
    assert by_rows.rows == by_budget.rows == 1500
    assert by_rows.balance == by_budget.balance


def test_repeats_have_a_limit_and_the_same_rule():
    columns = skewed()
    result = unskew.resample(columns, NAMES, repeats=3)
    assert result.rows == 6000
    assert result.weights.max() == 3
    again = unskew.weights(columns, NAMES, budget=3)
    for name in NAMES:
        assert result.balance["total_variation"][name][1] == pytest.approx(
            again.apart[name][1], abs=0.003
        )
    both = unskew.resample(columns, NAMES, repeats=2, budget=6)
    assert (both.rows, both.weights.max()) == (2000, 2)
    free = unskew.resample(columns, NAMES, target="uniform", replacement=True)
    assert free.rows == 6000
    assert all(after < 0.01 for _, after in free.balance["total_variation"].values())


# Weights.


def test_weights_are_as_close_as_a_solver_can_bring_them():
    columns = skewed(500, values=3)
    cells, uniform = cells_and_uniform(columns)
    made = unskew.weights(columns, NAMES, most=2.5, target="uniform")
    assert made.weights.mean() == pytest.approx(1)
    assert made.weights.max() <= 2.5 * (1 + 1e-9)
    assert made.weights.min() > 0
    margins = []
    for name in NAMES:
        sums = np.bincount(columns[name], made.weights)
        margins.append(sums[np.bincount(columns[name]) > 0] / 500)
    distance = sum(map(balancing.divergence, margins, uniform))
    assert distance <= balancing.nearest(cells.shares, cells.codes, uniform, 2.5) + 2e-3
    one = made.by_value[columns["one"][0], columns["two"][0], columns["three"][0]]
    assert made.weights[0] == one


def test_rows_are_taken_as_often_as_their_weights_say():
    columns = skewed(300)
    made = unskew.weights(columns, NAMES, budget=3)
    taken = [unskew.resample(columns, NAMES, budget=3, seed=seed) for seed in range(400)]
    often = sum(result.weights for result in taken) / 400
    wanted = made.weights * taken[0].rows / 300
    assert np.abs(often - wanted).mean() < 0.03
    assert np.abs(often - often.mean()).mean() > 0.1  # planted: all rows alike


def test_an_effective_size_that_collapsed_is_told():
    rows = [0] * 9_999 + [1]
    with pytest.warns(HealthWarning, match="effective sample size is 4 of 10,000 rows"):
        unskew.weights(rows, lambda x: x, target="uniform")


# Targets.


def test_named_shapes_and_shares_for_each_variable():
    columns = {name: column + 1 for name, column in skewed(12_000).items()}
    targets = {"one": "log", "two": {1: 1, 3: 3}, "three": "natural"}
    data = unskew.resample(columns, NAMES, budget=8, target=targets).data
    counts = np.bincount(data["one"], minlength=6)
    assert apart(data, "one", np.where(counts > 0, 1 / np.maximum(np.arange(6), 1), 0)) < 0.02
    assert set(np.unique(data["two"])) == {1, 3}
    assert np.mean(data["two"] == 3) == pytest.approx(0.75, abs=0.01)
    natural = np.bincount(columns["three"]) / 12_000
    assert apart(data, "three", natural) < 0.02


def test_numbers_become_like_those_of_other_data_in_bins(tmp_path):
    rng = np.random.default_rng(0)
    rows = [{"score": float(x)} for x in rng.random(20_000) ** 2]
    like = [{"score": float(x)} for x in rng.beta(5, 2, 5_000)]
    result = unskew.resample(rows, "score", n=1_000, like=like)
    taken = np.array([row["score"] for row in result.data])
    wanted = np.array([row["score"] for row in like])
    shares = [np.histogram(x, np.linspace(0, 1, 11))[0] / len(x) for x in (taken, wanted)]
    assert total_variation(*shares) < 0.03
    files = []
    for name, data in (("data", rows), ("like", like)):
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(row) + "\n" for row in data))
    by_file = unskew.resample(files[0], "score", n=1_000, like=files[1])
    assert by_file.indices.tolist() == result.indices.tolist()


def test_processes_choose_the_same_rows(tmp_path):
    columns = skewed(3_000)
    for part in range(3):
        rows = [
            json.dumps(
                {name: int(columns[name][i]) for name in NAMES} | {"x": columns["one"][i] / 7}
            )
            for i in range(1000 * part, 1000 * (part + 1))
        ]
        (tmp_path / f"{part}.jsonl").write_text("\n".join(rows) + "\n")
    alone = unskew.resample(tmp_path, [*NAMES, "x"], budget=4)
    crew = unskew.resample(tmp_path, [*NAMES, "x"], budget=4, engine=processes(2))
    assert alone.indices.tolist() == crew.indices.tolist()


# Health, and what means nothing.


@pytest.mark.parametrize("verb", [unskew.resample, unskew.weights, unskew.Sampler])
@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([{"a": 0}] * 50 + [{"a": 1}] * 50, {"target": {0: 1, 1: 1, 7: 1}}, "'a' never took 7 in"),
        ([{"a": 0}] * 500 + [{"a": 1}] * 500 + [{"a": 2}], {}, "a = 2 is too rare: it alone"),
        ([{"a": i % 2, "b": i % 2} for i in range(200)],
         {"by": ["a", "b"], "target": {"a": {0: 1, 1: 1}, "b": {0: 9, 1: 1}}},
         "these pairs cannot both reach their targets"),
        ([{"a": i % 11, "b": i % 20} for i in range(660)], {"by": ["a", "b"], "jointly": True},
         "combinations of a × b are sparse"),
    ],
)  # fmt: skip
def test_what_stands_in_the_way_is_told_by_every_verb(verb, rows, options, message):
    with pytest.warns(HealthWarning, match=message):
        verb(rows, **{"by": "a", "budget": 5, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 4, "closeness": 0.1}, "give one of them"),
        ({"budget": 0.5}, r"budget is 0\.5"),
        ({"budget": 4, "epsilon": 0.1}, "give one"),
        ({"target": "uniform"}, "without a price; give budget, closeness, or n"),
        ({"jointly": True}, "without a price"),
        ({"like": [{"one": 1}]}, "without a price"),
        ({"budget": 4, "target": "unifrom"}, "'uniform'"),
        ({"budget": 4, "target": {"four": "sqrt"}, "by": ["one", "two"]}, "by name"),
        ({"budget": 4, "target": "sqrt", "like": [1]}, "give one of them"),
        ({"repeats": 0}, "repeats is 0; allowed is a whole number of at least 1"),
        ({"repeats": 2, "replacement": True}, "give one of them"),
        ({"repeats": 2, "n": 1000}, "n is 1,000, but examples has 300 rows, and each may be taken"),
        ({"budget": 4, "n": 100}, "n is 100, but examples gives 75 without repeats"),
        ({"target": {"x": 1}, "budget": 2}, "which never came in 300 rows; name values that come"),
        ({"budget": 2, "n": 0}, "n is 0"),
        ({"budget": 2, "like": []}, "has no rows; give other data"),
        ({"budget": 2, "like": [{"four": 1}]}, "has no 'one'; name others"),
    ],
)
def test_wrong_wishes_are_one_line(options, message):
    rows = [{"one": i % 10 == 0, "two": i % 3} for i in range(300)]
    with pytest.raises(UnskewError, match=message) as error:
        unskew.resample(rows, **{"by": "one", **options})
    assert "\n" not in str(error.value)


def test_a_closeness_that_cannot_be_had_names_rows():
    rows = [{"a": i % 2, "b": i % 2} for i in range(400)]
    with pytest.raises(UnskewError, match=r"cannot be reached at any cost.* rows per kept row"):
        unskew.resample(rows, ["a", "b"], closeness=0.01, target={"b": {0: 9, 1: 1}})


def test_most_is_the_budget_of_weights():
    with pytest.raises(UnskewError, match="give one of them"):
        unskew.weights([1, 1, 2], lambda x: x, most=2, budget=3)


# Samplers.


def test_epochs_of_a_sampler_are_close_and_differ():
    columns = skewed()
    sampler = unskew.Sampler(columns, NAMES, budget=3)
    first, second = list(sampler), list(sampler)
    assert len(first) == len(set(first)) == 2000
    assert first != second
    for epoch in (first, second):
        taken = {name: columns[name][epoch] for name in NAMES}
        assert all(apart(taken, name) < 0.7 * apart(columns, name) for name in NAMES)
    state = sampler.state_dict()
    unskew.Sampler(columns, NAMES, budget=3).load_state_dict(state)
    with pytest.raises(UnskewError, match="state"):
        unskew.Sampler(columns, NAMES, budget=3, target="sqrt").load_state_dict(state)


def test_a_price_of_weights_needs_a_variable():
    with pytest.raises(UnskewError, match="give by"):
        unskew.Sampler([1.0, 2.0], budget=2)


# The command line.


def test_the_command_line_takes_a_price_and_targets(tmp_path, capsys):
    columns = skewed(2_000)
    data, out = tmp_path / "x.jsonl", tmp_path / "y.jsonl"
    rows = [{name: int(columns[name][i]) for name in NAMES} for i in range(2_000)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    by = [text for name in NAMES for text in ("--homogenize", name)]
    code = exit_code(
        "resample", str(data), *by, "--budget", "4", "--target", "one=sqrt", "-o", str(out)
    )
    shown, err = capsys.readouterr()
    assert code == 0, err
    assert "(500 of 2,000 examples)" in shown
    assert "  two: total variation from the target" in shown
    assert len(Path(out).read_text().splitlines()) == 500
    like = tmp_path / "like.jsonl"
    like.write_text('{"one": 0}\n{"one": 2}\n')
    again = tmp_path / "z.jsonl"
    options = ("-n", "100", "--like", str(like), "--json")
    assert exit_code("resample", str(data), "--homogenize", "one", *options, "-o", str(again)) == 0
    told = json.loads(capsys.readouterr().out)
    assert {value: kept for value, _, kept in told["tally"]["values"]["one"] if kept} == {
        0: 50,
        2: 50,
    }
    assert exit_code("resample", str(data), *by, "--target", "one=log", "-o", str(again)) == 2
    assert "without a price" in capsys.readouterr().err


def test_generate_takes_the_shares_of_other_data(tmp_path, capsys):
    made = tmp_path / "made"
    code = exit_code(
        "generate", "calculator/dcfg", "--homogenize", "max_depth", "--budget", "4",
        "--like", "calculator/t2t", "-n", "2000", "-o", str(made),
    )  # fmt: skip
    assert code == 0, capsys.readouterr().err
    wanted = unskew.audit("calculator/t2t", "max_depth", n=20_000).variables["max_depth"].counts
    reached = unskew.audit(made, "max_depth").variables["max_depth"].counts
    shares = [
        np.array([counts.get(value, 0) for value in wanted], float) for counts in (wanted, reached)
    ]
    assert total_variation(*(share / share.sum() for share in shares)) < 0.05
    assert exit_code("generate", "calculator/dcfg", "--like", "x", "-o", str(tmp_path / "no")) == 2
    assert "without a price" in capsys.readouterr().err
