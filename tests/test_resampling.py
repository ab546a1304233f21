"""Resampling data of others: the shares it aims at, the rows it takes, and what it refuses.

Statistical tests have fixed seeds; each would fail by chance once in a million seeds (ALARM), and
each has a fault planted that it must catch.
"""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew
from tests.naive import choosing as naive
from tests.statistics import fits
from unskew.balance import theory
from unskew.balance.allotment import (
    allot,
    choose,
    epsilon_for,
    most_possible,
    target_shares,
    within,
)
from unskew.balance.homogenizer import Homogenizer
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.core.variables.combine import as_variable
from unskew.datasets.convert import convert
from unskew.datasets.resampling.pool import needed_columns, open_finite
from unskew.io.dataset import read_parquet

ALARM = 1e-6
COUNTS = np.array([500, 250, 120, 60, 30, 40])


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def skewed(n: int = 5000, seed: int = 0) -> list[dict]:
    """Rows whose answers 1, 2, … 6 halve from one to the next."""
    answers = np.minimum(generator(seed, "rows").geometric(0.5, n), 6)
    return [{"id": i, "answer": int(a), "kind": "ab"[i % 2]} for i, a in enumerate(answers)]


def write_jsonl(rows: list[dict], name: str = "x.jsonl") -> Path:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Path(name)


def read(name: str) -> list[dict]:
    if name.endswith(".parquet"):
        return pq.read_table(name).to_pylist()
    return [json.loads(line) for line in Path(name).read_text().splitlines()]


# How many of each value.


@pytest.mark.parametrize("epsilon", [0, 0.001, 0.025, 1])
def test_shares_are_those_homogenizing_settles_to(epsilon):
    limit = theory.homogenized(COUNTS / COUNTS.sum(), epsilon)
    assert target_shares(COUNTS, epsilon) == pytest.approx(limit)


@pytest.mark.parametrize("epsilon", [0, 0.001, 0.025, 1])
def test_as_many_are_possible_as_the_rarest_values_allow(epsilon):
    most = (COUNTS / target_shares(COUNTS, epsilon)).min()
    assert most_possible(COUNTS, epsilon) == math.floor(most + 1e-6)


def test_the_papers_procedure_keeps_as_many_of_the_same_pool():
    codes = generator(1, "order").permutation(np.repeat(np.arange(6), 40 * COUNTS))
    homogenizer = Homogenizer(as_variable(int), 0.025, generator(0, "accept"))
    kept = homogenizer.keep(Batch.of(codes.tolist()), len(codes)).sum()
    possible = most_possible(40 * COUNTS, 0.025)
    # The standard deviation is below the root of what is kept; the first draws are kept freely.
    assert abs(kept - possible) < 5 * math.sqrt(possible)
    assert abs(kept - most_possible(40 * COUNTS, 0.05)) > 5 * math.sqrt(possible)  # planted


counts_of_pools = st.lists(st.integers(1, 2000), min_size=1, max_size=60).map(np.array)


@given(counts_of_pools, st.floats(0, 2), st.floats(0, 1), st.integers(0, 99))
def test_allotments_are_rounded_shares_and_fit_the_pool(counts, epsilon, part, seed):
    possible = most_possible(counts, epsilon)
    assert 1 <= possible <= counts.sum()
    n = max(1, round(part * possible))
    allotted = allot(target_shares(counts, epsilon), n, generator(seed, "allot"))
    assert allotted.sum() == n
    assert (np.abs(allotted - n * target_shares(counts, epsilon)) < 1 + 1e-6).all()
    assert (within(allotted, counts) <= counts).all()
    assert within(allotted, counts).sum() == n
    assert (allotted <= counts).all()  # within() only guards against floating point


@given(st.integers(1, 500), st.integers(1, 50))
def test_at_epsilon_zero_all_values_get_as_many(least, size):
    counts = np.arange(least, least + size)
    assert most_possible(counts, 0) == least * size
    assert (allot(target_shares(counts, 0), least * size, generator(0, "allot")) == least).all()


def test_rounding_forgets_no_rare_value():
    counts = np.concatenate([np.full(200, 50), np.full(300, 1)])
    shares = 20 * target_shares(counts, 0.001)  # below one each, so somebody gets none
    runs = sum(
        allot(target_shares(counts, 0.001), 20, generator(seed, "allot")) for seed in range(2000)
    )
    common = runs[:200].sum()
    expected = 2000 * shares[:200].sum()
    assert abs(common - expected) < 5 * math.sqrt(2000)  # a run is off by less than one half
    assert fits(runs, shares / 20) > ALARM
    nearest = sum(  # planted: the largest shares first
        np.isin(np.arange(500), np.argsort(-shares, kind="stable")[:20]) for _ in range(2000)
    )
    assert fits(nearest, shares / 20) < ALARM


