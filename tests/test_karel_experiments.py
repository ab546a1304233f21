"""The Karel experiments: the paper's numbers, the models, the numbers of a table."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from unskew.core.errors import UnskewError
from unskew.domains.karel.examples import PROGRAM
from unskew.domains.karel.recipes import RECIPES, TABLES
from unskew.experiments import KAREL, load_experiment
from unskew.experiments.karel.experiments import PAPER
from unskew.experiments.karel.lab import tables
from unskew.experiments.karel.lab import test_sets as testing
from unskew.experiments.karel.lab.lab import TRAINING_FACTS, Exam, Lab
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.scales import SCALES, find_scale
from unskew.experiments.karel.lab.tables import CellPlan, TablePlan
from unskew.experiments.karel.lab.trainings import TRAININGS, Training, seeds_of, training
from unskew.experiments.table import NATS
from unskew.models.karel.data.examples import read_examples
from unskew.models.karel.network.synthesizer import SynthesizerConfig

FULL, SMOKE = SCALES["full"], SCALES["smoke"]

# What the paper's table 1 prints as the difference of its two rows.
PRINTED = (45.07, 68.89, 68.95, 42.17, 60.76, 62.70, 49.20, 54.08, 61.46, 61.33, 65.75, 67.21)


def test_table_1_is_typed_as_the_paper_has_it():
    gains = [
        round(PAPER[f"narrow-{name}"]["uniform"] - PAPER[f"narrow-{name}"]["baseline"], 2)
        for name in testing.narrow_names(FULL)
    ]
    assert gains == list(PRINTED)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", KAREL)
def test_every_cell_has_a_model_and_a_test_set(name, scale):
    experiment, size = load_experiment(name), find_scale(scale)
    assert experiment.name == name
    for table in experiment.tables(size):
        places = Counter((cell.row, cell.column) for cell in table.cells)
        assert set(places.values()) == {1}, "two numbers in one place"
        assert len(places) == len({r for r, _ in places}) * len({c for _, c in places})
        for cell in table.cells:
            assert cell.exam.test in {**RECIPES, **TABLES}
            made = training(cell.model, size, 0)
            assert (made.mixture is None) != (made.sets == ())
            assert list(seeds_of(cell.model, size))


def test_the_papers_hundred_passes_are_kept_in_proportion():
    made = training("baseline, passes", FULL)
    examples = made.steps * made.step.batch
    assert examples == 100 * sum(recipe.n for recipe in made.sets)
    more = training("augmented, passes", FULL)
    assert [recipe.source for recipe in more.sets] == ["karel/msr", "karel/actions"]
    assert more.sets[1].n / more.sets[0].n == pytest.approx(400_000 / 1_116_854, rel=1e-4)
    whole = training("augmented, whole", FULL)
    assert [recipe.n for recipe in whole.sets] == [1_116_854, 400_000]
    assert whole.steps == training("baseline, whole", FULL).steps


def test_no_model_leaves_out_test_programs():
    """As in the original's; a stream of the command line does, unless it is told not to."""
    for name in TRAININGS:
        made = training(name, FULL)
        recipes = made.sets or made.mixture.recipes
        assert all(recipe.exclude == () for recipe in recipes), name


def test_a_hash_names_everything_but_the_name():
    made = training("baseline", FULL)
    assert replace(made, name="other").hash == made.hash
    others = [
        replace(made, seed=1),
        replace(made, steps=5),
        replace(made, reuse=1),
        replace(made, model=replace(made.model, pair=64)),
        replace(made, model=replace(made.model, differences=True)),
        replace(made, step=replace(made.step, rate=1e-3)),
        replace(made, step=replace(made.step, fan_in=256)),
        training("uniform", FULL),
        training("baseline", FULL, seed=1),
    ]
    assert len({other.hash for other in [made, *others]}) == len(others) + 1
    assert training("msr 131,072", FULL).hash == training("baseline, passes", FULL).hash


