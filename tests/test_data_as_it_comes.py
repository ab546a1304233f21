"""Small things that data and samplers of users have, and what is said of them."""

import gzip
import json
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unskew
from tests.packed_files import zst
from unskew import UnskewError


@pytest.mark.parametrize("damaged", ['{"level": 1', "", "none", None])
def test_one_text_that_is_no_json_does_not_hide_what_is_in_the_others(damaged: str | None) -> None:
    rows: list[dict[str, Any]] = [{"info": json.dumps({"level": i % 3})} for i in range(30)]
    audited = unskew.audit([*rows, {"info": damaged}])
    assert list(audited.variables) == ["info.level"]
    assert audited.variables["info.level"].counts == {0: 10, 1: 10, 2: 10, None: 1}


@pytest.mark.parametrize("name", ["rows.jsonl", "folder"])
def test_homogenize_names_the_verb_for_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("rows.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(UnskewError, match=f"{name} is data, .* with unskew.resample"):
        unskew.homogenize(name, by="a")


def test_a_sampler_of_many_may_return_an_array() -> None:
    def numbers(rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.integers(3, size=n)

    def pairs(rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.integers(3, size=(n, 2))

    audited = unskew.audit(numbers, by="example", n=100, batch=32)
    assert sorted(audited.variables["example"].counts) == [0, 1, 2]
    assert unskew.audit(pairs, by="count(example)", n=50, batch=8).n == 50
    with pytest.raises(UnskewError, match=r"returned array\(1\) when asked for"):
        unskew.audit(lambda rng, n: np.array(1), n=5, batch=5)


@pytest.mark.parametrize("verb", [unskew.resample, unskew.weights])
def test_a_variable_of_which_nothing_repeats_is_told(verb: Any) -> None:
    ages = np.random.default_rng(0).normal(40, 10, 200).tolist()
    rows = [{"age": age, "id": i, "job": i % 2} for i, age in enumerate(ages)]
    with pytest.warns(
        unskew.HealthWarning, match="hardly any value of 'age' repeats .* unskew.bins"
    ):
        verb(rows, by="age")
    with pytest.warns(unskew.HealthWarning, match="hardly any value of 'job × id' repeats"):
        verb(rows, by=["job", "id"])
    verb(rows, by="job")  # a warning would be an error


def test_names_and_addresses_that_are_not_read_have_a_next_step() -> None:
    with pytest.raises(UnskewError, match=r"give datasets\.load_dataset\('someone/maths'\)"):
        unskew.audit("someone/maths")
    with pytest.raises(UnskewError, match="download the file first, and give its path"):
        unskew.resample("https://example.com/x.parquet", by="a")
    with pytest.raises(UnskewError, match="is data, and homogenize draws new examples"):
        unskew.homogenize("https://example.com/x.parquet", by="a")


def test_audits_of_dates_and_prices_are_saved(tmp_path: Path) -> None:
    rows = [
        {
            "day": date(2024, 1, 1 + i % 3),
            "at": datetime(2024, 1, 1, i % 5),
            "price": Decimal(i % 2),
        }
        for i in range(30)
    ]
    audited = unskew.audit(rows)
    assert {"day", "at", "price"} <= set(audited.variables)
    assert unskew.Audit.load(audited.save(tmp_path / "audit.json")).variables == audited.variables


def failing() -> Iterator[dict[str, int]]:
    yield from ({"a": 1 // (3 - i)} for i in range(9))


def not_even_begun() -> Iterator[pa.Table]:
    raise OSError("the disk is gone")
    yield pa.table({"a": [1]})


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (failing, "generator object raised ZeroDivisionError: .*line .* after 3 examples; mend it"),
        (not_even_begun, r"raised OSError: the disk is gone \(.*test_data_as_it_comes.py line \d+"),
        (lambda: map(int, ["1", "x"]), "map object raised ValueError: .* after 1 examples"),
    ],
)
def test_examples_that_fail_while_they_are_made_are_one_line(make: Any, expected: str) -> None:
    with pytest.raises(UnskewError, match=expected):
        unskew.audit(make(), by="a")


def test_tables_of_several_shapes_are_refused() -> None:
    tables = [pa.table({"a": [1], "b": [2]}), pa.table({"b": [1]})]
    with pytest.raises(UnskewError, match="one of the tables has a column 'a' in number 0 alone"):
        unskew.audit(tables)


@pytest.mark.parametrize("edges", [5, None, [[1, 2], [3, 4]], [], "ab", [1, float("nan")]])
def test_edges_that_make_no_bins_are_refused(edges: Any) -> None:
    with pytest.raises(UnskewError, match=r"edges are .*; give"):
        unskew.bins("a", edges)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ([None], "a variable is None; pass a function"),
        ({"x": 5}, "variable 'x' is 5; pass a function"),
        (5, "by is 5; pass a function"),
    ],
)
def test_what_is_no_variable_is_refused(by: Any, expected: str) -> None:
    with pytest.raises(UnskewError, match=expected):
        unskew.audit([{"a": 1}], by=by)


def test_a_function_of_two_arguments_is_told_how_it_is_read() -> None:
    def many(rng: np.random.Generator, n: int) -> list[int]:
        return rng.integers(3, size=n).tolist()

    with pytest.raises(UnskewError, match=r"give unskew\.sampler\(draw, batch=True\) for draw"):
        unskew.audit(many)


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.json", "x.tsv"])
@pytest.mark.parametrize(("pack", "suffix"), [(gzip.compress, ".gz"), (zst, ".zst")])
def test_a_packed_file_without_its_suffix_is_told(
    tmp_path: Path, name: str, pack: Any, suffix: str
) -> None:
    (tmp_path / name).write_bytes(pack(b'{"a": 1}\n' * 40))
    with pytest.raises(UnskewError, match=f"is packed by .*; rename it to {name}{suffix}"):
        unskew.audit(tmp_path / name)


def test_a_json_file_of_splits_has_a_column_split(tmp_path: Path) -> None:
    splits = {"train": [{"a": 1}, {"a": 2}], "test": [{"a": 2}]}
    (tmp_path / "x.json").write_text(json.dumps(splits), encoding="utf-8")
    audited = unskew.audit(tmp_path / "x.json")
    assert audited.variables["split"].counts == {"test": 1, "train": 2}
    assert audited.variables["a"].counts == {1: 1, 2: 2}


def test_columns_named_like_splits_stay_columns(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"train": [1, 2], "test": [3, 3]}', encoding="utf-8")
    audited = unskew.audit(tmp_path / "x.json")
    assert audited.variables["test"].counts == {3: 2}
