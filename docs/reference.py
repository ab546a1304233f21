"""Writes commands.md, api.md, measures.md and the modules in design.md; `make docs` runs it.

A block stands between `<!-- reference: NAME -->` and `<!-- end -->`. The text around the blocks,
with the examples, is written by hand. A name that has no block yet gets one at the end of its page.
A test fails if a page differs from the code.
"""

import ast
import inspect
import re
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

import typer.main

import unskew
from unskew.cli import command_line
from unskew.core.variables.measures.names import FAMILIES, example, parse_name

ROOT = Path(__file__).parents[1]
COMMANDS, API, DESIGN = "docs/commands.md", "docs/api.md", "docs/design.md"
MEASURES = "docs/measures.md"
PAGES = (COMMANDS, API, DESIGN, MEASURES)
ROOMS = (
    "core",
    "balance",
    "io",
    "audits",
    "discovery",
    "datasets",
)  # whose modules the design page lists
# Documented after the public names: what these return, what a domain of your own needs, and Karel.
BESIDE = {
    "unskew.core.domain": ("Range", "Choice", "Formats", "Views", "Catalog"),
    "unskew.core.source": ("plain_source",),
    "unskew.datasets.stream": ("Stream",),
    "unskew.domains.karel": (
        *("parse", "to_readable", "to_tokens", "from_picture", "to_picture"),
        *("run", "Runs", "Status"),
    ),
    "unskew.domains.karel.language.tokens": ("stacked", "to_ids", "to_texts"),
    "unskew.domains.karel.language.compiler": ("compile_programs",),
    "unskew.domains.karel.world": (
        *("make_world", "grid_of", "hero_of"),
        *("from_json", "to_json", "from_tensor", "to_tensor", "from_bytes"),
    ),
    "unskew.domains.karel.examples": ("make_batch", "program_rows", "world_rows", "check"),
    "unskew.domains.karel.running.judge": ("judge", "Judged", "Share"),
    "unskew.domains.karel.running.trace": ("steps", "Step"),
    "unskew.domains.karel.formats.problems": (
        *("problems", "read_problem", "write_problem", "Problem"),
    ),
    "unskew.domains.karel.formats.records": ("from_record", "to_record"),
    "unskew.domains.karel.formats.draw": ("example_svg", "world_svg"),
    "unskew.domains.karel.formats.show": ("show",),
    "unskew.domains.karel.sampling.programs": ("original_programs",),
    "unskew.models.karel.data.tasks": ("Tasks",),
    "unskew.models.karel.decode.solve": ("solve", "Solved"),
    "unskew.models.karel.score": ("score", "Score"),
    "unskew.models.karel.train.run": ("shipped_synthesizer", "load_synthesizer"),
    "unskew.models.stream": ("StreamDataset",),
}


WIDTH, NOTE = 96, "  # "


def blocks(page: str) -> dict[str, str]:
    """Return the text of every block of a page by its name."""
    if page == COMMANDS:
        return {f"unskew {name}": _command(name, command) for name, command in commands().items()}
    if page == MEASURES:
        return {f"measures of {family}": _measures(family) for family in FAMILIES}
    if page == DESIGN:
        return {f"modules of {room}": _modules(room) for room in ROOMS}
    return {
        f"{module}.{name}": _entry(name, getattr(import_module(module), name))
        for module, names in {"unskew": unskew.__all__, **BESIDE}.items()
        for name in names
    }


def commands() -> dict[str, Any]:
    """Return the commands by name, as the command line has them."""
    group: Any = typer.main.get_command(command_line())
    by_name: dict[str, Any] = group.commands
    return by_name


