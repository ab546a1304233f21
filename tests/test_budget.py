"""A budget or a closeness in place of ε: iterators, datasets, streams, plans, commands."""

import json
from itertools import islice

import numpy as np
import pytest

import unskew
from tests.commands import exit_code
from unskew.core.errors import HealthWarning, UnskewError
from unskew.core.recipe import Recipe
from unskew.datasets.engines import processes
from unskew.io.dataset import MANIFEST

NAMES = ("length", "parentheses", "max_depth")


def pair(rng):
    """Two numbers, of which 0 is frequent, and whose sum is skewed too."""
    one, other = rng.geometric(0.5, 2) - 1
    return {"one": min(int(one), 4), "other": min(int(other), 4)}


def apart(examples, name, target=None):
    """Total variation of a key from a target, or from uniform over 0 to 4."""
    counts = np.bincount([example[name] for example in examples], minlength=5)
    wanted = np.full(5, 0.2) if target is None else np.asarray(target)
    return float(np.abs(counts / counts.sum() - wanted).sum() / 2)


def some(n, **options):
    return list(islice(unskew.homogenize(pair, by=["one", "other"], **options), n))


def test_a_budget_is_kept_and_buys_closeness():
    kept = unskew.homogenize(pair, by=["one", "other"], budget=4)
    examples = list(islice(kept, 4000))
    assert kept.tally.cost == pytest.approx(4, rel=0.1)
    before = [pair(np.random.default_rng(seed)) for seed in range(2000)]
    for name in ("one", "other"):
        assert apart(examples, name) < 0.6 * apart(before, name)
    assert kept.health().bound == pytest.approx(4)
    assert set(kept.tally.kept_values) == {"one", "other"}


def test_a_closeness_is_reached_as_cheaply_as_can_be():
    kept = unskew.homogenize(pair, by="one", closeness=0.05)
    examples = list(islice(kept, 4000))
    assert apart(examples, "one") < 0.05 + 0.03
    # Uniform over 5 of (1/2, 1/4, 1/8, 1/16, 1/16) costs 3.2; less if 0.05 may be missing.
    assert 2.2 < kept.tally.cost < 3.2


def test_a_closeness_that_cannot_be_had_says_why():
    with pytest.raises(
        UnskewError, match=r"cannot be reached at any cost.*never took 5, "
    ) as error:
        unskew.homogenize(pair, by=unskew.over("one", range(10)), closeness=0.02)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("target", "shares"),
    [
        ({0: 1, 1: 1}, [0.5, 0.5, 0, 0, 0]),
        ({"one": {1: 3, 3: 1}}, [0, 0.75, 0, 0.25, 0]),
        ("natural", [0.5, 0.25, 0.125, 0.0625, 0.0625]),
    ],
)
def test_targets_other_than_uniform(target, shares):
    kept = unskew.homogenize(pair, by="one", budget=30, target=target)
    examples = list(islice(kept, 3000))
    assert apart(examples, "one", shares) < 0.04


def test_a_target_is_the_shares_of_other_data():
    like = [{"one": 2}] * 3 + [{"one": 4}]
    kept = unskew.homogenize(pair, by="one", budget=30, like=like)
    assert apart(list(islice(kept, 3000)), "one", [0, 0, 0.75, 0, 0.25]) < 0.04


def test_a_target_that_never_comes_is_a_warning():
    with pytest.warns(HealthWarning, match="'one' never took 8"):
        kept = unskew.homogenize(pair, by="one", budget=3, target={0: 1, 8: 1})
    assert {example["one"] for example in islice(kept, 50)} == {0}


def test_jointly_balances_combinations():
    kept = list(islice(unskew.homogenize(pair, by=["one", "other"], budget=40, jointly=True), 6000))
    counts = np.zeros((5, 5))
    for example in kept:
        counts[example["one"], example["other"]] += 1
    assert np.abs(counts / counts.sum() - 1 / 25).sum() / 2 < 0.2


def test_the_same_seed_gives_the_same_examples_and_a_state_goes_on():
    one = unskew.homogenize(pair, by=["one", "other"], budget=4, seed=3)
    first = list(islice(one, 50))
    state = json.loads(json.dumps(one.state_dict()))
    rest = list(islice(one, 50))
    assert some(100, budget=4, seed=3) == first + rest
    again = unskew.homogenize(pair, by=["one", "other"], budget=4, seed=3)
    again.load_state_dict(state)
    assert list(islice(again, 50)) == rest
    with pytest.raises(UnskewError, match="state"):
        unskew.homogenize(pair, by=["one", "other"], budget=5).load_state_dict(state)
    with pytest.raises(UnskewError, match="state"):
        unskew.homogenize(pair, by=["one", "other"]).load_state_dict(state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 4, "closeness": 0.1}, "give one"),
        ({"budget": 0.5}, "budget"),
        ({"closeness": 2}, "closeness"),
        ({"budget": 4, "epsilon": 0.1}, "give one"),
        ({"target": "log"}, "without a price"),
        ({"jointly": True}, "without a price"),
        ({"budget": 4, "target": "unifrom"}, "uniform"),
        ({"budget": 4, "target": {"three": "log"}}, "by name"),
        ({"budget": 4, "target": "log", "like": [1]}, "give one"),
        ({"budget": 4, "target": "log"}, "above 0"),
    ],
)
def test_wrong_goals_are_one_line(options, message):
    with pytest.raises(UnskewError, match=message) as error:
        some(1, **options)
    assert "\n" not in str(error.value)


# Datasets.


def recipe(**options):
    chosen = {"n": 6000, "shard_size": 1500, "homogenize": NAMES, "budget": 6.0, **options}
    return Recipe("calculator/dcfg", **chosen)


