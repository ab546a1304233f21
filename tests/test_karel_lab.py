"""All of Karel's experiments at scale smoke, and the lab: what it trains, scores and keeps."""

import json
import shutil
from contextlib import nullcontext
from dataclasses import replace
from functools import cache

import pytest
import torch

from tests.test_karel_experiments import SMOKE, programs
from unskew.core.errors import UnskewError
from unskew.domains.karel import DOMAIN
from unskew.experiments import KAREL, load_experiment
from unskew.experiments.karel.lab.lab import PROVENANCE_FILE, TRAINING_FACTS, Exam, Lab
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.tables import CellPlan, TablePlan
from unskew.experiments.karel.lab.trainings import training
from unskew.experiments.say import Say
from unskew.experiments.table import NATS
from unskew.models.karel.data.examples import read_examples
from unskew.models.karel.data.tasks import Tasks
from unskew.models.karel.score import score
from unskew.models.karel.train.run import MODEL, shipped_synthesizer
from unskew.models.runs import METRICS

# All experiments at the smallest scale, one after another in one folder, as the command does it.

# How many cells have a number of the paper beside ours; the others' experiments are ours alone,
# or the paper draws them and gives no numbers.
PAPERS = {
    "karel-original": 8 + 4,
    "karel-narrow-sets": 6 * 2 + 3 * 2,
    "karel-nesting": 3 * 2 * 2,
    "karel-actions": 6 * 8 + 6 + 3,
    "karel-real-world": 4,
}


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def lab(work):
    return Lab("smoke", work)


@pytest.fixture(scope="module")
def results(lab):
    return {name: load_experiment(name).run(lab) for name in KAREL}


def tasks_of(cell, lab):
    """How many tasks of a test set a cell is about."""
    examples = lab.tests[cell.exam.test].examples
    if cell.by is None:
        return len(examples)
    variable, value = cell.by
    return sum(v == value for v in DOMAIN.variable(variable).measure(examples).tolist())


@pytest.mark.parametrize("name", KAREL)
def test_every_cell_has_a_number_or_says_why_not(name, results, lab):
    tables = list(load_experiment(name).tables(SMOKE))
    for table, made in zip(tables, results[name]["tables"], strict=True):
        assert (made["title"], made["unit"], made["form"]) == (table.title, table.unit, table.form)
        assert made["sides"] == list(table.sides)
        for cell, told in zip(table.cells, made["cells"], strict=True):
            assert (told["row"], told["column"]) == (cell.row, cell.column)
            assert told["paper"] == cell.paper
            tasks, ours = tasks_of(cell, lab), told["ours"]
            assert (ours is None) == told.get("empty", False) == (tasks == 0)
            if ours is not None:
                assert ours["tasks"] == tasks
                assert ours["values"] == [ours["mean"]]
                check_number(ours, table.unit, tasks)
    papers = [c["paper"] for table in results[name]["tables"] for c in table["cells"]]
    assert sum(paper is not None for paper in papers) == PAPERS.get(name, 0)
    json.dumps(results[name], allow_nan=False)


def check_number(ours, unit, tasks):
    if unit == NATS:
        assert 1 < ours["mean"] < 4, "a model that guesses has 3.93 nats"
        assert (ours["low"], ours["high"]) == (None, None), "of one seed"
    else:
        most = 100 if unit == "%" else tasks
        assert 0 <= ours["low"] <= ours["mean"] <= ours["high"] <= most
        assert ours["high"] > ours["low"]


