"""Audits: figures against the slow twin, everything that can be audited, every bad input."""

import datetime
import decimal
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew
from tests.naive.homogenize import histogram_statistics
from unskew import Batch, Recipe, Source, UnskewError, audit, generate, over
from unskew.audits.auditor import Auditor
from unskew.audits.binning import readable_edges, usual_range
from unskew.audits.records import VariableAudit
from unskew.core.variables.combine import as_variable
from unskew.io.tables import table_batches

fixed = settings(derandomize=True)


def itself(example: Any) -> Any:
    return example


def constant(example: Any) -> int:
    return 0


def die(rng: np.random.Generator) -> int:
    return int(rng.integers(6))


# The figures.


@fixed
@given(st.lists(st.integers(0, 5), min_size=1), st.booleans())
def test_figures_agree_with_the_twin(values: list[int], declared: bool) -> None:
    support = range(6) if declared else sorted(set(values))
    variable = audit(values, by={"x": over(itself, support) if declared else itself}).variables["x"]
    expected = histogram_statistics(Counter(values), list(support))
    assert variable.counts == {x: values.count(x) for x in support}
    assert list(variable.counts) == list(support)
    assert variable.kl == pytest.approx(expected["kl"], abs=1e-12)
    assert variable.total_variation == pytest.approx(expected["total_variation"], abs=1e-12)
    assert variable.entropy == pytest.approx(expected["entropy"], abs=1e-12)
    assert variable.n == len(values)
    if declared:
        assert list(variable.missing) == expected["missing"]


def test_the_most_frequent_values_come_first() -> None:
    variable = audit([*"aaab"], by={"letter": over(itself, "abc")}).variables["letter"]
    assert variable.most_frequent == (("a", 0.75), ("b", 0.25))


@pytest.mark.parametrize(
    ("counts", "missing"),
    [
        ({1: 500, 2: 500, 4: 500, 5: 500}, (3,)),
        ({2: 400, 4: 400, 8: 400}, (6,)),
        (
            {-2: 400, 0: 400, 4: 400, 7: 1},
            (2,),
        ),  # one odd number does not make all odd ones missing
        ({1: 500, 2: 500, 3: 500}, ()),
        ({1: 500, 2: 500, 4: 10, 5: 500}, ()),  # 4 is too rare to tell
        ({1: 500, 2: 500, 3: 1, 4: 500}, ()),
        ({1: 500, 9: 500}, ()),
        ({200: 500, 201: 500, 404: 500}, ()),
        ({0: 500, 1: 500, 10**9: 500}, ()),
        ({0.5: 500, 1.5: 500, 3.5: 500}, ()),
        ({"a": 500, "c": 500, "e": 500}, ()),
        ({1: 1, 2: 1, 4: 1}, ()),
        ({-1: 400, 0: 400, 2**63: 400}, ()),
        ({-(2**63): 400, 0: 400, 2**64: 400}, (2**63,)),
    ],
)
def test_a_hole_lies_between_two_frequent_numbers(
    counts: dict[Hashable, int], missing: tuple[Hashable, ...]
) -> None:
    values = [value for value, count in counts.items() for _ in range(count)]
    assert audit(values, by={"x": itself}).variables["x"].missing == missing


@pytest.mark.parametrize("planted", [3, 6])
def test_a_planted_hole_is_found_and_nothing_else(planted: int) -> None:
    """Each of 5,000 values has a probability of at least 0.02; 22 of them make one frequent."""
    rng = np.random.default_rng(0)
    drawn = rng.geometric(0.3, 5000)
    drawn = drawn[drawn != planted]
    assert audit(drawn.tolist(), by={"x": itself}).variables["x"].missing == (planted,)


@pytest.mark.parametrize("n", [300, 3000])
def test_sparse_data_without_a_hole_has_none(n: int) -> None:
    """400 heavy-tailed samples; at 0.001 each, more than two fail with probability 0.008."""
    rng = np.random.default_rng(1)
    alarms = 0
    for tail in np.linspace(0.3, 1.2, 400):
        drawn = np.ceil(rng.pareto(tail, n)).clip(0, 1e6).astype(int).tolist()
        assert len(set(drawn)) < max(drawn)  # there are gaps
        alarms += bool(audit(drawn, by={"x": itself}).variables["x"].missing)
    assert alarms <= 2


def test_values_are_put_in_order() -> None:
    assert list(audit([3, 1.5, 2], by={"x": itself}).variables["x"].counts) == [1.5, 2, 3]
    assert list(audit(["b", "a"], by={"x": itself}).variables["x"].counts) == ["a", "b"]
    mixed = audit(["b", None, 10**400, 2], by={"x": itself}).variables["x"].counts
    assert list(mixed) == [10**400, 2, "b", None]
    assert list(audit([3, None, 1], by={"x": itself}).variables["x"].counts) == [1, 3, None]


