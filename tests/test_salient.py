"""Salient variables, what makes new ones of them, and the codebooks of their values."""

import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.balance.codebook import MAX_VALUES, Codebook
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.variables.combine import (
    as_variable,
    as_variables,
    bins,
    clip,
    joint,
    over,
    round_to,
)
from unskew.core.variables.values import as_values
from unskew.core.variables.variable import SalientVariable, describe

fixed = settings(derandomize=True)


def measure(variable: SalientVariable, examples: list[Any]) -> list[Any]:
    return variable.measure(Batch.of(examples)).tolist()


def itself(example: Any) -> Any:
    return example


def array_variable(values: np.ndarray) -> SalientVariable:
    """A variable that measures these values of any batch with as many examples."""
    return SalientVariable("array", lambda batch: values)


# One variable, several variables.


def test_a_plain_function_is_a_variable_with_its_own_name() -> None:
    variable = as_variable(len)
    assert (variable.name, variable.support) == ("len", None)
    assert measure(variable, ["a", "bcd"]) == [1, 3]


def test_a_callable_object_is_a_variable_named_by_its_class() -> None:
    class Parity:
        def __call__(self, example: int) -> int:
            return example % 2

    assert as_variable(Parity()).name == "Parity"
    assert measure(as_variable(Parity()), [3, 4]) == [1, 0]


def test_a_variable_is_taken_as_it_is_but_for_a_new_name() -> None:
    variable = over(len, [1, 2])
    assert as_variable(variable) == variable
    renamed = as_variable(variable, "size")
    assert (renamed.name, renamed.support) == ("size", (1, 2))


def test_by_is_read_as_one_a_mapping_or_a_sequence() -> None:
    assert [v.name for v in as_variables(len)] == ["len"]
    assert [v.name for v in as_variables(over(len, [1]))] == ["len"]
    assert [v.name for v in as_variables([len, sum])] == ["len", "sum"]
    assert [v.name for v in as_variables({"size": len, "also": len})] == ["size", "also"]


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ([len, len], "share a name.*name each in a dict"),
        ([], "by is empty"),
        ({}, "by is empty"),
        (5, "by is 5; pass a function"),
        ({"size": 5}, "variable 'size' is 5"),
        ([5], "is 5; pass a function"),
    ],
)
def test_by_that_cannot_be_read_is_refused(by: Any, message: str) -> None:
    with pytest.raises(UnskewError, match=message):
        as_variables(by)


def test_several_variables_are_joined_into_tuples() -> None:
    both = joint(as_variables({"size": len, "first": lambda text: text[0]}))
    assert (both.name, both.support) == ("size × first", None)
    assert measure(both, ["ab", "c"]) == [(2, "a"), (1, "c")]


def test_one_variable_joined_stays_itself() -> None:
    variable = over(len, [1, 2])
    assert joint([variable]) is variable


def test_joined_values_are_those_of_the_parts_whatever_their_kind() -> None:
    parts = as_variables(
        {"int": itself, "float": lambda x: x / 2, "text": str, "tuple": lambda x: (x,)}
    )
    assert measure(joint(parts), [1, 2]) == [(1, 0.5, "1", (1,)), (2, 1.0, "2", (2,))]


# What measuring may meet.


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "i"),
        ([1, 2.5], "f"),
        (["a", "b"], "O"),
        ([1, "a", None], "O"),
        ([(1, 2), (3, 4)], "O"),
        ([True, False], "b"),
    ],
)
def test_values_are_packed_without_being_changed(values: list[Hashable], kind: str) -> None:
    packed = as_values(values)
    assert (packed.dtype.kind, packed.tolist()) == (kind, values)


def test_large_whole_numbers_stay_apart() -> None:
    values = [2**62, 2**62 + 1, 2**70, -(2**80)]
    assert as_values(values).tolist() == values


def test_whole_numbers_beyond_floats_are_values_too() -> None:
    assert as_values([10**400, 1]).tolist() == [10**400, 1]


def test_a_variable_that_raises_is_named_with_the_example() -> None:
    def broken(example: int) -> float:
        return 1 / example

    with pytest.raises(UnskewError, match=r"'broken' raised ZeroDivisionError.*\(example 0\)"):
        measure(as_variable(broken), [1, 0])


