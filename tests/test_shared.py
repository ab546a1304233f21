"""Files that several processes count: the same audit and the same chosen rows as of one process."""

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unskew
from tests.waiting import children
from unskew import Recipe, UnskewError, generate
from unskew.audits.saved import audit_text
from unskew.datasets.engines import processes
from unskew.datasets.engines.work import Engine, Work
from unskew.datasets.workers.audits import answering

pytestmark = pytest.mark.usefixtures("engines_at_once")
FILES = 5


def here(work: Work) -> Any:
    """An engine that does the last piece first, in this process."""
    answer = answering(work.task)
    for number in reversed(work.numbers):
        yield number, answer(number)


def rows_of(number: int, n: int = 300) -> list[dict[str, Any]]:
    """Rows of every kind; each file has values of its own, and all files have some in common."""
    rng = np.random.default_rng(number)
    return [
        {
            "small": int(rng.integers(9)) - number,
            "name": f"name {int(rng.integers(5)) + number}",
            "score": float(rng.normal()) * (number + 1),
            "id": f"{number}-{i}",
            "flag": bool(rng.integers(2)) if i % 7 else None,
            "day": datetime.date(2024, 1, 1 + int(rng.integers(4))),
            "price": Decimal(int(rng.integers(4))) / 4,
            "messages": [{"role": "user", "content": "?"}] * int(rng.integers(1, 4)),
            "meta": {"lang": ["en", "de"][number % 2]},
        }
        for i in range(n)
    ]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same files as Parquet, as JSONL and, with splits, as packed CSV."""
    top = tmp_path_factory.mktemp("folders")
    for number in range(FILES):
        table = pa.Table.from_pylist(rows_of(number))
        frame = table.to_pandas()
        split = "train" if number else "test"
        for kind in ("parquet", "jsonl", "csv"):
            (top / kind).mkdir(exist_ok=True)
        pq.write_table(table, top / "parquet" / f"{number}.parquet")
        lines = (json.dumps(row, default=str) + "\n" for row in rows_of(number))
        (top / "jsonl" / f"{number}.jsonl").write_text("".join(lines), encoding="utf-8")
        flat = frame.drop(columns=["messages", "meta"])
        flat.to_csv(top / "csv" / f"{split}-{number}.csv.gz", index=False)
    return {path.name: path for path in top.iterdir()}


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("engine", [here, processes(2)], ids=["here", "workers"])
def test_an_audit_of_shared_files_is_the_audit(
    folders: dict[str, Path], kind: str, engine: Engine
) -> None:
    alone = unskew.audit(folders[kind])
    shared = unskew.audit(folders[kind], engine=engine)
    assert audit_text(shared) == audit_text(alone)
    assert (shared == alone, shared.samples == alone.samples) == (True, True)
    assert alone.n == FILES * 300


def test_the_bins_of_another_audit_are_used(folders: dict[str, Path]) -> None:
    like = unskew.audit(folders["parquet"] / "3.parquet", by="score")
    alone = unskew.audit(folders["parquet"], by=["score", "small"], also="words(name)", like=like)
    shared = unskew.audit(
        folders["parquet"],
        by=["score", "small"],
        also="words(name)",
        like=like,
        engine=processes(2),
    )
    assert audit_text(shared) == audit_text(alone)
    assert shared.variables["score"].edges == like.variables["score"].edges


@pytest.mark.parametrize(
    "by",
    ["small", "price", "meta.lang", "words(name)", ["flag", "small"], {"what": "day"}],
    ids=str,
)
def test_the_same_rows_are_chosen(folders: dict[str, Path], by: Any, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("alone.parquet", "shared.parquet")]
    alone = unskew.resample(folders["parquet"], by, seed=3, path=paths[0])
    shared = unskew.resample(folders["parquet"], by, seed=3, path=paths[1], engine=processes(2))
    assert np.array_equal(shared.indices, alone.indices)
    assert shared.tally == alone.tally
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_dataset_of_a_domain_is_shared_out(tmp_path: Path) -> None:
    made = generate(Recipe("calculator/dcfg", 400, shard_size=100), tmp_path / "made")
    assert unskew.audit(made, engine=here) == unskew.audit(made)
    assert unskew.audit(made, by="length", engine=processes(2)) == unskew.audit(made, by="length")


def test_no_process_is_left(folders: dict[str, Path]) -> None:
    before = children()
    unskew.audit(folders["parquet"], engine=processes(2))
    with pytest.raises(UnskewError, match="unknown variable 'smal'"):
        unskew.resample(folders["parquet"], "smal", engine=processes(2))
    assert children() == before


def test_an_engine_counts_what_takes_longer_than_to_start_it(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # of engines_at_once
    counted: list[int] = []

    def noted(work: Work) -> Any:
        counted.extend(work.numbers)
        yield from here(work)

    alone = unskew.audit(folders["parquet"])
    for seconds, numbers in ((0.01, []), (0.2, [*range(FILES)])):
        clock = iter(np.arange(0, 100, seconds)).__next__  # so much for each batch
        assert unskew.audit(folders["parquet"], engine=noted, clock=clock) == alone
        assert counted == numbers


# What is wrong is said as one process says it.


@pytest.mark.parametrize("engine", [None, here, processes(2)], ids=["alone", "here", "workers"])
def test_a_row_that_is_wrong_is_named_with_its_file(tmp_path: Path, engine: Engine | None) -> None:
    for number in range(3):
        lines = ['{"a": 1}\n'] * 10
        if number == 2:
            lines[4] = "7\n"
        (tmp_path / f"{number}.jsonl").write_text("".join(lines), encoding="utf-8")
    with pytest.raises(UnskewError, match=r"2\.jsonl row 5: an example is 7, which has"):
        unskew.audit(tmp_path, by="a", engine=engine)


@pytest.mark.parametrize("engine", [None, processes(2)], ids=["alone", "workers"])
def test_a_row_that_cannot_be_resampled_is_named_with_its_file(
    tmp_path: Path, engine: Engine | None
) -> None:
    for number in range(3):
        lines = ['{"a": 1}\n'] * 10
        if number == 2:
            lines[4] = "7\n"
        (tmp_path / f"{number}.jsonl").write_text("".join(lines), encoding="utf-8")
    with pytest.raises(UnskewError, match=r"2\.jsonl row 5: an example is 7, which has"):
        unskew.resample(tmp_path, by="a", engine=engine)


@pytest.mark.parametrize("engine", [None, here, processes(2)], ids=["alone", "here", "workers"])
def test_files_with_other_columns_are_refused(tmp_path: Path, engine: Engine | None) -> None:
    for number in range(4):
        table = pa.table({"a": [1, 2], ("b" if number < 3 else "c"): [3, 4]})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    with pytest.raises(UnskewError, match=r"0\.parquet has a column 'b' and .*3\.parquet has none"):
        unskew.audit(tmp_path, engine=engine)


@pytest.mark.parametrize(
    ("target", "options", "error"),
    [
        ([1, 2], {}, "examples is not read from files, so there is nothing to share out"),
        ("calculator/dcfg", {}, "calculator/dcfg is not read from files"),
        ("parquet", {"n": 5}, "n is 5, but an engine reads all files at the same time"),
        ("parquet", {"by": len}, "told names, not functions .* name it: by='my_module:my_func"),
    ],
    ids=["objects", "source", "n", "function"],
)
def test_what_cannot_be_shared_is_refused(
    folders: dict[str, Path], target: Any, options: dict[str, Any], error: str
) -> None:
    with pytest.raises(UnskewError, match=error):
        unskew.audit(
            folders.get(target, target) if isinstance(target, str) else target,
            engine=processes(2),
            **options,
        )


def test_a_file_that_comes_between_is_noticed(folders: dict[str, Path], tmp_path: Path) -> None:
    for path in folders["parquet"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())

    def late(work: Work) -> Any:
        (tmp_path / "9.parquet").write_bytes((tmp_path / "1.parquet").read_bytes())
        yield from here(work)

    with pytest.raises(UnskewError, match="changed while it was read; run the command again"):
        unskew.audit(tmp_path, engine=late)


def test_functions_of_a_module_are_called_in_every_process(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_measure.py").write_text("def of(row):\n    return len(row['messages'])\n")
    monkeypatch.chdir(tmp_path)
    by = "own_measure:of"
    assert unskew.audit(folders["parquet"], by, engine=processes(2)) == unskew.audit(
        folders["parquet"], by
    )


# The commands.


@pytest.mark.parametrize("command", ["audit", "resample"])
def test_workers_change_nothing_of_what_a_command_prints(
    folders: dict[str, Path], tmp_path: Path, command: str, run: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = []
    for workers in ("1", "2"):
        flags = ["--homogenize", "small", "-o", f"{workers}.jsonl"] * (command == "resample")
        code, out, err = run(command, folders["jsonl"], *flags, "--json", "--workers", workers)
        assert code == 0, err
        outputs.append(out.replace(f"{workers}.jsonl", "file"))
    assert outputs[0] == outputs[1]
    files = [path.read_bytes() for path in tmp_path.glob("*.jsonl")]
    assert len(set(files)) == (command == "resample")
