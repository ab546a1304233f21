"""What Karel's experiments print: tables that fit, the lowest numbers, the steps that are left."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import ClassVar

import pytest
from rich.console import Console

from tests.test_karel_experiments import ours, score_of
from tests.test_karel_lab import TWO
from unskew.cli.reproduce import say_progress
from unskew.experiments import CALCULATOR, EXPERIMENTS, KAREL, calculator, load_experiment
from unskew.experiments.karel.lab.lab import Exam, Lab, counted
from unskew.experiments.karel.lab.scales import SCALES
from unskew.experiments.karel.lab.tables import CellPlan, TablePlan, own_and_others, table_of
from unskew.experiments.provenance import joined
from unskew.experiments.terminal import result_tables
from unskew.models.ranks import ALONE
from unskew.models.training import Progress

RESULTS = Path(__file__).parents[1] / "results"
WORK = RESULTS / "karel"


def printed(table, width):
    console = Console(width=width, record=True, file=StringIO())
    for part in result_tables({"tables": [table]}, console):
        console.print(part)
    return console.export_text()


def filled_table(models, paper=None, seeds=1):
    ours = {"mean": 31.16, "low": 29.4, "high": 33.0, "values": [31.16] * seeds}
    tests = ("original test set", "same programs, uniform worlds")
    cells = [
        {"row": model, "column": test, "paper": paper, "ours": ours}
        for model in models
        for test in tests
    ]
    return {
        "title": "Generalization", "unit": "%", "form": "table", "rows": list(models),
        "columns": list(tests), "cells": cells,
    }  # fmt: skip


def test_as_much_is_said_as_there_is_room_for():
    table = filled_table([f"baseline, way {i}" for i in range(1, 6)], paper=73.52)
    wide, middle, narrower, least = (printed(table, width) for width in (220, 160, 100, 74))
    assert "31.2 (29.4 to 33.0); paper 73.52" in wide
    assert "31.2 [29.4–33.0] (73.5)" in middle
    assert "31.2 (73.5)" in narrower
    assert re.search("baseline, +baseline,", narrower)
    assert "31 (74)" in least
    for text, is_brief in ((wide, False), (middle, False), (narrower, True), (least, True)):
        assert ("For seeds and intervals use --json" in text) == is_brief
    many = printed(filled_table([f"model {i}" for i in range(1, 9)], paper=73.52), 160)
    assert "31.2 (73.5)" in many
    for text in (least, many):
        assert re.search(r"2 \w+,? ?\w+ 2; 3", " ".join(text.split()))
    for text in (wide, middle, narrower, least, many):
        assert "…" not in text
        assert "uniform worlds" in text


def test_where_nothing_else_fits_the_models_are_cut_into_several_tables():
    table = filled_table([f"model {i}" for i in range(1, 6)], paper=73.52) | {"note": "A note."}
    text = printed(table, 48)
    assert "…" not in text
    assert text.count("31 (74)") + text.count("31.2 (73.5)") == 10
    assert [text.count(f"model {i}") for i in range(1, 6)] == [1] * 5
    assert text.count("A note.") == 1


def test_the_range_of_seeds_is_said_not_that_of_their_mean():
    table = filled_table(["a", "b"], paper=0.04)
    table["cells"][0]["ours"] = {"mean": 20.7, "low": 0, "high": 100, "values": [0.4, 40.9]}
    assert "20.7 [0.4–40.9] (0.04)" in printed(table, 90)
    assert "20.7 (0.04)" in printed(table, 60)


def test_a_number_that_was_not_run_is_told_from_none_that_is_asked():
    table = filled_table(["a", "b"])
    table["cells"][0] |= {"ours": None, "paper": 5.0}
    assert "– (5.0)" in printed(table, 60)
    del table["cells"][0]
    assert "–" not in printed(table, 60)


@pytest.mark.parametrize("name", KAREL)
@pytest.mark.parametrize("width", [60, 72, 80, 160])
def test_no_committed_table_is_cut(name, width):
    result = load_experiment(name).run(Lab("full", WORK), only=["none"])
    for table in result["tables"]:
        text = printed(table, width)
        assert "…" not in text
        told = re.findall(r"(?:^|  )(?:–|not run yet|\d+\.?\d*)(?=[ ;]|$)", text, re.MULTILINE)
        assert len(told) >= len(table["cells"])


def test_the_worst_cell_of_each_row_is_named():
    cells = tuple(CellPlan(row, test, row, Exam(test)) for row in "ab" for test in ("x", "y"))
    seeds = [{"x": score_of(hits, 4), "y": score_of(3, 4)} for hits in (1, 2)]
    entries = {"a": [{"scores": scores} for scores in seeds], "b": [{"scores": {}}]}
    made = table_of(TablePlan("t", cells, worst=True), entries)
    message = "The lowest number of each model (its lowest seed, of the cells run): a 25.0 on x."
    assert made["note"] == message
    assert "a 25.0 on x" in " ".join(printed(made, 80).split())
    assert "note" not in table_of(TablePlan("t", cells), entries)


def test_models_on_their_own_kind_of_data_and_on_that_of_others_are_told_apart():
    """Not counted: who was trained on none of these kinds, what no one was, what was not run."""
    scores = {"a": {"a": 3, "b": 1, "other": 4}, "b": {"a": 2, "b": 4, "other": 4}, "all": {"a": 4}}
    cells = tuple(CellPlan(row, test, row, Exam(test)) for row in (*scores, "c") for test in "abc")
    cells += tuple(CellPlan(row, "other", row, Exam("other")) for row in scores)
    entries = {
        row: [{"scores": {test: score_of(hits, 4) for test, hits in value.items()}}]
        for row, value in scores.items()
    }
    made = table_of(TablePlan("t", cells, note="So far."), entries)
    assert own_and_others(made["cells"]) == ([75.0, 100.0], [25.0, 50.0])
    assert made["note"] == (
        "So far. The models that were run solve 75.0 to 100.0 % of their own kind of data "
        "(87.5 % on average), and 37.5 % of other kinds on average."
    )


def test_ten_tasks_of_a_program_are_not_ten_witnesses():
    """500 programs with ten specifications each are as sure as 500 tasks."""
    one = ours(CellPlan("a", "b", "m", Exam("t")), "%", [{"scores": {"t": score_of(250, 500)}}])
    test = {"actions-test": score_of(2_500, 5_000)}
    ten = ours(CellPlan("a", "b", "m", Exam("actions-test")), "%", [{"scores": test}])
    assert (ten["low"], ten["high"]) == (one["low"], one["high"])
    assert ten["tasks"] == 5_000


def test_an_interval_is_around_its_own_number():
    """45 of 50 tasks of five programs are nine tenths of five, not four fifths."""
    cell = CellPlan("a", "b", "m", Exam("actions-test"))
    number = ours(cell, "%", [{"scores": {"actions-test": score_of(45, 50)}}])
    assert (number["low"], number["high"]) == pytest.approx((46.3, 98.9), abs=0.1)


class Remembering(Lab):
    """A lab that knows the scores it is given."""

    scores: ClassVar[dict[str, dict[str, object]]] = {}

    def known(self, training):
        return {"scores": self.scores.get(training.name, {})}


def test_the_steps_that_are_left_are_counted(tmp_path):
    scale = SCALES["smoke"]
    lab = Remembering("smoke", tmp_path)
    assert TWO.steps_left(lab) == 2 * scale.steps
    assert TWO.steps_left(lab, only=["baseline"]) == scale.steps
    assert TWO.steps_left(lab, only=["none"]) == 0
    scores = {"actions-test": {}, "while-in-while": {}}
    lab.scores = {"baseline": scores}
    assert TWO.steps_left(lab) == 2 * scale.steps, "one exam is missing"
    scores["msr-test"] = {}
    assert TWO.steps_left(lab) == scale.steps


def test_progress_of_several_models_ends_at_their_steps():
    """Both are told once, at their last step, as short trainings are."""
    told = []
    say = say_progress(lambda more, note="": told.append(more))
    for _ in range(2):
        say.stage("training")
        say.step(Progress(40, 0.5, 1e-3, 100.0, 1.0, 1.0))
    assert sum(told) == 80


def test_what_was_made_by_several_commits_says_all_of_them():
    old, new = {"hardware": "H", "unskew": "0"}, {"hardware": "H", "unskew": "0", "commit": "abc"}
    assert joined([old, new, new]) == {"hardware": "H", "unskew": "0", "commit": "unknown; abc"}
    assert joined([]) == {}
    libraries = [{"libraries": {"torch": version}} for version in ("1", "2", "1")]
    assert joined(libraries)["libraries"] == [{"torch": "1"}, {"torch": "2"}]


def test_processes_that_train_at_once_are_counted(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        for name in (str(gone.pid), "no process", str(other.pid)):
            (tmp_path / name).touch()
        with counted(tmp_path) as count:
            assert count() == 2
            (tmp_path / str(other.pid)).unlink()
            assert count() == 1
    finally:
        other.communicate(b"\n")
    assert not (tmp_path / str(os.getpid())).exists()


@pytest.mark.skipif(ALONE.device.type != "cpu", reason="there is a GPU")
def test_without_a_gpu_nothing_is_begun_that_needs_one(tmp_path, run):
    full = ("--scale", "full", "--work", tmp_path)
    code, _, err = run("reproduce", "all", *full)
    assert code == 2
    assert "need a GPU, and there is none" in err
    assert not list(tmp_path.iterdir()), "the Calculator was not begun either"


def test_what_was_run_is_told_and_nothing_else_is_taken_for_it(tmp_path, run):
    full, none = ("--scale", "full"), ("--only", "none", "--work")
    for folder in (tmp_path, RESULTS / "karel"):  # one level too deep
        page = tmp_path / "report.html"
        code, out, err = run("reproduce", "all", *full, *none, folder, "--report", page)
        assert (code, out) == (2, "")
        message = (
            f"{folder} has no results of scale full; give the --work and --scale of an earlier run"
        )
        assert err == f"error: {message}\n"
        assert not page.exists()
    code, out, err = run("reproduce", "karel-nesting", *full, *none, RESULTS, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["trainings"]
    assert "give --work" in run("reproduce", "karel-nesting", "--only", "none")[2]
    assert "leave it out" in run("reproduce", "calculator", *none, RESULTS)[2]


def test_all_that_was_run_has_the_calculator_too(tmp_path, run):
    options = ("--scale", "full", "--only", "none", "--json", "--work")
    code, out, err = run("reproduce", "all", *options, RESULTS)
    assert (code, err) == (0, "")
    assert list(json.loads(out)) == list(EXPERIMENTS)
    for name in CALCULATOR:
        assert json.loads(out)[name] == json.loads((RESULTS / f"{name}.json").read_text())
    (tmp_path / "karel").symlink_to(RESULTS / "karel")
    for others in ((), ("calculator-6000-steps.json",)):  # of other settings
        for other in others:
            shutil.copy(RESULTS / other, tmp_path)
        code, out, err = run("reproduce", "all", *options, tmp_path)
        assert code == 0
        assert list(json.loads(out)) == list(KAREL)
        assert err.splitlines() == [
            f"{tmp_path} has no {name} of scale full; it is left out" for name in CALCULATOR
        ]


def test_the_calculator_is_run_once_with_each_settings(tmp_path, run, monkeypatch):
    made = json.loads((RESULTS / "calculator.json").read_text())
    ran = []

    def pretend(scale, *_):
        ran.append(scale)
        size = asdict(calculator.SCALES[scale])
        return made | {"scale": scale, "settings": json.loads(json.dumps(size))}

    monkeypatch.setattr(calculator, "run", pretend)
    for scale in ("full", "full", "smoke", "full", "smoke"):
        options = ("--scale", scale, "--work", tmp_path, "--json")
        code, out, _ = run("reproduce", "calculator", *options)
        assert code == 0
        assert json.loads(out)["scale"] == scale
    assert ran == ["full", "smoke"]
    (tmp_path / "calculator-0.json").write_text("{")
    assert "is not JSON" in run("reproduce", "calculator", *options)[2]
