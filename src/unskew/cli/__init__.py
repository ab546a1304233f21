"""The command line. Errors are one line on stderr and exit code 2; Ctrl-C is 130.

A reader of its output that goes away (`| head -1`) is 141, as of other tools, without a word.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from itertools import pairwise
from typing import Any

import typer

from unskew.cli import convert, data, datasets, listing, reproducing, resample, training
from unskew.cli.printing import echo
from unskew.core.errors import HealthWarning, UnskewError

app = typer.Typer(
    name="unskew",
    help="See how skewed a synthetic dataset is, and make one that is not.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(listing.list_)
app.command()(data.audit)
app.command()(datasets.generate)
app.command()(datasets.verify)
app.command()(data.show)
app.command()(convert.convert)
app.command()(resample.resample)
app.command()(training.train)
app.command()(training.evaluate)
app.command()(training.synthesize)
app.command()(reproducing.reproduce)


@app.callback(invoke_without_command=True)
def _root(version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    if version:
        from unskew import __version__

        echo(__version__)
        raise typer.Exit


# The base of all usage errors; typer takes it from click or from its own copy of click.
_USAGE_ERROR: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


_NUMBERS = {"integer": "a whole number", "number": "a number", "float": "a number"}


class _Stopped(BaseException):
    """Ctrl-C. Its own exception, so that no library on the way answers it in its own words."""


def main() -> None:
    """Run the command line and turn what goes wrong into one line and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show ε shows ?
            stream.reconfigure(errors="replace")
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", HealthWarning)
    stops: list[int] = []

    def stop(number: int, _: object) -> None:
        if stops:  # the first was lost, perhaps in a function of the user that catches everything
            os._exit(130)
        stops.append(number)
        raise _Stopped

    before = signal.signal(signal.SIGINT, stop)
    try:
        result = app(standalone_mode=False)
        sys.stdout.flush()
    except UnskewError as error:
        _fail(str(error))
    except _USAGE_ERROR as error:
        _fail(_usage(error))
    except (_Stopped, typer.Abort):
        _stopped()
    except BrokenPipeError:
        _unread()
    except Exception:  # what a kernel or a compiler makes of a Ctrl-C that came in its midst
        if not stops:
            raise
        _stopped()
    except SystemExit as end:  # click and rich turn a closed pipe into an exit of their own
        if isinstance(end.__context__, BrokenPipeError):
            _unread()
        _fail(f"the command was ended by {end!r} in code that it ran; take the exit out of it")
    finally:
        signal.signal(signal.SIGINT, before)
    sys.exit(result if isinstance(result, int) else 0)


def _usage(error: Any) -> str:
    """Say what is wrong with a command: the value, what is allowed, and where more is said."""
    said = error.format_message().rstrip(".") or "no command"
    allowed = next((words for kind, words in _NUMBERS.items() if f"valid {kind}" in said), "")
    given = _given(getattr(getattr(error, "param", None), "opts", []))
    if allowed and given:
        said = f"{given[0]} is {given[1]!r}; allowed is {allowed}"
    whole: Any = typer.main.get_command(app)
    command = [name for name in sys.argv[1:2] if name in whole.commands]
    where = " ".join(["unskew", *command])
    return f"{said}{'' if said.endswith('?') else ';'} see {where} --help"


def _given(spellings: list[str]) -> tuple[str, str] | None:
    """Return an option as it was last given and its value: what refuses one does not name it."""
    found = None
    for argument, following in pairwise([*sys.argv[1:], ""]):
        name, equals, value = argument.partition("=")
        if name in spellings:
            found = name, value if equals else following
        elif argument[:2] in spellings and argument[2:]:  # -n5
            found = argument[:2], argument[2:]
    return found


def _stopped() -> None:
    said = "stopped; nothing is left half-written"
    echo(said + ("; the same command goes on" if _goes_on(sys.argv[1:]) else ""), err=True)
    sys.exit(130)


def _goes_on(arguments: list[str]) -> bool:
    """Whether a command keeps what it did; reproduce does so where it is told to."""
    command, options = arguments[:1], arguments[1:]
    kept = any(option.split("=")[0] == "--work" for option in options)
    return command in (["train"], ["generate"]) or (command == ["reproduce"] and kept)


def _unread() -> None:
    """End quietly: what is still to be flushed goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(141)


def _fail(message: str) -> None:
    echo("error: " + " ".join(message.split()), err=True)
    sys.exit(2)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    echo(f"warning: {message}", err=True)
