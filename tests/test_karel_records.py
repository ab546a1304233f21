"""The original dataset's records: read, written, refused, converted, recognised in a file."""

import copy
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unskew
from tests.karel import EXAMPLE, random_examples, unpacked, write_records
from tests.naive import karel as naive
from tests.naive.karel_records import record as naive_record
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.datasets.convert import convert
from unskew.datasets.open import open_target
from unskew.domains import load_domain
from unskew.domains.karel import from_picture
from unskew.domains.karel import run as run_programs
from unskew.domains.karel.formats.records import (
    are_examples,
    from_record,
    numbered_record,
    read_row,
    tensor_text,
    to_record,
    write_row,
)
from unskew.domains.karel.language.tokens import ACTIONS, to_ids
from unskew.domains.karel.world import BYTES, from_bytes, from_json, to_json, to_tensor
from unskew.io.iterables import ROWS

# What survives of the original dataset, which is no part of this project.
SURVIVING = Path(__file__).parents[2] / "shared" / "msr" / "records.jsonl"

BEFORE = {"blocked": "1:1", "cols": 2, "crashed": False, "hero": "0:0:east", "markers": ""}
AFTER = {"blocked": "1:1", "cols": 2, "crashed": False, "hero": "0:1:east", "markers": "0:1:1"}
FRAME = " ".join(
    f"{index}:1.0"
    for index in (1620, 1621, 1622, 1623, 1674, 1675, 1676, 1677, 1638, 1656, 1641, 1659)
)
BY_HAND = {
    "examples": [
        {
            "actions": ["move", "putMarker"],
            "example_index": 0,
            "inpgrid_json": {**BEFORE, "rows": 2},
            "inpgrid_tensor": f"343:1.0 1334:1.0 {FRAME}",
            "outgrid_json": {**AFTER, "rows": 2},
            "outgrid_tensor": f"344:1.0 1964:1.0 1334:1.0 {FRAME}",
        }
    ],
    "guid": "by hand",
    "program_json": {"run": [{"type": "move"}, {"type": "putMarker"}]},
    "program_tokens": ["DEF", "run", "m(", "move", "putMarker", "m)"],
}


def every_record():
    """Return a record worked out by hand, 30 of the twin's, and those that survive, if there."""
    rng = np.random.default_rng(12)
    made = [BY_HAND]
    while len(made) < 31:
        texts, worlds = naive.random_program(rng), [naive.random_world(rng) for _ in range(20)]
        fine = [one for one in worlds if naive.run(naive.parse(texts), one).status == "ok"][:6]
        if fine:
            made.append(naive_record(texts, fine, f"twin {len(made)}"))
    if SURVIVING.exists():
        made += map(json.loads, SURVIVING.read_text(encoding="utf-8").splitlines())
    return made


@pytest.fixture(scope="module")
def records():
    return every_record()


def test_every_record_comes_back_to_the_letter(records):
    for record in records:
        example = from_record(record)
        assert json.dumps(to_record(example, record["guid"])) == json.dumps(record)
        batch = Batch.from_arrow(pa.Table.from_pylist([example]))
        assert load_domain("karel").check(batch).all()


def test_every_record_is_that_of_the_twin(records):
    for record in records:
        worlds = [naive.from_json(pair["inpgrid_json"]) for pair in record["examples"]]
        made = naive_record(record["program_tokens"], worlds, record["guid"])
        assert json.dumps(made) == json.dumps(record)


