"""Small things that data and samplers of users have, and what is said of them."""

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unskew
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