def test_a_variable_that_exits_is_named_and_ctrl_c_is_not_its_mistake() -> None:
    def leaves(example: int) -> int:
        raise SystemExit(0)

    def interrupted(example: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(UnskewError, match=r"'leaves' raised SystemExit: 0.*\(example 5\)"):
        measure(as_variable(leaves), [5])
    with pytest.raises(KeyboardInterrupt):
        measure(as_variable(interrupted), [5])


def test_a_type_error_of_the_variable_is_its_own() -> None:
    with pytest.raises(UnskewError, match=r"'len' raised TypeError: object of type 'int'"):
        measure(as_variable(len), [5])


def test_a_value_that_cannot_be_hashed_is_refused() -> None:
    with pytest.raises(UnskewError, match=r"returned \[1\], which cannot be hashed"):
        measure(as_variable(lambda example: [example]), [1])


def test_a_long_example_is_shortened_in_an_error() -> None:
    with pytest.raises(UnskewError, match=r"\.\.\.\)$") as caught:
        measure(as_variable(lambda example: example.nothing), ["x" * 10_000])
    assert len(str(caught.value)) < 250


# over, clip, round_to, bins.


def test_over_declares_the_support_in_order_without_repeats() -> None:
    assert over(len, [3, 1, 3, 2]).support == (3, 1, 2)
    assert over(len, range(3)).support == (0, 1, 2)


def test_an_empty_support_is_refused() -> None:
    with pytest.raises(UnskewError, match="support of 'len' is empty"):
        over(len, [])


def test_a_support_that_cannot_be_hashed_is_refused() -> None:
    with pytest.raises(UnskewError, match="support of 'len'"):
        over(len, [[1], [2]])  # type: ignore[list-item]


def test_clip_counts_what_is_outside_as_the_nearest_end() -> None:
    variable = clip(itself, -1, 2)
    assert measure(variable, [-5, -1, 0, 2, 3, 10**12]) == [-1, -1, 0, 2, 2, 2]
    assert measure(variable, [-5.5, 0.25, math.inf]) == [-1.0, 0.25, 2.0]


def test_clip_keeps_whole_numbers_whole() -> None:
    assert all(isinstance(value, int) for value in measure(clip(itself, 0, 3), [-1, 5]))


def test_clip_of_bytes_may_have_ends_that_bytes_cannot_hold() -> None:
    values = np.array([0, 200, 255], dtype=np.uint8)
    assert measure(clip(array_variable(values), -1, 300), [0] * 3) == [0, 200, 255]
    assert measure(clip(array_variable(values), -1, 210), [0] * 3) == [0, 200, 210]


@pytest.mark.parametrize(("low", "high"), [(2, 1), (math.nan, 1), (0, math.nan)])
def test_clip_to_nothing_is_refused(low: float, high: float) -> None:
    with pytest.raises(UnskewError, match="give low <= high"):
        clip(len, low, high)


@pytest.mark.parametrize(
    ("step", "value", "rounded"),
    [
        (2, 0, 0),
        (2, 1, 2),
        (2, 3, 4),
        (2, -1, 0),
        (2, -3, -2),
        (5, 2, 0),
        (5, 3, 5),
        (5, -2, 0),
        (5, -3, -5),
        (10, 5, 10),
        (10, -5, 0),
        (0.25, 0.125, 0.25),
        (0.25, 0.124, 0.0),
        (0.25, -0.125, 0.0),
        (0.25, -0.126, -0.25),
        (1, 2.5, 3.0),
        (1, -2.5, -2.0),
    ],
)
def test_round_to_goes_to_the_nearest_multiple_halves_up(
    step: float, value: float, rounded: float
) -> None:
    assert measure(round_to(itself, step), [value]) == [rounded]


@fixed
@given(st.integers(1, 1000), st.lists(st.integers(-(2**50), 2**50), min_size=1))
def test_whole_numbers_are_rounded_exactly(step: int, values: list[int]) -> None:
    exact = [math.floor(Fraction(v, step) + Fraction(1, 2)) * step for v in values]
    rounded = measure(round_to(itself, step), values)
    assert rounded == exact
    assert all(isinstance(value, int) for value in rounded)


@fixed
@given(st.sampled_from([0.25, 0.5, 2.0, 4]), st.lists(st.integers(-(2**30), 2**30), min_size=1))
def test_binary_fractions_are_rounded_exactly(step: float, numerators: list[int]) -> None:
    values = [n / 1024 for n in numerators]
    exact = [math.floor(Fraction(v) / Fraction(step) + Fraction(1, 2)) * step for v in values]
    assert measure(round_to(itself, step), values) == exact


def test_round_to_of_bytes_does_not_wrap_around() -> None:
    values = np.array([3, 200, 255], dtype=np.uint8)
    assert measure(round_to(array_variable(values), 2), [0] * 3) == [4, 200, 256]
    assert measure(round_to(array_variable(values), 300), [0] * 3) == [0, 300, 300]


def test_round_to_of_the_largest_whole_numbers_does_not_wrap_around() -> None:
    values = np.array([2**62, -(2**62)])
    assert measure(round_to(array_variable(values), 10), [0] * 2) == [2**62 - 4, -(2**62) + 4]


@pytest.mark.parametrize("step", [0, -1, math.nan, math.inf])
def test_a_step_that_is_not_positive_is_refused(step: float) -> None:
    with pytest.raises(UnskewError, match="positive step"):
        round_to(len, step)


def test_bins_are_closed_below_and_open_above() -> None:
    variable = bins(itself, [0, 1, 5])
    assert variable.support == ("< 0", "[0, 1)", "[1, 5)", "≥ 5")
    values = [-0.001, 0, 0.999, 1, 4.999, 5, 1e9]
    expected = ["< 0", "[0, 1)", "[0, 1)", "[1, 5)", "[1, 5)", "≥ 5", "≥ 5"]
    assert measure(variable, values) == expected


def test_one_edge_makes_two_bins() -> None:
    assert bins(itself, [2.5]).support == ("< 2.5", "≥ 2.5")


def test_bins_whose_edges_are_close_keep_different_labels() -> None:
    variable = bins(itself, [1_000_000, 1_000_001, 1_000_002])
    assert len(set(variable.support or ())) == 4
    assert len(set(measure(variable, [0, 1_000_000, 1_000_001, 1_000_002]))) == 4


@pytest.mark.parametrize("edges", [[], [1, 1], [2, 1], [0, math.nan], [math.nan], ["a"]])
def test_edges_that_make_no_bins_are_refused(edges: list[Any]) -> None:
    with pytest.raises(UnskewError, match="edges are"):
        bins(len, edges)


@pytest.mark.parametrize(
    ("make", "support"),
    [
        (lambda v: clip(v, 2, 5), (2, 3, 4, 5)),
        (lambda v: round_to(v, 2), (0, 2, 4, 6, 8, 10)),
        (lambda v: bins(v, [3]), ("< 3", "≥ 3")),
        (lambda v: clip(round_to(v, 3), 0, 6), (0, 3, 6)),
    ],
)
def test_a_declared_support_is_changed_with_the_values(
    make: Callable[[SalientVariable], SalientVariable], support: tuple[Hashable, ...]
) -> None:
    variable = make(over(itself, range(10)))
    assert variable.support == support
    assert set(measure(variable, list(range(10)))) == set(support)


@pytest.mark.parametrize(
    "make",
    [lambda v: clip(v, 0, 1), lambda v: round_to(v, 1), lambda v: bins(v, [0])],
    ids=["clip", "round_to", "bins"],
)
class TestNumbersOnly:
    def test_a_text_is_refused(self, make: Callable[..., SalientVariable]) -> None:
        with pytest.raises(UnskewError, match=r"needs numbers, but variable 'itself' gave 'two'"):
            measure(make(itself), [1, "two"])

    def test_truth_values_count_as_0_and_1(self, make: Callable[..., SalientVariable]) -> None:
        assert measure(make(lambda x: x > 1), [1, 2]) == measure(make(lambda x: x - 1), [1, 2])

    def test_numpy_numbers_are_numbers(self, make: Callable[..., SalientVariable]) -> None:
        assert measure(make(np.int64), [0, 3]) == measure(make(int), [0, 3])
        assert measure(make(np.float32), [0, 3]) == measure(make(float), [0, 3])

    def test_times_in_nanoseconds_are_numbers(self, make: Callable[..., SalientVariable]) -> None:
        now = 1_700_000_000_000_000_000
        as_array = make(array_variable(np.array([now, -now])))
        assert measure(make(itself), [now, -now]) == measure(as_array, [0] * 2)

    def test_nan_is_refused(self, make: Callable[..., SalientVariable]) -> None:
        variable = make(lambda x: math.nan)
        with pytest.raises(UnskewError, match="nan"):
            Codebook(variable).encode(variable.measure(Batch.of([1])))


# Codebooks.


def book(support: tuple[Hashable, ...] | None = None) -> Codebook:
    return Codebook(SalientVariable("v", lambda batch: np.empty(0), support))


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, 1, 3, 2]),
        np.array([-5, 7, -5, 0]),
        np.array([0, 255, 17, 0], dtype=np.uint8),
        np.array([-128, 127, -128, 1], dtype=np.int8),
        np.array([10**15, -(10**15), 0, 10**15]),
        np.array([2**64 - 1, 0, 2**63, 5], dtype=np.uint64),
        np.array([0.5, -0.25, 0.5, math.inf]),
        np.array([0.5, 1.5], dtype=np.float32),
        np.array([True, False, True]),
        np.array(["b", "a", "b"]),
        np.array(["b", None, (1, 2), "b"], dtype=object),
        np.array([], dtype=np.int64),
        np.array([], dtype=object),
    ],
    ids=lambda values: f"{values.dtype}-{values.tolist()}",
)
def test_codes_lead_back_to_the_values(values: np.ndarray) -> None:
    codes = book()
    encoded = codes.encode(values)
    assert [codes.values[code] for code in encoded] == values.tolist()
    assert sorted(set(encoded.tolist())) == list(range(len(codes.values)))