def test_every_record_replays(records):
    """The interpreter makes the outputs, and worlds are written back as they were."""
    for record in records:
        pairs = record["examples"]
        before = np.stack([from_json(pair["inpgrid_json"]) for pair in pairs])
        after = np.stack([from_json(pair["outgrid_json"]) for pair in pairs])
        ran = run_programs(to_ids(record["program_tokens"])[None], before)
        assert np.array_equal(ran.worlds, after)
        assert not ran.status.any()
        counts = [[pair["actions"].count(action) for action in ACTIONS] for pair in pairs]
        assert ran.actions.tolist() == counts
        assert [to_json(one) for one in before] == [pair["inpgrid_json"] for pair in pairs]
        for one, pair in zip(before, pairs, strict=True):
            ones = {int(entry.split(":")[0]) for entry in pair["inpgrid_tensor"].split()}
            assert set(np.flatnonzero(to_tensor(one)).tolist()) == ones
            assert np.array_equal(naive.to_tensor(unpacked(one)), to_tensor(one))


def test_random_examples_come_back():
    guids = set()
    for number, example in enumerate(random_examples(60)):
        record = json.loads(json.dumps(to_record(example, "g")))
        worlds = [unpacked(one) for one in from_bytes(example["inputs"])]
        assert record == naive_record(example["program"].split(), worlds, "g")
        assert from_record(record) == example
        assert read_row(json.loads(json.dumps(write_row(example)))) == example
        assert read_row(example) == example
        guids |= {numbered_record(example, i)["guid"] for i in (number, number + 1)}
    assert len(guids) == 120


def test_the_order_of_a_tensor_does_not_matter():
    record = to_record(EXAMPLE, "g")
    pair = record["examples"][0]
    pair["inpgrid_tensor"] = " ".join(reversed(pair["inpgrid_tensor"].split())) + " 7:0.0"
    assert from_record(record) == EXAMPLE


def put(path, value):
    def change(record):
        *way, last = path
        for key in way:
            record = record[key]
        record[last] = value

    return change


def drop(*path):
    def change(record):
        *way, last = path
        for key in way:
            record = record[key]
        del record[last]

    return change


