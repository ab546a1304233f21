"""Templates of pages and cards: files with the markup, which escape every value they show."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape

Data: TypeAlias = dict[str, Any]


def render(template: str, **data: Any) -> str:
    """Fill in a template, which is named by its path inside of this package."""
    return environment().get_template(template).render(data)


@cache
def environment() -> Environment:
    """Return the environment of all templates; values are escaped in every ``.html``."""
    made = Environment(
        loader=FunctionLoader(source),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    made.globals["source"] = source
    made.filters["markdown"] = markdown
    return made


def source(path: str) -> str:
    """Read a file of this package."""
    return files("unskew").joinpath(path).read_text(encoding="utf-8")


def markdown(text: str) -> str:
    """Escape what would end a cell of a table or a line, and what would begin an HTML tag."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