def test_the_committed_entries_are_of_models_that_there_are():
    """A change of a recipe or a setting makes them another model's: they must be run again."""
    paths = sorted((Path(__file__).parents[1] / "results" / "karel" / "entries").iterdir())
    assert paths
    for path in paths:
        entry = json.loads(path.read_text())
        assert training(entry["name"], FULL, entry["seed"]).hash == path.stem, entry["name"]
        assert entry["provenance"]["hardware"]


def test_names_that_are_not_there_are_refused():
    with pytest.raises(UnskewError, match="choose from augmented; augmented, passes; "):
        training("xyz", FULL)
    for name in ("basline", "narrow 0.5-0.5-G", "uniform all", "msr "):
        with pytest.raises(UnskewError, match="unknown model"):
            training(name, FULL)
    with pytest.raises(UnskewError, match="unknown scale"):
        find_scale("huge")
    with pytest.raises(UnskewError, match="unknown experiment"):
        load_experiment("karel-narow")


# Test sets.


@pytest.fixture(scope="module")
def sets():
    return testing.TestSets(SMOKE)


def programs(batch):
    return [str(program) for program in batch.columns[PROGRAM].to_pylist()]


def test_common_programs_are_those_of_all_sets(sets):
    names = ["msr-test", "uniform-test", "narrow-0.05-0.85-G", "narrow-0.05-0.85-A"]
    whole = {name: programs(read_examples(f"karel/{name}")) for name in names}
    everywhere = set.intersection(*(set(value) for value in whole.values()))
    assert len(everywhere) < len(set(whole["msr-test"]))
    for name in names:
        test_set = sets[name]
        mine = programs(test_set.examples)
        assert mine == [whole[name][row] for row in test_set.rows]
        assert test_set.common.tolist() == [p in everywhere for p in mine]
        assert test_set.dropped == 2_500 - len(whole[name])


def test_a_part_of_the_action_programs_has_all_lengths(sets):
    test_set = sets["actions-test"].examples
    assert len(test_set) == SMOKE.tests
    assert Counter(len(p.split()) - 4 for p in programs(test_set)) == dict.fromkeys(range(1, 9), 6)


def test_problems_are_a_table(sets):
    assert len(sets["problems"].examples) == 41
    assert sets["problems"].common is None


def test_a_test_set_is_known_by_its_content(monkeypatch):
    """Also where it is a table, or made of one: their names stay while their rows change."""
    names = ("problems", "actions-test", "msr-test")
    before = [testing.TestSets(FULL).label(name) for name in names]
    testing.content.cache_clear()
    tables = {name: lambda table=table: table().slice(1, 10**6) for name, table in TABLES.items()}
    monkeypatch.setattr("unskew.datasets.open.find_table", tables_of(tables))
    after = [testing.TestSets(FULL).label(name) for name in names]
    testing.content.cache_clear()
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, True, False]


def tables_of(tables):
    return lambda name: tables.get(name.removeprefix("karel/"))


def test_training_and_test_sets_are_drawn_apart():
    for name, test in (
        ("narrow 0.05-0.85-A", "narrow-0.05-0.85-A"),
        ("narrow uniform", "uniform-test"),
    ):
        (recipe,) = training(name, FULL).sets
        assert recipe.source == RECIPES[test].source
        assert recipe.seed != RECIPES[test].seed


def test_the_whole_set_is_the_originals_size_and_gone_through_fifty_times():
    made = training("baseline, whole", FULL)
    assert made.sets == (RECIPES["msr-train"],)
    assert made.steps * made.step.batch / RECIPES["msr-train"].n == pytest.approx(50, abs=0.01)
    assert training("uniform, whole", FULL).sets == (RECIPES["uniform-train"],)


