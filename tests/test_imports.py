"""The public names, what importing them loads, and the layers: a planted import is found."""

import ast
import json
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import unskew
from tests.commands import python

ROOT = Path(__file__).parents[1]
SOURCE = Path(unskew.__file__).parent

PUBLIC = {
    "Audit",
    "Batch",
    "BatchSampler",
    "Discovery",
    "Finding",
    "discover",
    "Comparison",
    "Dataset",
    "Domain",
    "Health",
    "HealthWarning",
    "Homogenized",
    "Plan",
    "Recipe",
    "Resampled",
    "SalientVariable",
    "Sampler",
    "Source",
    "Tally",
    "UnskewError",
    "VariableAudit",
    "Verified",
    "Weights",
    "audit",
    "bins",
    "clip",
    "cost_bound",
    "expected_cost",
    "generate",
    "homogenize",
    "homogenized",
    "over",
    "plan",
    "resample",
    "round_to",
    "sampler",
    "samples_needed",
    "stream",
    "verify",
    "weights",
}


@pytest.fixture
def checkout(tmp_path):
    """A copy of the sources and of the contract, to plant imports in."""
    shutil.copytree(SOURCE, tmp_path / "unskew", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the linter that `make check` runs, on a copy."""
    code = (
        "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command; "
        "lint_imports_command()"
    )
    command = [sys.executable, "-c", code, "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("core/batch", "from unskew.io.files import write_text"),
        ("balance/theory", "def f():\n    from unskew.datasets.generate import generate"),
        ("io/reading", "import unskew.audits.audit"),
        ("audits/report/words", "from unskew.datasets import verify"),
        ("datasets/verify", "from unskew.models import runs"),
        ("core/errors", "def f():\n    from unskew.core.batch import Batch"),
    ],
)
def test_an_import_that_goes_up_or_round_is_found(checkout, module: str, line: str) -> None:
    path = checkout / "unskew" / f"{module}.py"
    path.write_text(path.read_text(encoding="utf-8") + f"\n\n{line}\n", encoding="utf-8")
    done = lint(checkout)
    assert done.returncode == 1, done.stdout
    assert "BROKEN" in done.stdout


def test_the_imports_of_the_package_go_one_way(checkout) -> None:
    done = lint(checkout)
    assert done.returncode == 0, done.stdout + done.stderr


def test_importing_unskew_loads_nothing_heavy() -> None:
    code = (
        "import sys, unskew; "
        "print([m for m in ('torch', 'ray', 'numba', 'pyarrow') if m in sys.modules])"
    )
    done = python(code, check=True)
    assert done.stdout.strip() == "[]"


# What an audit of a small file needs of other people, and a command of Typer that uses it.
LIBRARIES = """
import typer, rich.console, rich.table, numpy, numpy.typing, pyarrow.compute, pyarrow.json
table = rich.table.Table(box=rich.box.SIMPLE_HEAD)
table.add_row("no. 1 of\u2003all")
rich.console.Console(width=10).print(table)
app = typer.Typer()
def command(text: str, number: int = 0) -> None: pass
app.command()(command)
app(["text"], standalone_mode=False)
import sys; print(*sys.modules)
"""
AUDIT = """
import sys; from unskew.cli import main; sys.argv = ["unskew", "audit", "small.jsonl"]
try: main()
except SystemExit as stop: print(stop.code, *sys.modules)
"""
# Rooms and folders of which an audit of a small file needs nothing, and the commands it needs.
UNUSED = (
    *("unskew.models", "unskew.experiments", "unskew.discover"),
    *("unskew.datasets.parts", "unskew.datasets.resampling", "unskew.datasets.workers"),
)
USED_COMMANDS = {"audit", "engines", "options", "printing", "progress"}


def test_an_audit_of_a_small_file_imports_only_what_it_needs(tmp_path: Path) -> None:
    rows = [
        {"text": f"no. {i} of\u2003all", "score": i / 7, "meta": {"kind": i % 3}} for i in range(60)
    ]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (tmp_path / "small.jsonl").write_text("\n".join(lines), encoding="utf-8")
    code, *imported = python(AUDIT, check=True, cwd=tmp_path).stdout.splitlines()[-1].split()
    assert code == "0"
    needed = set(python(LIBRARIES, check=True).stdout.split())
    others = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    own = {name for name in others if name.split(".")[0] == "unskew"}
    assert others - own - needed == set()
    assert not [name for name in own if name.startswith((*UNUSED, "unskew.domains."))]
    assert {name.split(".")[2] for name in own if name.startswith("unskew.cli.")} == USED_COMMANDS


def test_the_public_names_are_these() -> None:
    assert set(unskew.__all__) == PUBLIC
    assert len(unskew.__all__) == len(PUBLIC)
    for name in unskew.__all__:
        assert getattr(unskew, name).__name__ == name
    assert set(dir(unskew)) >= PUBLIC


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'homogenise'"):
        _ = unskew.homogenise


def test_type_checkers_see_the_same_names_from_the_same_modules() -> None:
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name
            seen[alias.name] = getattr(import_module(str(node.module)), alias.name)
    assert seen == {name: getattr(unskew, name) for name in unskew.__all__}