PAIR = ("examples", 0)
WALLS = tensor_text(from_picture(">. . 2\n. # #"))
BAD = {
    "no guid": (drop("guid"), "has no 'guid'"),
    "no tokens": (drop("program_tokens"), "has no 'program_tokens'"),
    "no tensor": (drop(*PAIR, "outgrid_tensor"), "example 0 has no 'outgrid_tensor'"),
    "no hero": (drop(*PAIR, "inpgrid_json", "hero"), "example 0, inpgrid: the grid cannot be"),
    "no examples": (put(("examples",), []), "has no examples"),
    "examples of another kind": (put(("examples",), "x"), "has no examples"),
    "example of another kind": (put(PAIR, 3), "example 0 is int"),
    "wrong index": (put((*PAIR, "example_index"), 1), "example_index 1; renumber"),
    "wrong token": (put(("program_tokens", 3), "jump"), "found 'jump'"),
    "two tokens in one": (
        put(("program_tokens",), ["DEF run", "m(", "move", "m)"]),
        "two tokens in one text",
    ),
    "tokens in one text": (put(("program_tokens",), "DEF run m( move m)"), "no list of texts"),
    "another program": (put(("program_json",), {"run": [{"type": "move"}]}), "two programs"),
    "crashed": (
        put((*PAIR, "outgrid_json", "crashed"), True),
        "outgrid: the grid has crashed True",
    ),
    "crashed not said": (drop(*PAIR, "outgrid_json", "crashed"), "outgrid has no 'crashed'"),
    "grid of another kind": (put((*PAIR, "inpgrid_json"), "x"), "inpgrid is str"),
    "ten markers": (put((*PAIR, "inpgrid_json", "markers"), "1:2:10"), "has 10 markers"),
    "two worlds": (put((*PAIR, "inpgrid_tensor"), WALLS), "JSON and its tensor are two worlds"),
    "tensor of another kind": (put((*PAIR, "inpgrid_tensor"), [1]), "no text of index:1.0"),
    "tensor out of range": (put((*PAIR, "inpgrid_tensor"), "5184:1.0"), "more than zeros and ones"),
    "tensor of twos": (put((*PAIR, "inpgrid_tensor"), "1:2.0"), "more than zeros and ones"),
    "other actions": (put((*PAIR, "actions"), ["move"]), "not those that the program executes"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_record_that_contradicts_itself_is_refused(case):
    change, message = BAD[case]
    record = copy.deepcopy(to_record(EXAMPLE, "g"))
    change(record)
    with pytest.raises(UnskewError, match="(?s)" + message.replace("(", "\\(")) as caught:
        from_record(record)
    assert "\n" not in str(caught.value)


def test_an_output_that_the_program_does_not_make_is_refused():
    record = to_record(EXAMPLE, "g")
    pair = record["examples"][1]
    pair["outgrid_json"], pair["outgrid_tensor"] = pair["inpgrid_json"], pair["inpgrid_tensor"]
    with pytest.raises(UnskewError, match="example 1: the program does not make its output"):
        from_record(record)
    with pytest.raises(UnskewError, match="does not make its output"):
        to_record({**EXAMPLE, "outputs": EXAMPLE["inputs"]}, "g")


def test_a_run_that_crashes_is_refused():
    crashing = {**EXAMPLE, "program": "DEF run m( pickMarker m)", "outputs": EXAMPLE["inputs"]}
    with pytest.raises(UnskewError, match="does not end normally on its input"):
        to_record(crashing, "g")


@pytest.mark.parametrize(
    "row",
    [
        {"answer": 1},
        {"program": "print()", "inputs": [1], "outputs": [2]},
        {"program": "DEF run m( move m)", "inputs": [1], "outputs": [2]},
        {"program": 3, "inputs": b"", "outputs": b""},
        {"guid": 1, "examples": []},
        {"program": "def run(): move()", "answer": 1},
    ],
)
def test_rows_of_others_are_not_taken_for_karel(row):
    assert read_row(row) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": EXAMPLE["inputs"][:BYTES]}, "1 inputs and 2 outputs"),
        ({"inputs": b"abc"}, "3 bytes"),
        ({"inputs": b""}, "0 bytes"),
        ({"inputs": b"\xfa" * 2 * BYTES}, "world 1 are no packed world"),
        ({"program": "DEF run m( m)"}, "found 'm\\)'"),
    ],
)
def test_columns_that_hold_no_example_are_refused(change, message):
    with pytest.raises(UnskewError, match=message):
        read_row({**EXAMPLE, **change})


@pytest.mark.parametrize(("byte", "value"), [(256, 1), (257, 17), (259, 4), (5, 0), (0, 10)])
def test_bytes_are_a_world_or_refused(byte, value):
    world = bytearray(EXAMPLE["inputs"][:BYTES])
    assert from_bytes(bytes(world)).shape == (1, BYTES)
    world[byte] = value
    with pytest.raises(UnskewError, match="no packed world"):
        from_bytes(bytes(world))


def test_karel_on_a_wall_is_no_world():
    world = bytearray(EXAMPLE["inputs"][:BYTES])
    world[258] = 1
    with pytest.raises(UnskewError, match="no packed world"):
        from_bytes(bytes(world))


# Files.


def read(path):
    return [row for batch in open_target(str(path)).read(None) for row in batch.examples()]


def test_files_of_every_form_are_one_thing(tmp_path, run):
    examples = random_examples(5, seed=3)
    source = tmp_path / "records.jsonl"
    write_records(source, examples)
    opened = open_target(str(source))
    assert opened.domain is load_domain("karel")
    assert read(source) == examples
    for number, (suffix, form) in enumerate(
        [(".parquet", None), (".jsonl", None), (".parquet", None), (".jsonl", "records")]
    ):
        made = tmp_path / f"{number}{suffix}"
        options = ("--as", form) if form else ()
        code, out, _ = run("convert", source, made, *options, "--json")
        assert (code, json.loads(out)) == (0, {"file": str(made), "rows": 5})
        assert read(made) == examples
        assert open_target(made).domain is load_domain("karel")
        source = made
    assert source.read_text() == (tmp_path / "records.jsonl").read_text()
    whole = unskew.audit(tmp_path / "0.parquet")
    assert (whole.n, whole.distinct) == (5, 5)
    assert not list(tmp_path.glob(".*"))


