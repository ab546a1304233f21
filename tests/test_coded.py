"""Values that are held once each: every function of values gives what it gives for rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.audits.binning import choose_edges
from unskew.balance.codebook import Codebook
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.variables.coded import Coded, as_coded
from unskew.core.variables.combine import as_variable, bins, clip, joint, over, round_to
from unskew.core.variables.intervals import in_intervals
from unskew.core.variables.values import as_values
from unskew.core.variables.variable import SalientVariable

NUMBERS = st.lists(st.integers(-5, 15), min_size=1, max_size=20)
ANY = st.lists(
    st.sampled_from([None, "a", "b", 1, 2.5, True, (1, "x"), b"a", 0.0]), min_size=1, max_size=20
)


@st.composite
def coded(draw, lists):
    """Rows, and the same rows coded: in any order, with values that no row has."""
    rows = draw(lists)
    distinct = list(dict.fromkeys(["unused", *rows] if "unused" not in rows else rows))
    distinct = draw(st.permutations(distinct))
    return rows, Coded(distinct, np.array([distinct.index(row) for row in rows]))


def variable(values, name="v"):
    return SalientVariable(name, lambda batch: values)


def measure(made, rows):
    """Measure examples that say nothing."""
    return made.measure(Batch.of([None] * rows))


@given(coded(NUMBERS))
def test_numbers_are_changed_alike(both):
    rows, values = both
    for change in (
        lambda v: clip(v, 0, 9),
        lambda v: round_to(v, 4),
        lambda v: round_to(v, 2.5),
        lambda v: bins(v, [0, 1, 5]),
        lambda v: bins(clip(v, 0, 3), [1, 2]),
    ):
        expected = measure(change(variable(as_values(rows))), len(rows))
        assert measure(change(variable(values)), len(rows)).tolist() == expected.tolist()


@given(coded(ANY))
def test_codes_of_a_codebook_are_alike(both):
    rows, values = both
    one, other = Codebook(variable(None)), Codebook(variable(None))
    for book in (one, other):
        book.learn(["b", None])
    objects = np.empty(len(rows), dtype=object)
    for row, value in enumerate(rows):  # an array of numbers would be walked in their order
        objects[row] = value
    assert one.encode(objects).tolist() == other.encode(values).tolist()
    assert one.values == other.values


@given(coded(ANY), st.data())
def test_values_of_several_variables_are_alike(both, data):
    rows, values = both
    numbers = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    made = joint([variable(values), variable(as_values(numbers), "w"), variable(values, "x")])
    combined = measure(made, len(rows))
    expected = list(zip(rows, numbers, rows, strict=True))
    assert combined.tolist() == expected
    assert list(combined.distinct) == list(dict.fromkeys(expected))


@given(NUMBERS, st.sampled_from(["i1", "i8", "u8", "b1", "f4", "wide", "spread"]))
def test_arrays_of_every_type_are_held_once(rows, kind):
    if kind == "wide":
        values = np.array([2**64 - 10 - abs(row) for row in rows], np.uint64)
    elif kind == "spread":
        values = np.array(rows) * 2**58
    else:
        values = np.abs(np.array(rows)).astype(kind)
    held = as_coded(values)
    assert held.tolist() == values.tolist()
    assert list(held.distinct) == list(dict.fromkeys(values.tolist()))
    assert {type(value) for value in held.distinct} == {type(value) for value in values.tolist()}


def test_many_variables_of_many_values_are_combined():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2**62, 500) for _ in range(12)]
    made = joint([variable(column, str(i)) for i, column in enumerate(columns)])
    combined = measure(made, 500)
    assert combined.tolist() == list(zip(*(column.tolist() for column in columns), strict=True))
    assert combined.codes.tolist() == list(range(500))


@given(coded(st.lists(st.sampled_from([None, 0.5, 3, -2, "x", True]), min_size=1)))
def test_bins_of_an_audit_are_alike(both):
    rows, values = both
    edges = (0.0, 1.0, 2.0)
    expected = [
        "< 0" if r == -2 else "[0, 1)" if r == 0.5 else "≥ 2" if r == 3 else r for r in rows
    ]
    assert in_intervals(values, edges).tolist() == expected
    assert in_intervals(np.array(rows, dtype=object), edges).tolist() == expected


def test_bins_of_an_array_leave_nan_as_it_is():
    assert in_intervals(np.array([0.5, 9]), (1.0,)).tolist() == ["< 1", "≥ 1"]
    assert repr(in_intervals(np.array([0.5, np.nan]), (1.0,)).tolist()) == "['< 1', nan]"
    large = np.array([2**53, 2**53 + 1])
    assert in_intervals(large, (2.0**53 + 2,)).tolist() == ["< 9007199254740994"] * 2


@given(st.lists(st.floats(0, 1) | st.none(), min_size=150, max_size=200))
def test_edges_are_chosen_alike(rows):
    values = np.array(rows, dtype=object)
    assert choose_edges(as_coded(values)) == choose_edges(values)


def test_a_declared_support_holds_for_values_held_once():
    values = Coded(["a", "b", "c"], np.array([0, 1]))
    made = over(variable(values), ["a", "b"])
    assert Codebook(made).encode(measure(made, 2)).tolist() == [0, 1]
    assert measure(joint([made, made]), 2).tolist() == [("a", "a"), ("b", "b")]
    with pytest.raises(UnskewError, match="gave 'b', outside its declared support"):
        Codebook(over(variable(values), ["a"])).encode(values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (Coded(["a"], np.array([0, 1])), "codes from 0 to 1; allowed is 0 to 0"),
        (Coded(["a"], np.array([-1, 0])), "codes from -1 to 0; allowed is 0 to 0"),
        (Coded(["a"], np.array([0])), "give one code for each example"),
        (Coded(["a"], np.array([0.0, 0.0])), "give one code for each example"),
        (Coded([["a"]], np.array([0, 0])), "which cannot be hashed"),
    ],
)
def test_codes_of_a_users_own_variable_are_checked(values, message):
    own = as_variable(SalientVariable("own", lambda batch: values))
    with pytest.raises(UnskewError, match=message):
        own.measure(Batch.of([1, 2]))


def test_nan_is_refused_in_codes_too():
    with pytest.raises(UnskewError, match="gave nan"):
        Codebook(variable(None)).encode(Coded([float("nan")], np.array([0])))
    with pytest.raises(UnskewError, match="gave nan, which is in no bin"):
        measure(bins(variable(Coded([float("nan")], np.array([0]))), [0]), 1)
