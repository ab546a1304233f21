"""What the commands for models share: the options of one model, and the progress of a training."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields
from importlib.util import find_spec
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from typer.core import TyperCommand

from unskew.cli.options import option
from unskew.cli.progress import progress
from unskew.core.errors import UnskewError
from unskew.models.options import Help

if TYPE_CHECKING:
    from unskew.models.training import Progress

OWNERS = {"calculator": "the Calculator", "karel": "Karel"}
PANELS = {domain: f"Only for {owner}" for domain, owner in OWNERS.items()}


class ModelCommand(TyperCommand):
    """A command with the options of several models; its help shows one model's options at a time.

    ``unskew train --help`` shows the options that all models have, and ``unskew train karel
    --help`` the options that only Karel's model has.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, without the options that were not asked for."""
        words = {argument.partition("/")[0] for argument in sys.argv}
        asked = {PANELS[domain] for domain in OWNERS if domain in words}
        for parameter in self.params:
            panel = getattr(parameter, "rich_help_panel", None)
            is_shown = panel in asked if asked else panel not in PANELS.values()
            parameter.hidden = not is_shown  # type: ignore[attr-defined]
        topics = [""] if asked else [f"{domain} " for domain in OWNERS]
        more = ", ".join(f"unskew {ctx.info_name} {topic}--help" for topic in topics)
        self.epilog = f"More options: {more}"
        super().format_help(ctx, formatter)


def need_torch() -> None:
    """Refuse to go on if the libraries of the models are missing, and say how to install them."""
    missing = [name for name in ("torch", "safetensors") if find_spec(name) is None]
    if missing:
        raise UnskewError(
            f"this command needs {' and '.join(missing)}; pip install 'unskew[train]'"
        )


@contextmanager
def training_progress(label: str, total: int) -> Iterator[Callable[[Progress], None]]:
    """Show how far a training is; yield the function that takes its reports."""
    shown = 0
    with progress(label, total) as advance:

        def report(now: Progress) -> None:
            nonlocal shown
            note = f"loss {now.loss:.3f}, {now.examples_per_second:,.0f} examples/s"
            if now.accuracy is not None:
                note += f", {100 * now.accuracy:.1f} % solved"
            reached = round(total * now.done)
            advance(reached - shown, note)
            shown = reached

        yield report


def takes(models: Mapping[str, type]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of the models; the command receives them as ``**own``.

    Args:
        models: For each domain, the dataclass with the options of its model.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        plain = signature(command, eval_str=True)
        shared = [p for p in plain.parameters.values() if p.kind is not p.VAR_KEYWORD]
        parameters = [
            *(p.replace(kind=Parameter.KEYWORD_ONLY) for p in shared),
            *(
                _parameter(field, kind, text, PANELS[domain])
                for domain, options in models.items()
                for field, kind, text in _own_options(options)
            ),
        ]
        # Typer reads the options of a command from its signature.
        command.__dict__["__signature__"] = plain.replace(parameters=parameters)
        return command

    return decorate


def choose(models: Mapping[str, type], domain: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options on the command line, by field; refuse those of another domain's model."""
    used = {name: value for name, value in own.items() if value is not None and value is not False}
    for owner, options in models.items():
        for field, _, text in _own_options(options):
            if owner != domain and field.name in used:
                raise UnskewError(f"{text.option(field.name)} is for {OWNERS[owner]}; leave it out")
    return {name: tuple(v) if isinstance(v, list) else v for name, v in used.items()}


def _own_options(options: type) -> Iterator[tuple[Field[Any], Any, Help]]:
    """Yield each field of a dataclass that is an option of its model, with its type and help."""
    hints = get_type_hints(options, include_extras=True)
    for field in fields(options):
        if get_origin(hints[field.name]) is Annotated:
            kind, text = get_args(hints[field.name])
            yield field, kind, text


def _parameter(field: Field[Any], kind: Any, text: Help, panel: str) -> Parameter:
    """Return an option as a parameter that Typer can read. Without the option, it has no value."""
    no_default = field.default is MISSING or field.default in (None, False, ())
    info = option(
        text.text,
        text.option(field.name),
        default=text.default or ("" if no_default else str(field.default)),
        metavar=text.metavar or None,
        panel=panel,
    )
    if get_origin(kind) is tuple:
        kind = list[get_args(kind)[0]]  # type: ignore[misc]
    default = False if kind is bool else None
    annotated: Any = Annotated
    annotation = annotated[kind if kind is bool else kind | None, info]
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