def test_batches_are_counted_together() -> None:
    values = [x % 7 for x in range(10_000)]  # three batches
    result = audit(iter(values), by={"x": itself})
    assert result.n == 10_000
    assert result.variables["x"].counts == Counter(values)


# Duplicates.


class Point:
    def __init__(self, n: Any) -> None:
        self.n = n


class Slotted:
    __slots__ = ("n",)

    def __init__(self, n: Any) -> None:
        self.n = n


@dataclass
class Grid:
    cells: np.ndarray
    note: str = field(default="", compare=False)


def distinct(*batches: Batch) -> int:
    auditor = Auditor([as_variable(constant)])
    for batch in batches:
        auditor.add(batch)
    return auditor.result("test").distinct


class TestDuplicates:
    def check(self, examples: list[Any], keys: list[Hashable]) -> None:
        result = audit(examples, by=constant)
        assert result.distinct == len(set(keys))
        assert result.duplicates == len(keys) - len(set(keys))

    def test_texts(self) -> None:
        rng = np.random.default_rng(0)
        texts = ["".join(rng.choice([*"ab1é"], size=rng.integers(0, 9))) for _ in range(20_000)]
        self.check(texts, texts)

    def test_numbers(self) -> None:
        numbers = np.random.default_rng(1).integers(-5000, 5000, size=20_000).tolist()
        self.check(numbers, numbers)

    def test_dicts_whatever_the_order_of_their_keys(self) -> None:
        rng = np.random.default_rng(2)
        pairs = [(int(a), int(b)) for a, b in rng.integers(0, 60, size=(5000, 2))]
        dicts = [{"a": a, "b": b} if a % 2 else {"b": b, "a": a} for a, b in pairs]
        self.check(dicts, pairs)

    def test_dicts_within_dicts_too(self) -> None:
        self.check(
            [{"a": {"x": 1, "y": [{"p": 1, "q": 2}]}}, {"a": {"y": [{"q": 2, "p": 1}], "x": 1}}],
            [0, 0],
        )

    def test_sets_whatever_their_order(self) -> None:
        sets = frozenset([8, 0]), frozenset([0, 8]), frozenset([8])
        self.check([Point(part) for part in sets], [0, 0, 1])

    def test_mixed(self) -> None:
        mixed = [1, "1", (1,), ("1",), None, "None", 2.5, "2.5", b"1", "", 1, "1", (1,), None]
        self.check(mixed, mixed)

    def test_arrays_by_all_their_numbers(self) -> None:
        zeros, other = np.zeros(5000), np.zeros(5000)
        other[2500] = 1
        self.check([zeros, other, zeros.copy()], [0, 1, 0])
        self.check([np.array([1.0]), np.array([1 + 1e-12])], [0, 1])
        self.check([np.array([Point(1)]), np.array([Point(2)]), np.array([Point(1)])], [0, 1, 0])

    def test_tensors_by_all_their_numbers(self) -> None:
        torch = pytest.importorskip("torch")
        zeros, other = torch.zeros(5000), torch.zeros(5000)
        other[2500] = 1
        self.check([zeros, other, zeros.clone()], [0, 1, 0])
        self.check([zeros.bfloat16(), zeros.bfloat16(), zeros], [0, 0, 1])  # no array can hold it

    def test_objects_by_what_they_hold(self) -> None:
        """Not by where they lie: that place is another object's when they are gone."""
        numbers = np.random.default_rng(4).integers(0, 900, size=5000).tolist()
        for kind in (Point, Slotted):
            self.check([kind(n) for n in numbers], numbers)
            result = audit((kind(n) for n in numbers), by=constant)  # none is kept
            assert result.distinct == len(set(numbers))
        self.check([Point(1), Slotted(1), Point(Point(1)), Point(Point(1))], [0, 1, 2, 2])

    def test_objects_that_hold_themselves(self) -> None:
        ring, other = Point(1), Point(2)
        ring.n, other.n = [ring, 1], [other, 2]  # type: ignore[assignment]
        same = Point(1)
        same.n = [same, 1]  # type: ignore[assignment]
        self.check([ring, other, same], [0, 1, 0])

    def test_data_classes_by_all_their_numbers(self) -> None:
        grids = [Grid(np.zeros(5000), str(i)) for i in range(3)]
        grids[1].cells[2500] = 1
        self.check(grids, [0, 1, 0])

    def test_numbers_of_numpy_are_numbers(self) -> None:
        self.check([1, np.int64(1), np.uint8(1), 1.5, np.float64(1.5), np.bool_(True), True],
                   [0, 0, 0, 1, 1, 2, 2])  # fmt: skip

    def test_columns(self) -> None:
        rng = np.random.default_rng(3)
        left, right = rng.choice([*"ab"], size=(2, 5000, 3)).tolist()
        rows = [("".join(a), "".join(b)) for a, b in zip(left, right, strict=True)]
        rows += [("ab", "c"), ("a", "bc"), ("", "abc"), ("abc", "")]
        numbers = rng.integers(0, 3, size=len(rows))
        batch = Batch(
            {"l": pa.array([a for a, _ in rows]), "r": pa.array([b for _, b in rows]), "n": numbers}
        )
        expected = {(*row, n) for row, n in zip(rows, numbers.tolist(), strict=True)}
        assert distinct(batch) == len(expected)

    def test_a_million_whole_numbers_in_a_row(self) -> None:
        assert distinct(Batch({"n": np.arange(1_000_000)})) == 1_000_000

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            (["a", ""], None),
            ([0, 2], None),
            ([0.0, 1.5], None),
            ([True, False], None),
            ([b"a", b""], None),
            ([b"ab", b"\0\0"], pa.binary(2)),
            ([["a"], []], None),
        ],
    )
    def test_a_missing_value_does_not_change_the_other_rows(
        self, values: list[Any], kind: Any
    ) -> None:
        whole = Batch.from_arrow(pa.table({"x": pa.array(values, kind)}))
        holed = Batch.from_arrow(pa.table({"x": pa.array([*values, None], kind)}))
        no_value = Batch.from_arrow(pa.table({"x": pa.array([None])}))
        assert distinct(whole, holed) == 3
        assert distinct(whole, holed, no_value) == 3

    @pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.binary(2), pa.list_(pa.int8())])
    def test_no_rows_at_all(self, kind: Any) -> None:
        none = Batch.from_arrow(pa.table({"x": pa.array([], kind)}))
        assert distinct(none, Batch.from_arrow(pa.table({"x": pa.array([None], kind)}))) == 1
        assert distinct(Batch({"x": np.empty((0, 3))}), Batch({"x": np.zeros((2, 3))})) == 1

    @pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()])
    def test_views_are_taken_and_told_apart_like_any_text(self, kind: Any) -> None:
        batch = Batch.from_arrow(pa.table({"x": pa.array(["a", "b", None, "b"], kind)}))
        assert distinct(batch) == 3
        rows = batch.take(np.array([3, 0]))
        kept = batch.filter(np.array([False, True, False, False]))
        taken = [row["x"] for part in (rows, kept) for row in part.examples()]
        assert taken == (["b", "a", "b"] if kind == pa.string_view() else [b"b", b"a", b"b"])

    def test_views_inside_of_maps_are_taken_like_any_text(self) -> None:
        """Arrow cannot take rows of views, wherever they are."""
        maps = pa.MapArray.from_arrays(
            [0, 1, 2], ["k", "k"], pa.array(["a", "b"], pa.string_view())
        )
        (batch,) = table_batches([pa.table({"x": maps})], "a table")
        taken = batch.take(np.array([1, 0, 1]))
        assert [dict(row["x"]) for row in taken.examples()] == [{"k": "b"}, {"k": "a"}, {"k": "b"}]

    def test_rows_are_the_same_in_any_slice_of_a_table(self) -> None:
        table = pa.table({"x": ["ab", "c", "ab", "c"], "y": [1, 2, 1, 2]})
        batches = [Batch.from_arrow(table.slice(i, 1)) for i in range(4)]
        assert distinct(*batches) == distinct(Batch.from_arrow(table)) == 2


