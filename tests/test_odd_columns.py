"""Columns that Arrow cannot hold or read: they are read as examples, or refused in one line."""

import json
import struct
import subprocess

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import unskew
from tests.commands import UNSKEW, complaints
from unskew.core.errors import UnskewError
from unskew.io.dataset import MANIFEST


@pytest.mark.parametrize(
    "kind", [[("x", "i8")], "(2, 2)i8", "c16"], ids=["record", "matrix", "complex"]
)
def test_the_fields_of_an_array_may_be_of_any_type(kind):
    array = np.zeros(4, dtype=[("odd", kind), ("plain", "i8")])
    array["plain"] = [1, 1, 2, 2]
    assert unskew.audit(array).distinct == 2
    assert unskew.audit(array, by="plain").variables["plain"].counts == {1: 2, 2: 2}


def twins():
    inner = pa.StructArray.from_arrays([pa.array([1, 2]), pa.array([3, 4])], names=["x", "x"])
    lists = pa.ListArray.from_arrays([0, 1, 2], inner)
    return pa.table({"lists": lists, "k": [1, 2]})


def test_two_fields_of_one_name_are_refused(tmp_path):
    with pytest.raises(UnskewError, match=r"'item' has two fields named 'x'; rename"):
        unskew.audit(twins())
    parquet.write_table(twins(), tmp_path / "twins.parquet")
    with pytest.raises(UnskewError, match=r"twins.parquet.* two fields named 'x'; rename"):
        unskew.audit(str(tmp_path / "twins.parquet"))


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_name_that_is_no_text_is_refused(ending, inside, tmp_path, run):
    """Fuzzing found it: Arrow reads the file, and fails where the name is asked for."""
    column = pa.array([{"the_name": 1}, {"the_name": 2}]) if inside else pa.array([1, 2])
    table = pa.table({"outer" if inside else "the_name": column})
    path = tmp_path / f"data{ending}"
    write = parquet.write_table if ending == ".parquet" else feather.write_feather
    write(table, path, compression="none" if ending == ".parquet" else "uncompressed")
    path.write_bytes(path.read_bytes().replace(b"the_name", b"the_\x80ame"))
    for command in (("audit",), ("show",), ("convert", tmp_path / "made.jsonl")):
        code, out, err = run(command[0], path, *command[1:])
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"error: {path} ")


def test_a_file_whose_lists_lead_out_of_it_does_not_end_python(tmp_path):
    """Fuzzing found it: Arrow was asked for the size of damaged data before it was checked."""
    rows = pa.array([[["x", "y"]], [["z"]], [[]]], pa.list_(pa.list_(pa.string())))
    path = tmp_path / "data.arrow"
    feather.write_feather(pa.table({"a": rows}), path, compression="uncompressed")
    offsets = struct.pack("<4i", 0, 1, 2, 3)
    data = path.read_bytes()
    assert data.count(offsets) >= 1
    path.write_bytes(data.replace(offsets, struct.pack("<4i", 0, 1, 2, 976_894_522)))
    for command in ("audit", "show"):
        done = subprocess.run([*UNSKEW, command, path], capture_output=True, text=True)
        said = complaints(done.stderr)
        assert (done.returncode, done.stdout, said.count("\n")) == (2, "", 1), said
        assert said.startswith(f"error: {path} cannot be read as Arrow (")


def test_times_of_a_place_that_is_nowhere_are_refused():
    times = pa.table({"t": pa.array([1, 2], pa.timestamp("s", "Nonsense/Zone"))})
    with pytest.raises(UnskewError, match=r"Nonsense/Zone.* cannot be read .*; store it as text"):
        unskew.audit(times, by="year(t)")


@pytest.mark.parametrize("damage", [5, [1], {"total_variation": [1]}, None], ids=repr)
def test_a_damaged_balance_in_a_manifest_is_refused(damage, tmp_path):
    folder = tmp_path / "made"
    unskew.generate(unskew.Recipe("calculator/dcfg", 10), str(folder))
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps({**manifest, "balance": damage}))
    with pytest.raises(UnskewError, match=f"{MANIFEST} cannot be read"):
        unskew.audit(str(folder))


def test_long_whole_numbers_among_others_keep_their_digits(tmp_path):
    (tmp_path / "long.csv").write_text("exact,rounded\n1,9007199254740993\n0.5,0.5\n")
    variables = unskew.audit(str(tmp_path / "long.csv"), by=["exact", "rounded"]).variables
    assert set(variables["exact"].counts) == {1, 0.5}
    assert set(variables["rounded"].counts) == {"9007199254740993", "0.5"}


def test_a_name_that_means_two_things_is_measured_once():
    rows = [{"a.b": 1, "a": {"b": 2}}] * 10
    audit = unskew.audit(rows)
    assert {name: variable.counts for name, variable in audit.variables.items()} == {"a.b": {1: 10}}