def test_the_epsilon_that_is_enough():
    for n in (300, 500, 700):
        enough = epsilon_for(COUNTS, n)
        assert most_possible(COUNTS, enough) >= n > most_possible(COUNTS, 0.85 * enough)
    assert epsilon_for(COUNTS, 1000) is None


# Which rows.


def test_each_row_of_a_value_is_as_likely():
    codes = generator(2, "codes").permutation(np.repeat([0, 1], [40, 10]))
    rows = np.flatnonzero(codes == 0)
    taken = sum(choose(codes, np.array([4, 10]), generator(s, "x"))[rows] for s in range(3000))
    assert fits(taken, np.full(40, 1 / 40)) > ALARM
    in_turn = sum(np.isin(np.arange(40), (s + np.arange(4)) % 30) for s in range(3000))
    assert fits(in_turn, np.full(40, 1 / 40)) < ALARM  # planted: the last ten never


@given(st.lists(st.integers(0, 4), min_size=1, max_size=80), st.integers(0, 99), st.data())
def test_the_rows_are_those_that_sorting_all_of_them_gives(codes, seed, data):
    codes = np.array(codes)
    counts = np.bincount(codes, minlength=5)
    allotted = np.array([data.draw(st.integers(0, 3 * count)) for count in counts.tolist()])
    times = choose(codes, allotted, generator(seed, "x"))
    assert times.tolist() == naive.choose(codes.tolist(), allotted.tolist(), seed)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=80), st.integers(0, 300))
def test_repeats_are_spread_evenly(codes, each):
    codes = np.array(codes)
    allotted = np.where(np.bincount(codes, minlength=5) > 0, each, 0)
    times = choose(codes, allotted, generator(0, "x"))
    for code in set(codes.tolist()):
        mine = times[codes == code]
        assert mine.sum() == each
        assert mine.max() - mine.min() <= 1


# Files.


@pytest.mark.parametrize("out", ["y.parquet", "y.jsonl"])
@pytest.mark.parametrize("form", ["jsonl", "parquet", "folder"])
def test_any_file_becomes_more_even_and_no_row_comes_twice(form, out):
    rows = skewed()
    if form == "jsonl":
        data = write_jsonl(rows)
    else:
        data = Path("x.parquet" if form == "parquet" else "hub/data/train-00000-of-00002.parquet")
        data.parent.mkdir(parents=True, exist_ok=True)
        half = len(rows) if form == "parquet" else 2000
        pq.write_table(pa.Table.from_pylist(rows[:half]), data)
        if form == "folder":
            second = data.with_name("train-00001-of-00002.parquet")
            pq.write_table(pa.Table.from_pylist(rows[half:]), second)
            data = Path("hub")
    made = unskew.resample(str(data), "answer", path=out)
    written = read(out)
    counts = Counter(row["answer"] for row in rows)
    shares = target_shares(np.array([counts[a] for a in range(1, 7)]), 0.025)
    kept = Counter(row["answer"] for row in written)
    assert made.rows == made.possible == made.distinct == len(written)
    for answer, share in zip(range(1, 7), shares, strict=True):
        assert abs(kept[answer] - len(written) * share) < 1
    assert all(rows[row["id"]] == row for row in written)
    ids = [row["id"] for row in written]
    assert ids == sorted(set(ids))
    assert made.tally.drawn_values["answer"] == counts
    assert made.tally.kept_values["answer"] == kept


def test_the_same_seed_gives_the_same_bytes_and_another_other_rows():
    data = write_jsonl(skewed())
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        unskew.resample(data, "answer", 300, path=f"{name}.parquet", seed=seed)
    first, again, other = (Path(f"{name}.parquet").read_bytes() for name in "abc")
    assert first == again
    assert first != other
    ids = [{row["id"] for row in read(f"{name}.parquet")} for name in "ac"]
    assert len(ids[0] & ids[1]) < 150


def test_repeats_make_it_as_even_as_asked(run):
    write_jsonl(skewed(2000))
    code, out, _ = run("resample", "x.jsonl", "--homogenize", "answer", "--replacement",
                       "--epsilon", 0, "-n", 6000, "-o", "y.jsonl", "--json")  # fmt: skip
    assert code == 0
    found = json.loads(out)
    assert found["rows"] == 6000
    assert {kept for _, _, kept in found["tally"]["values"]["answer"]} == {1000}
    written = Counter(row["id"] for row in read("y.jsonl"))
    assert len(written) == found["distinct"]
    code, out, _ = run(
        "resample", "x.jsonl", "--homogenize", "answer", "--replacement", "-o", "z.jsonl"
    )
    assert code == 0
    assert "wrote z.jsonl (2,000 of 2,000 examples, " in out