# What can be audited.


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which to write modules, files and datasets; it is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if (tmp_path / f"{name}.py").exists():
            del sys.modules[name]


def rows() -> list[dict[str, Any]]:
    return [{"kind": "ab"[i % 2], "size": i % 3, "id": i} for i in range(900)]


def check_rows(result: unskew.Audit) -> None:
    assert result.n == result.distinct == 900
    assert list(result.variables) == ["kind", "size", "id"]
    assert result.variables["id"].edges  # each row has an id of its own
    assert result.variables["kind"].counts == {"a": 450, "b": 450}
    assert result.variables["size"].counts == {0: 300, 1: 300, 2: 300}


def test_a_list_and_a_generator() -> None:
    check_rows(audit(rows()))
    check_rows(audit(row for row in rows()))


def test_a_parquet_file_by_path_and_by_name(written: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows()), written / "rows.parquet")
    check_rows(audit(written / "rows.parquet"))
    check_rows(audit("rows.parquet"))


def test_a_jsonl_file(written: Path) -> None:
    lines = [json.dumps(row) for row in rows()]
    (written / "rows.jsonl").write_text("\n".join(lines[:100]) + "\n\n" + "\n".join(lines[100:]))
    check_rows(audit("rows.jsonl"))


def test_a_folder_of_files(written: Path) -> None:
    for i in range(3):
        path = written / "parts" / f"{'ab'[i % 2]}" / f"{i}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows()[300 * i : 300 * i + 300]), path)
    (written / "parts" / "README.md").write_text("not data")
    check_rows(audit("parts"))