def test_models_of_narrow_worlds_and_those_beside_them_are_trained_alike():
    names = ["narrow 0.05-0.85-A", "narrow uniform", "narrow msr"]
    made = [training(name, FULL, 1) for name in names]
    assert {(item.steps, item.step, item.model, item.sets[0].n) for item in made} == {
        (12_800, made[0].step, made[0].model, 524_288)
    }
    assert made[0].steps * made[0].step.batch == 100 * 65_536
    assert made[0].model == SynthesizerConfig(differences=True, seed=1)
    assert (made[0].step.batch, made[0].step.fan_in, made[0].step.shown) == (512, 1024, (1, 5))
    longer = training("beyond, longer", FULL)
    assert (longer.model.differences, longer.step.fan_in, longer.step.batch) == (True, 1024, 2048)
    with pytest.raises(UnskewError, match="unknown model"):
        training("narrow basline", FULL)


def score_of(hits, n, **more):
    return {"shares": {"generalizes": {"hits": hits, "n": n}}, "by": {}, **more}


def ours(cell, unit, entries):
    return tables.cell_of(cell, unit, entries)["ours"]


def test_sizes_of_training_sets_say_how_often_they_are_gone_through():
    tables = list(load_experiment("karel-passes").tables(FULL))
    columns = list(dict.fromkeys(cell.column for table in tables for cell in table.cells))
    assert columns == [
        "32,768 (400 passes)",
        "131,072 (100 passes)",
        "524,288 (25 passes)",
        "stream",
    ]
    assert len({table.figure for table in tables}) == 1
    assert len({table.label for table in tables}) == len(tables) == 2
    for table in tables:
        for cell in table.cells:
            assert cell.model.split()[1] == cell.column.split()[0]


def test_what_lies_along_the_axis_of_lines_is_named():
    along = {
        name: table.sides[1]
        for name in KAREL
        for table in load_experiment(name).tables(FULL)
        if table.form == "lines"
    }
    assert along == {
        "karel-actions": "actions in the program",
        "karel-grids": "pairs shown",
        "karel-passes": "examples in the training set",
    }


def test_what_was_found_is_told_with_what_the_paper_says():
    lab = Lab("full", Path(__file__).parents[1] / "results" / "karel")
    (table,) = load_experiment("karel-narrow-training").run(lab, only=["none"])["tables"]
    assert table["found"].startswith("The models that were run solve ")
    assert "60 to 70 %" in table["found"]
    assert "begin with weights" not in table["found"]
    for text in ("of their own kind of data", "60 to 70 %", "begin with weights"):
        assert text in table["note"]
    worst, _, losses = load_experiment("karel-beyond").run(lab, only=["none"])["tables"]
    assert worst["found"].startswith("The lowest number of each model")
    assert "found" not in losses


def test_numbers_of_several_seeds_have_the_wider_interval():
    cell = CellPlan("a", "b", "m", Exam("t"))
    same = [{"scores": {"t": score_of(500, 1000)}}] * 3
    apart = [{"scores": {"t": score_of(hits, 1000)}} for hits in (400, 500, 600)]
    close, wide = (ours(cell, "%", entries) for entries in (same, apart))
    assert close["mean"] == wide["mean"] == 50
    assert close["high"] - close["low"] == pytest.approx(6.2, abs=0.1)  # Wilson's
    assert wide["high"] - wide["low"] == pytest.approx(2 * 4.303 * 10 / 3**0.5, abs=0.1)
    assert wide["values"] == [40, 50, 60]
    near = [{"scores": {"t": score_of(hits, 100)}} for hits in (48, 50, 52)]
    number = ours(cell, "%", near)  # Wilson's, around the mean of the seeds
    assert (number["low"], number["high"]) == pytest.approx((40.4, 59.6), abs=0.1)


def test_a_number_of_problems_is_no_percentage():
    cell = CellPlan("a", "b", "m", Exam("t"))
    number = ours(cell, "problems of 41", [{"scores": {"t": score_of(10, 41)}}])
    assert number["mean"] == 10
    assert 5 < number["low"] < 10 < number["high"] < 17


