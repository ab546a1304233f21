"""What Python's JSON cannot read is told apart: cut text, too many digits, too many levels."""

from pathlib import Path

import pytest

from unskew import UnskewError, audit

DIGITS = "9" * 5_001
LEVELS = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        (
            "x.jsonl",
            f'{{"a": 1}}\n{{"a": {DIGITS}}}\n',
            "x.jsonl line 2 has a whole number of more",
        ),
        ("x.json", f'[{{"a": {DIGITS}}}]', "x.json has a whole number of more than 4,300 digits"),
        ("x.jsonl", f'{{"a": 1}}\n{LEVELS}\n', "x.jsonl line 2 is nested too deeply; make it fl"),
        ("x.json", LEVELS, "x.json is nested too deeply; make it flatter"),
        ("x.jsonl", '{"a": 1}\n{"a"', "x.jsonl line 2 is no JSON .*; it may be truncated: mend"),
        ("x.json", '[{"a"', "x.json is no JSON .*; it may be truncated: mend it, or make it again"),
    ],
)
def test_the_fault_and_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, fault: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(content, encoding="utf-8")
    with pytest.raises(UnskewError, match=fault) as caught:
        audit(name)
    assert "set_int_max_str_digits" not in str(caught.value)