def test_a_sampler() -> None:
    result = audit(die, by={"x": itself}, n=500, seed=3)
    assert (result.label, result.n) == ("die", 500)
    assert result.to_dict() == audit(die, by={"x": itself}, n=500, seed=3).to_dict()
    assert result.to_dict() != audit(die, by={"x": itself}, n=500, seed=4).to_dict()


def test_what_is_endless_is_audited_up_to_100_000_examples() -> None:
    assert audit("calculator/dcfg").n == 100_000


def test_a_source_by_name_with_settings() -> None:
    result = audit("calculator/dcfg", n=2000, settings={"p": 0.0})
    assert result.label == "calculator/dcfg"
    assert list(result.variables) == [
        "length",
        "operations",
        "parentheses",
        "mean_depth",
        "max_depth",
    ]
    assert result.variables["operations"].counts == {0: 2000}
    assert result.distinct == 10
    by_text = audit("calculator/dcfg", n=2000, settings={"p": "0.0"})
    assert by_text.to_dict() == result.to_dict()


def test_a_source_as_an_object() -> None:
    source = Source("ones", lambda rng, n: (Batch({"x": np.ones(n, dtype=int)}), Counter(bad=1)))
    result = audit(source, n=10)
    assert result.variables["x"].counts == {1: 10}


def test_what_a_source_dropped_is_counted_for_the_examples_audited() -> None:
    """One draw in two is dropped, so that beside 2,000 stand about 2,000 (63 is one σ)."""
    result = audit("calculator/dcfg", n=2000, settings={"p": 0.5, "max_length": 1})
    assert abs(sum(result.dropped.values()) - 2000) < 400


def test_a_dataset_and_its_folder(written: Path) -> None:
    recipe = Recipe("calculator/dcfg", 500, homogenize=("max_depth",), shard_size=200)
    dataset = generate(recipe, "made")
    result = audit(dataset)
    assert result.n == 500
    assert result.variables["max_depth"].counts == dataset.tally.kept_values["max_depth"]
    assert audit("made").to_dict() == result.to_dict() == audit(Path("made")).to_dict()


def test_what_a_dataset_dropped_is_said_where_all_of_it_is_read(written: Path) -> None:
    recipe = Recipe("calculator/dcfg", 300, {"p": 0.5, "max_length": 1}, shard_size=100)
    dropped = generate(recipe, "made").tally.dropped
    assert dropped
    assert audit("made").dropped == audit("made", n=300).dropped == dropped
    assert audit("made", n=299).dropped == {}


def test_a_function_of_ones_own_module(written: Path) -> None:
    (written / "my_dice.py").write_text(
        "def draw(rng):\n    return int(rng.integers(6))\n\ndef odd(x):\n    return x % 2\n"
    )
    result = audit("my_dice:draw", by="my_dice:odd", n=100)
    assert (result.label, result.n) == ("my_dice:draw", 100)
    assert set(result.variables["my_dice:odd"].counts) == {0, 1}
    assert audit([1, 3], by="my_dice:odd").variables["my_dice:odd"].counts == {1: 2}


def test_variables_by_name_of_a_column_and_of_another_domain(written: Path) -> None:
    table = pa.table({"expression": ["1+2", "3"], "value": [3, 3]})
    pq.write_table(table, written / "sums.parquet")
    result = audit("sums.parquet", by=["value", "calculator/operations"])
    assert result.variables["value"].counts == {3: 2}
    assert result.variables["operations"].counts == {0: 1, 1: 1}


def test_a_column_may_be_named_example(written: Path) -> None:
    pq.write_table(pa.table({"example": ["a", "b", "a"]}), written / "x.parquet")
    assert audit("x.parquet", by="example").variables["example"].counts == {"a": 2, "b": 1}
    assert audit("x.parquet").variables["example"].counts == {"a": 2, "b": 1}


def test_the_first_n_are_audited() -> None:
    assert audit([1, 2, 2, 2], by=itself, n=2).variables["itself"].counts == {1: 1, 2: 1}
    assert audit([1, 2], by=itself, n=100).n == 2