def test_a_loss_has_an_interval_if_there_are_seeds():
    cell = CellPlan("a", "b", "m", Exam("t"))
    entries = [{"scores": {"t": {"loss": loss, "tasks": 7}}} for loss in (1.0, 1.2, 1.4)]
    one, all_three = ours(cell, NATS, entries[:1]), ours(cell, NATS, entries)
    assert (one["low"], one["mean"], one["high"]) == (None, 1, None)
    assert all_three["mean"] == 1.2
    assert all_three["high"] - all_three["low"] == pytest.approx(2 * 4.303 * 0.2 / 3**0.5, abs=0.01)
    assert ours(cell, NATS, [{"scores": {}}]) is None


def test_a_value_of_a_variable_is_looked_up():
    cell = CellPlan("a", "b", "m", Exam("t"), by=("actions", 2))
    rows = [{"value": 1, "hits": 1, "n": 2}, {"value": 2, "hits": 3, "n": 4}]
    scores = score_of(0, 6) | {"by": {"actions": rows}}
    assert ours(cell, "%", [{"scores": {"t": scores}}])["mean"] == 75
    gone = replace(cell, by=("actions", 9))
    assert ours(gone, "%", [{"scores": {"t": scores}}]) is None
    assert tables.cell_of(gone, "%", [{"scores": {"t": scores}}])["empty"]
    assert "empty" not in tables.cell_of(gone, "%", [{"scores": {}}])
    assert tables.cell_of(gone, "%", [{"scores": {"t": scores}}, {"scores": {}}])["empty"]


def test_a_training_is_what_it_says():
    made = training("beyond", FULL)
    assert isinstance(made, Training)
    assert "homogenized by" in made.data
    assert made.config.steps == FULL.steps
    wider, longer = (training(f"beyond, {name}", FULL) for name in ("wider", "longer"))
    begun = {"model": wider.model, "step": wider.step, "steps": wider.steps}
    assert replace(longer, **begun).hash == wider.hash
    assert longer.steps == FULL.whole_steps
    for scale in SCALES.values():
        assert training("beyond, longer", scale).steps > training("beyond, wider", scale).steps


def test_programs_that_all_sets_have_are_told_of_the_first_candidate_on_the_whole_set():
    """Their share, of the seeds together; not of a value of a variable, nor counted otherwise."""
    row = {"value": 1, "hits": 1, "n": 2}
    seeds = [{"hits": 3, "n": 4}, {"hits": 1, "n": 4}]
    entries = [{"scores": {"t": score_of(5, 10, common=entry)}} for entry in seeds]
    for entry in entries:
        entry["scores"]["t"]["shares"]["exact"] = {"hits": 2, "n": 10}
        entry["scores"]["t"]["by"] = {"actions": [row]}
    cell = CellPlan("a", "b", "m", Exam("t"))
    number = ours(cell, "%", entries)
    assert (number["common"], number["tasks"]) == (50, 10)
    assert ours(cell, "problems of 10", entries)["common"] == 50
    for other in (replace(cell, by=("actions", 1)), replace(cell, solved="exact")):
        assert ours(other, "%", entries)["common"] is None
    assert ours(replace(cell, solved="exact"), "%", entries)["mean"] == 20
    for none in ({}, {"common": {"hits": 0, "n": 0}}):
        assert ours(cell, "%", [{"scores": {"t": score_of(5, 10, **none)}}]) == (
            ours(cell, "%", entries) | {"values": [50], "common": None}
        )


def test_an_interval_ends_where_numbers_do():
    cell = CellPlan("a", "b", "m", Exam("t"))
    entries = [{"scores": {"t": score_of(hits, 40, loss=hits, tasks=40)}} for hits in (0, 40, 20)]
    for unit, most in (("%", 100), ("problems of 40", 40)):
        number = ours(cell, unit, entries)
        assert (number["low"], number["mean"], number["high"]) == (0, most / 2, most)
    loss = ours(cell, NATS, entries)
    assert (loss["low"], loss["tasks"]) == (0, 40)
    assert loss["high"] > 60


