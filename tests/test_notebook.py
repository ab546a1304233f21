"""The notebook in examples runs from top to bottom, and shows what it shows there."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from typing import Any

import pytest

from docs.markdown import ROOT

NOTEBOOK = json.loads((ROOT / "examples/balance_a_dataset.ipynb").read_text(encoding="utf-8"))
CELLS = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def shown(cell: dict[str, Any]) -> str:
    """The text below a cell: what it printed, and the value of its last line."""
    outputs = (output.get("text") or output["data"]["text/plain"] for output in cell["outputs"])
    return "".join("".join(lines) for lines in outputs)


def run(source: str, names: dict[str, Any]) -> str:
    """Run a cell as a notebook does; return what would be shown as text."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue() + ("" if value is None else repr(value))


@pytest.fixture(scope="module")
def outputs(tmp_path_factory) -> list[str]:
    """What each cell shows when all of them run in order."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(tmp_path_factory.mktemp("notebook")),
    ):
        patch.setenv("COLUMNS", "80")
        return [run("".join(cell["source"]), names) for cell in CELLS]


@pytest.mark.parametrize("number", range(len(CELLS)))
def test_a_cell_shows_what_stands_below_it(number, outputs):
    assert outputs[number].split() == shown(CELLS[number]).split()


def test_a_cell_that_shows_something_else_is_noticed():
    assert run("x = 1\nprint(x)\nx + 1", {}) == "1\n2"
    assert run("x = 1", {}) == ""


def test_the_notebook_is_a_notebook_with_outputs():
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    assert [cell["execution_count"] for cell in CELLS] == list(range(1, len(CELLS) + 1))
    assert len({cell["id"] for cell in NOTEBOOK["cells"]}) == len(NOTEBOOK["cells"])
    assert sum(bool(shown(cell)) for cell in CELLS) >= 8