def test_a_range_of_whole_numbers_may_widen_on_both_sides() -> None:
    codes = book()
    codes.encode(np.arange(5))
    codes.encode(np.arange(-3, 9))
    assert [codes.values[code] for code in codes.encode(np.arange(-3, 9))] == [*range(-3, 9)]
    assert len(codes.values) == 12


def test_declared_values_have_their_codes_from_the_start() -> None:
    codes = book((5, 3, 4))
    assert codes.values == [5, 3, 4]
    assert codes.encode(np.array([3, 3, 5])).tolist() == [1, 1, 0]
    assert codes.encode(np.array([4.0, 3.0])).tolist() == [2, 1]
    assert codes.values == [5, 3, 4]


@pytest.mark.parametrize(
    "value", [np.array([9]), np.array([9.5]), np.array(["x"], dtype=object), np.array([10**12])]
)
def test_a_value_outside_the_declared_support_is_refused(value: np.ndarray) -> None:
    with pytest.raises(UnskewError, match=r"'v' gave .* outside its declared support 1, 2"):
        book((1, 2)).encode(value)


def test_nan_is_refused() -> None:
    with pytest.raises(UnskewError, match="'v' gave nan"):
        book().encode(np.array([1.0, math.nan]))
    with pytest.raises(UnskewError, match="'v' gave nan"):
        book().encode(np.array(["a", math.nan], dtype=object))


