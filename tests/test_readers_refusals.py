"""What cannot be read is refused in one line: where it is, what is there, and the next step."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unskew
from tests.packed_files import zst
from unskew import UnskewError
from unskew.io.readers import delimited

ROW = '{"a": 1, "b": "x"}\n'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refusal(target: Any) -> str:
    with pytest.raises(UnskewError) as caught:
        unskew.audit(target, by="a")
    line = str(caught.value)
    assert "\n" not in line
    return line


MANY = "".join(json.dumps({"a": i * 7919 % 10_007, "b": f"x{i}"}) + "\n" for i in range(9000))

FILES: dict[str, tuple[bytes, str]] = {
    "cut.jsonl.gz": (
        gzip.compress(MANY.encode())[:-700],
        "cut.jsonl.gz is cut off: its gzip data has no end; copy it again",
    ),
    "cut.jsonl.zst": (
        zst(MANY.encode())[:-700],
        "cut.jsonl.zst is cut off: its zstd data has no end; copy it again",
    ),
    "cut.csv.gz": (
        gzip.compress(b"a,b\n" + b"1,x\n" * 9)[:-9],
        "cut.csv.gz is cut off: its gzip data has no end; copy it again",
    ),
    "no.jsonl.gz": (
        ROW.encode(),
        "no.jsonl.gz is no whole gzip file (zlib inflate failed: incorrect header check); "
        "copy it again, or correct its suffix",
    ),
    "latin.jsonl": (
        ROW.encode() + b'{"a": 1, "b": "caf\xe9"}\n',
        "latin.jsonl line 2 is no UTF-8 text (invalid continuation byte); "
        "convert the file to UTF-8",
    ),
    "latin.csv": (
        b"a,b\n1,x\n2,caf\xe9\n",
        "latin.csv line 3 is no UTF-8 text (invalid continuation byte); convert the file to UTF-8",
    ),
    "excel.csv": (
        "a,b\n1,x\n".encode("utf-16"),
        "excel.csv line 1 is no UTF-8 text (invalid start byte); convert the file to UTF-8",
    ),
    "latin.json": (
        b'[{"a": 1},\n{"a": "caf\xe9"}]',
        "latin.json line 2 is no UTF-8 text (invalid continuation byte); convert the file to UTF-8",
    ),
    "short.csv": (
        b"a,b\n1,x\n2\n3,y\n",
        "short.csv row 2 has 1 fields, and the first line names 2 columns; correct that row, or "
        "put a field with a comma between quotes",
    ),
    "long.tsv": (
        b"a\tb\n" + b"1\tx\n" * 500 + b"2\ty\tz\n",
        "long.tsv row 501 has 3 fields, and the first line names 2 columns; correct that row, or "
        "put a field with a comma between quotes",
    ),
    "twice.csv": (
        b"a,b,a\n1,2,3\n",
        "twice.csv has two columns named 'a'; rename one of them",
    ),
    "empty.csv": (b"", "empty.csv gave no examples; there is nothing to audit"),
    "head.csv": (b"a,b\n", "head.csv gave no examples; there is nothing to audit"),
    "head2.csv": (b"a,b", "head2.csv gave no examples; there is nothing to audit"),
    "empty.jsonl": (b"\n\n", "empty.jsonl gave no examples; there is nothing to audit"),
    "empty.json": (b"[]", "empty.json gave no examples; there is nothing to audit"),
    "none.json": (
        b"",
        "none.json is no JSON (Expecting value: line 1 column 1 (char 0)); it may be truncated: "
        "mend it, or make it again",
    ),
    "cut.json": (
        b'[{"a": 1}, {"a": ',
        "cut.json is no JSON (Expecting value: line 1 column 18 (char 17)); it may be truncated: "
        "mend it, or make it again",
    ),
    "number.json": (
        b"5",
        "number.json holds 5, which is no table; give a list of rows, or columns of equal length",
    ),
    "object.json": (
        b'{"a": 5}',
        "object.json is an object in which none are lists; give a list of rows, or columns of "
        "equal length",
    ),
    "lengths.json": (
        b'{"a": [1, 2], "b": [1]}',
        "lengths.json has columns of lengths {'a': 2, 'b': 1}; give a list of rows, or columns of "
        "equal length",
    ),
    "cut.jsonl": (
        MANY.encode()[:-4],
        "cut.jsonl line 9000 is no JSON (Unterminated string starting at: line 1 column 18 "
        "(char 17)); it may be truncated: mend that line",
    ),
    "no.arrow": (
        b"hello world",
        "no.arrow cannot be read as Arrow (Expected to read 1819043176 metadata bytes, but only "
        "read 7); it may be truncated: make it again",
    ),
    "x.xlsx": (
        b"PK",
        "x.xlsx is of no kind that can be read; point at .parquet, .jsonl, .ndjson, .json, .csv, "
        ".tsv, .arrow, .feather files; texts may end in .gz and .zst too",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file(name: str) -> None:
    data, expected = FILES[name]
    Path(name).write_bytes(data)
    line = refusal(Path(name))
    start, _, end = expected.partition("(")
    assert line.startswith(start)  # what another library says may change
    assert line.endswith(end.rpartition(")")[2])


def test_a_later_block_of_another_type_names_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_BLOCK", 64)
    rows = b"a,b\n" + b"1,x\n" * 40
    Path("x.csv").write_bytes(rows + b"2.5,x\nNA,x\n,x\n" + rows[4:])
    assert unskew.audit("x.csv", by="a").variables["a"].counts == {1: 80, 2.5: 1, None: 2}
    Path("x.csv").write_bytes(rows + b"two,x\n" + rows[4:])
    assert refusal("x.csv") == (
        "x.csv row 41: column 'a' is 'two', but it holds whole numbers in the rows before; leave "
        "the field empty, or give a table in which the column is text"
    )
    Path("x.csv").write_bytes(rows + b"2\n")
    assert "x.csv row 41 has 1 fields" in refusal("x.csv")
    # Both numbers are numbers, but no column has both.
    Path("x.csv").write_bytes(rows + b"0.5,x\n9007199254740993,x\n")
    assert refusal("x.csv").startswith("x.csv row 42: column 'a' is '9007199254740993', but")


def test_a_name_of_a_csv_column_may_have_a_line_separator_of_unicode() -> None:
    Path("x.csv").write_text("a\u2028b,c\n1,2\n")
    assert list(unskew.audit("x.csv").variables) == ["a\u2028b", "c"]


def test_types_of_csv() -> None:
    Path("x.csv").write_text(
        "whole,number,truth,name,date,text,quoted,none,big\n"
        '1,1,True,007,2024-01-05,a,"x, ""y""\nz",,12345678901234567890\n'
        "-2,2.5,false,1,2024-01-06,,NA,,1\nNA,nan,,2,,NA,b,,2\n",
    )
    audit = unskew.audit("x.csv")
    assert {name: list(variable.counts) for name, variable in audit.variables.items()} == {
        "whole": [-2, 1, None],
        "number": [1, 2.5, None],
        "truth": [False, True, None],
        "name": ["007", "1", "2"],
        "date": ["2024-01-05", "2024-01-06", None],
        "weekday(date)": [5, 6, None],
        "text": ["NA", "a", None],
        "quoted": ["NA", "b", 'x, "y"\nz'],
        "none": [None],
        "big": ["1", "12345678901234567890", "2"],
    }


def test_an_arrow_file_that_is_cut_off() -> None:
    sink = pa.BufferOutputStream()
    table = pa.table({"a": list(range(5000))})
    for new in (pa.ipc.new_file, pa.ipc.new_stream):
        sink = pa.BufferOutputStream()
        with new(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=1000)
        Path("x.arrow").write_bytes(sink.getvalue().to_pybytes()[:20_000])
        line = refusal("x.arrow")
        assert line.startswith("x.arrow cannot be read as Arrow (")
        assert line.endswith("); it may be truncated: make it again")


def test_two_columns_of_one_name() -> None:
    table = pa.table([[1], [2]], names=["a", "a"])
    pq.write_table(table, "x.parquet")
    assert refusal("x.parquet") == "x.parquet has two columns named 'a'; rename one of them"
    assert refusal(table) == "a pyarrow Table has two columns named 'a'; rename one of them"


def test_patterns_and_folders() -> None:
    Path("data").mkdir()
    assert refusal("data").startswith("data holds no data file (it is empty); point at .parquet,")
    assert refusal("data/*.csv") == "data/*.csv matches no file; data is empty"
    Path("data/chat.jsonl").write_text(ROW)
    assert refusal("data/chat.jso?") == "data/chat.jso? matches no file; data has chat.jsonl"
    assert refusal("dat/*.csv") == "dat/*.csv matches no file; there is no folder dat"
    Path("other").mkdir()
    Path("other/x.png").touch()
    assert refusal("other").startswith("other holds no data file (only .png); point at .parquet,")
    assert refusal("other/*.png").startswith("other/*.png holds no data file (only .png); point")


def test_a_pattern_does_not_lead_out(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    Path("secret/s.jsonl").write_text(ROW)
    Path("data").mkdir()
    Path("data/l.jsonl").symlink_to(tmp_path / "secret" / "s.jsonl")
    assert "is a link out of data" in refusal("data/*.jsonl")


def test_files_with_other_columns() -> None:
    Path("data").mkdir()
    Path("data/train.csv").write_text("a,b\n1,x\n")
    Path("data/test.csv").write_text("a\n1\n")
    assert refusal("data") == (
        "data/train.csv has a column 'b' and data/test.csv has none; read them apart, or give "
        "both the same columns"
    )


def test_saved_datasets_that_are_not_whole() -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list([{"a": 1}])
    datasets.DatasetDict(train=rows, test=rows).save_to_disk("saved")
    Path("saved/test/state.json").unlink()
    assert refusal("saved") == "saved/test/state.json does not exist; save the dataset again"
    Path("saved/dataset_dict.json").write_text('{"splits": []}')
    assert refusal("saved") == "saved/dataset_dict.json names no files; save the dataset again"
    Path("saved/dataset_dict.json").write_text('{"splits": 7}')
    assert "saved/dataset_dict.json cannot be read (TypeError" in refusal("saved")
    Path("saved/train/data-00000-of-00001.arrow").unlink()
    assert "data-00000-of-00001.arrow" in refusal("saved/train")


# Objects.


def pandas_of_two_types() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"b": ["x"] * 9, "a": [1] * 7 + ["x", 2]})


def pandas_twice() -> Any:
    return pytest.importorskip("pandas").DataFrame([[1, 2]], columns=["a", "a"])


def lazy_frame_that_fails() -> Any:
    pl = pytest.importorskip("polars")
    return pl.LazyFrame({"a": ["x"]}).with_columns(pl.col("a").cast(pl.Int64))


def lazy_frame_without_a_column() -> Any:
    pl = pytest.importorskip("polars")
    return pl.LazyFrame({"a": ["x"]}).select("nothing")


def splits_with_other_columns() -> Any:
    datasets = pytest.importorskip("datasets")
    one, two = ({"a": 1, "b": 2}, {"a": 1})
    return datasets.DatasetDict(
        train=datasets.Dataset.from_list([one]), test=datasets.Dataset.from_list([two])
    )


def failing_dataset() -> Any:
    def rows() -> Iterator[dict[str, int]]:
        yield {"a": 1}
        raise KeyError("no such page")

    return pytest.importorskip("datasets").IterableDataset.from_generator(rows)


def loader_of_objects() -> Any:
    torch = pytest.importorskip("torch")
    return torch.utils.data.DataLoader([{"a": 1}], collate_fn=lambda rows: object())


def endless_map() -> Any:
    torch = pytest.importorskip("torch")

    class Rows(torch.utils.data.Dataset):
        def __getitem__(self, row: int) -> int:
            return row

    return Rows()


OBJECTS: dict[str, tuple[Callable[[], Any], str]] = {
    "unknown": (lambda: 5, r"5 cannot be read; pass examples, a table, draw\(rng\), a source's"),
    "set": (lambda: {1}, "a set object cannot be read; a set has no order that stays; pass a list"),
    "bytes": (lambda: b"x", "a bytes object cannot be read; pass a list of examples, or the path"),
    "no dict": (
        dict,
        r"a dict object cannot be read as columns \(it is empty\); give a dict",
    ),
    "one example": (lambda: {"a": 5}, r"as columns \('a' is 5\); give a dict of columns of one"),
    "text": (lambda: {"a": [5], "b": "x"}, r"as columns \('b' is 'x'\); give a dict"),
    "lengths": (lambda: {"a": [1], "b": [1, 2]}, r"as columns \(lengths {'a': 1, 'b': 2}\); give"),
    "no rows": (lambda: pa.table({"a": []}), "examples gave no examples; there is nothing"),
    "no columns": (lambda: pa.table({}), "examples gave no examples; there is nothing"),
    "mixed": (
        pandas_of_two_types,
        r"row 8: column 'a' is 'x', which is not of the type of the rows before; make them one",
    ),
    "pandas twice": (pandas_twice, "a pandas DataFrame has two columns named 'a'; rename one"),
    "lazy": (lazy_frame_that_fails, r"a polars LazyFrame failed \(InvalidOperationError: .*; mend"),
    "lazy column": (
        lazy_frame_without_a_column,
        r"a polars LazyFrame failed \(ColumnNotFoundError: .*; mend the query",
    ),
    "splits": (
        splits_with_other_columns,
        "a datasets DatasetDict has a column 'b' in split 'train' alone; audit one split",
    ),
    "failing": (failing_dataset, r"a datasets IterableDataset failed \(KeyError: 'no such page'\)"),
    "loader": (loader_of_objects, "a batch of the loader is <object object at"),
    "map": (endless_map, "Rows has neither __len__ nor __iter__; pass a list of examples"),
    "scalar": (lambda: __import__("numpy").array(3), "has no dimensions; pass a list of examples"),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_an_object(kind: str) -> None:
    make, expected = OBJECTS[kind]
    with pytest.raises(UnskewError, match=expected):
        unskew.audit(make(), by="a")
    refusal(make())


def test_a_file_of_a_pattern_is_not_written_over() -> None:
    Path("data").mkdir()
    Path("data/a.jsonl").write_text(ROW)
    with pytest.raises(UnskewError, match=r"data/a\.jsonl is also the input; name another file"):
        unskew.resample("data/*.jsonl", by="a", path="data/a.jsonl")
    assert Path("data/a.jsonl").read_text() == ROW
    unskew.resample("data/*.jsonl", by="a", path="data/b.jsonl")
    assert Path("data/b.jsonl").read_text() == ROW


@pytest.mark.parametrize("pattern", ["***", "a**", "data/**.jsonl"])
def test_a_pattern_that_cannot_be_read(pattern: str) -> None:
    assert "** beside other signs; write it alone" in refusal(pattern)
