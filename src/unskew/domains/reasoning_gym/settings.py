"""The settings of a task: numbers, yes or no, and choices among names, as parameters of a source.

Lists and tuples (names, weights, operators), dates and free texts keep the library's defaults:
a parameter here is a number or one of a few names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from functools import cache
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from unskew.core.domain import Choice, Range
from unskew.domains.reasoning_gym.library import config_class, library_version

VERSION = "version"
_OURS = ("seed", "size")  # each item has a seed of its own, and a source has no end
_WIDEST = float(2**53)
_DOC = "the library's"


@dataclass(frozen=True)
class Setting:
    """One parameter: its type and range, its default, and how to make the library's value."""

    annotation: Any
    default: Any
    read: Callable[[Any], Any]


@cache
def settings_of(task: str) -> Mapping[str, Setting]:
    """Return the settings of a task that can be set here.

    The version is one of them, with one choice: the same recipe gives the same bytes only with
    the same library, so a recipe made with another one is refused.
    """
    config = config_class(task)
    hints = get_type_hints(config)
    entries = [entry for entry in fields(config) if entry.name not in _OURS]
    settings = {entry.name: _setting(hints[entry.name], entry.default) for entry in entries}
    here = library_version()
    only = Annotated[str, Choice((here,), "of the library; a recipe holds to it")]
    settings[VERSION] = Setting(only, here, str)
    return {name: setting for name, setting in settings.items() if setting is not None}


def signature_of(task: str) -> Signature:
    """Return the settings as the signature of a function with keyword parameters."""
    return Signature(
        [
            Parameter(name, Parameter.KEYWORD_ONLY, default=s.default, annotation=s.annotation)
            for name, s in settings_of(task).items()
        ]
    )


def config_values(task: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return chosen settings as values of the library."""
    known = settings_of(task)
    return {name: known[name].read(value) for name, value in chosen.items() if name != VERSION}


def _setting(hint: Any, default: Any) -> Setting | None:
    """Return a field of the library's as a setting, or None if it cannot be one."""
    if default is MISSING:
        return None
    if isinstance(default, bool):
        yes_no = Choice(("false", "true"), _DOC)
        return Setting(Annotated[str, yes_no], str(default).lower(), lambda text: text == "true")
    if isinstance(default, Enum):
        members = {str(member.value): member for member in type(default)}
        names = Choice(tuple(members), _DOC)
        return Setting(Annotated[str, names], str(default.value), members.__getitem__)
    if get_origin(hint) is Literal and isinstance(default, str):
        return Setting(Annotated[str, Choice(get_args(hint), _DOC)], default, str)
    if isinstance(default, float) or (hint is float and isinstance(default, int)):
        any_number = Range(-_WIDEST, _WIDEST, _DOC, "a number")
        return Setting(Annotated[float, any_number], float(default), float)
    if isinstance(default, int):
        whole = Range(-_WIDEST, _WIDEST, _DOC, "a whole number")
        return Setting(Annotated[int, whole], default, int)
    return None
