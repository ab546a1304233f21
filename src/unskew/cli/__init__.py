"""The command line. An error prints one line on stderr and exits with 2.

Ctrl-C exits with 130. A closed pipe (`| head -1`) exits silently with 141, as other tools do.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import warnings
from importlib import import_module
from itertools import pairwise
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand

from unskew.cli.printing import echo
from unskew.core.errors import HealthWarning, UnskewError, one_line
from unskew.core.processes.exits import FAILED, exits_told
from unskew.core.processes.stop import STOPPED, Interrupt, Stopped

# The modules of the commands, in the groups of the help. Each has a function with its own name.
_MODULES = {
    "Data": (
        *("audit", "discover", "generate", "resample"),
        *("verify", "show", "list_", "convert", "warm_up"),
    ),
    "Models": ("models.train", "models.evaluate", "models.synthesize"),
    "The paper": ("reproduce",),
}
# The module and the group of each command, by the name that users type.
_COMMANDS = {
    module.rpartition(".")[2].rstrip("_").replace("_", "-"): (module, group)
    for group, modules in _MODULES.items()
    for module in modules
}


def command_line(word: str = "") -> typer.Typer:
    """Return the command line with the command of this name alone, else with all commands.

    Only the commands that it has are imported.
    """
    app = typer.Typer(
        name="unskew",
        help="See how skewed a synthetic dataset is, and make one that is not.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_root)
    for name in [word] if word in _COMMANDS else _COMMANDS:
        module, group = _COMMANDS[name]
        function = getattr(import_module(f"unskew.cli.{module}"), module.rpartition(".")[2])
        app.command(name, cls=_kind(name), rich_help_panel=group)(function)
    return app


def _kind(name: str) -> type[TyperCommand] | None:
    """Return the class of a command, if it has one of its own."""
    if name != "train":
        return None
    from unskew.cli.models.command import ModelCommand

    return ModelCommand


def _root(version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    if version:
        from unskew import __version__

        echo(__version__)
        raise typer.Exit


# The base class of all usage errors. Typer takes it from click, or from its own copy of click.
_USAGE_ERROR: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


# New objects after which Python looks for garbage. With its own 700 it looks a hundred times while
# libraries are imported, finds nothing, and takes an eighth of the time of a small audit.
_NEW_OBJECTS = 50_000
_NUMBERS = {"integer": "a whole number", "number": "a number", "float": "a number"}


def main() -> None:
    """Run the command line. An error becomes one line and an exit code."""
    gc.set_threshold(_NEW_OBJECTS)
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show ε shows ?
            stream.reconfigure(errors="replace")
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", HealthWarning)
    interrupt = Interrupt()
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with exits_told(_say_error):
            result = command_line(*sys.argv[1:2])(standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command ends already
        _end(error, stopped=interrupt.count > 0)
    finally:
        signal.signal(signal.SIGINT, before)
    if result == STOPPED:  # Typer's code for a KeyboardInterrupt that other code raised
        _stopped()
    sys.exit(result if isinstance(result, int) else 0)


def _open_closed() -> None:
    """Open stdout and stderr if a shell closed them (`>&-`); what is printed then goes nowhere.

    Otherwise the next file that is opened would get their number, and all that is printed.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w"))


def _end(error: BaseException, *, stopped: bool) -> NoReturn:
    """Print an error as one line, and exit; raise it again if it is a fault of unskew."""
    if isinstance(error, (Stopped, typer.Abort)):
        _stopped()
    if isinstance(error, UnskewError):
        _fail(str(error))
    if isinstance(error, _USAGE_ERROR):
        _fail(_usage(error))
    # Click and rich turn a closed pipe into their own exit.
    if isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError):
        _drop_output()
        sys.exit(141)
    if isinstance(error, OSError):  # mostly the output, on a disk that is full
        _drop_output()
        what = error.filename or "the output"
        _fail(f"{what}: {error.strerror or error}; check the path, the disk and its permissions")
    if isinstance(error, MemoryError):
        _fail("there is not enough memory; take less data at once, or use a larger machine")
    if stopped:  # a kernel or a compiler may turn Ctrl-C into its own error
        _stopped()
    if isinstance(error, SystemExit):
        _fail(f"the command was ended by {error!r} in code that it ran; take the exit out of it")
    raise error


def _usage(error: Any) -> str:
    """Return the message of a usage error: the value, what is allowed, and the help to read."""
    message = error.format_message().rstrip(".") or "no command"
    allowed = next((words for kind, words in _NUMBERS.items() if f"valid {kind}" in message), "")
    given = _given(getattr(getattr(error, "param", None), "opts", []))
    if allowed and given:
        message = f"{given[0]} is {given[1]!r}; allowed is {allowed}"
    if getattr(error, "option_name", "") == "--by":  # it is so in audit, and in Python
        message += "; did you mean --homogenize?"
    command = [word for word in sys.argv[1:2] if word in _COMMANDS]
    where = " ".join(["unskew", *command])
    return f"{message}{'' if message.endswith('?') else ';'} see {where} --help"


def _given(spellings: list[str]) -> tuple[str, str] | None:
    """Return the last spelling of an option and its value: the error of click has no value."""
    last = None
    for argument, following in pairwise([*sys.argv[1:], ""]):
        name, equals, value = argument.partition("=")
        if name in spellings:
            last = name, value if equals else following
        elif argument[:2] in spellings and argument[2:]:  # -n5
            last = argument[:2], argument[2:]
    return last


def _stopped() -> NoReturn:
    message = "stopped; no file is half-written"
    if _can_continue(sys.argv[1:]):
        message += "; run the same command again to continue"
    echo(message, err=True)
    sys.exit(STOPPED)


def _can_continue(arguments: list[str]) -> bool:
    """Return whether a command keeps its work; reproduce does so with --work."""
    command, options = arguments[:1], arguments[1:]
    kept = any(option.split("=")[0] == "--work" for option in options)
    return command in (["train"], ["generate"]) or (command == ["reproduce"] and kept)


def _drop_output() -> None:
    """Discard what is still to be written to stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> NoReturn:
    _say_error(message)
    sys.exit(FAILED)


def _say_error(message: str) -> None:
    echo("error: " + " ".join(message.split()), err=True)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    echo(f"warning: {one_line(str(message))}", err=True)
