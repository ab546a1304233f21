"""Options that only one domain's model has; each model declares its own in a dataclass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from inspect import Parameter, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from unskew.core.errors import UnskewError
from unskew.models.options import Help

OWNERS = {"calculator": "the Calculator", "karel": "Karel"}


@dataclass(frozen=True)
class _Option:
    """One option of one model."""

    field: str
    type: Any
    default: Any
    help: Help

    @property
    def name(self) -> str:
        return self.help.name or self.field.replace("_", "-")


def takes(models: Mapping[str, type]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of the models; the command receives them as ``**own``.

    Args:
        models: For each domain, the dataclass with the options of its model.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        plain = signature(command, eval_str=True)
        shared = [p for p in plain.parameters.values() if p.kind is not p.VAR_KEYWORD]
        shared = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in shared]
        own = [
            _parameter(option, f"Only for {OWNERS[domain]}")
            for domain, options in models.items()
            for option in _own(options)
        ]
        # Typer reads the options of a command from its signature.
        command.__dict__["__signature__"] = plain.replace(parameters=[*shared, *own])
        return command

    return decorate


def choose(models: Mapping[str, type], domain: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given, by field; refuse an option of another domain's model."""
    given = {name: value for name, value in own.items() if value is not None and value is not False}
    for owner, options in models.items():
        for option in _own(options):
            if owner != domain and option.field in given:
                raise UnskewError(f"--{option.name} is for {OWNERS[owner]}; leave it out")
    return {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}


def _own(options: type) -> Iterator[_Option]:
    """Yield the fields of a dataclass that are options of their own."""
    hints = get_type_hints(options, include_extras=True)
    for field in fields(options):
        if get_origin(hints[field.name]) is Annotated:
            kind, text = get_args(hints[field.name])
            yield _Option(field.name, kind, field.default, text)


def _parameter(option: _Option, panel: str) -> Parameter:
    """Return an option as a parameter that typer can read; its default is that nothing is given."""
    info = typer.Option(
        f"--{option.name}",
        help=option.help.text,
        metavar=option.help.metavar or None,
        show_default=_default(option),
        rich_help_panel=panel,
    )
    default = False if option.type is bool else None
    annotated: Any = Annotated
    kind = annotated[_given_type(option.type), info]
    return Parameter(option.field, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _default(option: _Option) -> str | bool:
    """Return the default of an option in words."""
    if option.help.default:
        return option.help.default
    nothing = option.default is MISSING or option.default in (None, False, ())
    return True if nothing else str(option.default)


def _given_type(kind: Any) -> Any:
    """Return the type of what a person may give: nothing, once, or several times for a tuple."""
    if kind is bool:
        return bool
    if get_origin(kind) is tuple:
        return list[get_args(kind)[0]] | None  # type: ignore[misc]
    return kind | None