def test_workers_give_the_same_bytes_by_one_rule(tmp_path):
    alone = unskew.generate(recipe(), tmp_path / "alone")
    unskew.generate(recipe(), tmp_path / "crew", engine=processes(2))
    names = sorted(path.relative_to(tmp_path / "alone") for path in (tmp_path / "alone").rglob("*"))
    assert names == sorted(
        path.relative_to(tmp_path / "crew") for path in (tmp_path / "crew").rglob("*")
    )
    for name in names:
        if (tmp_path / "alone" / name).is_file():
            assert (tmp_path / "alone" / name).read_bytes() == (
                tmp_path / "crew" / name
            ).read_bytes()
    assert alone.tally.cost == pytest.approx(6, rel=0.1)
    assert set(alone.tally.kept_values) == set(NAMES)
    assert not unskew.verify(tmp_path / "alone").faults
    rule = json.loads((tmp_path / "alone" / MANIFEST).read_text())["balance"]
    assert set(rule["tables"]) == set(NAMES)
    for name, (before, after) in alone.apart.items():
        audited = unskew.audit(tmp_path / "alone", by=name).variables[name]
        assert audited.total_variation == pytest.approx(after, abs=0.06)
        assert after < before


def test_a_run_that_was_stopped_goes_on_by_its_own_rule(tmp_path):
    whole = unskew.generate(recipe(), tmp_path / "whole")
    unskew.generate(recipe(), tmp_path / "again")
    missing = tmp_path / "again" / "data" / "train-00002-of-00004.parquet"
    kept = missing.read_bytes()
    missing.unlink()
    (tmp_path / "again" / MANIFEST).unlink()
    unskew.generate(recipe(), tmp_path / "again")
    assert missing.read_bytes() == kept
    assert len(whole) == 6000


def test_a_changed_rule_is_found(tmp_path):
    unskew.generate(recipe(homogenize=("length",)), tmp_path / "made")
    rule = tmp_path / "made" / ".unskew" / "balance.json"
    rule.write_text(rule.read_text().replace('"draws": 6', '"draws": 7'))
    assert any("balance.json" in fault for fault in unskew.verify(tmp_path / "made").faults)


@pytest.mark.parametrize("draws", [10**400, 0.5, "x", None])
def test_a_damaged_rule_is_one_line(tmp_path, draws):
    recipe = Recipe("calculator/dcfg", 40, homogenize=("length",), budget=2.0, pilot=500)
    unskew.generate(recipe, tmp_path)
    path = tmp_path / ".unskew" / "balance.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"draws": draws}))
    next((tmp_path / "data").iterdir()).unlink()
    with pytest.raises(UnskewError, match="the tables are damaged"):
        unskew.generate(recipe, tmp_path)


def test_a_recipe_with_a_goal_comes_back_from_json():
    one = recipe(target={"length": {2: 0.5, 4: 0.5}, "max_depth": "sqrt"}, jointly=False)
    again = Recipe.from_dict(json.loads(one.to_json()))
    assert again == one
    assert "epsilon" not in one.to_dict()
    assert Recipe("calculator/dcfg", 10).hash == Recipe("calculator/dcfg", 10, budget=0.0).hash


def test_a_stream_keeps_by_the_same_rule_in_every_part():
    one = unskew.stream(recipe(), 0, 2)
    other = type(one)(recipe(), 1, 2, pilot=json.loads(json.dumps(one.pilot)))
    kept = [len(stream.block(number)) for stream in (one, other) for number in range(8)]
    assert 1024 / np.mean(kept) == pytest.approx(6, rel=0.15)
    assert one.block(3).columns["expression"].equals(other.block(3).columns["expression"])


# Plans, and the command line.


def test_a_plan_never_rises_and_names_its_points():
    plan = unskew.plan("calculator/dcfg", by=list(NAMES), prices=(1, 2, 5, 10))
    assert [point.draws for point in plan.points] == pytest.approx([1, 2, 5, 10])
    distances = [point.distance for point in plan.points]
    assert distances == sorted(distances, reverse=True)
    assert plan.at(6).draws == pytest.approx(5)
    assert plan.points[0].farthest[0] == "parentheses"
    assert "draws per kept example" in str(plan)
    assert json.dumps(plan.to_dict())
    with pytest.raises(UnskewError, match="at least 1"):
        plan.at(0.5)


def test_a_plan_of_data_ends_where_the_target_is_reached():
    rows = [{"x": 0}] * 30 + [{"x": 1}] * 10
    plan = unskew.plan(rows, by="x")
    assert plan.points[-1].draws == pytest.approx(2, abs=0.05)
    assert plan.points[-1].farthest[1] < 0.02


def test_the_command_line_takes_a_budget_and_targets(tmp_path, capsys):
    code = exit_code(
        "generate", "calculator/dcfg", "--homogenize", "length", "--budget", "3", "-n", "500",
        "--target", "length=sqrt", "-o", str(tmp_path / "made"),
    )  # fmt: skip
    out, err = capsys.readouterr()
    assert code == 0, err
    assert "for 3 draws per kept example" in out
    assert "length: total variation from the target" in out
    assert Recipe.read(tmp_path / "made" / "recipe.json").target == {"length": "sqrt"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "3"], "homogenizes nothing"),
        (["--budget", "3", "--homogenize", "length", "--epsilon", "0.1"], "leave out one"),
        (["--budget", "3", "--homogenize", "length", "--target", "length"], "--target is 'length'"),
        (["--budget", "3", "--homogenize", "length", "--target", "length=a:b"], "no share"),
        (["--homogenize", "length", "--target", "length=log"], "without a price"),
    ],
)
def test_wrong_options_are_one_line(options, message, tmp_path, capsys):
    assert exit_code("generate", "calculator/dcfg", *options, "-o", tmp_path / "made") == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "made").exists()
