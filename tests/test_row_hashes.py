"""Row hashes: the same for the same row however it is held, and different for different rows."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commands import python
from tests.naive.row_hashes import row_hash
from unskew.core.batch import Batch
from unskew.core.errors import RowError
from unskew.core.hashing.mixing import hash_texts
from unskew.core.rowhash import row_hashes

NAMES = ("a", "b", "ein langer Name", "é")
WHOLE = st.integers(-(2**63), 2**63 - 1)
MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))
LEAVES = {
    "whole": (WHOLE, pa.int64()),
    "float": (st.floats(), pa.float64()),
    "flag": (st.booleans(), pa.bool_()),
    "text": (st.text(max_size=20), pa.string()),
    "bytes": (st.binary(max_size=20), pa.binary()),
    "moment": (MOMENTS, pa.timestamp("us")),
    "day": (st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)), pa.date32()),
    "clock": (st.times(), pa.time64("us")),
    "span": (st.timedeltas(dt.timedelta(-999), dt.timedelta(999)), pa.duration("us")),
    "decimal": (st.decimals(-(10**9), 10**9, places=3), pa.decimal128(20, 3)),
    "nothing": (st.none(), pa.null()),
}


def nested(inner):
    """Kinds of values that hold others: lists, and dicts with the same keys."""
    return st.one_of(
        inner.map(lambda kind: (st.lists(kind[0], max_size=4), pa.list_(kind[1]))),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda kinds: (
                st.fixed_dictionaries(
                    {name: kind[0] for name, kind in zip(NAMES, kinds, strict=False)}
                ),
                pa.struct([(n, kind[1]) for n, kind in zip(NAMES, kinds, strict=False)]),
            )
        ),
    )


KINDS = st.recursive(st.sampled_from(list(LEAVES.values())), nested, max_leaves=6)


@st.composite
def tables(draw):
    """Rows as dicts, and the Arrow type of each column."""
    kinds = draw(st.lists(KINDS, min_size=1, max_size=4))
    columns = dict(zip(NAMES, kinds, strict=False))
    row = st.fixed_dictionaries({n: st.none() | kind[0] for n, kind in columns.items()})
    return draw(st.lists(row, min_size=1, max_size=6)), {n: k[1] for n, k in columns.items()}


def as_arrow(rows, types):
    return pa.table({n: pa.array([row[n] for row in rows], kind) for n, kind in types.items()})


def hashes(table):
    return row_hashes(Batch.from_arrow(table)).tolist()


@given(tables())
def test_dicts_and_arrow_have_the_hashes_of_the_slow_twin(table):
    rows, types = table
    expected = [row_hash(row) for row in rows]
    assert row_hashes(Batch.of(rows)).tolist() == expected
    assert hashes(as_arrow(rows, types)) == expected


@given(tables(), st.integers(0, 3))
def test_a_slice_has_the_hashes_of_its_rows(table, start):
    rows, types = table
    part = as_arrow(rows * 2, types).slice(start, len(rows))
    assert hashes(part) == [row_hash(row) for row in (rows * 2)[start : start + len(rows)]]


def shuffled(value):
    """The same value with the keys of its dicts in another order, and without missing keys."""
    if isinstance(value, dict):
        there = [(key, shuffled(item)) for key, item in value.items() if item is not None]
        return dict(reversed(there))
    if isinstance(value, list):
        return tuple(map(shuffled, value))
    return value


@given(tables())
def test_the_order_of_keys_and_keys_without_a_value_do_not_count(table):
    rows, types = table
    ordered = as_arrow(rows, types)
    assert row_hashes(Batch.of([shuffled(row) for row in rows])).tolist() == hashes(ordered)
    assert hashes(ordered.select(ordered.column_names[::-1])) == hashes(ordered)


def wider(kind):
    """Another Arrow type that holds the same values."""
    if pa.types.is_list(kind):
        return pa.large_list(wider(kind.value_type))
    if pa.types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        return pa.struct([(field.name, wider(field.type)) for field in reversed(fields)])
    others = {
        pa.string(): pa.large_string(),
        pa.binary(): pa.large_binary(),
        pa.decimal128(20, 3): pa.decimal256(30, 5),
        pa.time64("us"): pa.time64("ns"),
    }
    return others.get(kind, kind)


@given(tables())
def test_other_layouts_of_the_same_values_do_not_count(table):
    rows, types = table
    others = {name: wider(kind) for name, kind in types.items()}
    assert hashes(as_arrow(rows, others)) == hashes(as_arrow(rows, types))


@given(st.lists(KINDS.flatmap(lambda kind: kind[0]), min_size=2, max_size=8))
def test_rows_share_a_hash_where_the_slow_twin_says_so_alone(values):
    batch = Batch.of([{"a": value} for value in values])
    assert row_hashes(batch).tolist() == [row_hash({"a": value}) for value in values]


NUMBERS = pa.array([0, 1, 2, 100, None])


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(21, 2)],
    ids=str,
)
def test_whole_numbers_of_every_width_are_alike(kind):
    assert hashes(pa.table({"a": NUMBERS.cast(kind)})) == hashes(pa.table({"a": NUMBERS}))


TEXTS = pa.array(["a", "b", None, "", "a", "twelve bytes more"])
LISTS = pa.array([[1, 2], [3, 4], [5, None]])
ALIKE = {
    "dictionary": (TEXTS, TEXTS.dictionary_encode()),
    "unused dictionary": (TEXTS.slice(2, 2), TEXTS.dictionary_encode().slice(2, 2)),
    "view": (TEXTS, TEXTS.cast(pa.string_view())),
    "binary view": (TEXTS.cast(pa.binary()), TEXTS.cast(pa.binary()).cast(pa.binary_view())),
    "fixed width": (pa.array([b"ab", b"cd"]), pa.array([b"ab", b"cd"], pa.binary(2))),
    "fixed list": (LISTS, LISTS.cast(pa.list_(pa.int64(), 2))),
    "sliced fixed list": (LISTS.slice(1), LISTS.cast(pa.list_(pa.int64(), 2)).slice(1)),
    "map": (
        pa.array([{"x": 1, "y": 2}, {"x": 3, "y": None}]),
        pa.array([[("y", 2), ("x", 1)], [("x", 3)]], pa.map_(pa.string(), pa.int64())),
    ),
    "runs": (
        pa.array([7, 7, 8]),
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7, 8])),
    ),
    "zone": (
        pa.array([0, 10**9], pa.timestamp("ns")),
        pa.array([0, 1], pa.timestamp("s", "Europe/Berlin")),
    ),
    "midnight": (pa.array([3], pa.date32()), pa.array([3 * 86400], pa.timestamp("s"))),
    "milliseconds": (pa.array([3], pa.date32()), pa.array([3 * 86_400_000], pa.date64())),
    "duration": (pa.array([5], pa.duration("s")), pa.array([5000], pa.duration("ms"))),
    "clock": (pa.array([5], pa.time32("s")), pa.array([5 * 10**9], pa.time64("ns"))),
}


@pytest.mark.parametrize("name", ALIKE)
def test_arrow_types_of_the_same_values_are_alike(name):
    one, other = ALIKE[name]
    assert hashes(pa.table({"a": one})) == row_hashes(Batch({"a": other})).tolist()


def test_numpy_columns_are_alike_to_their_lists():
    columns = {
        "f": np.array([0.5, np.nan, 3.0]),
        "i": np.array([1, 2, 3], np.int16),
        "u": np.array([1, 2**63, 2**64 - 1], np.uint64),
        "b": np.array([True, False, True]),
        "n": np.arange(12, dtype=np.uint8).reshape(3, 2, 2),
        "t": np.array(["1969-12-31T23:59:59.5", "NaT", "2001-01-01"], "M8[ms]"),
        "d": np.array(["1969-12-31", "NaT", "2001-01-01"], "M8[D]"),
        "s": np.array(["x", "yy", ""]),
        "o": np.array([None, (1, 2), "x"], dtype=object),
    }
    lists = {name: column.tolist() for name, column in columns.items()}
    rows = [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    assert row_hashes(Batch(columns)).tolist() == [row_hash(row) for row in rows]


def test_times_of_several_units_have_the_hashes_that_each_has_alone():
    times = [np.datetime64(text) for text in ("9000-01-01", "2000-01-01T00:00:00.000000001", "NaT")]
    times += [np.timedelta64(1, "D"), np.timedelta64(86_400, "s"), np.timedelta64(1, "ns")]
    batch = row_hashes(Batch.of([{"t": time} for time in times])).tolist()
    assert batch == [row_hashes(Batch.of([{"t": time}]))[0] for time in times]
    assert len(set(batch)) == len(times) - 1  # a day is 86,400 seconds


def test_the_order_of_bytes_of_times_does_not_count():
    times = np.array(["2024-01-05T06:07:08", "NaT"], "<M8[s]")
    hashes = [row_hashes(Batch({"t": column})) for column in (times, times.astype(">M8[s]"))]
    assert np.array_equal(*hashes)


def test_objects_of_other_classes_are_hashed_by_what_they_print():
    values = [{"a": 1j}, {"a": 2j}, {"a": 1j}, {"a": np.float32(0.5)}, {"a": 0.5}]
    one, two, three, four, five = row_hashes(Batch.of(values)).tolist()
    assert one == three != two
    assert four == five
    arrays = [{"a": np.array([1, 2])}, {"a": [1.0, 2.0]}, {"a": np.array(["1970-01-02"], "M8[D]")}]
    first, second, third = row_hashes(Batch.of(arrays)).tolist()
    assert first == second
    assert third == row_hash({"a": [dt.date(1970, 1, 2)]})


def test_an_example_that_is_no_dict_is_alike_to_its_column():
    assert row_hashes(Batch.of([1, "x"])).tolist() == [
        row_hash({"example": 1}),
        row_hash({"example": "x"}),
    ]


@pytest.mark.parametrize(
    "value",
    [2**64, 10**400, Decimal("0.1"), Decimal("Infinity"), Decimal("NaN"), Decimal(2) ** 70, 1e300],
    ids=str,
)
def test_numbers_of_any_size_have_the_hash_of_the_slow_twin(value):
    assert row_hashes(Batch.of([{"a": value}])).tolist() == [row_hash({"a": value})]


def test_large_numbers_are_alike_in_every_type():
    assert row_hash({"a": 2**70}) == row_hash({"a": Decimal(2**70)}) == row_hash({"a": 2.0**70})
    assert row_hash({"a": 10**400 + 1}) == row_hash({"a": Decimal(10**400 + 1)})
    assert row_hash({"a": 10**400 + 1}) != row_hash({"a": 10**400})


def test_a_value_that_cannot_be_hashed_is_named():
    class Odd:
        def __repr__(self):
            raise ValueError("no")

    with pytest.raises(RowError, match=r"cannot be compared \(ValueError: no") as raised:
        row_hashes(Batch.of([{"a": 1}, {"a": Odd()}]))
    assert raised.value.row == 1


@given(st.lists(st.binary(max_size=40), min_size=1), st.integers(0, 3))
def test_compiled_and_plain_code_give_the_same_bits(values, skipped):
    data = np.frombuffer(b"..." + b"".join(values), np.uint8)
    offsets = 3 + np.cumsum([0, *map(len, values)])[min(skipped, len(values)) :]
    small = hash_texts(data, offsets)
    assert np.array_equal(small, hash_texts(data, offsets, large=True))


SMALL = """
import sys
from unskew.audits.auditor import Auditor
from unskew.core.batch import Batch
from unskew.core.variables.column import column_variable
from unskew.datasets import api
auditor = Auditor([column_variable(name) for name in "ab"])
auditor.add(Batch.of([{"a": "x", "b": 1, "c": [1, None]}]))
auditor.add(Batch.from_arrow(Batch.of([{"a": "x", "c": [1, None], "b": 1.0}]).to_arrow()))
print(auditor.result("small").distinct, "numba" in sys.modules)
"""


def test_small_data_is_audited_without_numba():
    assert python(SMALL).stdout.split() == ["1", "False"]
