"""Bad values, bad files and errors in a user's own functions: each is one line that says where."""

import json
import random
import shutil
import sys
import warnings
from collections import Counter
from datetime import datetime
from itertools import count, islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unskew
from unskew import Recipe, Source, UnskewError, generate
from unskew.audits.report.words import dropped_details
from unskew.core.batch import Batch
from unskew.core.domain import parameters
from unskew.core.errors import HealthWarning
from unskew.core.rowhash import row_hashes
from unskew.core.tally import Tally
from unskew.core.values.json_text import json_text
from unskew.datasets.convert import convert
from unskew.datasets.open import open_target


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Go to an empty folder, and forget the module that a test wrote there."""
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("mine", None)


def one_line(call, *expected: str) -> None:
    """Check that a call raises an UnskewError of one line that has all expected texts."""
    with pytest.raises(UnskewError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for text in expected:
        assert text in message


def nothing(example):
    return 0


# Values that are nested too deeply.


def nested(levels: int) -> list:
    value: list = []
    for _ in range(levels - 1):
        value = [value]
    return value


def cyclic_list() -> list:
    value: list = []
    value.append(value)
    return value


def cyclic_dict() -> dict:
    value: dict = {}
    value["a"] = value
    return value


def branching() -> list:
    """Two references on each level, so that there are more paths than can be walked."""
    value: list = []
    for _ in range(90):
        value = [value, value]
    return value


TOO_DEEP = {
    "list": cyclic_list,
    "dict": cyclic_dict,
    "list in a dict": lambda: {"a": cyclic_list()},
    "deep": lambda: {"a": nested(2000)},
    "101 levels": lambda: nested(101),
    "branching": branching,
}
USES = {
    "audit": lambda rows: unskew.audit(rows, by=nothing),
    "audit of columns": unskew.audit,
    "convert to Parquet": lambda rows: convert(rows, "made.parquet"),
    "convert to JSONL": lambda rows: convert(rows, "made.jsonl"),
    "resample": lambda rows: unskew.resample(rows, by=nothing, path="made.parquet"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", TOO_DEEP)
def test_a_value_that_is_too_deep_is_refused_by_its_row(kind, use):
    rows = [{"a": 1}] * 5000 + [TOO_DEEP[kind]()]
    one_line(lambda: USES[use](rows), "row 5001: ", "more than 100 levels")
    assert not list(Path().iterdir())


@pytest.mark.parametrize("kind", TOO_DEEP)
def test_a_sampler_of_such_values_is_named(kind):
    value = TOO_DEEP[kind]()
    kept = unskew.homogenize
    one_line(lambda: next(kept(lambda rng: value, by=nothing)), "<lambda>", "100 levels")


def test_commands_say_so_too(run):
    Path("mine.py").write_text("a = []\na.append(a)\n\ndef draw(rng):\n    return {'a': a}\n")
    Path("deep.jsonl").write_text('{"a": 1}\n\n{"a": ' + "[" * 300 + "]" * 300 + "}\n")
    for args in (
        ("generate", "mine:draw", "-o", "d"),
        ("show", "mine:draw"),
        ("audit", "mine:draw"),
    ):
        code, out, err = run(*args)
        assert (code, out) == (2, "")
        assert "sampler 'mine:draw' (mine.py line 4): {'a': [[[[[[...]]]]]]} contains itself" in err
    for command in ("audit", "show"):
        code, out, err = run(command, "deep.jsonl")
        assert (code, out) == (2, "")
        assert "deep.jsonl row 2: " in err


def test_a_hundred_levels_may_be():
    value = nested(100)
    assert unskew.audit([value, value, nested(99)], by=nothing).distinct == 2
    assert convert([{"a": nested(50)}], "made.jsonl") == 1


def test_keys_and_objects_that_are_too_deep_are_refused_too():
    class Link:
        def __init__(self, inner):
            self.inner = inner

    chain = None
    for _ in range(3000):
        chain = Link(chain)
    rows = [1, chain]
    one_line(lambda: unskew.audit(rows, by=nothing), "row 2: ", "cannot be compared")


# Texts, numbers and times that not every format has.

HALF = "\ud800"


@pytest.mark.parametrize("path", ["made.parquet", "made.jsonl"])
def test_half_a_character_cannot_be_stored(path):
    rows = [{"a": "x"}] * 5000 + [{"a": HALF}]
    one_line(lambda: convert(rows, path), "row 5001", "\\ud800", "lone surrogate", "mend the text")
    assert not list(Path().iterdir())


def test_half_a_character_is_shown_as_it_is_written_in_python(run):
    found = unskew.audit([{"a": HALF}, {"a": "b"}])
    assert "\\ud800" in found.picture("made.html").read_text()
    found.picture("made.svg")
    Path("mine.py").write_text("def draw(rng):\n    return {'a': '\\ud800'}\n")
    Path("rows.jsonl").write_text('{"a": "\\ud800"}\n')
    for target in ("mine:draw", "rows.jsonl"):
        for command in ("audit", "show"):
            code, out, _ = run(command, target, "--json")
            assert (code, "\\ud800" in out) == (0, True)
            json.loads(out)
            assert run(command, target)[0] == 0
    code, _, err = run("generate", "mine:draw", "-o", "d")
    assert (code, "lone surrogate" in err) == (2, True)


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ([2**70, 0, -(2**65), 7], ()),
        ([2**63, 2**63 + 1, 2**63 + 3] * 20, (2**63 + 2,)),
        ([2**64, 0, 2**65], ()),
        ([-5, 2**63 + 5, 2**63], ()),
    ],
)
def test_whole_numbers_beyond_64_bits_are_values(values, missing):
    found = unskew.audit([{"a": value} for value in values])
    assert list(found.variables["a"].counts) == sorted(set(values))
    assert found.variables["a"].missing == missing
    assert json.loads(json_text(found.to_dict()))["variables"]["a"]["n"] == len(values)
    assert "KL" in str(found)


@pytest.mark.parametrize(
    "inside", [{"x": [None, None]}, {"x": {"y": None}}, {"x": [{"y": [None] * 3}]}], ids=repr
)
def test_times_beside_lists_of_nothing_are_read(inside):
    time = datetime(2024, 1, 5)
    column = pa.array([{**inside, "t": time}] * 9 + [None])
    expected = [{**inside, "t": "2024-01-05 00:00:00.000000"}] * 9 + [None]
    for rows in (column, column[4:], column.take(pa.array([8, 9]))):
        assert list(Batch({"m": rows}).examples()) == [
            {"m": value} for value in expected[-len(rows) :]
        ]
    pq.write_table(pa.table({"m": column}), "data.parquet")
    assert convert("data.parquet", "made.jsonl") == 10
    lines = Path("made.jsonl").read_text().splitlines()
    assert [json.loads(line)["m"] for line in lines] == expected


def test_whole_numbers_beyond_64_bits_have_no_column():
    rows = [{"a": 1}] * 5000 + [{"a": 2**70}]
    one_line(lambda: convert(rows, "made.parquet"), "row 5001", "1180591620717411303424", ".jsonl")
    assert convert(rows, "made.jsonl") == 5001


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (1, "007"),
        ("x", 7),
        (1, True),
        (True, 2),
        ([1], ["007"]),
        ({"b": 1}, {"b": 1, "c": 2}),
        (1, 5.5),
    ],
    ids=repr,
)
def test_a_file_is_not_written_with_a_value_that_a_cast_would_change(first, later):
    rows = [{"a": first}] * 4096 + [{"a": later}]  # two batches
    Path("data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for target in (rows, "data.jsonl"):
        one_line(lambda: convert(target, "made.parquet"), "from row 4097", "not the same", ".jsonl")  # noqa: B023
        assert not Path("made.parquet").exists()


@pytest.mark.parametrize(
    ("first", "later", "written"),
    [
        (1, 5.0, 5),
        (1.5, 2, 2.0),
        ({"b": 1, "c": 2}, {"b": 3}, {"b": 3, "c": None}),
        ({"b": 1, "c": 2}, {"c": 5, "b": 1}, {"b": 1, "c": 5}),
    ],
    ids=repr,
)
def test_a_file_is_written_where_a_cast_keeps_the_values(first, later, written):
    rows = [{"a": first}] * 4096 + [{"a": later}]
    assert convert(rows, "made.parquet") == 4097
    assert pq.read_table("made.parquet")["a"].to_pylist()[-1] == written


def test_unsigned_columns_that_wide_are_audited():
    pq.write_table(
        pa.table({"u": pa.array([2**63, 2**63 + 1, 2**64 - 1], pa.uint64())}), "u.parquet"
    )
    assert "KL" in str(unskew.audit("u.parquet"))


def test_numbers_too_long_to_print():
    one_line(lambda: unskew.audit([1, 10**5000], by=nothing), "row 2: ", "cannot be compared")
    assert next(unskew.homogenize(lambda rng: 10**5000, by=nothing)) == 10**5000


def test_steps_and_edges_too_large_for_their_numbers():
    by = unskew.round_to(lambda x: x, 10**30)
    assert set(unskew.audit([1, 2], by=by).variables["<lambda>"].counts) == {0.0}
    one_line(lambda: unskew.round_to(nothing, 10**400), "step is 1000", "positive step")
    one_line(lambda: unskew.bins(nothing, [10**400]), "edges are [1000", "list of numbers")


def test_a_column_of_empty_dicts_has_no_parquet():
    for rows in ([{"a": {}}], [{"a": [{"b": {}}]}]):
        one_line(lambda: convert(rows, "made.parquet"), "column 'a'", "give it a key")  # noqa: B023
        assert convert(rows, "made.jsonl") == 1


def test_times_within_lists_are_read_as_text():
    times = pa.array([[1], [2**60]], pa.list_(pa.timestamp("us")))
    spans = pa.array([{"s": 1}, {"s": 2}], pa.struct([("s", pa.duration("us"))]))
    pq.write_table(pa.table({"t": times, "d": spans}), "t.parquet")
    rows = [row for batch in open_target("t.parquet").read(None) for row in batch.examples()]
    assert rows[0] == {"t": ["1970-01-01 00:00:00.000001"], "d": {"s": 1}}
    assert "out of range" in rows[1]["t"][0]
    assert len(row_hashes(next(open_target("t.parquet").read(None)))) == 2


BEYOND = 2**62
TIMES = {
    "a time": lambda: pa.array([0, BEYOND], pa.int64()).view(pa.timestamp("us")),
    "a time with a zone": lambda: pa.array([0, BEYOND]).view(pa.timestamp("us", "UTC")),
    "a date": lambda: pa.array([0, 2**31 - 2], pa.int32()).view(pa.date32()),
    "a date in ms": lambda: pa.array([0, 86_400_000 * 10**11]).view(pa.date64()),
    "in a dict": lambda: pa.StructArray.from_arrays([TIMES["a time"]()], ["t"]),
    "in a list": lambda: pa.ListArray.from_arrays([0, 1, 2], TIMES["a time"]()),
    "in a short list": lambda: pa.FixedSizeListArray.from_arrays(TIMES["a time"](), 1),
    "in a map": lambda: pa.MapArray.from_arrays([0, 1, 2], ["a", "b"], TIMES["a time"]()),
}


@pytest.mark.parametrize("kind", TIMES)
def test_times_without_a_text_are_not_converted_to_json(kind, run):
    pq.write_table(pa.table({"t": TIMES[kind]()}), "t.parquet")
    code, out, err = run("convert", "t.parquet", "t.jsonl")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "row 2: column 't' has a time out of range (" in err
    assert not Path("t.jsonl").exists()
    assert run("convert", "t.parquet", "same.parquet")[0] == 0
    assert pq.read_table("same.parquet").equals(pq.read_table("t.parquet"))


def test_the_first_and_the_last_time_with_a_text_are_converted():
    seconds = pa.array([-1_096_193_779_200, 971_890_963_199]).view(pa.timestamp("s"))
    latest = pa.array([-(2**63), 2**63 - 1]).view(pa.timestamp("ns"))
    pq.write_table(pa.table({"s": seconds, "ns": latest}), "t.parquet")
    assert convert("t.parquet", "t.jsonl") == 2
    assert "32767-12-31 23:59:59" in Path("t.jsonl").read_text()


def test_a_time_that_parquet_does_not_have_is_one_line(run):
    """Arrow has no seconds in Parquet: it stores thousandths."""
    table = pa.table({"s": pa.array([-(2**63)]).view(pa.timestamp("s"))})
    with pa.ipc.new_file("t.arrow", table.schema) as file:
        file.write_table(table)
    code, out, err = run("convert", "t.arrow", "t.parquet")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "from row 1 on: the examples cannot be written as .parquet" in err
    assert not Path("t.parquet").exists()


@pytest.mark.parametrize("column", ["t", "example"])
def test_a_time_zone_that_is_not_known(run, column):
    pq.write_table(pa.table({column: pa.array([1], pa.timestamp("us", "Mars/X"))}), "t.parquet")
    code, _, err = run("show", "t.parquet")
    assert (code, "Mars/X" in err, err.count("\n")) == (2, True, 1)


# JSON that every reader takes.


def test_json_has_no_nan_and_only_text_as_keys():
    class Odd:
        def __str__(self):
            raise ValueError("no")

    data = {
        (1, 2): float("nan"),
        None: [float("inf"), np.float64("nan"), np.int64(3), np.arange(2)],
        "h": HALF,
        "odd": Odd(),
        "huge": 10**5000,
        "loop": cyclic_list(),
    }

    def refused(constant):
        raise AssertionError(constant)

    found = json.loads(json_text(data), parse_constant=refused)
    assert found["(1, 2)"] == "nan"
    assert found["None"] == ["inf", "nan", 3, [0, 1]]
    assert found["h"] == HALF


def test_show_prints_valid_json_of_a_column_with_nan(run):
    pq.write_table(pa.table({"f": [1.5, float("nan")]}), "x.parquet")
    code, out, _ = run("show", "x.parquet", "--json")
    assert code == 0
    assert json.loads(out, parse_constant=lambda constant: 1 / 0) == [{"f": 1.5}, {"f": "nan"}]


# Files that were altered.

GOOD = {"drawn": 2, "kept": 1, "dropped": {"r": 1}, "values": {"a": [[[1, 2], 2, 1]]}}
ALTERED = [
    {"drawn": "x"}, {"drawn": -1}, {"kept": None}, {"drawn": True}, {"drawn": 1.5},
    {"dropped": [1]}, {"dropped": {"a": "b"}}, {"dropped": {"a": -1}},
    {"values": []}, {"values": None}, {"values": {"a": 5}}, {"values": {"a": [[1, 2]]}},
    {"values": {"a": [[{"x": 1}, 1, 1]]}}, {"values": {"a": [[[[{}]], 1, 1]]}},
    {"values": {"a": [[1, "x", 1]]}}, {"values": {"a": [[1, -1, 1]]}}, {"values": {"a": [[]]}},
]  # fmt: skip


@pytest.mark.parametrize("change", ALTERED, ids=json.dumps)
def test_an_altered_tally_is_refused_by_its_file(change, run):
    assert Tally.from_dict(GOOD).to_dict() == GOOD
    one_line(lambda: Tally.from_dict({**GOOD, **change}), "the tally", "altered")
    generate(Recipe("calculator/dcfg", 20), "d")
    manifest = json.loads(Path("d/manifest.json").read_text())
    manifest["tally"] = {**GOOD, **change}
    Path("d/manifest.json").write_text(json.dumps(manifest))
    code, _, err = run("audit", "d")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("error: d/manifest.json cannot be read (the tally")
    assert run("verify", "d")[0] == 1


def test_numbers_of_rows_are_counts():
    generate(Recipe("calculator/dcfg", 20), "d")
    manifest = json.loads(Path("d/manifest.json").read_text())
    manifest["parts"][0]["rows"] = -20
    Path("d/manifest.json").write_text(json.dumps(manifest))
    one_line(lambda: unskew.audit("d"), "d/manifest.json", "-20 rows")


def test_details_whose_reason_was_not_counted():
    assert dropped_details({"long · size: 9": 3, "odd": 0, "odd · size: 1": 1}) == [
        "long, by size: 9",
        "odd, by size: 1",
    ]


def test_parts_of_other_data_are_named_by_file_and_row(run):
    generate(Recipe("calculator/dcfg", 20), "d")
    part = "d/data/train-00000-of-00001.parquet"
    pq.write_table(pa.table({"x": [1, 2]}), part)
    code, out, err = run("show", "d")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{part} row 1: show of domain 'calculator' raised KeyError: 'expression'" in err
    assert json.loads(run("show", "d", "--json")[1]) == [{"x": 1}, {"x": 2}]
    generate(Recipe("karel/actions", 20), "k")
    shutil.copy(part, "k/data/train-00000-of-00001.parquet")
    for option, expected in (
        ((), "show of domain 'karel' raised "),
        (("--trace",), "the example has no program"),
    ):
        code, out, err = run("show", "k", *option)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"k/data/train-00000-of-00001.parquet row 1: {expected}" in err
    assert run("audit", "k", "--by", "x", "--report", "k.html")[0] == 0


# A user's own functions.


OWN = """
from typing import Annotated