def test_advance_is_told_of_each_example() -> None:
    seen: list[int] = []
    audit(iter(range(10_000)), by=constant, n=9_000, advance=seen.append)
    assert sum(seen) == 9_000
    assert len(seen) > 1


def test_columns_are_left_out_for_the_reason_that_is_true(run: Any, written: Path) -> None:
    table = [{"tags": [i], "meta": {f"a{i}": i}, "none": {}, "kind": i % 3} for i in range(500)]
    left_out = {
        "meta": "its dicts have 500 different keys; name one: meta.a0",
        "none": "its dicts have no names",
    }
    result = audit(table)
    assert result.left_out == left_out
    assert list(result.variables) == ["count(tags)", "kind"]
    (written / "x.jsonl").write_text("\n".join(map(json.dumps, table)))
    out = " ".join(run("audit", "x.jsonl")[1].split())
    assert "not measured: meta (its dicts have 500 different keys; name one" in out
    assert "not measured: none (its dicts have no names)" in out
    assert json.loads(run("audit", "x.jsonl", "--json")[1])["left_out"] == left_out


# Each example is measured once.


@pytest.mark.parametrize("value", [lambda x: x, lambda x: x % 7, str], ids=["bins", "few", "texts"])
def test_a_users_variable_is_measured_once_for_each_example(value: Any) -> None:
    measured: list[Any] = []

    def variable(example: float) -> Any:
        measured.append(example)
        return value(example)

    data = [x / 3 for x in range(5000)]  # two batches
    audit(data, by=variable)
    assert measured == data


# Numbers that hardly repeat.


def scores(n: int, scale: float = 1.0, seed: int = 0) -> list[dict[str, Any]]:
    return [{"score": x} for x in np.random.default_rng(seed).normal(0, scale, n).tolist()]


def test_numbers_that_hardly_repeat_are_counted_in_bins_of_one_width() -> None:
    data = scores(2000)
    for by in (None, "score", {"score": lambda row: row["score"]}):
        variable = audit(data, by=by).variables["score"]
        assert variable.edges[:2] == (-3.75, -3.5)
        labels = list(variable.counts)
        assert labels[:2] == ["< -3.75", "[-3.75, -3.5)"]
        assert labels[-1] == f"≥ {variable.edges[-1]:g}"
        inside = sum(-0.25 <= row["score"] < 0 for row in data)
        assert variable.counts["[-0.25, 0)"] == inside > 100
        assert variable.n == 2000
        assert variable.kl > 0.3
        assert "in 29 bins of 0.25" in variable.doc
        assert variable.to_dict()["support"] == "bins"


def test_the_bins_are_said_with_what_makes_others(run: Any, written: Path) -> None:
    (written / "x.jsonl").write_text("\n".join(map(json.dumps, scores(2000))))
    out = " ".join(run("audit", "x.jsonl")[1].split())
    assert re.search(r"\b2\d of 29 bins", out)
    assert "score (in 29 bins); other bins have a name, such as bins(score, 1, 10)" in out


