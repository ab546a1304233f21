"""JSONL files: Arrow gives the same values and the same errors as Python, line by line."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unskew.core.errors import UnskewError
from unskew.core.values.json_text import json_fault
from unskew.io.iterables import ROWS
from unskew.io.readers.json_lines import arrow_rows, learned, read_json_lines


def python_rows(path: Path) -> list[Any]:
    """The rows as Python alone reads them."""
    rows = []
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    rows.append(json.loads(line))
                except (ValueError, RecursionError) as error:
                    raise UnskewError(
                        f"{path} line {number} {json_fault(error, 'mend that line')}"
                    ) from error
    return rows


def same(value: object, other: object) -> bool:
    """Whether two values are equal, of one type (a whole number may be a float), NaN included."""
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(same(value[k], other[k]) for k in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(same, value, other))
    if isinstance(value, float) and math.isnan(value):
        return isinstance(other, float) and math.isnan(other)
    kinds = {type(value), type(other)}
    return value == other and (len(kinds) == 1 or kinds == {int, float})


def outcome(read: Callable[[], Iterable[Any]]) -> tuple[list[Any], str]:
    """The rows, or the error."""
    try:
        return list(read()), ""
    except UnskewError as error:
        return [], str(error)


def check(path: Path) -> int:
    """Compare the two readers; return how many batches Arrow read."""
    by_arrow = 0

    def rows() -> Iterator[Any]:
        nonlocal by_arrow
        for batch in read_json_lines(path):
            by_arrow += not batch.is_plain
            yield from batch.examples()

    (expected, error), (made, refusal) = outcome(lambda: python_rows(path)), outcome(rows)
    assert refusal == error
    assert all(same(row, wanted) for row, wanted in zip(made, expected, strict=True))
    return by_arrow


def write(path: Path, lines: list[str], end: str = "\n") -> Path:
    path.write_bytes(end.join(lines).encode("utf-8", "surrogatepass"))
    return path


# Each is the value of a column in a row after thousands of rows with the value "x" or 1 or 0.5.
VALUES = [
    '"y"', "2", "2.0", "-0", "1e5", "0.1", "null", "true", "[]", "[1]", "{}", '{"a": 1}', "NaN",
    "Infinity", "-Infinity", "1e400", "9223372036854775807", "9223372036854775808",
    "-9223372036854775809", "9007199254740993", "1" * 400, "01", "+1", "1.", ".5", "0x10",
    '"2020-01-01"', '"2020-01-01T10:00:00"', r'"\ud800"', r'"\udc00"', r'"\ud83d\ude00"',
    r'"a\u0000b"', '"a\tb"', r'"\x"', '"null"', r'"\"b\": null"', "'x'", "nul", "", "tru",
    "[" * 90 + "]" * 90, "[" * 100_000, '{"a": 1, "a": 2}', "[1, ]", '"\ud800"',
]  # fmt: skip


@pytest.mark.parametrize("first", ['"x"', "1", "0.5", "null", "true", "[1]", '{"a": 1}', "[]"])
@pytest.mark.parametrize("value", VALUES)
def test_a_value_after_thousands_of_others_is_what_python_reads(tmp_path, first, value):
    if value == '"\ud800"':
        pytest.skip("no UTF-8: a test of its own")
    line = '{"b": %s, "c": 1}'
    lines = [line % first] * (ROWS + 3) + [line % value] + [line % first] * 3
    check(write(tmp_path / "x.jsonl", lines))


LINES = [
    '{"b": 1}', '{"b": 1, "c": 2, "d": 3}', '{"c": 1, "b": 1}', '{"b": 1, "c": 1, "b": 1}',
    '{"b": 1, "c": 1}{"b": 1, "c": 1}', '{"b": 1, "c": 1}null', '{"b": 1, "c": 1} {}', "null",
    "", "   ", "\x0c", " {\"b\": 1, \"c\": 1}", '{"b": 1, "c": 1} ', "[1]", "1", '"x"', "{}", "{",
    "}", '{"b": 1,\n"c": 1}', '{"b": 1,\r"c": 1}', '{"b": 1, "c": 1}\r', '{"b": 1, "c": 1},',
    '\ufeff{"b": 1, "c": 1}', '{"b" : null, "c": 1}', '{"b": null, "c": 1}', '{"B": 1, "c": 1}',
    r'{"\u0062": 1, "c": 1}', r'{"\u0062": null, "c": 1}', r'{"x\"b": null, "c": 1}',
    '{"b": 1, "c": 1} // no', '{"b": 1, "c": 1}\x00', "\x00", "\u2028", '{"b": 1, "c"',
]  # fmt: skip


@pytest.mark.parametrize("odd", LINES)
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_an_odd_line_is_what_python_reads(tmp_path, odd, place):
    lines = ['{"b": 1, "c": 1}'] * (2 * ROWS)
    lines.insert({"first": 0, "middle": ROWS + 7, "last": 2 * ROWS}[place], odd)
    check(write(tmp_path / "x.jsonl", lines))


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-3, 3),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(["2020-01-01", "null", '"b":', "12:00", "b", "\ud800"]),
)
KEYS = st.sampled_from(["b", "c", "é", 'x"b', "a\\", ""])
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
ROW = st.dictionaries(KEYS, DATA, min_size=1, max_size=3)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(first=ROW, others=st.lists(ROW | DATA, max_size=3), ascii_only=st.booleans(), data=st.data())
def test_random_rows_are_what_python_reads(tmp_path, first, others, ascii_only, data):
    """The first row is repeated until Arrow reads; then come others, or it with one other value."""
    changed = [
        {**first, data.draw(st.sampled_from(sorted(first))): data.draw(DATA)} for _ in range(3)
    ]
    rows = [first] * (ROWS + 1) + changed + others + [first] * 2
    lines = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
    if any("\ud800" in line for line in lines):
        lines = [json.dumps(row) for row in rows]
    check(write(tmp_path / "x.jsonl", lines))


def test_arrow_reads_what_people_have(tmp_path):
    """Else these tests would compare Python with itself."""
    rows = [
        {
            "id": i,
            "messages": [{"role": "user", "content": f'what is {i}?\n"b": null', "name": None}],
            "meta": {"lang": "en" if i % 2 else None, "date": "2024-01-05", "score": i / 7},
            "tags": ["a", None][: i % 3],
        }
        for i in range(3 * ROWS)
    ]
    path = write(tmp_path / "x.jsonl", [json.dumps(row) for row in rows])
    check(path)
    assert not any(batch.is_plain for batch in read_json_lines(path))
    first = next(read_json_lines(path))
    assert list(first.columns) == list(rows[0])
    assert list(next(first.examples())["messages"][0]) == ["role", "content", "name"]


def test_a_type_that_comes_later_is_learned(tmp_path):
    """Python reads one block; it makes the types wider, and Arrow reads the rest."""
    lines = ['{"b": null, "c": []}'] * ROWS + ['{"b": "x", "c": [{"d": 1}]}'] * ROWS
    batches = list(read_json_lines(write(tmp_path / "x.jsonl", lines)))
    assert [batch.is_plain for batch in batches] == [False, False]
    assert str(batches[1].columns["b"].type) == "string"


def test_rows_with_other_keys_stay_as_they_are(tmp_path):
    """Columns would give each row every key."""
    path = write(tmp_path / "x.jsonl", ['{"b": 1}', '{"b": 1, "c": null}'] * ROWS)
    rows = [row for batch in read_json_lines(path) for row in batch.examples()]
    assert rows == [{"b": 1}, {"b": 1, "c": None}] * ROWS


def test_a_key_that_a_row_lacks_is_no_null():
    schema = learned([{"b": 1, "c": {"d": None}}, {"b": None, "c": {"d": "x"}}])
    assert arrow_rows(b'{"b": null, "c": {"d": null}}\n', schema).to_pylist() == [
        {"b": None, "c": {"d": None}}
    ]
    for lacking in (
        b'{"c": {"d": "x"}}',
        b'{"b": 1}',
        b'{"b": 1, "c": {}}',
        b'{"b": 1, "d": null}',
    ):
        assert arrow_rows(b'{"b": 1, "c": {"d": "x"}}\n' + lacking, schema) is None


def test_many_keys_make_no_table_of_them_all(tmp_path):
    """A column for each of a million keys would fill the memory."""
    lines = [json.dumps({f"k{i}-{j}": 1 for j in range(50)}) for i in range(2 * ROWS)]
    for batch in read_json_lines(write(tmp_path / "x.jsonl", lines)):
        assert batch.is_plain


@pytest.mark.parametrize("before", [0, ROWS + 5])
def test_text_in_another_encoding_names_the_line(tmp_path, before):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": "b"}\n' * before + b'{"a": "caf\xe9"}\n')
    with pytest.raises(UnskewError) as caught:
        list(read_json_lines(path))
    assert str(caught.value) == (
        f"{path} line {before + 1} is no UTF-8 text (invalid continuation byte); "
        "convert the file to UTF-8"
    )


def test_the_lines_that_are_not_wanted_are_not_read(tmp_path):
    path = write(tmp_path / "x.jsonl", ['{"a": 1}'] * 5 + ["no"])
    assert sum(len(batch) for batch in read_json_lines(path, 5)) == 5
    path = write(tmp_path / "y.jsonl", ["", '{"a": 1}'] * 5 + ["no"])
    with pytest.raises(UnskewError, match=r"y\.jsonl line 11 is no JSON"):
        list(read_json_lines(path, 6))


def test_a_line_longer_than_a_block_is_read(tmp_path):
    lines = ['{"a": "x"}'] * (ROWS + 1) + [json.dumps({"a": "y" * (20 << 20)})] + ['{"a": "z"}']
    assert check(write(tmp_path / "x.jsonl", lines)) > 1
