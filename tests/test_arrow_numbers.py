"""Numbers between Arrow and NumPy: as pyarrow itself makes them, and without importing pandas."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.waiting import HANG
from unskew.core.arrow_numbers import arrow_of, numpy_of, texts_of

KINDS = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64()),
    *(pa.float32(), pa.float64(), pa.bool_()),
]


@given(
    st.sampled_from(KINDS),
    st.lists(st.integers(0, 1) | st.none(), max_size=40),
    st.integers(0, 20),
    st.integers(0, 20),
    st.booleans(),
)
def test_a_slice_of_any_column(
    kind: Any, rows: list[Any], start: int, n: int, filled: bool
) -> None:
    if filled:
        rows = [0 if row is None else row for row in rows]
    values = [None if row is None else bool(row) if kind == pa.bool_() else row for row in rows]
    column = pa.array(values, kind)[start : start + n]
    expected = column.to_pylist()
    made = numpy_of(column, 1).tolist()
    assert made == [1 if value is None else value for value in expected]
    there = numpy_of(column.is_valid())
    plain = numpy_of(column)
    assert plain[there].tolist() == [value for value in expected if value is not None]
    if pa.types.is_floating(kind):
        assert np.isnan(plain[~there]).all()
    elif not column.null_count:
        assert plain.dtype == column.to_numpy(zero_copy_only=False).dtype


@given(st.lists(st.integers(-5, 5), max_size=40), st.data())
def test_numbers_and_flags_come_back(rows: list[int], data: st.DataObject) -> None:
    there = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), bool
    )
    for values in (np.array(rows, np.int64), np.array(rows, np.int16) > 0):
        column = arrow_of(values, there)
        column.validate(full=True)
        expected = [v if t else None for v, t in zip(values.tolist(), there.tolist(), strict=True)]
        assert column.to_pylist() == expected
        assert arrow_of(values).to_pylist() == values.tolist()


@given(st.lists(st.text()))
def test_texts_come_back(texts: list[str]) -> None:
    column = texts_of(texts)
    column.validate(full=True)
    assert column.type == pa.string()
    assert column.to_pylist() == texts


FILES = {
    "numbers.jsonl": '{"lang": "en", "answer": 7, "score": 0.5, "ok": true}\n' * 3 + "{}\n",
    "chat.jsonl": '{"messages": [{"role": "user", "content": "ü?"}], "tags": ["a"]}\n' * 9,
    "rows.csv": "a,b,when\n1,x y,2024-01-01\n,z,\n",
}


@pytest.mark.parametrize("name", FILES)
def test_an_audit_of_a_small_file_imports_no_pandas(name: str, tmp_path: Path) -> None:
    """It takes half a second to import, which is longer than all else that such an audit does."""
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    code = (
        "import sys, unskew; unskew.audit(sys.argv[1]); "
        "print([m for m in ('pandas', 'numba', 'scipy', 'datasets') if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, tmp_path / name],
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert (run.stdout, run.stderr) == ("[]\n", "")