@pytest.mark.parametrize(
    "values",
    [
        [x / 7 for x in range(99)],  # few
        [x // 2 / 7 for x in range(2000)],  # each value twice
        [str(x) for x in range(2000)],
        [x if x % 50 else "text" for x in range(2000)],
        [x % 50 for x in range(2000)],
    ],
    ids=["few", "twice", "texts", "mixed", "repeating"],
)
def test_what_is_few_or_repeats_or_is_no_number_is_counted_by_value(values: list[Any]) -> None:
    variable = audit(values, by={"x": itself}).variables["x"]
    assert variable.edges == ()
    assert variable.counts == Counter(values)


@pytest.mark.parametrize(
    ("values", "is_said"),
    [
        ([f"k{i}" for i in range(2000)], True),
        ([i / 7 for i in range(60)], True),  # too few for bins of an audit
        ([*range(31), *range(100, 115), *range(100, 114)], True),  # 32 of 60 are alone
        ([*range(30), *range(100, 115), *range(100, 115)], False),  # 30 of 60
        ([i / 7 for i in range(19)], False),  # so few may well differ
        ([i / 7 for i in range(2000)], False),  # they are in bins
    ],
    ids=["texts", "few numbers", "more than half", "half", "very few", "bins"],
)
def test_values_that_hardly_repeat_are_not_called_even(values: list[Any], is_said: bool) -> None:
    """Their KL is near 0, however skewed they are."""
    one = audit(values, by={"x": itself})
    said = "hardly any value repeats: x; so KL and TV tell little here"
    assert (said in " ".join(str(one).split())) is is_said
    assert (said in one._repr_html_()) is is_said
    assert (said in " ".join(str(one.compare(one)).split())) is is_said


def test_a_declared_support_says_what_is_even() -> None:
    declared = audit(list(range(60)), by=over(itself, range(60)))
    assert "hardly any" not in str(declared)


def test_missing_numbers_and_whole_numbers_have_bins_too() -> None:
    values = [None if x % 10 == 0 else 1_000 + 7 * x for x in range(2000)]
    variable = audit([{"x": value} for value in values]).variables["x"]
    assert variable.counts[None] == 200
    assert variable.counts["< 1500"] == sum(value is not None and value < 1500 for value in values)


def test_later_batches_go_into_the_bins_of_the_first() -> None:
    """The first batch has 4,096 rows from 0 to 1; what comes after lies in the open ends."""
    rng = np.random.default_rng(3)
    values = [*rng.random(4096).tolist(), -7.0, 12.0]
    variable = audit(iter(values), by={"x": itself}).variables["x"]
    first, *_, last = variable.counts.values()
    assert first == 1 + sum(value < 0.05 for value in values[:4096])
    assert last == 1 + sum(value >= 0.95 for value in values[:4096])


@pytest.mark.parametrize(
    "outliers",
    [[1e9], [-1e9], [math.inf], [1e9, -1e12], [999_999.0] * 60],
    ids=["high", "low", "infinite", "both", "a mark for missing"],
)
def test_outliers_leave_the_bins_of_all_others_as_they_are(outliers: list[float]) -> None:
    data = scores(2000)
    usual = audit(data).variables["score"]
    variable = audit([*data, *({"score": x} for x in outliers)]).variables["score"]
    assert variable.edges == usual.edges
    labels = list(variable.counts)
    for label in labels[1:-1]:
        assert variable.counts[label] == usual.counts[label]
    low, high = sum(x < 0 for x in outliers), sum(x > 0 for x in outliers)
    assert variable.counts[labels[0]] == usual.counts[labels[0]] + low
    assert variable.counts[labels[-1]] == usual.counts[labels[-1]] + high


def test_what_is_no_small_part_is_no_outlier() -> None:
    near, far = [x / 1000 for x in range(800)], [1e6 + x for x in range(200)]
    assert usual_range([*near, *far]) == (0.0, 1e6 + 149)  # 50 of 1,000 may be outliers
    assert usual_range([*near, 1e6]) == (0.0, 0.799)
    assert usual_range([-1e308, 0.0, 1e308]) == (-1e308, 1e308)
    assert usual_range([1.0]) == (1.0, 1.0)


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e12),
)
@fixed
def test_readable_edges_leave_both_ends_open(low: float, width: float) -> None:
    high = low + width
    edges = readable_edges(low, high)
    assert 13 <= len(edges) <= 30
    assert low < edges[0]
    assert edges[-1] <= high
    assert list(edges) == sorted(set(edges))


def test_there_are_no_readable_edges_where_numbers_are_too_near() -> None:
    assert readable_edges(1e10, 1e10 + 0.001) == ()
    assert readable_edges(3.0, 3.0) == ()


def test_two_audits_are_compared_in_the_same_bins_alone() -> None:
    before, wider = audit(scores(2000)), scores(2000, 3.0, seed=1)
    with pytest.raises(UnskewError, match=r"in the same bins: audit\(…, like=before\)"):
        before.compare(audit(wider)).to_dict()
    both = before.compare(audit(wider, like=before))
    old, new = both.variables["score"]
    assert list(old.counts) == list(new.counts)
    assert list(new.counts)[:2] == ["< -3.75", "[-3.75, -3.5)"]  # in order
    assert new.counts["< -3.75"] == sum(row["score"] < -3.75 for row in wider)


def test_the_command_compares_in_the_same_bins(run: Any, written: Path) -> None:
    for name, scale in (("a", 1.0), ("b", 3.0)):
        (written / f"{name}.jsonl").write_text("\n".join(map(json.dumps, scores(2000, scale))))
    code, out, _ = run("audit", "a.jsonl", "--after", "b.jsonl", "--json")
    assert code == 0
    sides = json.loads(out)["variables"]["score"]
    left, right = (
        [label for label, _ in sides[side]["histogram"]] for side in sides if side[0] in "ab"
    )
    assert left == right
    assert len(left) == 29


# Before and after.


def test_a_comparison_is_over_the_union_of_both_supports() -> None:
    before = audit([1] * 6 + [2] * 2, by={"x": itself})
    after = audit([2] * 4 + [4] * 4, by={"x": itself})
    comparison = before.compare(after)
    left, right = comparison.variables["x"]
    assert left.counts == {1: 6, 2: 2, 4: 0}
    assert right.counts == {1: 0, 2: 4, 4: 4}
    kl_before = histogram_statistics({1: 6, 2: 2}, [1, 2, 4])["kl"]
    kl_after = histogram_statistics({2: 4, 4: 4}, [1, 2, 4])["kl"]
    assert comparison.kl_removed("x") == pytest.approx(100 * (kl_before - kl_after) / kl_before)
    facts = comparison.to_dict()["variables"]["x"]
    assert facts["kl_removed_percent"] == comparison.kl_removed("x")
    assert facts["before"]["kl"] == pytest.approx(kl_before)
    assert facts["after"]["kl"] == pytest.approx(kl_after)


