"""The plan at the end of every audit: its variables, its command, and where it shows."""

import json
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew
from tests.commands import exit_code
from unskew.audits.audit import Audit
from unskew.audits.thinned import ThinnedRows
from unskew.core.errors import UnskewError
from unskew.datasets.engines import processes


def columns(n=2_000, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "even": np.arange(n) % 4,
        "few": np.minimum(rng.geometric(0.5, n), 5),
        "id": [f"row {i}" for i in range(n)],
        "score": rng.random(n) ** 3,
    }


def test_an_audit_plans_for_what_is_skewed_and_can_be_balanced():
    plan = unskew.audit(columns(), ["even", "few", "id", "score"]).plan
    assert plan.names == ("few", "score")
    assert [point.draws for point in plan.points][:3] == pytest.approx([1, 1.5, 2])
    distances = [point.distance for point in plan.points]
    assert distances == sorted(distances, reverse=True)
    assert plan.points[0].apart["few"] == pytest.approx(
        unskew.audit(columns(), ["few"]).variables["few"].total_variation
    )


def test_no_more_than_five_variables_are_planned_for():
    rng = np.random.default_rng(0)
    table = {f"x{i}": np.minimum(rng.geometric(0.3 + i / 20, 1_000), 6) for i in range(8)}
    plan = unskew.audit(table).plan
    assert plan.names == ("x3", "x4", "x5", "x6", "x7")


@pytest.mark.parametrize(
    "rows", [[0, 1] * 20, [0, 1] * 500, [7] * 500, [f"text {i}" for i in range(500)], [0] * 3 + [1]]
)
def test_nothing_is_planned_where_nothing_can_be_won(rows):
    found = unskew.audit(rows, by=unskew.over("example", sorted(set(rows))))
    assert found.plan is None
    assert found.to_dict()["plan"] is None
    assert "to balance" not in str(found)


def test_the_command_of_a_file_does_what_the_plan_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(columns()), "my data.parquet")
    assert exit_code("audit", "my data.parquet", "--by", "few", "--by", "score") == 0
    shown = capsys.readouterr().out
    command = shown[shown.index("unskew resample") :].replace("\\\n", " ")
    assert exit_code(*shlex.split(command)[1:]) == 0
    plan = unskew.audit("my data.parquet", ["few", "score"]).plan
    balanced = unskew.audit("balanced.parquet", ["few"]).variables["few"]
    planned = plan.at(plan.recommended).apart["few"]
    assert balanced.total_variation == pytest.approx(planned, abs=0.03)
    assert balanced.n == pytest.approx(2_000 / plan.recommended, abs=2)


def test_the_command_of_a_source_does_what_the_plan_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ("calculator/dcfg", "--set", "p=0.3", "--by", "max_depth", "-n", "20000")
    assert exit_code("audit", *options) == 0
    shown = capsys.readouterr().out
    command = shown[shown.index("unskew generate") :].replace("\\\n", " ").replace("10000", "2000")
    assert "--set p=0.3" in command
    assert exit_code(*shlex.split(command)[1:]) == 0
    assert unskew.audit("balanced").n == 2_000


def test_a_call_is_shown_for_what_has_no_name_in_a_shell():
    lines = unskew.audit(columns(), ["few"]).plan.lines
    assert lines[1].startswith("unskew.resample(data, by=['few'], budget=")
    lines = unskew.audit(columns(), {"x": lambda row: row["few"]}).plan.lines
    assert lines[1].startswith("unskew.resample(data, by=…, budget=")
    draw = unskew.audit(lambda rng: int(rng.random() < 0.1), {"x": abs}, n=500).plan
    assert draw.lines[1].startswith("unskew.homogenize(draw, by=…, budget=")


def test_a_plan_of_numbers_that_hardly_repeat_is_in_bins():
    plan = unskew.plan(columns(), by="score")
    assert plan.are_rows
    assert plan.points[0].apart["score"] == pytest.approx(
        unskew.audit(columns(), ["score"]).variables["score"].total_variation
    )
    assert plan.points[-1].apart["score"] < 0.05


def test_names_with_braces_and_quotes_stay_as_they_are():
    rows = [{"a {x}'s": i % 10 == 0} for i in range(500)]
    assert "a {x}'s" in unskew.audit(rows).plan.lines[1]


def test_the_plan_is_in_json_on_the_page_and_in_a_saved_audit(tmp_path):
    found = unskew.audit(columns(), ["few"])
    told = json.loads(json.dumps(found.to_dict()))["plan"]
    assert told["points"][0]["draws"] == pytest.approx(1)
    assert found.plan.lines[0] in str(found).replace("\n", " ")
    assert "to balance few" in found._repr_html_()
    page = found.picture(tmp_path / "page.html").read_text()
    assert "What balancing costs" in page
    assert "total variation from the target" in page
    loaded = Audit.load(found.save(tmp_path / "audit.json"))
    assert loaded.plan == found.plan
    assert (
        "What balancing costs"
        not in found.compare(found).picture(tmp_path / "both.html").read_text()
    )


@pytest.mark.parametrize(
    "change",
    [
        {"points": []},
        {"points": 3},
        {"conflicts": [["a", "b"]]},
        {"are_rows": 1},
        {"examples": 0},
        {"command": None},
    ],
)
def test_a_damaged_plan_is_one_line(tmp_path, change):
    path = unskew.audit(columns(), ["few"]).save(tmp_path / "audit.json")
    data = json.loads(path.read_text())
    data["plan"] |= change
    path.write_text(json.dumps(data))
    with pytest.raises(UnskewError, match="cannot be read as an audit") as error:
        Audit.load(path)
    assert "\n" not in str(error.value)


def test_processes_plan_nearly_the_same(tmp_path):
    for part in range(3):
        pq.write_table(pa.table(columns(4_000, part)), tmp_path / f"{part}.parquet")
    alone = unskew.audit(tmp_path, ["few", "score"])
    crew = unskew.audit(tmp_path, ["few", "score"], engine=processes(2))
    assert crew == alone
    assert crew.plan == alone.plan


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=20),
    st.integers(1, 60),
    st.integers(0, 5),
)
def test_thinned_rows_are_every_nth_whatever_the_batches(sizes, most, parts):
    rows = np.arange(sum(sizes))
    thinned, start = ThinnedRows(1, most), 0
    for size in sizes:
        thinned.add([rows[start : start + size]])
        start += size
    held = thinned.codes()[:, 0].tolist()
    assert held == rows[:: thinned.every].tolist()
    assert len(held) <= most
    assert thinned.every == 1 or 2 * len(held) > most - 1
    merged = ThinnedRows(1, most)
    for _ in range(parts):
        merged.merge(thinned.codes(), thinned.every)
    assert len(merged.codes()) <= most