import numpy as np

from unskew import Domain, SalientVariable, Source
from unskew.core.batch import Batch
from unskew.core.domain import Range
from unskew.core.source import plain_source


def draw(rng):
    return {"a": int(rng.integers(9))}


def dice():
    return plain_source(draw)


def helper(value):
    return value["lost"]  # line 21


def broken(rng):
    return sorted([1, 2], key=helper)


def fails(example):
    return max([example], key=lambda e: e["b"])  # line 29


def many(rng, n):
    raise ValueError("of\\nmany lines")  # line 33


def odd(rng, n):
    return [1] * n


batches, lists = Source("batches", many), Source("lists", odd)
measured = SalientVariable("measured", lambda batch: np.array([1 / 0]))  # line 41
short = SalientVariable("short", lambda batch: np.zeros(1))  # line 42


def check(batch):
    raise KeyError("checked")  # line 46


def unnoted(sides, low: Annotated[int, Range(1, 6, "low")] = 1):
    return dice()


def unknown_note(sides: int = 6):
    return dice()


def bare(sides: Annotated[int, Range(1, 6, "sides")]):
    return dice()


def texts(sides: Annotated[list, Range(1, 6, "sides")] = 1):
    return dice()


def missing(sides: "Nowhere" = 1):
    return dice()


