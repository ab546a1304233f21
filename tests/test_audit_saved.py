"""An audit that is saved and loaded is equal; a file that holds no audit is one error."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew
from unskew import Audit
from unskew.audits.records import VariableAudit
from unskew.audits.saved import audit_fields, audit_text
from unskew.core.errors import UnskewError

PARTS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(PARTS | st.binary(), lambda inner: st.tuples(inner, inner), max_leaves=4)


@given(st.dictionaries(VALUES, st.integers(1, 2**53), min_size=1), st.booleans(), st.text())
def test_every_value_comes_back_with_its_type(counts, declared, name) -> None:
    n = sum(counts.values())
    audit = Audit(name, 2, 1, {name: VariableAudit(name, counts, declared, name)}, {name: 3})
    loaded = Audit(**audit_fields(audit_text(audit)))
    assert loaded == audit
    kept = loaded.variables[name].counts
    assert [repr(value) for value in kept] == [repr(value) for value in counts]
    assert sum(kept.values()) == n


def test_a_real_audit_comes_back_and_can_be_compared(tmp_path: Path) -> None:
    rows = [{"x": i / 7, "few": i % 3, "id": f"{i} of many"} for i in range(1000)]
    before = unskew.audit(rows)
    assert before.variables["x"].edges
    path = before.save(tmp_path / "new" / "audit.json")
    loaded = Audit.load(str(path))
    assert loaded == before
    assert loaded.samples == before.samples == tuple(rows[:3])
    assert str(loaded) == str(before)
    after = unskew.audit(rows[:500], like=loaded)
    assert str(loaded.compare(after)) == str(before.compare(after))
    assert json.loads(path.read_text(encoding="utf-8"))["unskew_audit"] == 1


def test_a_declared_support_comes_back(tmp_path: Path) -> None:
    before = unskew.audit([1, 1, 2], by={"x": unskew.over(abs, range(1, 6))})
    loaded = Audit.load(before.save(tmp_path / "a"))
    assert loaded == before
    assert loaded.variables["x"].missing == (3, 4, 5)


def test_examples_that_json_cannot_hold_are_left_out(tmp_path: Path) -> None:
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError

    samples = (Odd(), (1, "a"), float("nan"), {"a": [None]})
    before = Audit("x", 1, 1, {"x": VariableAudit("x", {1: 1}, False)}, {}, samples=samples)
    assert Audit.load(before.save(tmp_path / "a")).samples == ([1, "a"], {"a": [None]})


def test_a_value_that_json_cannot_keep_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    class Colour(Enum):
        RED = 1

    before = unskew.audit([1], by={"colour": lambda _: Colour.RED})
    path = tmp_path / "a.json"
    path.write_text("precious")
    with pytest.raises(UnskewError, match=r"'colour': the value .*RED.* is of type Colour, which"):
        before.save(path)
    assert path.read_text() == "precious"


def saved() -> dict[str, Any]:
    audit = unskew.audit([1, 1, 2], by={"x": abs})
    data = json.loads(audit_text(audit))
    assert Audit(**audit_fields(json.dumps(data))) == audit
    return data


def with_counts(*counts: Any, **more: Any) -> dict[str, Any]:
    data = saved()
    data["variables"]["x"] |= {"counts": list(counts), **more}
    return data


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], r"the file is \[\], not an object"),
        ({}, "its unskew_audit is None, this unskew reads 1\\)"),
        (
            saved() | {"unskew_audit": 2},
            "its unskew_audit is 2, this unskew reads 1: update unskew",
        ),
        (saved() | {"unskew_audit": True}, "its unskew_audit is True"),
        ({"unskew_audit": 1}, "the audit has no 'label'"),
        (saved() | {"lable": 1}, "unknown field of the audit 'lable'; did you mean 'label'"),
        (saved() | {"label": 1}, "label of the audit is 1, not a text"),
        (saved() | {"n": 0}, "n of the audit is 0, not a whole number of at least 1"),
        (saved() | {"n": True}, "n of the audit is True"),
        (saved() | {"n": 1}, "distinct is 2, more than n, 1"),
        (saved() | {"dropped": {"a": -1}}, "'a' is -1, not a whole number of at least 0"),
        (saved() | {"left_out": {"a": 3}}, "'a' is 3, not a text"),
        (saved() | {"variables": []}, r"variables of the audit is \[\], not an object"),
        (saved() | {"samples": 3}, "samples of the audit is 3, not a list"),
        (with_counts([1, 2], [True, 3]), "has a value twice"),
        (with_counts([1, 2.0]), "is 2.0, not a whole number"),
        (with_counts([1, 2**60]), "not a whole number"),
        (with_counts([1]), r"has \[1\], not a value and its count"),
        (with_counts([1, 0]), "counts no example"),
        (with_counts(), "counts no example"),
        (with_counts([{"tuple": 3}, 1]), "which is no value"),
        (with_counts([{"code": "x"}, 1]), "which is no value"),
        (with_counts([[1], 1]), "which is no value"),
        (with_counts([{"bytes": "?"}, 1]), "which is no value"),
        (with_counts([{"float": "1"}, 1]), "which is no value"),
        (with_counts([1, 1], edges=[2, 1]), "do not rise"),
        (with_counts([1, 1], edges=[10**400]), "not a finite number"),
        (with_counts([1, 1], declared=1), "declared of variable 'x' is 1, not true or false"),
    ],
)
def test_a_file_that_holds_no_audit_is_refused_in_one_line(tmp_path, data, problem) -> None:
    refused(tmp_path, json.dumps(data).encode(), problem)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000, b"9" * 5000, json.dumps(saved()).encode()[:-9]],
)
def test_a_file_that_is_no_json_is_refused_in_one_line(tmp_path, text: bytes) -> None:
    refused(tmp_path, text, "cannot be read as an audit")


def test_tuples_in_tuples_have_an_end(tmp_path) -> None:
    deep: Any = 1
    for _ in range(150):
        deep = {"tuple": [deep]}
    refused(tmp_path, json.dumps(with_counts([deep, 1])).encode(), "which is no value")


def test_a_file_that_is_not_there_is_one_line(tmp_path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(UnskewError) as caught:
            Audit.load(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)


def refused(folder: Path, text: bytes, problem: str) -> None:
    path = folder / "audit.json"
    path.write_bytes(text)
    with pytest.raises(UnskewError, match=problem) as caught:
        Audit.load(path)
    assert str(caught.value).startswith(f"{path} cannot be read as an audit (")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2000