def test_functions_and_several_variables_and_domains(run, monkeypatch):
    Path("theirs.py").write_text("def odd(row): return row['answer'] % 2\n")
    write_jsonl(skewed())
    code, out, _ = run("resample", "x.jsonl", "--homogenize", "theirs:odd", "--homogenize", "kind",
                       "--epsilon", 0, "-o", "y.parquet", "--json")  # fmt: skip
    assert code == 0
    ((name, values),) = json.loads(out)["tally"]["values"].items()
    assert name == "theirs:odd × kind"
    assert len({kept for _, _, kept in values}) == 1
    run("generate", "calculator/dcfg", "-n", 3000, "-o", "d")
    code, out, _ = run("resample", "d", "--homogenize", "length", "-o", "even.parquet")
    assert code == 0
    before, after = (
        unskew.audit(t, "length" if t == "d" else "calculator/length")
        for t in ("d", "even.parquet")
    )
    assert after.variables["length"].kl < before.variables["length"].kl / 2


def test_examples_in_memory_and_functions_of_them():
    made = unskew.resample(list("aaaaaaab"), lambda x: x, path="y.jsonl", epsilon=0)
    assert (made.rows, read("y.jsonl")) == (2, ["a", "b"])


def test_declared_values_that_are_not_there_are_left_out():
    variable = unskew.over(lambda row: row["answer"], [0, *range(1, 7)])
    made = unskew.resample(skewed(), {"answer": variable}, epsilon=0)
    assert set(made.tally.kept_values["answer"]) == set(range(1, 7))


def test_missing_values_are_a_value():
    rows = [{"a": 1}] * 50 + [{"a": None}] * 10 + [{"b": 1}] * 5
    made = unskew.resample(rows, "a", epsilon=0)
    assert made.tally.kept_values["a"] == {1: 15, None: 15}


# Refusals: one line, and nothing written.


def test_too_few_are_named_with_what_to_do(run):
    write_jsonl([{"a": a} for a in [1] * 900 + [2] * 80 + [3] * 20])
    code, _, err = run("resample", "x.jsonl", "--homogenize", "a", "-n", 300, "-o", "y.jsonl")
    assert code == 2
    assert err.startswith("error: n is 300, but x.jsonl gives 98 at epsilon 0.025 without repeats")
    assert "too few have a = 3 (20 of 61), 2 (80 of 105); ask for at most 98" in err
    enough = float(err.split("raise epsilon to ")[1].split(",")[0])
    assert err.endswith("or allow repeats: --replacement (in Python: replacement=True)\n")
    assert not Path("y.jsonl").exists()
    assert run("resample", "x.jsonl", "--homogenize", "a", "-n", 98, "-o", "y.jsonl")[0] == 0
    args = ("resample", "x.jsonl", "--homogenize", "a", "-n", 300, "-o", "y.jsonl")
    assert run(*args, "--epsilon", enough)[0] == 0
    assert run(*args, "--replacement")[0] == 0
    many = unskew.resample
    with pytest.raises(UnskewError, match=r"has 1000 examples, 98 of them at epsilon 0\.025"):
        many("x.jsonl", "a", 1001)
    write_jsonl([{"a": a} for a in range(20) for _ in range(1 + a)])
    with pytest.raises(UnskewError, match=r"a = 0 \(1 of 10\), .* \(4 more values\); ask"):
        many("x.jsonl", "a", 200, epsilon=0)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("x.jsonl", "y.txt", "a"), "has the suffix '.txt'; allowed are .parquet, .jsonl, .csv"),
        (("x.jsonl", "y.jsonl", "b"), "unknown variable 'b'; choose from a"),
        (("x.jsonl", "y.jsonl", "a", 0), "n is 0; allowed is a whole number of at least 1"),
        (("nowhere.jsonl", "y.jsonl", "a"), "does not exist"),
        (("empty.jsonl", "y.jsonl", "a"), "gave no examples; there is nothing to resample"),
        (("calculator/dcfg", "y.jsonl", "length"), "never ends, so it cannot be resampled"),
        ((iter([1, 2]), "y.jsonl", len), "can be read only once; pass a list"),
        (("x.jsonl", "y.jsonl", []), "by is empty"),
    ],
)
def test_what_cannot_be_done_is_one_line(args, message):
    write_jsonl([{"a": 1}, {"a": 2}])
    Path("empty.jsonl").write_text("")
    data, path, *chosen = args
    with pytest.raises(UnskewError, match=message) as raised:
        unskew.resample(data, *chosen, path=path)
    assert "\n" not in str(raised.value)
    assert sorted(p.name for p in Path().iterdir()) == ["empty.jsonl", "x.jsonl"]


def test_epsilon_below_zero_is_refused():
    with pytest.raises(UnskewError, match="epsilon is -1; allowed is at least 0"):
        unskew.resample([1, 2], lambda x: x, epsilon=-1)