def no_source():
    return draw


def raising():
    raise ValueError("made")  # line 74


DOMAIN = Domain(
    "own", "", show=lambda row: row["c"], check=check,
    sources={
        "dice": dice, "unnoted": unnoted, "unknown_note": unknown_note, "bare": bare,
        "texts": texts, "missing": missing, "no_source": no_source, "raising": raising,
    },
    variables={"a": lambda row: row["a"]},
)
"""


@pytest.fixture
def own():
    Path("mine.py").write_text(OWN)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("audit", "mine:broken", "--by", "mine:fails"), "TypeError: 'int' object"),
        (("audit", "mine:broken", "--by", "mine:fails"), "mine.py line 21"),
        (("audit", "mine:draw", "--by", "mine:fails"), "KeyError: 'b' (mine.py line 29)"),
        (("audit", "mine:draw", "--by", "mine:measured"), "(mine.py line 41); mend its measure"),
        (("audit", "mine:draw", "--by", "mine:short"), "(mine.py line 42) returned array([0.])"),
        (("audit", "mine:batches", "--by", "a"), "ValueError: of many lines (mine.py line 33)"),
        (("audit", "mine:lists", "--by", "a"), "return a Batch and a Counter"),
        (("generate", "mine:batches", "-o", "d"), "source 'batches' raised ValueError"),
        (
            ("show", "mine:dice"),
            "row 1: show of domain 'own' raised KeyError: 'c' (mine.py line 78)",
        ),
        (("show", "mine:unnoted"), "parameter 'sides' of source unnoted (mine.py line 49) is not"),
        (("show", "mine:unknown_note"), "'sides' of source unknown_note (mine.py line 53) is not"),
        (("show", "mine:bare"), "'sides' of source bare (mine.py line 57) has no default; write"),
        (("show", "mine:texts"), "'sides' of source texts (mine.py line 61) has a Range, but"),
        (("show", "mine:missing"), "source missing (mine.py line 65) cannot be read (NameError"),
        (("show", "mine:no_source"), "(mine.py line 69) returned <function draw"),
        (("show", "mine:raising"), "raised ValueError: made (mine.py line 74); mend it"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_errors_in_ones_own_functions_say_where(own, run, args, expected):
    code, out, err = run(*args)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert expected in err


def test_verify_says_where_a_check_fails(own, run):
    generate(Recipe("mine:dice", 10), "d")
    code, out, _ = run("verify", "d", "--trust")
    assert code == 1
    assert "the check of own raised KeyError: 'checked' (mine.py line 46)" in out


def test_derive_says_where_it_fails():
    made = Source("own", lambda rng, n: (Batch.of([1] * n), Counter()), derive=lambda rng, b: 1 / 0)
    derive = unskew.core.source.own_source(made).derive
    assert derive is not None
    one_line(lambda: derive(None, Batch.of([1])), "ZeroDivisionError", "test_failures.py line")


def test_a_library_that_fails_is_blamed_on_the_line_that_called_it():
    def draw(rng):
        return rng.choice(0)  # numpy raises this

    line = draw.__code__.co_firstlineno + 1
    one_line(lambda: unskew.audit(draw), f"test_failures.py line {line})")


def test_parameters_that_are_right_are_read():
    assert set(parameters(unskew.domains.load_domain("calculator").sources["dcfg"])) >= {"p"}


# Samplers that do not draw from the generator that they are given.


def ignores(rng):
    return {"a": random.random()}  # noqa: S311 - this is the fault


counter = count()


def counts(rng):
    return {"a": next(counter)}


class Stateful:
    def __init__(self):
        self.n = 0

    def __call__(self, rng):
        self.n += 1
        return {"a": np.array([self.n])}


def whole(rng, n):
    return Batch.of([{"a": random.random()} for _ in range(n)]), Counter()  # noqa: S311


GLOBAL = np.random.default_rng()
LAWLESS = {
    "random": ignores,
    "a counter": counts,
    "state": Stateful(),
    "a global generator": lambda rng: {"a": GLOBAL.random()},
    "a source": Source("whole", whole),
}


@pytest.mark.parametrize("kind", LAWLESS)
def test_an_audit_warns_of_a_sampler_that_ignores_its_generator(kind):
    with pytest.warns(HealthWarning, match=r"test_failures.py line \d+\) gave two different"):
        found = unskew.audit(LAWLESS[kind], by=nothing, n=20)
    assert found.n == 20
    with pytest.warns(HealthWarning, match="two different examples for the same seed"):
        assert len(list(islice(unskew.homogenize(LAWLESS[kind], by=nothing), 3))) == 3


SAMPLERS = """
import random
import numpy as np
from collections import Counter
from unskew import Batch, Domain, Source
from unskew.core.source import plain_source

