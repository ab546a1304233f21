"""What Karel's experiments print: tables that fit, the worst cells, how much is left to train."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.test_karel_experiments import TWO, score_of
from unskew.experiments import KAREL, load_experiment
from unskew.experiments.karel import plan
from unskew.experiments.karel.lab import Exam, Lab
from unskew.experiments.karel.plan import Cell, Table
from unskew.experiments.karel.scales import SCALES
from unskew.experiments.tables import result_tables
from unskew.models.ranks import ALONE

WORK = Path(__file__).parents[1] / "results" / "karel"


def printed(table, width):
    console = Console(width=width, record=True, file=StringIO())
    (found,) = result_tables({"tables": [table]}, console)
    console.print(found)
    return console.export_text()


def table_of(models, paper=None, seeds=1):
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
    table = table_of([f"baseline, way {i}" for i in range(1, 6)], paper=73.52)
    wide, narrower, least = (printed(table, width) for width in (220, 100, 74))
    assert "31.2 (29.4 to 33.0); paper 73.52" in wide
    assert "31.2 (73.5)" in narrower
    assert re.search("baseline, +baseline,", narrower)
    assert "31 (74)" in least
    many = printed(table_of([f"model {i}" for i in range(1, 9)], paper=73.52), 160)
    assert "31.2 (73.5)" in many
    for text in (least, many):
        assert re.search(r"2 \w+,? ?\w+ 2; 3", " ".join(text.split()))
    for text in (wide, narrower, least, many):
        assert "…" not in text
        assert "uniform worlds" in text


def test_a_number_that_was_not_run_is_told_from_none_that_is_asked():
    table = table_of(["a", "b"])
    table["cells"][0] |= {"ours": None, "paper": 5.0}
    assert "– (5.0)" in printed(table, 60)
    del table["cells"][0]
    assert "–" not in printed(table, 60)


@pytest.mark.parametrize("name", KAREL)
@pytest.mark.parametrize("width", [80, 160])
def test_no_committed_table_is_cut(name, width):
    result = load_experiment(name).run(Lab("full", WORK), only=["none"])
    for table in result["tables"]:
        assert "…" not in printed(table, width)


def test_the_worst_cell_of_each_row_is_named():
    cells = tuple(Cell(row, test, row, Exam(test)) for row in "ab" for test in ("x", "y"))
    scores = {"x": score_of(1, 4), "y": score_of(3, 4)}
    entries = {"a": [{"scores": scores}], "b": [{"scores": {}}]}
    made = plan._numbers(Table("t", cells, worst=True), entries)
    assert made["note"] == "The worst cell of each: a 25.0 on x."
    assert "a 25.0 on x" in " ".join(printed(made, 80).split())
    assert "note" not in plan._numbers(Table("t", cells), entries)


def test_ten_tasks_of_a_program_are_not_ten_witnesses():
    """500 programs with ten specifications each are as sure as 500 tasks."""
    one = plan._ours(Cell("a", "b", "m", Exam("t")), [{"scores": {"t": score_of(250, 500)}}],
                     percent=True)  # fmt: skip
    test = {"actions-test": score_of(2_500, 5_000)}
    ten = plan._ours(Cell("a", "b", "m", Exam("actions-test")), [{"scores": test}], percent=True)
    assert (ten["low"], ten["high"]) == (one["low"], one["high"])
    assert ten["tasks"] == 5_000


def test_what_is_left_to_train_is_counted(tmp_path):
    scale = SCALES["smoke"]
    lab = Lab("smoke", tmp_path)
    assert TWO.left(lab) == 2 * scale.steps
    assert TWO.left(lab, only=["baseline"]) == scale.steps
    assert TWO.left(lab, only=["none"]) == 0
    beyond = load_experiment("karel-beyond")
    full = SCALES["full"]
    assert beyond.left(Lab("full", WORK), only=["uniform:0"]) == 0, "it is there"
    assert beyond.left(Lab("full", WORK), only=["uniform:1"]) in (0, full.steps)


@pytest.mark.skipif(ALONE.device.type != "cpu", reason="there is a GPU")
def test_without_a_gpu_nothing_is_begun_that_needs_one(tmp_path, run):
    full = ("--scale", "full", "--work", tmp_path)
    code, _, err = run("reproduce", "all", *full)
    assert code == 2
    assert "need a GPU, and there is none" in err
    assert not list(tmp_path.iterdir()), "the Calculator was not begun either"
    code, out, _ = run("reproduce", "karel-nesting", *full, "--only", "none", "--json")
    assert code == 0
    assert json.loads(out)["trainings"] == []