@pytest.mark.parametrize("name", KAREL)
def test_trainings_tests_and_failures_are_told(name, results, lab):
    experiment, result = load_experiment(name), results[name]
    assert (result["experiment"], result["scale"]) == (name, "smoke")
    names = [training.name for training, _ in experiment.trainings(SMOKE)]
    assert [failure["name"] for failure in result["trainings"]] == names
    seconds = sum(told["seconds"] for told in result["trainings"])
    assert result["seconds"] == pytest.approx(seconds, abs=0.1)
    for told in result["trainings"]:
        assert told.keys() == {*TRAINING_FACTS, "commit"}
        made = training(told["name"], SMOKE)
        assert (told["hash"], told["seed"], told["data"]) == (made.hash, 0, made.data)
        assert told["examples"] == made.steps * made.step.batch
        rows = sum(recipe.n for recipe in made.sets) or told["examples"]
        assert rows - told["distinct"] in range(4), "some programs have no worlds"
        assert told["passes"] == pytest.approx(told["examples"] / told["distinct"], abs=0.01)
        assert told["seconds"] > 0
    exams = {c.exam.test for table in experiment.tables(SMOKE) for c in table.cells}
    assert set(result["tests"]) == {f"karel/{test}" for test in exams}
    for test, told in result["tests"].items():
        assert told["tasks"] == (41 if test == "karel/problems" else SMOKE.tests)
    assert {failure["model"] for failure in result["failures"]} == set(experiment.failures)
    for failure in result["failures"]:
        assert failure["test"] in result["tests"]
        assert failure["predicted"].startswith("DEF run m(")


@pytest.mark.parametrize("name", ["baseline, 1 to 5 pairs", "augmented, passes", "narrow msr"])
def test_an_entry_says_how_its_model_was_trained(name, results, lab, work):
    made = training(name, SMOKE)
    record = lab.known(made)
    last = json.loads((work / "runs" / made.hash / METRICS).read_text().splitlines()[-1])
    assert (record["loss"], record["seconds"]) == (last["loss"], round(last["seconds"], 1))
    assert last["step"] == record["steps"] == made.steps
    assert (record["batch"], record["shown"]) == (made.step.batch, list(made.step.shown))
    settings = record["settings"]
    assert (settings["steps"], settings["step"]["rate"]) == (made.steps, made.step.rate)
    assert (settings["seed"], settings["model"]["hidden"]) == (0, SMOKE.model.hidden)
    folders = [work / "data" / recipe.hash for recipe in made.sets]
    rows = sum(len(read_examples(str(folder))) for folder in folders)
    assert record["distinct"] == (rows or record["examples"])


def test_an_example_that_is_used_again_is_not_another_one():
    made = training("baseline", SMOKE)
    assert made.examples == 1024
    assert [replace(made, reuse=n).streamed for n in (1, 2, 3)] == [1024, 512, 342]


# Directions. With twelve seeds each; what did not hold with all of them is not here.


def losses(work, name):
    """The loss of the true programs, by test set."""
    scores = Lab("smoke", work).known(training(name, SMOKE))["scores"]
    return {test: facts["loss"] for test, facts in scores.items() if "loss" in facts}


def test_what_is_trained_on_more_is_likelier(results, work):
    """A tiny model has solved nothing yet, but it knows which programs there are.

    Programs of actions alone, against the original's, are likelier to the model whose data has
    more of them: by 0.16 to 0.30 nats a token, 0.25 in the mean.
    """
    baseline, augmented = (losses(work, name) for name in ("baseline", "augmented"))
    gaps = [loss["msr-test"] - loss["actions-test"] for loss in (baseline, augmented)]
    assert gaps[1] > gaps[0] + 0.08


def test_what_is_trained_on_less_is_less_likely(results, work):
    """Loops in loops, of which the original's programs have few, by 0.06 to 0.13 nats a token."""
    loss = losses(work, "baseline")
    assert loss["while-in-while"] > loss["msr-test"] + 0.03


def test_twice_as_many_steps_are_worth_it(results, work):
    """By 0.14 to 0.47 nats a token on the original's worlds, as on uniform ones."""
    once, twice = (losses(work, name) for name in ("baseline", "baseline, twice as long"))
    for test in ("msr-test", "uniform-test"):
        assert twice[test] < once[test] - 0.07


def test_who_sees_from_the_first_step_what_programs_change_learns_faster(results, work):
    """On every test set, by 1.10 to 1.76 nats a token; it is trained twice as long, too.

    Twice as many steps alone bring the baseline 0.09 to 0.64.
    """
    plain, seeing = (losses(work, name) for name in ("beyond, wider", "beyond, longer"))
    assert len(plain) == 9
    assert all(seeing[test] < loss - 0.8 for test, loss in plain.items())