def test_show_reads_records_and_prints_grids(tmp_path, run):
    examples = random_examples(2, seed=4)
    write_records(tmp_path / "r.jsonl", examples)
    code, out, _ = run("show", tmp_path / "r.jsonl")
    assert (code, out.count("def main():"), out.count("pair 3")) == (0, 2, 2)
    rows = json.loads(run("show", tmp_path / "r.jsonl", "--json")[1])
    assert [read_row(row) for row in rows] == examples


def test_a_folder_of_parts_without_a_recipe_is_recognised(tmp_path):
    examples = random_examples(4, seed=5)
    for part in (0, 1):
        table = pa.Table.from_pylist(examples[2 * part : 2 * part + 2])
        pq.write_table(table, tmp_path / f"train-{part}.parquet")
    assert open_target(tmp_path).domain is load_domain("karel")
    assert read(tmp_path) == examples


@pytest.mark.parametrize("command", ["show", "audit", "convert"])
def test_what_is_wrong_in_a_file_is_said_with_its_row(tmp_path, run, command):
    write_records(tmp_path / "r.jsonl", [EXAMPLE, EXAMPLE])
    with (tmp_path / "r.jsonl").open("a") as file:
        file.write(json.dumps({**numbered_record(EXAMPLE, 2), "program_json": {}}) + "\n")
    more = (tmp_path / "out.parquet",) if command == "convert" else ()
    code, out, err = run(command, tmp_path / "r.jsonl", *more)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "r.jsonl row 3: program_json and program_tokens are two programs" in err
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]


def test_a_broken_first_record_and_a_stranger_are_said_too(tmp_path, run):
    broken = numbered_record(EXAMPLE, 0)
    del broken["guid"]
    (tmp_path / "a.jsonl").write_text(json.dumps(broken))
    assert "a.jsonl row 1: the record has no 'guid'" in run("audit", tmp_path / "a.jsonl")[2]
    lines = [json.dumps(numbered_record(EXAMPLE, 0)), '{"answer": 1}']
    (tmp_path / "b.jsonl").write_text("\n".join(lines))
    assert "b.jsonl row 2 is no example of karel" in run("show", tmp_path / "b.jsonl")[2]


