"""unskew.discover from data to findings: what is found, what repairs it, what is refused."""

import json
import shlex

import numpy as np
import pytest

import unskew
from tests.commands import exit_code
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.datasets.discover import SAMPLE, discover
from unskew.datasets.open import open_target
from unskew.discovery.proposals import propose
from unskew.discovery.repair import Repair
from unskew.io.lookup import find_variable


def rows(n=2_000, seed=0):
    """Questions of which 80 % ask for the sum; a model fails at large numbers."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        a, b = (int(x) for x in rng.integers(10, 100, 2))
        kind = "sum" if rng.random() < 0.8 else "gap"
        made.append(
            {
                "kind": kind,
                "a": a,
                "b": b,
                "answer": "yes" if (rng.random() < 0.9) == (a >= 50) else "no",
                "failed": bool(rng.random() < (0.6 if b >= 70 else 0.1)),
                "level": int(rng.integers(1, 6)),
            }
        )
    return made


@pytest.fixture(scope="module")
def data():
    return rows()


@pytest.fixture(scope="module")
def file(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("data") / "it's data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in data))
    return path


def test_the_skewed_column_is_found_and_no_other(data):
    without = [{k: v for k, v in row.items() if k not in ("failed", "answer")} for row in data]
    found = discover(without)
    assert [finding.name for finding in found] == ["kind"]
    [kind] = found
    assert kind.kind == "skew"
    assert kind.sentence.startswith(("80", "79", "81"))
    assert "kind = 'sum'; it would be 50 % if all values came equally often." in kind.sentence
    assert kind.command == "unskew.resample(data, by='kind')"
    assert kind.p < 1e-9
    assert sum(kind.counts.values()) == found.rows == found.read == 2_000
    for value, numbers in kind.examples.items():
        assert all(without[number]["kind"] == value for number in numbers)
        assert all(found.samples[number]["kind"] == value for number in numbers)


def test_the_variables_can_be_balanced(data):
    found = discover(data)
    kept = unskew.resample(data, by=found["kind"].variable)
    counts = unskew.audit(kept.data, by="kind").variables["kind"].counts
    assert max(counts.values()) < 1.2 * min(counts.values())
    assert unskew.audit(data, by=found.variables).variables.keys() >= {"kind"}


def test_what_gives_the_answer_away_is_found(data):
    found = discover(data, answer="answer")
    first = found.of_kind("shortcut")[0]
    assert "a" in first.name
    assert "b" not in [f.name for f in found.of_kind("shortcut")]
    assert first.measures["accuracy"] > 0.85
    assert first.measures["blind"] < 0.6
    assert found.blind.score == pytest.approx(0.5, abs=0.1)
    assert first.command.endswith(f"by=[{first.name!r}, 'answer'])")
    assert found["kind"].kind == "skew"
    assert all("answer" not in f.name for f in found.of_kind("shortcut"))


def test_a_copy_of_the_answer_is_no_shortcut_and_is_named(data):
    copied = [row | {"key": {"right": row["answer"]}} for row in data]
    found = discover(copied, answer="answer")
    assert "key.right: the answer once more, and no feature of the question" in found.notes
    assert not any("key" in finding.name for finding in found.of_kind("shortcut"))


def test_where_a_model_fails_is_found(data):
    by_name = discover(data, failures="failed")
    first = by_name.of_kind("failure")[0]
    assert "(b" in first.name or first.name == "b"
    assert all("failed" not in finding.name for finding in by_name)
    without = [{k: v for k, v in row.items() if k != "failed"} for row in data]
    by_values = discover(without, failures=[row["failed"] for row in data])
    assert by_values.of_kind("failure")[0].name == first.name


def test_what_differs_from_other_data_is_found(data):
    others = [row | {"level": min(5, row["level"] + 1)} for row in rows(1_500, seed=1)]
    found = discover(data, against=others)
    assert [finding.name for finding in found] == ["level"]
    assert found.ceiling.auc > 0.55
    assert "Only this data has it." in found["level"].sentence
    assert found["level"].command == (
        "unskew.resample(data, by='level'); unskew.resample(other, by='level')"
    )
    assert not discover(data, against=rows(1_500, seed=2)).findings


def test_more_rows_than_a_sample_are_all_measured():
    data = rows(SAMPLE + 2_000)
    found = discover(data)
    assert sum(found["kind"].counts.values()) == len(data)
    assert found["kind"].examples == discover(data)["kind"].examples
    some = discover(data, n=500)
    assert (some.rows, some.read) == (500, len(data))
    for value, numbers in some["kind"].examples.items():
        assert all(data[number]["kind"] == value for number in numbers)


def test_the_same_seed_finds_the_same(data):
    assert discover(data, seed=3).to_dict() == discover(data, seed=3).to_dict()


def test_every_proposal_is_a_finding_or_is_counted(data):
    found = discover(data)
    named = len(found) + sum(found.left_out.values())
    assert named >= found.proposed
    assert json.loads(json.dumps(found.to_dict()))["proposed"] == found.proposed


@pytest.mark.parametrize(
    ("given", "wanted", "message"),
    [
        ([], {}, "gave no examples; there is nothing to discover"),
        ([{"a": 1}], {}, "has one row"),
        ([{"a": 1}] * 50, {}, "all 50 rows of examples are alike"),
        ("data", {"answer": "anwser"}, "did you mean 'answer'"),
        ("data", {"failures": [0] * 2_000}, "failures are all 0 in 2,000 rows"),
        ("data", {"failures": [1] * 2_000}, "failures are all 1 in 2,000 rows"),
        ("data", {"failures": [0, 1]}, "failures has 2 values, and examples has 2,000 rows"),
        ("data", {"failures": "kind"}, "allowed is true or false"),
        ("data", {"answer": ["x"] * 2_000}, "answer is 'x' in all 2,000 rows"),
        ("data", {"failures": "failed", "against": [{"a": 1}]}, "are two questions"),
        ("data", {"top": 0}, "top is 0"),
        ("data", {"n": 0}, "n is 0"),
    ],
)
def test_what_cannot_be_searched_is_one_line(data, given, wanted, message):
    with pytest.raises(UnskewError) as error:
        discover(data if given == "data" else given, **wanted)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_function_of_ones_own_is_proposed(data):
    def is_round(value: int) -> bool:
        return value % 10 == 0

    some = [{"x": 10 * (row["a"] // 10) if row["kind"] == "sum" else row["a"]} for row in data]
    found = discover(some, own=[is_round])
    names = [name for f in found for name in (f.name, *f.synonyms, *f.implied)]
    assert any("is_round" in name for name in names)


def test_a_function_that_draws_is_searched():
    def draw(rng):
        return {"side": "left" if rng.random() < 0.9 else "right"}

    found = discover(draw, n=400)
    assert found["side"].command == "unskew.homogenize(draw, by='side')"


def test_a_source_is_generated_again():
    found = discover("calculator/t2t", n=2_000, settings={"min_depth": 2})
    assert found.findings[0].command.startswith("unskew generate calculator/t2t --set min_depth=2 ")


@pytest.mark.parametrize("source", ["calculator/dcfg", "karel/msr"])
def test_every_name_of_a_source_can_be_homogenized(source):
    opened = open_target(source)
    rows, _ = opened.source.draw(generator(0, "names"), 200)
    names = [proposal.name for proposal in propose(rows, domain=opened.domain).proposals]
    assert len(names) > 50
    for name in names:
        assert find_variable(name, opened.domain).measure(rows) is not None


@pytest.mark.parametrize("name", ["value", "bins(length, 5, 9)", "words(expression)"])
def test_a_source_is_homogenized_by_its_columns_too(name, tmp_path, monkeypatch, capsys):
    command = Repair("source", "calculator/dcfg", {}, "balanced").line([name])
    monkeypatch.chdir(tmp_path)
    assert exit_code(*shlex.split(command)[1:], "-n", "60") == 0
    assert unskew.audit(tmp_path / "balanced", by=name).n == 60


def test_the_line_for_an_object_runs(data):
    for finding in discover(data, failures="failed", answer="answer"):
        made = eval(finding.command, {"unskew": unskew, "data": data})
        assert len(made.data) > 0


@pytest.mark.parametrize(
    "name", ["a b", "it's", 'say "x"', "$(rm x)", "a\nb", "e\u0301\u202e", "\\"]
)
def test_a_shell_reads_the_command_as_it_is_meant(name):
    import subprocess

    line = Repair("data", name).line([name, "b"])
    script = line.replace("unskew ", "printf '%s\\0' ", 1)
    told = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout
    words = told.decode().split("\0")[:-1]
    assert words == ["resample", name, "--homogenize", name, "--homogenize", "b", "-o",
                     "balanced.parquet"]  # fmt: skip
    assert line.isprintable()


def test_the_command_of_a_finding_runs(file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert exit_code("discover", file, "--json") == 0
    [finding] = [f for f in json.loads(capsys.readouterr().out)["findings"] if f["name"] == "kind"]
    words = shlex.split(finding["command"])
    assert words[:3] == ["unskew", "resample", str(file)]
    assert exit_code(*words[1:]) == 0
    again = discover(tmp_path / "balanced.jsonl")
    assert "kind" not in [f.name for f in again]


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_table_fits_a_terminal(file, width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    for more in ([], ["--answer", "answer"], ["--failures", "failed"], ["--against", str(file)]):
        assert exit_code("discover", file, *more) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= width
    assert "not listed:" in "".join(lines)


def test_a_notebook_shows_what_a_terminal_shows(data):
    found = discover([{"kind": "<b>" if row["kind"] == "sum" else "x"} for row in data])
    html = found._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html.replace("<p><b>", "").replace("</b>", "") or "<b> " not in html
    assert "what is skewed" in html
    assert "unskew.resample" in html


def test_the_histogram_of_bins_is_in_the_order_of_the_numbers():
    rng = np.random.default_rng(0)
    found = discover([{"x": float(x)} for x in rng.exponential(100, 2_000)])
    [finding] = [f for f in found if f.name.startswith("bins(x,")]
    counts = list(finding.counts.values())
    assert next(iter(finding.counts)).startswith("<")
    assert counts[0] == max(counts)