def test_all_of_the_divergence_may_be_removed_and_none_where_there_was_none() -> None:
    skewed, even = audit([1, 1, 1, 2], by=itself), audit([1, 1, 2, 2], by=itself)
    assert skewed.compare(even).kl_removed("itself") == pytest.approx(100)
    assert even.compare(skewed).kl_removed("itself") is None
    assert skewed.compare(skewed).kl_removed("itself") == 0


def test_only_common_variables_are_compared() -> None:
    both = audit([1, 2], by={"x": itself, "y": constant})
    one = audit([1, 2], by={"x": itself})
    assert list(both.compare(one).variables) == ["x"]
    with pytest.raises(UnskewError, match="no variable in common"):
        one.compare(audit([1, 2], by={"z": itself})).to_dict()


# Plain data.


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 4],
        [0.5, 1.5],
        ["a", "é"],
        [True, False],
        [None, "a", 1],
        [(1, "a"), (2, "b")],
        [(1, (2, 3))],
        [np.int64(3), np.float32(2.5), np.bool_(True)],
        [datetime.date(2020, 1, 1)],
        [decimal.Decimal("1.5")],
        [b"bytes"],
    ],
    ids=repr,
)
def test_an_audit_is_ready_for_json(values: list[Hashable]) -> None:
    result = audit(values, by={"x": itself})
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert [count for _, count in data["variables"]["x"]["histogram"]] == [1] * len(values)
    names = {"label", "n", "distinct", "duplicates", "dropped", "left_out", "variables", "plan"}
    assert set(data) == names


def test_a_file_of_dates_is_ready_for_json(written: Path) -> None:
    pq.write_table(pa.table({"day": [datetime.date(2020, 1, 1)] * 3}), written / "days.parquet")
    data = json.loads(json.dumps(audit("days.parquet").to_dict()))
    assert data["variables"]["day"]["n"] == 3


def test_a_variable_audit_says_whether_its_support_is_declared() -> None:
    assert VariableAudit("x", {1: 2}, True).to_dict()["support"] == "declared"
    assert VariableAudit("x", {1: 2}, False).to_dict()["support"] == "seen"


# Bad input: one line that names what is wrong, never another error.


def refused(message: str, *args: Any, **settings: Any) -> None:
    with pytest.raises(UnskewError, match=message) as caught:
        audit(*args, **settings)
    assert "\n" not in str(caught.value)


def test_nothing_to_audit(written: Path) -> None:
    refused("gave no examples", [], by=itself)
    refused("gave no examples", iter(()))
    (written / "empty.jsonl").write_text("\n\n")
    refused("empty.jsonl gave no examples", "empty.jsonl")
    pq.write_table(pa.table({"x": pa.array([], pa.int64())}), written / "empty.parquet")
    refused("empty.parquet gave no examples", "empty.parquet")
    (written / "zero.parquet").write_bytes(b"")
    refused("zero.parquet cannot be read as Parquet", "zero.parquet")
    (written / "folder").mkdir()
    refused("folder holds no data file", "folder")


def test_a_parquet_file_with_a_name_that_is_no_text(written: Path) -> None:
    pq.write_table(pa.table({"aéb": [1, 2]}), "x.parquet", store_schema=False)
    whole = Path("x.parquet").read_bytes()
    Path("x.parquet").write_bytes(whole.replace("é".encode(), b"\xee\xee"))
    refused("x.parquet cannot be read as Parquet .*utf-8", "x.parquet")


