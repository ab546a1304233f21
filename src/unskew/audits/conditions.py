"""Conditions under which an audit fails, as texts: ``answer.top > 0.3``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from unskew.audits.report import words
from unskew.core.errors import UnskewError, brief

if TYPE_CHECKING:
    from unskew.audits.audit import Audit
    from unskew.audits.records import VariableAudit

Measured: TypeAlias = tuple[float, str]  # a number, and a few words about it

# The last sign counts. Nothing here can match a space in two ways, which takes long in long texts.
_CONDITION = re.compile(r"(?P<left>.*)(?P<sign>>=|<=|==|>|<)(?P<limit>[-+.\deE\s]+)", re.DOTALL)
_SHARE = re.compile(r"(?P<variable>.+?)\.share\((?P<value>.*)\)", re.DOTALL)
_SIGNS: dict[str, tuple[Callable[[float, float], bool], str]] = {  # each with what it allows
    ">": (operator.gt, "at most"),
    ">=": (operator.ge, "less than"),
    "<": (operator.lt, "at least"),
    "<=": (operator.le, "more than"),
    "==": (operator.eq, "any number but"),
}
_OF_ALL: dict[str, Callable[[Audit], Measured]] = {
    "n": lambda audit: (audit.n, ""),
    "duplicates": lambda audit: (audit.duplicates, f"of {audit.n:,} examples"),
    "duplicates.share": lambda audit: (
        audit.duplicates / audit.n,
        f"{audit.duplicates:,} of {audit.n:,} examples",
    ),
}


def _top(variable: VariableAudit) -> Measured:
    """Return the share of the most frequent value, which may be one without a name."""
    value, share = variable.most_frequent[0]
    unnamed = max(variable.tail.times) / variable.n if variable.tail else 0.0
    return (share, words.shown(value)) if share >= unnamed else (unnamed, "a value not listed")


_OF_A_VARIABLE: dict[str, Callable[[VariableAudit], Measured]] = {
    "top": _top,
    "kl": lambda v: (v.kl, ""),
    "tv": lambda v: (v.total_variation, ""),
    "entropy": lambda v: (v.entropy, ""),
    "values": lambda v: (v.seen, ""),
    "missing": lambda v: (len(v.missing), words.missing(v) if v.missing else ""),
}
_SHARES = "share(VALUE)"
_ALLOWED = (
    f"write VARIABLE.MEASURE, one of {' '.join(_SIGNS)}, and a number, like 'answer.top > 0.3'; "
    f"the measures are {', '.join(_OF_A_VARIABLE)} and {_SHARES}; without a variable, there are "
    f"{', '.join(_OF_ALL)}"
)


@dataclass(frozen=True)
class Condition:
    """What must not be: a measured number that lies above, below or at a limit."""

    left: str  # what is measured, as it was written
    variable: str  # empty: the data as a whole
    measure: str
    value: str  # whose share is measured; otherwise empty
    sign: str
    limit: float

    def breach(self, audit: Audit) -> str:
        """Say what was measured and what is allowed; return an empty text if all is well."""
        number, about = self._measured(audit)
        fails, allowed = _SIGNS[self.sign]
        if not fails(number, self.limit):
            return ""
        text = f"{number:.4g}" if isinstance(number, float) else str(number)
        if not fails(float(text), self.limit):
            text = repr(number)  # rounded, it would be allowed
        details = f" ({about})" if about else ""
        return (
            f"{words.shown(audit.label, 200)}: {self.left} is {text}{details}; "
            f"allowed is {allowed} {words.shown(self.limit)}"
        )

    def _measured(self, audit: Audit) -> Measured:
        if not self.variable:
            return _OF_ALL[self.measure](audit)
        variable = audit.variables.get(self.variable)
        if variable is None:
            raise _not_measured(self.left, self.variable, audit)
        if self.measure == _SHARES:
            return _share(variable, self.value)
        return _OF_A_VARIABLE[self.measure](variable)


def read_condition(text: str) -> Condition:
    """Return the condition that a text states; refuse any other text."""
    parts = _CONDITION.fullmatch(text) if isinstance(text, str) else None
    limit = _number(parts["limit"]) if parts else math.nan
    left = parts["left"].strip() if parts else ""
    if parts is None or math.isnan(limit) or not left:
        raise UnskewError(f"condition {brief(text)} cannot be read; {_ALLOWED}")
    sign = parts["sign"]
    if left in _OF_ALL:
        return Condition(left, "", left, "", sign, limit)
    share = _SHARE.fullmatch(left)
    if share is not None:
        return Condition(left, share["variable"], _SHARES, share["value"], sign, limit)
    variable, _, measure = left.rpartition(".")
    if measure not in _OF_A_VARIABLE:
        raise UnskewError(f"condition {brief(text)} has an unknown measure {measure!r}; {_ALLOWED}")
    if not variable:
        raise UnskewError(f"condition {brief(text)} names no variable; {_ALLOWED}")
    return Condition(left, variable, measure, "", sign, limit)


def variables_of(conditions: Iterable[str]) -> list[str]:
    """Return the names of the variables in conditions, each once."""
    variables = [read_condition(text).variable for text in conditions]
    return list(dict.fromkeys(filter(None, variables)))


def breaches(audit: Audit, conditions: Iterable[str]) -> list[str]:
    """Return a line for each condition that is met, in their order."""
    lines = [condition.breach(audit) for condition in map(read_condition, conditions)]
    return [line for line in lines if line]


def _number(text: str) -> float:
    """Return a finite number; nan for a text that is none."""
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _share(variable: VariableAudit, text: str) -> Measured:
    """Return the share of the values that are written so: ``3`` is 3, 3.0 and "3"."""
    named = [value for value in variable.counts if text in (str(value), words.shown(value, 200))]
    if not named and (variable.declared or variable.edges):
        values = ", ".join(words.shown(value) for value in list(variable.counts)[:20])
        raise UnskewError(f"variable {variable.name!r} has no value {text!r}; choose from {values}")
    if not named and variable.tail:
        raise UnskewError(
            f"variable {variable.name!r} has too many values to list all, and {text!r} is not "
            "listed, so its share is not known; clip, round or bin the variable"
        )
    count = sum(variable.counts[value] for value in named)
    return count / variable.n, f"{count:,} of {variable.n:,} examples"


def _not_measured(left: str, name: str, audit: Audit) -> UnskewError:
    """Return the error for a condition on a variable that the audit does not have."""
    why = f" ({audit.left_out[name]})" if name in audit.left_out else ""
    return UnskewError(
        f"{left!r} needs the variable {name!r}, which was not measured{why}; measured are "
        f"{', '.join(audit.variables)}: audit(…, also=[{name!r}]) measures it too"
    )