def test_a_table_with_gaps_is_refused(tmp_path, run):
    rows = [EXAMPLE, {**EXAMPLE, "outputs": None}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    code, _, err = run("audit", tmp_path / "x.parquet")
    assert (code, err.count("\n")) == (2, 1)
    assert "x.parquet row 2: it has no outputs; leave it out" in err


def spoil(example, byte, value):
    """Change a byte of the second output."""
    packed = bytearray(example["outputs"])
    packed[BYTES + byte] = value
    return {**example, "outputs": bytes(packed)}


WRONG = {
    "a wall under Karel": (spoil(EXAMPLE, 258, 1), "bytes of world 2 are no packed world"),
    "twelve markers": (spoil(EXAMPLE, 0, 12), "bytes of world 2 are no packed world"),
    "no Karel": (spoil(EXAMPLE, 258, 255), "bytes of world 2 are no packed world"),
    "17 columns": (spoil(EXAMPLE, 257, 17), "bytes of world 2 are no packed world"),
    "half a world": ({**EXAMPLE, "outputs": EXAMPLE["outputs"][:-1]}, "have 519 bytes; give one"),
    "no world": ({**EXAMPLE, "inputs": b""}, "have 0 bytes; give one"),
    "one output": ({**EXAMPLE, "outputs": EXAMPLE["outputs"][:BYTES]}, "2 inputs and 1 outputs"),
    "no program": ({**EXAMPLE, "program": "DEF run m( m)"}, "column 12: found 'm)', expected one"),
    "no token": ({**EXAMPLE, "program": "DEF run m( jump m)"}, "column 12: found 'jump', expected"),
    "a gap": ({**EXAMPLE, "inputs": None}, "it has no inputs; leave it out"),
}


# A table is read in batches of 65,536 rows.
@pytest.mark.parametrize(("case", "before"), [*((case, 9) for case in WRONG), ("no Karel", 65_537)])
def test_every_row_of_a_table_is_checked(tmp_path, run, case, before):
    row, message = WRONG[case]
    table = pa.Table.from_pylist([EXAMPLE] * before + [row, EXAMPLE])
    pq.write_table(table, tmp_path / "x.parquet")
    code, out, err = run("audit", tmp_path / "x.parquet")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"x.parquet row {before + 1}: " in err
    assert message in err


def test_an_output_that_is_another_is_for_verify_to_find(tmp_path, run):
    rows = [EXAMPLE, {**EXAMPLE, "outputs": EXAMPLE["inputs"]}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    assert run("audit", tmp_path / "x.parquet", "--by", "size")[0] == 0


def test_tables_are_checked_as_their_rows_are():
    """Bytes and tokens changed at random: the table is refused where reading its row is."""
    rng = np.random.default_rng(7)
    counts = {True: 0, False: 0}
    for example in random_examples(40, seed=7) * 10:
        row = dict(example)
        if rng.random() < 0.5:
            words = row["program"].split()
            words[int(rng.integers(3, len(words)))] = str(rng.choice(["move", "m)", "i(", "R=3"]))
            row["program"] = " ".join(words)
        else:
            packed = np.frombuffer(row["inputs"], np.uint8).copy()
            packed[rng.integers(len(packed))] = rng.choice([0, 1, 4, 9, 10, 16, 17, 255])
            row["inputs"] = packed.tobytes()
        try:
            fine = read_row(row) == row
        except UnskewError:
            fine = False
        assert are_examples(Batch.from_arrow(pa.Table.from_pylist([example, row]))) == fine
        counts[fine] += 1
    assert min(counts.values()) > 50


@pytest.mark.parametrize("kind", ["large_string", "dictionary", "tabs", "fixed"])
def test_tables_of_other_layouts_are_read(tmp_path, kind):
    table = pa.Table.from_pylist([EXAMPLE, EXAMPLE])
    if kind == "fixed":
        table = table.cast(table.schema.set(1, pa.field("inputs", pa.binary(2 * BYTES))))
    elif kind == "tabs":
        spaced = EXAMPLE["program"].replace(" ", "\t")
        table = table.set_column(0, "program", pa.array([EXAMPLE["program"], spaced]))
    else:
        other = pa.large_string() if kind == "large_string" else pa.dictionary("int8", pa.string())
        table = table.cast(table.schema.set(0, pa.field("program", other)))
    pq.write_table(table, tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet") == [EXAMPLE, EXAMPLE]
    assert unskew.audit(tmp_path / "x.parquet").n == 2


# Columns that are not ours.

MORE = [{"id": i, "note": None if i % 2 else "even", "program_tokens": "x"} for i in range(6)]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_other_columns_are_carried_along(tmp_path, run, suffix):
    examples = [{**e, **m} for e, m in zip(random_examples(6, seed=8), MORE, strict=True)]
    path = tmp_path / f"x{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(examples), path)
    else:
        path.write_text("\n".join(json.dumps(write_row(example)) for example in examples))
    assert open_target(path).domain is load_domain("karel")
    assert read(path) == examples
    shown = json.loads(run("show", path, "-n", 6, "--json")[1])
    assert [row["id"] for row in shown] == list(range(6))
    assert run("show", path)[1].count("def main():") == 5
    assert set(json.loads(run("audit", path, "--json")[1])["variables"]) >= {"size", "nesting"}
    assert (
        json.loads(run("audit", path, "--by", "note", "--json")[1])["variables"]["note"]["n"] == 6
    )
    for other in ("y.parquet", "y.jsonl"):
        assert run("convert", path, tmp_path / other)[0] == 0
        assert read(tmp_path / other) == examples
    assert run("convert", path, tmp_path / "r.jsonl", "--as", "records")[0] == 0
    assert [row["program"] for row in read(tmp_path / "r.jsonl")] == [
        example["program"] for example in examples
    ]
    assert run("resample", path, "-o", tmp_path / "z.parquet", "--homogenize", "note")[0] == 0
    assert all(row in examples for row in read(tmp_path / "z.parquet"))
    new = run("generate", "karel/msr", "--given", path, "-n", 6, "-o", tmp_path / "new", "--json")
    assert new[0] == 0
    assert set(read(tmp_path / "new")[0]) == {"program", "inputs", "outputs"}


def test_of_two_that_claim_a_name_ours_wins():
    record = {**to_record(EXAMPLE, "g"), "program": "go", "level": 3}
    assert from_record(record) == {**EXAMPLE, "level": 3}
    both = {**to_record(EXAMPLE, "g"), **EXAMPLE, "program_tokens": "other"}
    assert {name: read_row(both)[name] for name in EXAMPLE} == EXAMPLE


@pytest.mark.parametrize(
    ("late", "message"),
    [
        ({"id": "x"}, "from row 4097 on: the columns are not the same in all rows"),
        ({"new": 1}, "from row 4097 on: the columns are not the same in all rows ('new'); make"),
        ({}, ""),
    ],
)
def test_other_columns_may_end_but_not_change(tmp_path, run, late, message):
    row = write_row(EXAMPLE)
    lines = [json.dumps({**row, "id": 1})] * ROWS + [json.dumps({**row, **late})]
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    code, _, err = run("audit", tmp_path / "x.jsonl", "--by", "id", "--json")
    assert code == (2 if message else 0)
    assert message in err
    if not message:
        assert read(tmp_path / "x.jsonl")[-1] == {**EXAMPLE, "id": None}


# Converting what is no Karel.


def test_files_of_others_are_converted(tmp_path):
    rows = [{"a": i, "b": [f"{i}", None]} for i in range(5000)]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert convert(tmp_path / "x.jsonl", tmp_path / "x.parquet") == 5000
    assert convert(tmp_path / "x.parquet", tmp_path / "y.jsonl", n=4999) == 4999
    assert read(tmp_path / "y.jsonl") == rows[:4999]
    assert convert(["a", "b"], tmp_path / "z.parquet") == 2
    assert read(tmp_path / "z.parquet") == ["a", "b"]
    assert convert(lambda rng: rng.integers(3), tmp_path / "n.jsonl", n=4) == 4
    assert set(read(tmp_path / "n.jsonl")) <= {0, 1, 2}
    assert convert("calculator/dcfg", tmp_path / "c.parquet", n=10, settings={"p": 0.3}) == 10


@pytest.mark.parametrize(
    ("rows", "name", "message"),
    [
        ([{"a": b"\x00"}], "o.jsonl", "row 1 cannot be JSON .it holds bytes"),
        ([{"a": 1.0}, {"a": float("nan")}], "o.jsonl", "row 2 cannot be JSON"),
        ([{"a": 1}] * 4096 + [{"a": "x"}], "o.parquet", "from row 4097 on"),
        ([{"a": 1}] * 4096 + [{"b": 1}], "o.parquet", "not the same in all rows"),
        ([], "o.parquet", "no examples"),
        ([1], "o.txt", "allowed are .parquet, .jsonl"),
    ],
)
def test_what_cannot_be_converted_is_said_and_nothing_written(tmp_path, rows, name, message):
    with pytest.raises(UnskewError, match=message) as caught:
        convert(rows, tmp_path / name)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
