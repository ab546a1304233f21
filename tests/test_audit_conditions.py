"""Conditions under which an audit fails: what they say, and what they measure."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

import unskew
from unskew.audits.conditions import read_condition
from unskew.audits.records import Tail, VariableAudit
from unskew.core.errors import UnskewError

ROOT = Path(__file__).parents[1]
ROWS = [
    *[{"answer": "yes", "n": 1, "messages[-1].role": "user", "a b.c": None}] * 6,
    *[{"answer": "no", "n": 2, "messages[-1].role": "user", "a b.c": 1.0}] * 3,
    {"answer": "> 0", "n": 3, "messages[-1].role": "tool", "a b.c": 2.5},
]
AUDIT = unskew.audit(ROWS)


def line(*conditions: str, of: unskew.Audit = AUDIT) -> str:
    return "\n".join(of.breaches(*conditions))


@pytest.mark.parametrize(
    ("left", "number", "words"),
    [
        ("answer.top", 0.6, "0.6 (yes)"),
        ("answer.values", 3, "3"),
        ("answer.share(no)", 0.3, "0.3 (3 of 10 examples)"),
        ("answer.share(> 0)", 0.1, "0.1 (1 of 10 examples)"),
        ("answer.share(maybe)", 0, "0 (0 of 10 examples)"),
        ("n.share(1)", 0.6, "0.6 (6 of 10 examples)"),
        ("a b.c.share(1)", 0.3, "0.3 (3 of 10 examples)"),
        ("a b.c.share(None)", 0.6, "0.6 (6 of 10 examples)"),
        ("messages[-1].role.top", 0.9, "0.9 (user)"),
        ("n", 10, "10"),
        ("duplicates", 7, "7 (of 10 examples)"),
        ("duplicates.share", 0.7, "0.7 (7 of 10 examples)"),
        ("answer.missing", 0, "0"),
    ],
)
def test_what_is_measured_is_compared_and_told(left: str, number: float, words: str) -> None:
    allowed = {
        f"{left} == {number}": f"any number but {number}",
        f"{left}>={number}": f"less than {number}",
        f" {left} <= {number} ": f"more than {number}",
        f"{left} > -1": "at most -1",
        f"{left} < 11": "at least 11",
    }
    for condition, limit in allowed.items():
        assert line(condition) == f"examples: {left} is {words}; allowed is {limit}"
    assert line(f"{left} > {number}", f"{left} < {number}", f"{left} == 0.123") == ""


@pytest.mark.parametrize("measure", ["kl", "tv", "entropy"])
def test_distances_are_those_of_the_audit(measure: str) -> None:
    variable = AUDIT.variables["answer"]
    number = variable.total_variation if measure == "tv" else getattr(variable, measure)
    assert line(f"answer.{measure} == {number!r}").startswith(f"examples: answer.{measure} is ")
    assert line(f"answer.{measure} > {number!r}") == ""


def test_a_number_that_is_just_over_the_limit_is_not_rounded_to_it() -> None:
    third = unskew.audit(["a", "b", "c"], by={"letter": str})
    assert line("letter.top > 0.3333", of=third) == (
        "examples: letter.top is 0.3333333333333333 (a); allowed is at most 0.3333"
    )


def test_missing_values_are_those_of_x_that_no_example_has() -> None:
    declared = unskew.audit([1, 1, 2], by={"x": unskew.over(abs, range(1, 6))})
    assert line("x.missing > 2", of=declared) == (
        "examples: x.missing is 3 (3, 4, 5); allowed is at most 2"
    )
    with pytest.raises(UnskewError, match=r"variable 'x' has no value '9'; choose from 1, 2, 3"):
        line("x.share(9) > 0", of=declared)


def test_the_share_of_a_bin_is_named_as_the_report_names_it() -> None:
    binned = unskew.audit([i / 7 for i in range(700)], by={"x": float})
    label = list(binned.variables["x"].counts)[1]
    assert label == "[5, 10)"
    assert "(35 of 700 examples)" in line(f"x.share({label}) > 0.01", of=binned)


def test_values_without_a_name_are_not_forgotten() -> None:
    many = VariableAudit("id", {"a": 2, "b": 1}, False, tail=Tail({1: 3, 4: 1}))
    audit = unskew.Audit("data", 10, 10, {"id": many}, {})
    assert line("id.top > 0.3", of=audit) == (
        "data: id.top is 0.4 (a value not listed); allowed is at most 0.3"
    )
    assert "id.share(a) is 0.2 " in line("id.share(a) > 0.1", of=audit)
    with pytest.raises(UnskewError, match=r"'c' is not listed, so its share is not known; clip"):
        line("id.share(c) > 0.1", of=audit)


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("answer.top", "'answer.top' cannot be read"),
        ("", "'' cannot be read"),
        (3, "3 cannot be read"),
        ("answer.top = 3", "cannot be read"),
        ("answer.top > 1e999", "cannot be read"),
        ("answer.top > 0.3.1", "cannot be read"),
        ("answer.top > nan", "cannot be read"),
        ("answer.tpo > 0.3", "has an unknown measure 'tpo'"),
        ("dupes > 3", "has an unknown measure 'dupes'"),
        ("top > 3", "names no variable"),
        (".top > 3", "names no variable"),
    ],
)
def test_a_text_that_is_no_condition_is_refused_with_what_can_be_said(
    condition: str, problem: str
) -> None:
    with pytest.raises(UnskewError) as caught:
        AUDIT.fail_if(condition)
    assert problem in str(caught.value)
    for word in ("top", "kl", "tv", "entropy", "values", "missing", "share(VALUE)", "duplicates"):
        assert word in str(caught.value).partition(";")[2]


def test_a_condition_of_many_spaces_is_refused_at_once() -> None:
    """Each space could match in three ways, so that half a minute was too short."""
    for text in (" " * 100_000 + ". <", "a.top >" + " " * 100_000 + "x"):
        with pytest.raises(UnskewError, match="cannot be read"):
            AUDIT.fail_if(text)


def test_a_name_is_what_stands_before_the_last_dot() -> None:
    condition = read_condition("characters(a.b) .x.top<=5e-1")
    assert (condition.variable, condition.measure) == ("characters(a.b) .x", "top")
    assert (condition.sign, condition.limit) == ("<=", 0.5)


def test_a_variable_that_was_not_measured_is_an_error_that_names_the_others() -> None:
    one = unskew.audit(ROWS, by="answer")
    with pytest.raises(UnskewError, match=r"'n', which was not measured; measured are answer: "):
        one.fail_if("n.top > 0.5")
    more = unskew.audit(ROWS, by="answer", also=["n", "answer", "n"])
    assert list(more.variables) == ["answer", "n"]
    assert list(unskew.audit(ROWS, by="answer", also="n").variables) == ["answer", "n"]
    many = [{"id": f"row {i}", "x": i % 2} for i in range(1000)]
    with pytest.raises(UnskewError, match=r"'id', which was not measured; measured are charac"):
        unskew.audit(many).fail_if("id.top > 0.5")
    assert unskew.audit(many, also="id").variables["id"].seen == 1000


def test_fail_if_raises_all_breaches_and_nothing_else() -> None:
    AUDIT.fail_if()
    AUDIT.fail_if("answer.top > 0.6", "n < 10")
    with pytest.raises(UnskewError) as caught:
        AUDIT.fail_if("answer.top > 0.3", "n < 10", "duplicates > 0")
    assert str(caught.value) == (
        "examples: answer.top is 0.6 (yes); allowed is at most 0.3; "
        "examples: duplicates is 7 (of 10 examples); allowed is at most 0"
    )


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "even.jsonl").write_text('{"answer": "yes"}\n{"answer": "no"}\n')
    return tmp_path


def test_the_command_exits_with_1_and_a_line_a_breach(run, data) -> None:
    code, out, err = run("audit", "data.jsonl", "--fail-if", "answer.top > 0.6")
    assert (code, err) == (0, "")
    told = ("--fail-if", "answer.top > 0.3", "--fail-if", "n.top > 0.3", "--fail-if", "n < 3")
    code, again, err = run("audit", "data.jsonl", *told)
    assert (code, again) == (1, out)
    assert err.splitlines() == [
        "data.jsonl: answer.top is 0.6 (yes); allowed is at most 0.3",
        "data.jsonl: n.top is 0.6 (1); allowed is at most 0.3",
    ]


def test_the_command_measures_what_a_condition_names(run, data) -> None:
    code, out, err = run(
        "audit", "data.jsonl", "--by", "n", "--fail-if", "answer.top > 0.3", "--json"
    )
    assert code == 1
    assert list(json.loads(out)["variables"]) == ["n", "answer"]
    assert err == "data.jsonl: answer.top is 0.6 (yes); allowed is at most 0.3\n"
    one = ("audit", "calculator/dcfg", "-n", 100, "--by", "length", "--json")
    code, out, _ = run(*one, "--fail-if", "max_depth.top > 1")
    assert (code, list(json.loads(out)["variables"])) == (0, ["length", "max_depth"])


def test_with_after_the_conditions_are_of_the_data_after(run, data) -> None:
    both = ("audit", "data.jsonl", "--after", "even.jsonl", "--by", "answer")
    assert run(*both, "--fail-if", "answer.top > 0.5")[0] == 0
    code, _, err = run(*both, "--fail-if", "answer.top > 0.4")
    assert (code, err) == (1, "even.jsonl: answer.top is 0.5 (no); allowed is at most 0.4\n")


@pytest.mark.parametrize("condition", ["answer.tpo > 1", "answr.top > 1", "answer.top"])
def test_the_command_refuses_what_it_cannot_measure(run, data, condition: str) -> None:
    code, out, err = run("audit", "data.jsonl", "--fail-if", condition)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1


def hooks_in_the_docs() -> list[dict[str, Any]]:
    """Return the hooks of pre-commit in the docs, each with what our own file says of it."""
    ours = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    known = {hook["id"]: hook for hook in ours}
    text = (ROOT / "docs" / "your-data.md").read_text(encoding="utf-8")
    configs = map(yaml.safe_load, re.findall(r"```yaml\n(repos:.*?)```", text, re.DOTALL))
    return [
        hook if repository["repo"] == "local" else known[hook["id"]] | hook
        for config in configs
        for repository in config["repos"]
        for hook in repository["hooks"]
    ]


@pytest.mark.parametrize("number", [0, 1])
def test_the_hooks_of_pre_commit_fail_if_data_is_skewed(run, data, number: int) -> None:
    """pre-commit splits the entry as a shell does, and appends the args."""
    hook = hooks_in_the_docs()[number]
    assert hook["pass_filenames"] is False
    assert re.search(hook["files"], "data/train.jsonl")
    command, *arguments = [*shlex.split(hook["entry"]), *hook.get("args", [])]
    assert command == "unskew"
    Path("data").mkdir()
    rows = [{"answer": i % 5} for i in range(20)]
    for skewed, code in ((False, 0), (True, 1)):
        answers = [*rows, *[{"answer": 1}] * (20 if skewed else 0)]
        text = "".join(json.dumps(row) + "\n" for row in answers)
        Path("data/train.jsonl").write_text(text, encoding="utf-8")
        found, _, err = run(*arguments)
        assert (found, "answer.top is 0.6" in err) == (code, skewed)
