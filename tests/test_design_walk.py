"""The design page follows examples through the code: its commands call what it names."""

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import unskew
from tests.commands import exit_code

PAGE = (Path(__file__).parents[1] / "docs" / "design.md").read_text(encoding="utf-8")
SOURCE = Path(unskew.__file__).parent
NAME = re.compile(r"`(\w+)`(?: \(|, )`([\w/]+\.py)`")
IN_A_WORKER = {("serve", "core/processes/worker.py"), ("begin", "datasets/workers/parts.py")}
Called = dict[tuple[str, str], int]


def walk(title: str) -> list[tuple[str, str]]:
    """Return the functions that a walk names, each with its file, in order; no classes."""
    text = PAGE.partition(f"\n**{title}**\n")[2].partition("\n**")[0]
    return [name for name in NAME.findall(text) if not name[0][0].isupper()]


@pytest.fixture
def called(tmp_path, monkeypatch) -> Callable[..., Called]:
    """Run a command; return its functions in the order in which they are first called."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Called:
        seen: Called = {}

        def note(frame, event, _):
            path = frame.f_code.co_filename
            if event == "call" and path.startswith(str(SOURCE)):
                place = Path(path).relative_to(SOURCE).as_posix()
                seen.setdefault((frame.f_code.co_name, place), len(seen))

        before = sys.getprofile()
        sys.setprofile(note)
        threading.setprofile(note)
        try:
            code = exit_code(*arguments)
        finally:
            sys.setprofile(before)
            threading.setprofile(None)
        assert code == 0
        return seen

    return run


def generate(*options: object) -> tuple[object, ...]:
    return ("generate", "calculator/dcfg", "--homogenize", "length", "-n", 2_000, *options)


def test_a_dataset_is_made_as_the_page_says(called) -> None:
    plain = called(*generate("-o", "even", "--workers", 1))
    priced = called(*generate("-o", "priced", "--budget", 3, "--workers", 2, "--shard-size", 1_000))
    names = walk("Making the dataset")
    assert len(names) > 20
    assert set(names) - plain.keys() - priced.keys() == IN_A_WORKER
    makes = [name for name in names if name[1].startswith(("datasets/parts/part", "datasets/fin"))]
    assert makes == sorted(makes, key=plain.__getitem__)


def test_a_report_is_made_as_the_page_says(called) -> None:
    called(*generate("-o", "even"))
    audit = called("audit", "calculator/dcfg", "--after", "even", "--report", "report.html")
    names = walk("Making the report")
    assert len(names) > 12
    assert set(names) <= audit.keys()
    shows = [name for name in names if name[1].startswith(("audits/audit.py", "audits/report"))]
    assert shows == sorted(shows, key=audit.__getitem__)


def test_a_file_is_read_as_the_page_says(called) -> None:
    Path("tasks.jsonl").write_text('{"text": "a", "n": 1}\n{"text": "bc", "n": 1}\n' * 50)
    names = walk("A file of somebody else")
    assert len(names) > 8
    assert set(names) <= called("audit", "tasks.jsonl").keys()


def test_variables_are_found_as_the_page_says(called) -> None:
    rows = [f'{{"a": {n % 10 // 9}, "b": {n % 7}}}\n' for n in range(700)]
    Path("tasks.jsonl").write_text("".join(rows))
    names = walk("Variables that nobody named")
    assert len(names) > 10
    assert set(names) <= called("discover", "tasks.jsonl").keys()


@pytest.mark.parametrize("title", ["Making the dataset", "Making the report"])
def test_no_function_is_named_twice(title: str) -> None:
    names = walk(title)
    assert len(names) == len(set(names))
