"""Combinations among the findings: slices that fail, values that come together, and no others."""

import json
import shlex

import numpy as np
import pytest

import unskew
from tests.commands import exit_code
from unskew.datasets.discover import discover
from unskew.discovery.short import short_name


def rows(n, seed, *, slice_fails=0.1, hole=False):
    """Rows in which nothing is skewed, but for a slice that fails and a pair that never comes."""
    rng = np.random.default_rng(seed)
    made = []
    while len(made) < n:
        row = {
            "kind": str(rng.choice(["sum", "gap", "mul"])),
            "size": int(rng.integers(1, 6)),
            "lang": str(rng.choice(["en", "de", "fr"])),
            "a": int(rng.integers(0, 100)),
        }
        is_slice = row["lang"] == "de" and row["a"] >= 60
        row["failed"] = bool(rng.random() < (slice_fails if is_slice else 0.1))
        if not (hole and row["kind"] == "mul" and row["size"] == 5):
            made.append(row)
    return made


@pytest.fixture(scope="module")
def data():
    return rows(4_000, 0, slice_fails=0.7, hole=True)


def test_a_planted_slice_is_a_finding_with_numbers_for_a_few_bins(data):
    found = discover(data, failures="failed")
    worst = found.of_kind("slice")[0]
    assert worst.names[0] == "lang"
    assert worst.names[1].startswith("bins(a, ")
    assert worst.name == " × ".join(worst.names)
    assert worst.measures["values"]["lang"] == "de"
    [rows_of_slice] = worst.examples.values()
    assert all(data[row]["lang"] == "de" and data[row]["a"] >= 55 for row in rows_of_slice)
    assert worst.measures["rate"] > 0.6
    assert worst.measures["part"] < 0.4
    assert sum(worst.counts.values()) == len(data)
    assert f"{100 * worst.measures['rate']:.0f}"[0] in worst.sentence
    assert found.findings[-1].kind == "joint"


def test_a_planted_hole_is_a_finding(data):
    [hole] = [f for f in discover(data) if f.kind == "joint" and f.measures["rows"] == 0]
    assert hole.names == ("kind", "size")
    assert hole.measures["values"] == {"kind": "mul", "size": 5}
    assert hole.measures["expected"] > 100
    assert hole.sentence.startswith("No row has kind = 'mul' and size = 5; it would be about ")
    assert hole.command == "unskew.resample(data, by=['kind', 'size'])"


def test_the_variables_of_a_combination_can_be_balanced(data):
    found = discover(data, failures="failed")
    [first, second] = found.of_kind("slice")[0].names
    assert {first, second} <= {variable.name for variable in found.variables}
    even = unskew.resample(data, by=[first, second], n=200)
    assert unskew.audit(even.data, by=second).variables[second].kl < 0.1


def test_the_command_of_a_combination_runs(data, tmp_path, monkeypatch, capsys):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in data))
    monkeypatch.chdir(tmp_path)
    assert exit_code("discover", str(path), "--failures", "failed", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    slices = [finding for finding in told["findings"] if finding["kind"] == "slice"]
    words = shlex.split(slices[0]["command"])
    assert words.count("--homogenize") == 2
    assert exit_code(*words[1:], "-n", "300") == 0


def test_all_rows_are_measured_where_they_are_more_than_the_sample():
    found = discover(rows(12_000, 1, slice_fails=0.7, hole=True), failures="failed")
    assert sum(found.of_kind("slice")[0].counts.values()) == 12_000
    assert found.of_kind("slice")[0].measures["rows"] > 800
    assert {f.names for f in found.of_kind("joint")} == {("kind", "size")}


def test_where_nothing_is_combined_hardly_any_combination_is_found():
    """Each search may find one in 200 runs; three of 30 or more come in 0.3 % of such tests."""
    runs = 30
    alarms = sum(
        bool(found.of_kind("slice") or found.of_kind("joint"))
        for found in (discover(rows(500, seed), failures="failed") for seed in range(runs))
    )
    assert alarms <= 2


def test_fields_that_others_decide_are_not_compared():
    rng = np.random.default_rng(0)
    made = [dict(zip("ab", map(int, rng.integers(1, 5, 2)), strict=True)) for _ in range(2_000)]
    for row in made:
        row["sum"] = row["a"] + row["b"]
    assert not discover(made).of_kind("joint")


def test_long_names_are_short_in_the_table_alone(data):
    edges = ", ".join(map(str, range(20)))
    assert short_name(f"bins(words(t), {edges})") == "bins(words(t), 0, …, 19)"
    assert short_name("bins(words(t), 1, 2)") == "bins(words(t), 1, 2)"
    assert short_name('bins(contains(t, ", 7), 1"), 1, 2, 3, 4)').endswith(", 1, …, 4)")
    assert short_name("bins(") == "bins("
    assert len(short_name("x" * 500)) <= 80
    found = discover(data, failures="failed")
    table = str(found)
    name = found.of_kind("slice")[0].names[1]
    assert name in found.of_kind("slice")[0].command
    assert short_name(name) != name
    assert short_name(name).split(",")[0] in table