def test_whatever_is_said_is_a_program(results, work):
    for name in ("baseline", "narrow msr"):
        record = Lab("smoke", work).known(training(name, SMOKE))["scores"]["msr-test"]
        assert record["shares"]["valid"]["share"] == 1


# What a score is made of. The models above solve next to nothing; the one in the package does.

SAME_PROGRAMS = ("msr-test", "uniform-test", "narrow-0.05-0.85-G", "narrow-0.05-0.85-A")


@pytest.fixture(scope="module")
def able():
    return shipped_synthesizer()


@pytest.fixture(scope="module")
def scored(lab, able):
    """What the lab finds of the able model, each exam once."""
    return cache(lambda exam: lab.score(able, exam))


@pytest.fixture(scope="module")
def whole():
    """Sets of the original test programs, made without the lab."""
    return {test: read_examples(f"karel/{test}") for test in SAME_PROGRAMS}


@pytest.mark.parametrize(("test", "beam"), [("msr-test", 4), ("narrow-0.05-0.85-G", 2)])
def test_a_score_tells_of_the_programs_that_all_sets_have(test, beam, scored, able, whole):
    everywhere = set.intersection(*(set(programs(value)) for value in whole.values()))
    examples = whole[test].head(SMOKE.tests)
    rows = [row for row, program in enumerate(programs(examples)) if program in everywhere]
    assert 0 < len(rows) < len(examples)
    alone = score(able, examples.take(rows), beam).shares["generalizes"]
    scores = scored(Exam(test))
    assert scores["common"] == {"hits": alone.hits, "n": len(rows)}
    assert alone.hits > 0


@torch.no_grad()
def nats(model, tasks, shown):
    """The loss of the true programs, token by token as a program is written."""
    gates = model.pair_gates(tasks.worlds[:, :shown], torch.float32)
    state = model.start(gates.shape[:2], torch.float32)
    token, total = torch.zeros(len(tasks), dtype=torch.long), 0.0
    for place in range(tasks.programs.shape[1]):
        log_shares, state = model.advance(token, gates, state, torch.float32)
        token = tasks.programs[:, place].long()
        total -= float(log_shares[torch.arange(len(token)), token][token != 0].sum())
    return total / int((tasks.programs != 0).sum())


def test_a_loss_is_that_of_the_pairs_that_are_shown(scored, able, whole):
    tasks = Tasks.of(whole["uniform-test"].head(SMOKE.tests))
    by_shown = {shown: nats(able, tasks, shown) for shown in (1, 3, 5)}
    assert by_shown[1] > by_shown[3] + 0.01
    assert by_shown[3] > by_shown[5] + 0.01
    for shown in (1, 3, None):
        scores = scored(Exam("uniform-test", shown))
        assert scores["loss"] == pytest.approx(by_shown[shown or 5], abs=1e-4)
        assert scores["shown"] == (shown or 5)


def test_a_score_counts_the_programs_that_have_no_worlds(scored, whole):
    """Of the whole set, also where a scale takes a part of it."""
    for test in ("msr-test", "narrow-0.05-0.85-G"):
        scores = scored(Exam(test))
        assert scores["dropped"] == 2_500 - len(whole[test])
        assert (scores["dropped"] == 0) == (test == "msr-test")
        assert scores["tasks"] == SMOKE.tests


def test_problems_have_no_loss_and_nothing_in_common(scored):
    scores = scored(Exam("problems"))
    assert not scores.keys() & {"loss", "common"}
    assert (scores["shown_from"], scores["shown_to"]) == (1, 4)
    assert scores["dropped"] == 0


# What is kept, and what is done again.

TWO = Experiment(
    "two",
    "Two models",
    "",
    "?",
    lambda _: [
        TablePlan(
            "Generalization",
            tuple(
                CellPlan(model, test, model, Exam(test), paper=10.0)
                for model in ("baseline", "augmented")
                for test in ("actions-test", "while-in-while", "msr-test")
            ),
        )
    ],
    failures=("baseline",),
)


@pytest.fixture(scope="module")
def result(results, lab):
    """Of models that are there by now."""
    return TWO.run(lab)


def entry(work, name):
    return Lab("smoke", work).known(training(name, SMOKE))