def ignores(rng):
    return {"a": random.random()}

def constant(rng):
    return {"a": 1}

def obeys(rng):
    return {"a": rng.random(), "f": np.float64(rng.random())}

coins = lambda rng: {"a": int(rng.integers(2))}
many = Source("x", lambda rng, n: (Batch.of([{"a": random.random()} for _ in range(n)]), Counter()))

def own():
    return plain_source(ignores)

DOMAIN = Domain("own", "", {"own": own}, {"a": lambda r: 1}, show=str, check=None)
"""


@pytest.mark.parametrize("name", ["ignores", "many", "own"])
def test_generate_and_streams_refuse_it_before_anything_is_written(run, name):
    Path("mine.py").write_text(SAMPLERS)
    code, out, err = run("generate", f"mine:{name}", "-n", 20, "-o", "d")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"sampler 'mine:{name}' (mine.py line " in err
    assert "draw all that is random from the rng" in err
    assert not Path("d").exists()
    one_line(lambda: unskew.stream(f"mine:{name}"), "the same seed")
    code, _, err = run("audit", f"mine:{name}", "--by", "a", "-n", 20)
    assert (code, err.startswith("warning: sampler")) == (0, True)


@pytest.mark.parametrize("name", ["constant", "obeys", "coins"])
def test_what_draws_from_its_generator_is_taken(run, name):
    Path("mine.py").write_text(SAMPLERS)
    assert run("generate", f"mine:{name}", "-n", 20, "-o", "d")[0] == 0
    assert run("verify", "d")[0] == 0
    assert next(unskew.stream(f"mine:{name}"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert unskew.audit(f"mine:{name}", by="a", n=20).n == 20


def test_examples_that_print_their_place_are_not_compared_by_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unskew.audit(lambda rng: {"f": lambda: rng, "n": int(rng.integers(3))}, by="n", n=10)


def test_a_slow_sampler_is_called_a_few_times_more():
    calls = []

    def slow(rng):
        calls.append(0)
        return rng.random() if len(calls) > 6 else len(calls)

    with pytest.warns(HealthWarning):
        unskew.audit(slow, by=nothing, n=10)
    assert len(calls) == 12  # the first difference is enough

    calls.clear()
    unskew.audit(lambda rng: calls.append(0) or rng.random(), by=nothing, n=10)
    assert len(calls) == 16


# Options and objects that would be taken for something else.


def test_epsilon_without_a_variable_is_refused(run):
    code, out, err = run("generate", "calculator/dcfg", "-n", 20, "--epsilon", 0.1, "-o", "d")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--epsilon is 0.1, but nothing is homogenized; name a variable: --homogenize" in err
    assert not Path("d").exists()
    args = ("--epsilon", 0.1, "--homogenize", "length", "-o", "d")
    assert run("generate", "calculator/dcfg", "-n", 20, *args)[0] == 0
    Path("r.json").write_text(Recipe("calculator/dcfg", 20, epsilon=0.5).to_json())
    assert run("generate", "r.json", "-o", "e")[0] == 0


NO_EXAMPLES = {
    "scalar": (np.array(3), "has no dimensions; pass a list of examples"),
    "set": ({1, 2}, "a set has no order that stays"),
    "bytes": (b"abc", "a bytes object cannot be read; pass a list of examples"),
    "number": (5, "5 cannot be read; pass examples"),
    "text": ("1 2 3", "unknown source, recipe or file '1 2 3'"),
}


@pytest.mark.parametrize("kind", NO_EXAMPLES)
def test_what_is_no_list_of_examples_is_refused_by_name(kind):
    target, expected = NO_EXAMPLES[kind]
    one_line(lambda: unskew.audit(target, by=nothing), expected)
    one_line(lambda: convert(target, "made.jsonl"), expected)
    if kind != "text":
        one_line(lambda: unskew.resample(target, by=nothing, path="made.jsonl"), expected)
        one_line(lambda: unskew.homogenize(target, by=nothing), "cannot be called")


def test_what_gives_examples_one_by_one_is_read():
    import datasets

    rows = [{"a": 1}, {"a": 2}]
    for target in (rows, tuple(rows), iter(rows), datasets.Dataset.from_list(rows)):
        assert unskew.audit(target).variables["a"].counts == {1: 1, 2: 1}
    assert unskew.audit(np.array([1, 2, 2]), by=int).variables["int"].counts == {1: 1, 2: 2}
