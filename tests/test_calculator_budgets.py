"""The Calculator with all variables at once: a run of two steps, and the committed result."""

import json
from pathlib import Path

import pytest

from unskew.experiments import load_experiment
from unskew.experiments.table import Table

RESULT = Path(__file__).parents[1] / "results" / "calculator-budgets.json"


@pytest.fixture(scope="module")
def short():
    return load_experiment("calculator-budgets").run("smoke", steps=2)


def cells(result, title):
    table = next(data for data in result["tables"] if data["title"].startswith(title))
    return {(cell["row"], cell["column"]): cell["ours"] for cell in table["cells"]}


def check(result):
    for data in result["tables"]:
        Table.of(data)
    draws, removed = cells(result, "Draws"), cells(result, "KL from uniform removed")
    for source in ("T2T", "DCFG"):
        assert draws[source, "original"]["mean"] == 1
        assert len(draws[source, "original"]["values"]) == 4 * result["settings"]["seeds"]
        for budget in (10, 20):
            column = f"all five, {budget} draws"
            assert draws[source, column]["mean"] == pytest.approx(budget, rel=0.1)
            assert len(draws[source, column]["values"]) == result["settings"]["seeds"]
        more, fewer = (removed[source, f"all five, {budget} draws"] for budget in (20, 10))
        assert more["mean"] > fewer["mean"] > 50


def test_a_short_run_has_every_table(short):
    check(json.loads(json.dumps(short)))


def test_the_committed_result_is_one_of_the_full_scale():
    result = json.loads(RESULT.read_text())
    assert (result["scale"], result["settings"]["train"]["steps"]) == ("full", 30_000)
    check(result)