@pytest.fixture
def beside(lab, tmp_path):
    """A lab in a folder of its own; its test sets need not be made again."""
    other = Lab("smoke", tmp_path)
    other.tests = lab.tests
    return other


def test_the_result_says_everything(result):
    (table,) = result["tables"]
    assert table["rows"] == ["baseline", "augmented"]
    for cell in table["cells"]:
        assert cell["paper"] == 10
        assert (cell["ours"]["common"] is None) == (cell["column"] != "msr-test")
    assert result["tests"]["karel/msr-test"] == {"tasks": 48, "dropped": 0, "beam": 4}
    assert result["tests"]["karel/actions-test"]["beam"] == SMOKE.beam
    assert result["tries"] == 20_000
    assert len(result["tests"]) == 3
    rows = [
        failure["row"] for failure in result["failures"] if failure["test"] == "karel/actions-test"
    ]
    assert max(rows) > SMOKE.tests, "rows are those of the whole set"


def test_what_was_done_is_not_done_again(result, work, tmp_path):
    """The entries alone are enough: nothing is trained, and nothing is scored."""
    stages = []
    shutil.copytree(work / "entries", tmp_path / "entries")
    assert TWO.run(Lab("smoke", tmp_path, Say(stages.append))) == result
    assert stages == []
    assert [path.name for path in tmp_path.iterdir()] == ["entries"]


def test_only_what_is_named_is_trained(work, result, tmp_path):
    again = TWO.run(Lab("smoke", tmp_path), only=["none"])
    assert all(cell["ours"] is None for cell in again["tables"][0]["cells"])
    assert again["trainings"] == []
    shutil.copytree(work / "entries", tmp_path / "entries")
    assert TWO.run(Lab("smoke", tmp_path), only=["none"])["tables"] == result["tables"]


def test_a_new_question_is_put_to_the_model_that_is_there(result, lab, work):
    exam, made = Exam("while-in-while", shown=2), training("baseline", SMOKE)
    weights = work / "runs" / made.hash / MODEL
    before = weights.stat().st_mtime_ns
    assert exam.key not in entry(work, "baseline")["scores"]
    record = lab.entry(made, [exam])
    assert record["scores"]["while-in-while, 2 shown"]["shown"] == 2
    assert "actions-test" in record["scores"]
    assert weights.stat().st_mtime_ns == before, "trained again"


@pytest.mark.parametrize("changed", [{"beam": 1}, {"set": "of another recipe, 48"}])
def test_a_score_of_another_test_set_or_beam_is_made_again(result, work, beside, tmp_path, changed):
    made, test = training("baseline", SMOKE), "while-in-while"
    (tmp_path / "entries").mkdir()
    path = f"entries/{made.hash}.json"
    old = json.loads((work / path).read_text())
    old["scores"][test] |= changed
    (tmp_path / path).write_text(json.dumps(old))
    assert test not in beside.known(made)["scores"], "nor is it told"
    (tmp_path / "runs").symlink_to(work / "runs")
    record = beside.entry(made, [Exam(test)])
    assert record["scores"][test] == entry(work, "baseline")["scores"][test]


def test_scores_of_a_model_that_was_trained_again_are_made_again(result, work, beside, tmp_path):
    """Weights of a GPU are not the same twice: an entry must not mix two models."""
    made = training("baseline", SMOKE)
    path = f"entries/{made.hash}.json"
    (tmp_path / "entries").mkdir()
    old = json.loads((work / path).read_text()) | {"weights": "others"}
    old["scores"]["msr-test"]["loss"] = 77.0
    old["scores"] = {key: old["scores"][key] for key in ("msr-test", "actions-test")}
    (tmp_path / path).write_text(json.dumps(old))
    (tmp_path / "runs").symlink_to(work / "runs")
    record = beside.entry(made, [Exam("problems")])
    assert sorted(record["scores"]) == ["actions-test", "msr-test", "problems"]
    assert record["scores"]["msr-test"]["loss"] < 10
    assert record["weights"] != "others"


