"""Variables with more values than an audit lists, and audits that are added up."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew
from tests.naive.values import distances, first_named
from unskew.audits.auditor import Auditor
from unskew.audits.counts import ValueCounts
from unskew.audits.records import VariableAudit
from unskew.audits.tallies import Tallies
from unskew.balance.codebook import MAX_VALUES
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.variables.coded import Coded, as_coded
from unskew.core.variables.combine import as_variable, joint
from unskew.core.variables.variable import SalientVariable

ROWS = st.lists(st.integers(0, 12), min_size=1, max_size=30)
MOST = st.integers(1, 14)
HELD = st.sampled_from(["numbers", "texts", "objects", "coded"])


def held(rows, how):
    """Numbers as an array, as texts, as Python objects, or with each value held once."""
    if how == "texts":
        return np.array([f"v{row}" for row in rows], dtype=object)
    if how == "objects":
        return np.array(rows, dtype=object)
    return as_coded(np.array(rows)) if how == "coded" else np.array(rows)


def counted(parts, most, how="coded"):
    counts = ValueCounts(SalientVariable("v", lambda batch: np.empty(0)), (), most)
    for part in parts:
        counts.add(held(part, how))
    return counts


@given(st.lists(ROWS, min_size=1, max_size=4), MOST, st.sampled_from(["objects", "coded"]))
def test_the_first_values_are_listed_and_the_others_counted(parts, most, how):
    rows = [row for part in parts for row in part]
    named, others = first_named(rows, most)
    audit = counted(parts, most, how).result()
    assert dict(audit.counts) == named
    assert (audit.tail.times if audit.tail else {}) == Counter(others.values())
    assert (audit.n, audit.seen, audit.size) == (len(rows), len(set(rows)), len(set(rows)))


@given(st.lists(ROWS, min_size=1, max_size=4), MOST, HELD)
def test_distances_count_the_values_that_are_not_listed(parts, most, how):
    audit = counted(parts, most, how).result()
    expected = distances([row for part in parts for row in part])
    actual = (audit.entropy, audit.kl, audit.total_variation)
    assert actual == pytest.approx(expected, abs=1e-12)


@given(st.lists(ROWS, min_size=2, max_size=6), st.integers(1, 5), MOST, HELD)
def test_counts_that_are_merged_are_those_of_one(parts, cut, most, how):
    whole = counted(parts, most, how).result()
    first, second = counted(parts[:cut], most, how), counted(parts[cut:], most, how)
    first.merge(second.tally())
    assert json.dumps(first.result().to_dict()) == json.dumps(whole.to_dict())


@given(ROWS, ROWS, MOST)
def test_a_comparison_of_values_that_are_not_listed_gives_lower_bounds(before, after, most):
    audits = [counted([rows], most).result() for rows in (before, after)]
    union = sorted(set(before) | set(after))
    listed = sorted({*audits[0].counts, *audits[1].counts})
    for audit, rows in zip(audits, (before, after), strict=True):
        exact = VariableAudit("v", {value: rows.count(value) for value in union}, declared=False)
        bound = audit.over(listed)
        assert bound.n == len(rows)
        assert bound.kl <= exact.kl + 1e-12
        assert bound.total_variation <= exact.total_variation + 1e-12
        assert bound.entropy == pytest.approx(exact.entropy)


def test_the_audit_says_how_many_values_it_does_not_list():
    audit = counted([[1, 2, 2, 3, 3, 3, 4]], 2).result()
    assert dict(audit.counts) == {1: 1, 2: 2}
    assert audit.doc == (
        "only the first values are listed: 4 examples have one of 2 other values, and no such "
        "value has more than 3 of them. KL and TV count these too; in a comparison they are lower "
        "bounds"
    )
    assert audit.to_dict()["tail"] == {"values": 2, "n": 4, "times": [[1, 1], [3, 1]]}
    assert audit.missing == ()


def test_an_audit_lists_a_hundred_thousand_values_and_counts_all():
    n = MAX_VALUES + 500
    audit = unskew.audit([*range(n), *range(n - 10, n)], by={"id": lambda row: f"row {row}"})
    assert len(audit.variables["id"].counts) == MAX_VALUES
    assert audit.variables["id"].tail.times == {1: 490, 2: 10}
    assert audit.distinct == n


EXAMPLES = st.fixed_dictionaries(
    {
        "number": st.integers(0, 5) | st.none(),
        "text": st.sampled_from(["a", "b", "c", "d"]),
        "float": st.floats(0, 1),
        "list": st.lists(st.integers(0, 2), max_size=2),
    }
)


def variables():
    number = as_variable(lambda row: row["number"], "number")
    text = as_variable(lambda row: row["text"], "text")
    return [number, text, as_variable(lambda row: row["float"], "float"), joint([text, number])]


def through_json(tallies):
    """The tallies as another process gets them."""
    data, arrays = tallies.data()
    return Tallies.read(json.loads(json.dumps(data)), arrays)


@given(
    st.lists(st.lists(EXAMPLES, min_size=1, max_size=10), min_size=1, max_size=6),
    st.lists(st.integers(0, 6), max_size=3),
    st.sampled_from([2, MAX_VALUES]),
)
def test_auditors_of_several_files_are_one_auditor(batches, cuts, most):
    whole = Auditor(variables(), most_named=most)
    for batch in batches:
        whole.add(Batch.of(batch))
    first = Auditor(variables(), most_named=most)
    first.add(Batch.of(batches[0]))
    edges = [0, *sorted(cuts), len(batches)]
    for start, end in pairwise(edges):
        apart = first.apart()
        for batch in batches[max(start, 1) : max(end, 1)]:
            apart.add(Batch.of(batch))
            first.show(Batch.of(batch))
        first.merge(through_json(apart.tallies()))
    one, other = whole.result("x"), first.result("x")
    assert json.dumps(other.to_dict()) == json.dumps(one.to_dict())
    assert other.samples == one.samples


def test_bins_are_passed_on_to_the_auditors_of_other_files():
    rng = np.random.default_rng(0)
    first, second = ([{"x": float(x)} for x in rng.normal(size=500)] for _ in range(2))
    variable = as_variable(lambda row: row["x"], "x")
    auditor = Auditor([variable])
    auditor.add(Batch.of(first))
    apart = auditor.apart()
    apart.add(Batch.of(second))
    auditor.merge(apart.tallies())
    audit = auditor.result("x").variables["x"]
    assert audit.n == 1000
    assert audit.edges
    other = Auditor([variable])
    other.add(Batch.of(second[:50]))
    with pytest.raises(UnskewError, match="other variables or bins"):
        auditor.merge(other.tallies())


def test_auditors_of_nothing_add_nothing():
    auditor = Auditor([as_variable(len)])
    auditor.add(Batch.of(["a", "bb"]))
    auditor.merge(auditor.apart().tallies())
    assert auditor.result("x").n == 2
    with pytest.raises(UnskewError, match="gave no examples"):
        Auditor([as_variable(len)]).apart().result("x")


def test_values_held_once_are_counted_like_values_of_rows():
    codes = np.array([2, 0, 2, 2])
    counts = ValueCounts(SalientVariable("v", lambda batch: np.empty(0)))
    counts.add(Coded(["never first", "not there", "b"], codes))
    assert dict(counts.result().counts) == {"b": 3, "never first": 1}