def rewritten(page: str, root: Path = ROOT) -> str:
    """Return the text of a page with new blocks. Blocks that it lacks are added at the end."""
    texts = blocks(page)
    text = (root / page).read_text(encoding="utf-8")
    pattern = r"(<!-- reference: ([\w. -]+) -->)\n.*?(<!-- end -->)"
    there = [match[2] for match in re.finditer(pattern, text, flags=re.DOTALL)]
    text = re.sub(pattern, lambda m: f"{m[1]}\n{texts[m[2]]}\n{m[3]}", text, flags=re.DOTALL)
    for name, block in texts.items():
        if name not in there:
            text += f"\n## {name}\n\n<!-- reference: {name} -->\n{block}\n<!-- end -->\n"
    return text


def _measures(family: str) -> str:
    """Return a table of the measures of a family."""
    rows = []
    for measure in FAMILIES[family]:
        doc = measure.doc
        if measure.takes is not None:
            written = parse_name(example(measure)).measure.arguments
            doc = measure.with_arguments(*written).doc
        rows.append(f"| `{example(measure)}` | {_markdown(doc)} |")
    return "\n".join(["| name | |", "|---|---|", *rows])


def _modules(room: str) -> str:
    """Return a table of the modules of a room, with the first sentence of each."""
    folder = Path(unskew.__file__).parent / room
    rows = []
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = path.parent if path.name == "__init__.py" else path.with_suffix("")
        if module != path.parent or any(isinstance(node, ast.FunctionDef) for node in tree.body):
            doc = " ".join((ast.get_docstring(tree) or "").split())
            sentence = re.split(r"\.\s", doc, maxsplit=1)[0].rstrip(".")
            name = module.relative_to(folder).as_posix()
            rows.append(f"| `{name}` | {_markdown(sentence)} |")
    return "\n".join(["| module | |", "|---|---|", *rows])


def _command(name: str, command: Any) -> str:
    """Return the usage of a command, what it does, and a table for each group of options."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    words = ["unskew", name, *map(_placeholder, arguments)]
    words += [_spelt(p, long=False) for p in options if p.required]
    groups = {"": [(_placeholder(p), _help(p)) for p in arguments]}
    for option in options:
        panel = getattr(option, "rich_help_panel", None) or ""
        groups.setdefault(panel, []).append((_spelt(option), _help(option)))
    tables = "\n\n".join(_table(title, rows) for title, rows in groups.items())
    return f"    {' '.join(words)} [OPTIONS]\n\n{command.help}\n\n{tables}"


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    """Return a table under the title of a group; the first group has no title."""
    lines = "\n".join(f"| `{left}` | {right} |" for left, right in rows)
    return f"| {title} | |\n|---|---|\n{lines}".replace("|  |", "| |", 1)


def _placeholder(argument: Any) -> str:
    name = str(argument.metavar or argument.name).upper().strip("[]")
    name += "…" if argument.nargs != 1 else ""
    return name if argument.required else f"[{name}]"


def _spelt(option: Any, *, long: bool = True) -> str:
    names = sorted(option.opts, key=len)
    text = ", ".join(names) if long else names[0]
    return text if option.is_flag else f"{text} {option.metavar or option.name.upper()}"


def _help(parameter: Any) -> str:
    """Return the help, with the default if a person could give it."""
    text = str(parameter.help).replace("|", "\\|")
    shown = getattr(parameter, "show_default", None)
    if isinstance(shown, str):
        return f"{text} Default: {shown}."
    silent = parameter.default is None or parameter.default is False or parameter.required
    return text if silent else f"{text} Default: `{parameter.default}`."


def _entry(name: str, thing: Any) -> str:
    """Return the signature of a function or class, and what its docstring says."""
    node = _node(thing)
    doc = _markdown(inspect.getdoc(thing) or "")
    if isinstance(node, ast.FunctionDef):
        return f"```python\n{_signature(node)}\n```\n\n{doc}"
    rows = [f"| `{left}` | {right} |" for left, right in _members(node)]
    table = "\n".join(["", "", "| | |", "|---|---|", *rows]) if rows else ""
    return f"```python\n{_constructor(name, thing, node)}\n```\n\n{doc}{table}"


def _node(thing: Any) -> Any:
    return ast.parse(inspect.cleandoc("\n" + inspect.getsource(thing))).body[0]


def _signature(node: ast.FunctionDef, name: str = "") -> str:
    """Write a signature as the source has it, without ``self``; a long one on several lines."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    return _call(name or node.name, _parameters(node.args), returns, wrap=not name)