def test_scores_that_a_stop_leaves_out_are_made_when_it_goes_on(result, work, beside, tmp_path):
    """Of a model that was trained again, on whatever its entry had, not only what is asked for."""
    made = training("baseline", SMOKE)
    path = tmp_path / "entries" / f"{made.hash}.json"
    path.parent.mkdir()
    old = json.loads((work / "entries" / path.name).read_text()) | {"weights": "others"}
    old["scores"] = {key: old["scores"][key] for key in ("while-in-while", "actions-test")}
    path.write_text(json.dumps(old))
    (tmp_path / "runs").symlink_to(work / "runs")
    stages = []

    def stop_at_the_third_score(stage):
        stages.append(stage)
        if len(stages) == 3:
            raise KeyboardInterrupt

    beside.say = Say(stop_at_the_third_score)
    with pytest.raises(KeyboardInterrupt):
        beside.entry(made, [Exam("problems")])
    assert json.loads(path.read_text())["owed"] == ["actions-test"]
    beside.say = Say()
    record = beside.entry(made, [Exam("problems")])
    assert sorted(record["scores"]) == ["actions-test", "problems", "while-in-while"]
    assert "owed" not in json.loads(path.read_text())


def test_an_entry_tells_what_trained_the_model_not_what_scores_it(work, result, tmp_path):
    made = training("baseline", SMOKE)
    trained = work / "runs" / made.hash
    (tmp_path / "runs").mkdir()
    copy = tmp_path / "runs" / made.hash
    shutil.copytree(trained, copy)
    data = json.loads((copy / PROVENANCE_FILE).read_text())
    (copy / PROVENANCE_FILE).write_text(json.dumps(data | {"hardware": "another machine"}))
    record = Lab("smoke", tmp_path).entry(made, [Exam("problems")])
    assert record["provenance"] == data | {"hardware": "another machine"}
    assert entry(work, "baseline")["provenance"] == data


def test_those_that_train_for_a_part_of_the_time_only_are_counted_too(work, tmp_path, monkeypatch):
    """Another process begins after the training began, and ends before the training ends."""
    counts = iter([1, 3, 1])
    counted = "unskew.experiments.karel.lab.lab.counted"
    monkeypatch.setattr(counted, lambda _: nullcontext(lambda: next(counts, 1)))
    (tmp_path / "data").symlink_to(work / "data")
    made = training("baseline, passes", SMOKE)
    assert Lab("smoke", tmp_path).entry(made, [Exam("problems")])["at_once"] == 3


def test_a_run_that_does_not_say_what_trained_it_is_of_unknown_origin(work, result, tmp_path):
    made = training("baseline", SMOKE)
    shutil.copytree(work / "runs" / made.hash, tmp_path / "runs" / made.hash)
    (tmp_path / "runs" / made.hash / PROVENANCE_FILE).unlink()
    record = Lab("smoke", tmp_path).entry(made, [Exam("problems")])
    assert record["provenance"]["hardware"] == "unknown"


def test_an_exam_is_known_by_its_key():
    for exam in (Exam("msr-test"), Exam("narrow-0.05-0.85-G"), Exam("uniform-test", 3)):
        assert Exam.of(exam.key) == exam


@pytest.mark.parametrize("lost", [None, "seconds", "scores", "provenance", "by", "beam", "tasks"])
def test_a_damaged_entry_is_refused(result, work, tmp_path, lost):
    made = training("baseline", SMOKE)
    (tmp_path / "entries").mkdir()
    path = f"entries/{made.hash}.json"
    whole = json.loads((work / path).read_text())
    for facts in (whole, whole["scores"]["msr-test"]):
        if lost in facts:
            del facts[lost]
    (tmp_path / path).write_text(json.dumps(whole if lost else {"hash": made.hash}))
    with pytest.raises(UnskewError, match="remove it"):
        Lab("smoke", tmp_path).known(made)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"hash": "other"}'])
def test_an_entry_of_something_else_is_refused(tmp_path, text):
    made = training("baseline", SMOKE)
    (tmp_path / "entries").mkdir()
    (tmp_path / "entries" / f"{made.hash}.json").write_text(text)
    with pytest.raises(UnskewError, match="remove it"):
        Lab("smoke", tmp_path).known(made)