@pytest.mark.parametrize("change", [lambda rows: rows.pop(), lambda rows: rows.insert(0, "new")])
def test_data_that_changes_while_it_is_read_is_noticed(change):
    rows = list("ab" * 3000)
    Path("y.jsonl").write_text("old")

    class Changing(list):
        def __iter__(self):
            found = iter(list(rows))
            change(rows)
            return found

    with pytest.raises(UnskewError, match="changed while it was read; run the command again"):
        unskew.resample(Changing(rows), lambda x: x, path="y.jsonl")
    assert Path("y.jsonl").read_text() == "old"
    assert [p.name for p in Path().iterdir()] == ["y.jsonl"]


def test_the_data_is_never_held_at_once():
    """Arrow counts the bytes that its pool lends: here less than half of the table's."""
    rows = 2_000_000
    table = pa.table({"a": np.arange(rows) % 3, "text": ["x" * 40] * rows})
    pq.write_table(table, "x.parquet", row_group_size=20_000)
    before = pa.default_memory_pool()
    counting = pa.proxy_memory_pool(before)
    pa.set_memory_pool(counting)
    try:
        made = unskew.resample("x.parquet", "a", path="y.parquet")
    finally:
        pa.set_memory_pool(before)
    assert made.rows == made.possible
    assert 0 < counting.max_memory() < table.nbytes / 2


@pytest.mark.parametrize("output", ["data/rows.jsonl", "link.jsonl", "data/../data/rows.jsonl"])
def test_what_is_read_is_not_written_over(tmp_path, monkeypatch, output):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    rows = Path("data/rows.jsonl")
    rows.write_text('{"a": 1}\n{"a": 1}\n{"a": 2}\n')
    Path("link.jsonl").symlink_to(rows.resolve())
    before = rows.read_bytes()
    for target in (str(rows), rows, "link.jsonl"):
        with pytest.raises(UnskewError, match="is also the input; name another file"):
            unskew.resample(target, "a", path=output)
        with pytest.raises(UnskewError, match="is also the input; name another file"):
            convert(target, output)
    with pytest.raises(UnskewError, match="would lie in data, which is read"):
        unskew.resample("data", "a", path="data/even.jsonl")
    with pytest.raises(UnskewError, match="would lie in data, which is read"):
        convert("data", "data/deep/even.jsonl")
    assert rows.read_bytes() == before
    assert [path.name for path in Path("data").iterdir()] == ["rows.jsonl"]
    assert convert("data", "all.jsonl") == 3


def test_a_dataset_is_not_written_into(tmp_path):
    made = unskew.generate(unskew.Recipe("calculator/dcfg", 20), tmp_path / "made")
    for target in (made, made.folder):
        with pytest.raises(UnskewError, match="which is read; write it elsewhere"):
            convert(target, made.folder / "data" / "all.parquet")


@pytest.mark.parametrize(
    ("by", "columns"),
    [
        ("kind", ["kind"]),
        (unskew.clip("size", 0, 3), ["size"]),
        ({"k": "kind", "s": unskew.bins("meta.deep", [1, 2])}, ["kind", "meta"]),
        (["kind", unskew.over("size", range(9))], ["kind", "size"]),
        (lambda row: row["kind"], None),
        (unskew.clip(lambda row: row["size"], 0, 3), None),
    ],
)
def test_only_the_columns_of_the_variables_are_read_to_choose(by, columns):
    opened = open_finite([{"kind": "a", "size": 1, "meta": {"deep": 1}, "text": "x"}])
    assert needed_columns(opened, by) is None  # dicts are whole in any case
    table = pa.table({"kind": ["a"], "size": [1], "meta": [{"size": 1}], "text": ["x"]})
    assert needed_columns(open_finite(table), by) == columns


def test_texts_that_parquet_holds_as_codes_are_the_same_texts():
    """Each row group has a dictionary of its own, and one has texts that do not repeat."""
    groups = [["a", "b", None] * 3000, ["c", "b", "b"] * 3000, [f"t{i}" for i in range(9000)]]
    with pq.ParquetWriter("x.parquet", pa.schema({"kind": pa.string(), "n": pa.int64()})) as writer:
        for texts in groups:
            writer.write_table(pa.table({"kind": texts, "n": range(9000)}))
    first = next(read_parquet(Path("x.parquet"), columns=["kind"]))
    assert pa.types.is_dictionary(first.columns["kind"].type)
    whole = pq.read_table("x.parquet")
    ours = unskew.resample("x.parquet", "kind", n=100, path="y.parquet")
    same = unskew.resample(whole, "kind", n=100)
    assert ours.before.counts == same.before.counts
    assert ours.indices.tolist() == same.indices.tolist()
    assert pq.read_table("y.parquet").equals(same.data)
    assert unskew.weights("x.parquet", "kind").weights.sum() == pytest.approx(27_000)