def test_a_truncated_parquet_file(written: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows()), written / "x.parquet")
    data = (written / "x.parquet").read_bytes()
    (written / "x.parquet").write_bytes(data[: len(data) // 2])
    refused("x.parquet cannot be read as Parquet .* truncated", "x.parquet")


def test_a_parquet_file_with_spoilt_pages(written: Path) -> None:
    table = pa.table({"x": np.random.default_rng(0).integers(0, 9, 5000)})
    pq.write_table(table, written / "x.parquet", compression="zstd")
    data = bytearray((written / "x.parquet").read_bytes())
    data[50:400] = bytes(350)
    (written / "x.parquet").write_bytes(data)
    refused("x.parquet cannot be read as Parquet", "x.parquet")


def test_a_parquet_file_with_two_columns_of_one_name(written: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(table, written / "x.parquet")
    refused("x.parquet", "x.parquet")


def test_text_in_a_parquet_file_that_is_not_utf8(written: Path) -> None:
    ends = pa.py_buffer(np.array([0, 1], dtype=np.int32))
    text = pa.StringArray.from_buffers(1, ends, pa.py_buffer(b"\xff"))
    pq.write_table(pa.table({"x": text}), written / "x.parquet")
    refused("UTF8", "x.parquet")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}\n{"a": 2', "x.jsonl line 2 is no JSON .* truncated"),
        (b'{"a": 1}\n\n\nnull null\n', "x.jsonl line 4 is no JSON"),
        (b'{"a": "\xff"}\n', "x.jsonl line 1 is no UTF-8 text"),
        (b'{"a": 1}\n5\n', r"x\.jsonl|'a'"),
        (b'{"a": 1}\n"a text"\n', r"x\.jsonl|'a'"),
        (b"[" * 100_000, "x.jsonl line 1"),
        (b"PAR1" + bytes(range(256)), "x.jsonl"),
    ],
    ids=["truncated", "two values", "latin", "number", "text", "deep", "binary"],
)
def test_a_jsonl_file_that_cannot_be_read(written: Path, content: bytes, message: str) -> None:
    (written / "x.jsonl").write_bytes(content)
    refused(message, "x.jsonl")


def test_names_that_do_not_exist_are_answered_with_the_nearest(written: Path) -> None:
    refused("did you mean 'calculator/dcfg'", "calculator/dcgf")
    refused("did you mean 'calculator/bal'", "calculater/bal")
    refused("did you mean 'length'", "calculator/dcfg", by="lenght")
    refused("did you mean 'length'", "calculator/dcfg", by=["operations", "lengths"])
    refused("did you mean 'size'", rows(), by="sise")
    refused("did you mean 'p'", "calculator/dcfg", settings={"pp": 0.3})
    refused("missing.parquet does not exist", "missing.parquet")
    refused("deep/in/nowhere does not exist", "deep/in/nowhere")
    refused("does not exist", Path("missing.jsonl"))
    refused("no module 'nowhere_at_all'", "nowhere_at_all:draw")
    (written / "a_module.py").write_text("def draw(rng):\n    return 1\nnumber = 5\n")
    refused("did you mean 'draw'", "a_module:drew")
    refused("'a_module:number' is int; name a function", "a_module:number")
    (written / "broken_module.py").write_text("1 / 0\n")
    refused("raised ZeroDivisionError", "broken_module:draw")


@pytest.mark.parametrize("n", [0, -5, float("nan"), 1.5])
def test_a_number_of_examples_that_is_none(n: float) -> None:
    refused("n is", [1, 2, 3], by=itself, n=n)


def test_columns_that_hold_lists(written: Path) -> None:
    pq.write_table(pa.table({"x": [[1, 2], [3]]}), written / "x.parquet")
    assert audit("x.parquet").variables["count(x)"].counts == {1: 1, 2: 1}
    refused(r"column 'x' holds lists; measure count\(x\), an item: x\[0\]", "x.parquet", by="x")


def test_columns_of_arrays() -> None:
    grids = Source("grids", lambda rng, n: (Batch({"grid": rng.random((n, 3))}), Counter()))
    refused("grid", grids, n=10, by="grid")
    assert audit(grids, n=10).variables["count(grid)"].counts == {3: 10}


def test_what_cannot_be_read_at_all(written: Path) -> None:
    refused("5 cannot be read; pass examples", 5)
    refused("None cannot be read", None)
    (written / "x.xml").write_text("a,b\n1,2\n")
    refused("x.xml is of no kind that can be read; point at .parquet", "x.xml")
    refused("examples has no column to measure; name what to measure", [{}, {}])
    (written / "x.jsonl").write_text("{}\n")
    refused("takes no settings", "x.jsonl", settings={"p": 1})


def test_an_unfinished_dataset(written: Path) -> None:
    made = generate(Recipe("calculator/dcfg", 10), "made")
    (written / "made" / "manifest.json").unlink()
    refused("made is not finished", "made")
    (written / "made" / "manifest.json").write_text("{")
    refused("manifest.json cannot be read", "made")
    made.parts[0].unlink()
    refused("cannot be read as Parquet", made)


@pytest.mark.parametrize("manifest", ["[]", "{}", '{"rows": 10}', "null"])
def test_a_manifest_that_is_none(written: Path, manifest: str) -> None:
    generate(Recipe("calculator/dcfg", 10), "made")
    (written / "made" / "manifest.json").write_text(manifest)
    refused("manifest.json", "made")