@pytest.mark.parametrize("kind", [np.int64, np.float64, object])
def test_an_identifier_is_no_variable(kind: type) -> None:
    codes = book()
    codes.encode(np.arange(MAX_VALUES).astype(kind))
    codes.encode(np.arange(MAX_VALUES).astype(kind))
    message = r"'v' has more than 100[,_]?000 values .* clip, round or bin it"
    with pytest.raises(UnskewError, match=message):
        codes.encode(np.arange(MAX_VALUES + 1).astype(kind))


def test_a_declared_support_may_not_be_that_large_either() -> None:
    with pytest.raises(UnskewError, match=r"more than 100[,_]?000 values"):
        book(tuple(range(MAX_VALUES + 1)))


few = st.integers(-6, 6)
whole = st.integers(-20, 20) | st.integers(-(2**40), 2**40)
numbers = whole | st.floats(-100, 100) | st.sampled_from([0.5, 1.0, 2.0])
anything = numbers | st.text(max_size=2) | st.none() | st.tuples(st.integers(0, 3), st.text())


@settings(fixed, max_examples=400)
@given(
    st.lists(few) | st.lists(whole) | st.lists(numbers) | st.lists(anything),
    st.lists(st.integers(0, 40)),
    st.booleans(),
)
def test_codes_agree_with_a_dict_whatever_the_batches(
    values: list[Any], cuts: list[int], declared: bool
) -> None:
    support = tuple(dict.fromkeys(values)) if declared else None
    codes = book(support)
    edges = [0, *sorted(cuts), len(values)]
    encoded: list[int] = []
    for start, end in pairwise(edges):
        encoded += codes.encode(as_values(values[start:end])).tolist()
    number_of: dict[Any, int] = {}
    for value, code in zip(values, encoded, strict=True):
        assert number_of.setdefault(value, code) == code
        assert codes.values[code] == value
    assert sorted(number_of.values()) == list(range(len(codes.values)))


def test_a_long_list_of_values_is_shown_without_its_middle() -> None:
    assert describe([1, 2, 3]) == "1, 2, 3"
    assert describe(list(range(20))) == "0, 1, 2, 3, 4, 5, 6, … (12 more), 19"


def test_numbers_of_two_kinds_are_called_so() -> None:
    mixed = clip(lambda e: e or True, 0, 3)
    with pytest.raises(UnskewError, match="gave values of bool and int; measure numbers of one"):
        mixed.measure(Batch.of([0, 1, 2, 0]))
