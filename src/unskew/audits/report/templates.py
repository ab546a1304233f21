"""Templates of pages and cards: files with markup. A page escapes every value in it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape

Data: TypeAlias = dict[str, Any]


def render(template: str, **data: Any) -> str:
    """Fill in a template; its name is its path in this package."""
    return environment().get_template(template).render(data)


@cache
def environment() -> Environment:
    """Return the environment of all templates; values are escaped in every ``.html``."""
    templates = Environment(
        loader=FunctionLoader(source),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    templates.globals["source"] = source
    templates.filters["markdown"] = markdown
    return templates


def source(path: str) -> str:
    """Read a file of this package."""
    return files("unskew").joinpath(path).read_text(encoding="utf-8")


def markdown(text: str) -> str:
    """Escape characters that would end a cell of a table or a line, or begin an HTML tag."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
