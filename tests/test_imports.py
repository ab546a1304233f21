"""Imports: they go one way through the layers, and `import unskew` loads nothing heavy."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import unskew

SOURCE = Path(unskew.__file__).parent

# The lowest layer first; a module may import its own layer and those before it. A name that
# ends in a dot stands for a package and everything in it.
LAYERS = {
    "core": [
        "errors",
        "usercode",
        "nesting",
        "jsontext",
        "visible",
        "processes",
        "streams",
        "compiled",
        "batch",
        "tally",
        "source",
        "salient",
        "binning",
        "codebook",
        "acceptance",
        "theory",
        "homogenizer",
        "allotment",
        "rowhash",
        "repeating",
        "auditing",
        "domain",
        "recipe",
        "files",
        "addresses",
        "store",
    ],
    "domains": ["domains."],
    "data jobs": [
        "dataset",
        "names",
        "given",
        "inputs",
        "parts",
        "keys",
        "inspecting",
        "verifying",
        "engines",
        "card",
        "finishing",
        "generation",
        "streaming",
        "worker",
        "iterables",
        "targets",
        "api",
        "converting",
        "resampling",
    ],
    "models": ["models."],
    "experiments": ["experiments."],
    "command line": ["cli."],
}
REPORT = "report."  # imports only the core; imported by anyone, but only inside functions
FREE = ("__init__", "__main__")  # the package itself and its command

PUBLIC = {
    "Audit",
    "Batch",
    "Comparison",
    "Dataset",
    "Domain",
    "Health",
    "HealthWarning",
    "Homogenized",
    "Recipe",
    "SalientVariable",
    "Source",
    "Tally",
    "UnskewError",
    "VariableAudit",
    "Verified",
    "audit",
    "bins",
    "clip",
    "cost_bound",
    "expected_cost",
    "generate",
    "homogenize",
    "homogenized",
    "over",
    "resample",
    "round_to",
    "samples_needed",
    "stream",
    "verify",
}


class Import(NamedTuple):
    target: str  # a module of unskew, without "unskew."
    lazy: bool  # inside a function
    line: int


def modules() -> dict[str, ast.Module]:
    """Return the tree of every module by its name without "unskew."."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imports(name: str, tree: ast.Module, known: set[str]) -> Iterator[Import]:
    """Yield what a module imports of unskew, wherever the statement stands."""
    in_functions = {
        id(inner)
        for outer in ast.walk(tree)
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for inner in ast.walk(outer)
    }
    for node in ast.walk(tree):
        lazy = id(node) in in_functions
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"unskew.{name} line {node.lineno}: a relative import"
            targets = [_meant(node.module or "", alias.name, known) for alias in node.names]
        else:
            continue
        for target in targets:
            if target.startswith("unskew."):
                yield Import(target.removeprefix("unskew."), lazy, node.lineno)


def _meant(module: str, name: str, known: set[str]) -> str:
    """Return the module that ``from module import name`` reads."""
    full = f"{module}.{name}"
    if full.removeprefix("unskew.") in known:
        return full
    home = unskew._HOME.get(name)
    return f"unskew.{home}" if module == "unskew" and home else module


def layer_of(name: str) -> int | None:
    """Return the number of a module's layer; None for the report and for what is in none."""
    for number, entries in enumerate(LAYERS.values()):
        if any(_matches(name, entry) for entry in entries):
            return number
    return None


def _matches(name: str, entry: str) -> bool:
    return name == entry.rstrip(".") or (entry.endswith(".") and name.startswith(entry))


def faults(name: str, tree: ast.Module, known: set[str]) -> list[str]:
    """Say which imports of a module go against the layers."""
    here, found = layer_of(name), []
    if here is None and not _matches(name, REPORT):
        return [f"unskew.{name} is in no layer; add it to LAYERS in {Path(__file__).name}"]
    allowed = 0 if here is None else here
    for target, lazy, line in imports(name, tree, known):
        to_report = _matches(target, REPORT)
        if to_report and (lazy or here is None):
            continue
        there = layer_of(target)
        if to_report or there is None or there > allowed:
            found.append(f"unskew.{name} line {line} may not import unskew.{target}")
    return found


MODULES = {name: tree for name, tree in modules().items() if name not in FREE}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_its_own_layer_and_lower_ones(name: str) -> None:
    assert faults(name, MODULES[name], set(MODULES)) == []


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("theory", "import unskew.names", "may not import unskew.names"),
        ("theory", "from unskew import names", "may not import unskew.names"),
        ("theory", "from unskew import homogenize", "may not import unskew.api"),
        ("theory", "def f():\n    from unskew.api import audit", "may not import unskew.api"),
        ("domains.x", "from unskew.names import y", "may not import unskew.names"),
        ("auditing", "from unskew.report import y", "may not import unskew.report"),
        ("report.html", "from unskew.api import audit", "may not import unskew.api"),
        ("report.html", "from unskew.domains import x", "may not import unskew.domains"),
        ("models.lstm", "from unskew.experiments.x import y", "may not import"),
        ("new_module", "", "is in no layer"),
        ("theory", "import unskew.new_module", "may not import unskew.new_module"),
    ],
)
def test_an_import_that_goes_up_is_found(name: str, code: str, message: str) -> None:
    (fault,) = faults(name, ast.parse(code), set(MODULES))
    assert message in fault


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("auditing", "def f():\n    from unskew.report import y"),
        ("report.html", "from unskew.auditing import Audit\nfrom unskew.report.charts import y"),
        ("models.lstm", "import torch\nfrom unskew.dataset import Dataset"),
        ("cli", "from unskew.experiments.x import y\nfrom unskew import __version__"),
    ],
)
def test_an_import_that_goes_down_is_allowed(name: str, code: str) -> None:
    assert faults(name, ast.parse(code), set(MODULES)) == []


def test_importing_unskew_loads_nothing_heavy() -> None:
    code = (
        "import sys, unskew; "
        "print([m for m in ('torch', 'ray', 'numba', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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
            seen[alias.name] = (node.module or "").removeprefix("unskew.")
    assert seen == unskew._HOME