def _call(name: str, inside: list[str], returns: str = "", *, wrap: bool = True) -> str:
    line = f"{name}({', '.join(inside)}){returns}"
    if not wrap or (len(line) <= WIDTH and NOTE not in line):
        return line
    notes = [part.partition(NOTE) for part in inside]
    lines = [f"    {part},{mark}{note}\n" for part, mark, note in notes]
    return f"{name}(\n{''.join(lines)}){returns}"


def _parameters(arguments: ast.arguments) -> list[str]:
    plain = [*arguments.posonlyargs, *arguments.args]
    gaps: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    pairs = list(zip(plain, [*gaps, *arguments.defaults], strict=True))
    named = list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    texts = [_parameter(*pair) for pair in pairs if pair[0].arg not in ("self", "cls")]
    return [*texts, *(["*"] if named else []), *(_parameter(*pair) for pair in named)]


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    text = ast.unparse(argument)
    return text if default is None else f"{text} = {ast.unparse(default)}"


def _constructor(name: str, thing: Any, node: ast.ClassDef) -> str:
    """Write how a class is made: the fields of a dataclass, or its ``__init__``."""
    if any("dataclass" in ast.unparse(d) for d in node.decorator_list):
        lines = inspect.getsource(thing).splitlines()
        items = [item for item in node.body if isinstance(item, ast.AnnAssign)]
        return _call(name, [_field(item, lines) for item in items])
    inits = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    return _signature(inits[0], name) if inits else name


def _field(item: ast.AnnAssign, lines: list[str]) -> str:
    """Write a field, its default, and the comment beside it."""
    text = f"{ast.unparse(item.target)}: {ast.unparse(item.annotation)}"
    if item.value is not None:
        text += f" = {_default(item.value)}"
    _, mark, note = lines[(item.end_lineno or 0) - 1].partition(NOTE)
    return f"{text}{mark}{note}"


def _default(value: ast.expr) -> str:
    if not (isinstance(value, ast.Call) and ast.unparse(value.func) == "field"):
        return ast.unparse(value)
    words = {word.arg: ast.unparse(word.value) for word in value.keywords}
    factory = words.get("default_factory", "")
    return words.get("default") or {"dict": "{}"}.get(factory, f"{factory}()")


def _members(node: ast.ClassDef) -> list[tuple[str, str]]:
    """Return the public methods and properties of a class, each with its first sentence."""
    rows = []
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or item.name.startswith("_"):
            continue
        doc = _markdown((ast.get_docstring(item) or "").split("\n\n")[0].replace("\n", " "))
        property_ = any("property" in ast.unparse(d) for d in item.decorator_list)
        shown = item.name if property_ else _signature(item, item.name)
        rows.append((shown.replace("|", "\\|"), doc.replace("|", "\\|")))
    return rows


def _markdown(text: str) -> str:
    """Turn a docstring into Markdown: its code, and its list of arguments."""
    return re.sub(r"^Args:\n((?: {4}.*\n?)+)", _arguments, text.replace("``", "`"), flags=re.M)


def _arguments(match: re.Match[str]) -> str:
    """Return the arguments of a docstring as a list. The text of one may have several lines."""
    text = re.sub(r"\n {4,}", " ", textwrap.dedent(match[1]).strip())
    return re.sub(r"^(\w+):", r"- `\1`:", text, flags=re.M)


def main() -> None:
    """Rewrite the pages."""
    for page in PAGES:
        (ROOT / page).write_text(rewritten(page), encoding="utf-8")


if __name__ == "__main__":
    main()
