"""What a new user types in the first hour is done, or refused in one line that helps."""

import csv
import warnings
from pathlib import Path

import numpy as np
import pytest

import unskew
from unskew import UnskewError

ROWS = [{"lang": lang, "size": 1} for lang in "a" * 60 + "b" * 30 + "c" * 10]


def draw(rng):
    return {"lang": "abc"[min(int(rng.geometric(0.6)) - 1, 2)]}


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A CSV file with a missing value, in the current folder."""
    monkeypatch.chdir(tmp_path)
    with open("rows.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["lang", "date", "price"])
        for i, row in enumerate(ROWS):
            writer.writerow([row["lang"], f"2025-01-{i % 28 + 1:02}", "" if i % 7 == 0 else i / 8])
    return tmp_path / "rows.csv"


@pytest.mark.parametrize("options", [{"budget": 0}, {"closeness": 0.0}, {"budget": False}])
def test_a_price_of_0_is_refused_and_not_taken_for_none(options):
    message = r"(budget|closeness) is .*; allowed is"
    for call in (
        lambda: unskew.resample(ROWS, by="lang", **options),
        lambda: unskew.weights(ROWS, by="lang", **options),
        lambda: unskew.Sampler(ROWS, by="lang", **options),
        lambda: unskew.homogenize(draw, by="lang", **options),
    ):
        with pytest.raises(UnskewError, match=message):
            call()


@pytest.mark.parametrize("option", ["--budget", "--closeness"])
def test_a_price_of_0_is_refused_in_a_shell(option, table, run):
    for command in (
        ["resample", table, "--homogenize", "lang", "-o", "even.csv"],
        ["generate", "calculator/dcfg", "--homogenize", "length", "-n", 9, "-o", "made"],
    ):
        code, out, err = run(*command, option, 0)
        assert (code, out) == (2, "")
        assert f"{option[2:]} is 0.0; allowed is" in err


def test_a_csv_file_is_balanced_to_a_csv_file(table, run):
    code, out, err = run("resample", table, "--homogenize", "lang", "--budget", 5, "-o", "even.csv")
    assert (code, err) == (0, ""), out
    even = unskew.audit("even.csv", by=["lang", "price", "month(date)"])
    assert even.variables["lang"].counts == {"a": 10, "b": 10, "c": 10}
    with open("rows.csv") as before, open("even.csv") as after:
        rows = [(r["lang"], r["date"], float(r["price"] or "nan")) for r in csv.DictReader(before)]
        kept = [(r["lang"], r["date"], float(r["price"] or "nan")) for r in csv.DictReader(after)]
    assert set(map(str, kept)) <= set(map(str, rows))
    assert len(kept) == 30


def test_what_csv_cannot_hold_is_refused_and_leaves_no_file(tmp_path):
    path = tmp_path / "even.csv"
    with pytest.raises(UnskewError, match=r"column 'tags' holds lists or dicts, .*\.jsonl"):
        unskew.resample([{"a": 1, "tags": [1]}] * 3 + [{"a": 2, "tags": []}], by="a", path=path)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_variable_next_to_a_known_one_lists_all_columns(table):
    with pytest.raises(UnskewError, match="unknown variable 'zzz'; choose from date, lang, price"):
        unskew.resample("rows.csv", by=["lang", "zzz"])


def test_a_target_of_another_variable_is_refused_as_such():
    for of in ("uniform", {"1": 1}):
        with pytest.raises(UnskewError, match="one for each variable, by name: lang"):
            unskew.resample(ROWS, by="lang", budget=2, target={"size": of})


def test_data_to_be_like_is_named_when_it_lacks_a_column():
    with pytest.raises(UnskewError, match=r"examples, which others should be like: unknown .*lang"):
        unskew.resample(ROWS, by="lang", budget=2, like={"size": [1, 2]})


def test_a_target_without_a_name_is_for_all_variables(table, run):
    named = ["--target", "lang=sqrt", "--target", "month(date)=sqrt"]
    files = []
    for name, options in (("one.csv", ["--target", "sqrt"]), ("two.csv", named)):
        command = ["resample", table, "--homogenize", "lang", "--homogenize", "month(date)"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert run(*command, "--budget", 2, *options, "-o", name)[0] == 0
        files.append(Path(name).read_text())
    assert files[0] == files[1]


def test_by_is_homogenize_in_this_command(table, run):
    code, _, err = run("resample", table, "--by", "lang", "-o", "even.csv")
    assert code == 2
    assert "did you mean --homogenize?" in err


def test_a_function_with_yield_is_told_to_return():
    def endless(rng):
        while True:
            yield {"a": 1}

    for call in (
        lambda: unskew.audit(endless, n=10),
        lambda: next(unskew.homogenize(endless, "a")),
    ):
        with pytest.raises(UnskewError, match=r"returned a generator; .* return in place of yield"):
            call()


def test_a_pipe_is_called_a_pipe(run):
    code, _, err = run("audit", "/dev/null")
    assert code == 2
    assert "/dev/null is no file or folder but a pipe or a device" in err


def test_data_in_a_text_file_is_told_what_a_text_file_is(tmp_path, run):
    path = tmp_path / "rows.txt"
    path.write_text("a,b\n1,2\n")
    code, _, err = run("audit", path)
    assert code == 2
    assert "a .txt file holds examples of karel; give a file of data the name" in err


def test_a_module_with_its_ending_is_told_without(own_module, run):
    own_module("mine", "def draw(rng):\n    return 1\n")
    _, _, err = run("audit", "mine.py:draw")
    assert "there is no module 'mine.py'; write mine:draw" in err


def test_a_bracket_that_is_not_closed_is_said(table, run):
    _, _, err = run("audit", table, "--by", "bins(price, 10")
    assert "'bins(price, 10' has a bracket that is not closed; add ) at its end" in err


def test_bins_are_counted_without_the_missing_value():
    numbers = np.random.default_rng(0).random(500).tolist()
    text = str(unskew.audit([{"x": x} for x in [*numbers, None, None]]))
    assert "20 of 20 bins, None" in text
    assert "other bins have a name, such as bins(x, 1, 10)" in " ".join(text.split())


def test_a_warning_stands_at_the_line_of_the_user():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unskew.resample(ROWS, by="lang", n=20, target={"a": 1, "zzz": 1})
    assert [warning.filename for warning in caught] == [__file__]


def test_samplers_say_what_they_are():
    assert repr(unskew.Sampler(ROWS, by="lang", n=30)) == "Sampler: 30 rows in an epoch"
    batches = unskew.BatchSampler(ROWS, by="lang", batch=6, batches=2)
    assert repr(batches) == "BatchSampler: 2 batches of 6 rows in an epoch"