def test_each_end_of_an_interval_is_the_wider_of_tasks_and_seeds():
    """At nine tenths the interval of tasks reaches further down, that of seeds further up."""
    tasks, values = (0.7, 0.95), [89.0, 90.0, 91.0, 96.0, 84.0]
    spread = tables.wider_interval(values, tasks, 100.0)
    assert spread == pytest.approx((70, 90 + 2.776 * 4.301 / 5**0.5), abs=0.01)
    assert tables.wider_interval(values[:1], tasks, 100.0) == (70, 95)
    low, high = tables.wider_interval(values, (0.88, 0.99), 100.0)
    assert (low, high) == pytest.approx((90 - 2.776 * 4.301 / 5**0.5, 99), abs=0.01)


def test_failures_and_tests_are_those_of_the_whole_set_of_pairs():
    """Failures of the first seed; a set that is shown with fewer pairs is not told again."""
    cells = tuple(CellPlan("m", f"{k}", "m", Exam("t", k)) for k in (1, None))
    plans = [TablePlan("t", (*cells, CellPlan("o", "u", "o", Exam("u"))))]

    def scored(dropped, message):
        misses = [{"row": dropped, "predicted": message}]
        return {"tasks": 7, "dropped": dropped, "beam": 8, "misses": misses}

    seeds = [{"t": scored(3, "a"), "t, 1 shown": scored(4, "b")}, {"t": scored(3, "c")}]
    entries = {"m": [{"scores": seed} for seed in seeds], "o": [{"scores": {"u": scored(5, "d")}}]}
    told = list(tables.failures(("m", "none"), plans, entries))
    assert told == [{"model": "m", "test": "karel/t", "row": 3, "predicted": "a"}]
    assert tables.tests(plans, entries) == {
        "karel/t": {"tasks": 7, "dropped": 3, "beam": 8},
        "karel/u": {"tasks": 7, "dropped": 5, "beam": 8},
    }
    alone = [TablePlan("t", cells[:1])]
    assert tables.tests(alone, entries) == {}
    assert list(tables.failures(("m",), alone, entries)) == []


class Kept:
    """A lab that has every model already, each seed of another commit."""

    name, scale = "full", FULL

    def entry(self, made, exams):
        told = dict.fromkeys(TRAINING_FACTS, 0) | {
            "name": made.name,
            "seed": made.seed,
            "seconds": 2.5,
        }
        scores = {exam.key: score_of(made.seed, 4, tasks=4, dropped=1, beam=8) for exam in exams}
        return {**told, "provenance": {"commit": f"c{made.seed}"}, "scores": scores}

    def known(self, _):
        return {}


@pytest.mark.parametrize(
    ("only", "seeds"), [(None, [0, 1, 2]), (["baseline"], [0, 1, 2]), (["baseline:1"], [1])]
)
def test_all_seeds_are_told_or_the_one_that_is_named(only, seeds):
    cell = CellPlan("a", "b", "baseline", Exam("t"), paper=7.0)
    result = Experiment("x", "X", "", "?", lambda _: [TablePlan("t", (cell,))]).run(Kept(), only)
    assert [training_["seed"] for training_ in result["trainings"]] == seeds
    assert [training_["commit"] for training_ in result["trainings"]] == [
        f"c{seed}" for seed in seeds
    ]
    assert result["provenance"] == {"commit": "; ".join(f"c{seed}" for seed in seeds)}
    assert result["seconds"] == 2.5 * len(seeds)
    (told,) = result["tables"][0]["cells"]
    assert (told["paper"], told["ours"]["values"]) == (7, [25 * seed for seed in seeds])
