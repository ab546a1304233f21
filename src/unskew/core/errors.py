"""The one error that users see, and how it suggests the nearest name."""

import math
import operator
import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real
from reprlib import Repr
from types import FrameType

from unskew.core.visible import visible

MOST_NAMES = 40  # that an error lists
LONGEST, LAST = 2000, 500  # characters of an error, and of its end where the middle is left out
MOST_TEXT = 200  # characters of a text or number within a value that an error names


class UnskewError(Exception):
    """An error that a user can mend. Its line has the value, what is allowed, and the next step."""

    def __init__(self, text: str = "") -> None:
        """Keep the text on one line and short, whatever value of the user's it repeats."""
        super().__init__(one_line(text))


def one_line(text: str) -> str:
    """Return a text that steers no terminal, without line breaks and, if it is long, its middle."""
    text = visible(text.replace("\r", "\\r").replace("\n", "\\n"))
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - LAST]} … {text[-LAST:]}"  # the next step is at the end


class RowError(UnskewError):
    """A mistake in one row of a batch; ``at`` tells where that row stands."""

    def __init__(self, row: int, problem: str) -> None:
        """Take the row counted from 0; the message counts from 1, as files do."""
        super().__init__(f"row {row + 1}: {problem}")
        self.row, self.problem = row, problem

    def at(self, where: str) -> UnskewError:
        """Return the error with the row's place in a file."""
        return UnskewError(f"{where}: {self.problem}")


def _limited() -> Repr:
    """Return a printer that looks only at the first parts of a value."""
    printer = Repr()
    printer.maxlevel = 6
    printer.maxlist = printer.maxtuple = printer.maxdict = printer.maxset = 20
    printer.maxstring = printer.maxother = printer.maxlong = MOST_TEXT
    return printer


_BRIEF = _limited()


def brief(value: object, most: int = 60) -> str:
    """Return how a value prints, on one line of at most ``most`` characters."""
    try:
        text = " ".join(_BRIEF.repr(value).split())
    except Exception:  # too many digits, or a class of the user's own
        text = f"<{type(value).__name__}>"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= most else text[: most - 3] + "..."


class HealthWarning(UserWarning):
    """Homogenizing works, but it costs much, or a declared value never came."""


def warn_user(message: str) -> None:
    """Show a ``HealthWarning``, at the line of the user's code that led to it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, HealthWarning, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "unskew"


def is_new(warning: str, warned: set[str]) -> bool:
    """Whether no warning of this kind came before: each shard warns with its own numbers."""
    kind = " ".join(warning.split()[:3])
    new = kind not in warned
    warned.add(kind)
    return new


def unknown(kind: str, name: str, known: Iterable[str], step: str = "") -> UnskewError:
    """Build the error for a name that does not exist, with the nearest one that does.

    Where none is near, ``step`` says what to do, or the names are listed.
    """
    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    rest = [f"… ({len(names) - MOST_NAMES} more)"] if len(names) > MOST_NAMES else []
    between = "; " if any("," in name for name in names) else ", "
    listed = between.join([*names[:MOST_NAMES], *rest])
    some = f"choose from {listed}" if names else "there is none to choose from"
    hint = f"did you mean {near[0]!r}?" if near else step or some
    return UnskewError(f"unknown {kind} {name!r}; {hint}")


def check_count(name: str, value: object, step: str = "give a whole number") -> None:
    """Raise unless ``value`` is a whole number of at least one."""
    check_whole(name, value, 1, step)


def check_whole(name: str, value: object, low: int, step: str = "give a whole number") -> None:
    """Raise unless ``value`` is a whole number of at least ``low``; NumPy's are, True is not."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = low - 1
    if number < low or isinstance(value, bool):
        raise UnskewError(
            f"{name} is {value!r}; allowed is a whole number of at least {low}: {step}"
        )


def check_range(
    name: str,
    value: float,
    low: float,
    high: float | None = None,
    *,
    step: str = "choose a value in that range",
) -> None:
    """Raise unless ``low <= value <= high``; nan and what is no number are outside every range."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and low <= value and (high is None or value <= high) and value != math.inf:
        return
    allowed = f"at least {low}" if high is None else f"from {low} to {high}"
    if value == math.inf:
        allowed += ", and finite"
    raise UnskewError(f"{name} is {value!r}; allowed is {allowed}: {step}")
