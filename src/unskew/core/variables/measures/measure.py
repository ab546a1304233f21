"""A measure: a name, what it says of a value, and the functions that work it out."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from unskew.core.errors import UnskewError
from unskew.core.values.missing import is_missing
from unskew.core.variables.path import json_inside

# What an argument is: a text, a whole number of at least 1, or one text or more.
ArgumentKind: TypeAlias = Literal["text", "number", "texts"]


def itself(value: Any) -> Any:
    """Return the value."""
    return value


@dataclass(frozen=True)
class Measure:
    """A measure: its name, what it says of a value, the kind of value it needs, its functions.

    ``view`` turns a value into what ``of`` measures, and returns None for a value of another kind.
    So what several measures need of a value, such as the words of a text, is worked out once.

    Args:
        arguments: what stands behind the path: ``3`` in ``remainder(x, 3)``.
        paths: how many paths it measures together: 2 for ``same(input, output)``.
        example: how it is written, for the documentation.
        on_json: whether it also measures a list or dict that is held as a text of JSON.
        on_missing: whether it also measures a missing value.
        takes: the kinds of the arguments, if it needs some and has none yet.
    """

    name: str
    doc: str
    needs: str
    of: Callable[..., Hashable]
    view: Callable[[Any], Any] = itself
    arguments: tuple[str | int, ...] = ()
    paths: int = 1
    example: str = ""
    on_json: bool = False
    on_missing: bool = False
    takes: ArgumentKind | None = None

    def with_arguments(self, *arguments: str | int) -> Measure:
        """Return the measure with its arguments."""
        doc = self.doc.format(" or ".join(map(str, arguments)))
        return Measure(
            **{**self.__dict__, "doc": doc, "arguments": arguments, "takes": None},
        )

    def of_path(self, *paths: str) -> str:
        """Return how the measure of a path is written."""
        if not self.name:
            return paths[0]
        only = len(paths) == 1 and not self.arguments
        written = [path if only else quoted(path) for path in paths]
        return f"{self.name}({', '.join([*written, *map(_argument, self.arguments)])})"

    def of_view(self, view: Any) -> Hashable:
        """Return the measure of what ``view`` returned."""
        return None if view is None else self.of(view, *self.arguments)


VALUE = Measure("", "by value", "a value", itself)


def measured(measure: Measure, value: Any) -> Any:
    """Return the measure of one value; None if the value is missing or of another kind."""
    return measure.of_view(viewed(measure, value))


def viewed(measure: Measure, value: Any) -> Any:
    """Return the view that a measure needs of a value; None for a value that it does not take."""
    if is_missing(value):
        return measure.view(None) if measure.on_missing else None
    if measure.on_json and isinstance(value, str):
        value = json_inside(value)
    return None if value is None else measure.view(value)


def quoted(text: str) -> str:
    """Return how an argument is written: in quotes where it holds commas, brackets or quotes."""
    plain = text == text.strip() and text and not any(c in text for c in ',()"\\\n')
    return text if plain else json.dumps(text, ensure_ascii=False)


def unquoted(text: str) -> str:
    """Return the argument that a text writes."""
    text = text.strip()
    if len(text) < 2 or text[0] != '"':
        return text
    try:
        inside = json.loads(text)
    except ValueError:
        raise UnskewError(
            f'argument {text} cannot be read; write quotes inside quotes as \\", as in "a \\" b"'
        ) from None
    return str(inside)


def _argument(argument: str | int) -> str:
    return quoted(argument) if isinstance(argument, str) else str(argument)
