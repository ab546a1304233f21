"""An audit as a text of JSON that keeps all that was measured, and reading such a text again.

The text may come from a stranger. Any fault in it becomes one error, and nothing in it is run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Hashable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from unskew.audits.plan import Plan, Point
from unskew.audits.records import Tail, VariableAudit
from unskew.core.errors import UnskewError, brief, unknown
from unskew.core.values.json_text import json_text, parse_json
from unskew.core.values.value_data import value_of, values_data

if TYPE_CHECKING:
    from unskew.audits.audit import Audit

T = TypeVar("T")

VERSION = 1
_MOST = 1 << 53  # examples; JSON's numbers are exact up to here


def audit_text(audit: Audit) -> str:
    """Return an audit as JSON. Examples that JSON cannot hold are left out."""
    data = {
        "unskew_audit": VERSION,
        "label": audit.label,
        "n": audit.n,
        "distinct": audit.distinct,
        "dropped": dict(audit.dropped),
        "left_out": dict(audit.left_out),
        "variables": {name: _variable_data(v) for name, v in audit.variables.items()},
        "plan": audit.plan.to_dict() if audit.plan is not None else None,
        "samples": [sample for sample in audit.samples if _is_json(sample)],
    }
    return json_text(data) + "\n"


def audit_fields(text: str | bytes) -> dict[str, Any]:
    """Return the fields of the audit in a text of ``audit_text``; refuse any other text."""
    try:
        data = _object(parse_json(text), "the file")
    except ValueError as error:
        raise UnskewError(f"it is no JSON: {error}") from error
    version = data.pop("unskew_audit", None)
    if version != VERSION or isinstance(version, bool):
        step = ": update unskew" if type(version) is int and version > VERSION else ""
        raise UnskewError(
            f"its unskew_audit is {brief(version)}, this unskew reads {VERSION}{step}"
        )
    data.setdefault("plan", None)  # older files have none
    read: dict[str, Callable[[Any, str], Any]] = {
        "label": _text,
        "n": lambda value, what: _count(value, what, 1),
        "distinct": lambda value, what: _count(value, what, 1),
        "dropped": lambda value, what: _each(_count, value, what),
        "left_out": lambda value, what: _each(_text, value, what),
        "variables": _variables,
        "plan": _plan,
        "samples": lambda value, what: tuple(_list(value, what)),
    }
    fields = _fields(data, read, "the audit")
    if fields["distinct"] > fields["n"]:
        raise UnskewError(f"distinct is {fields['distinct']}, more than n, {fields['n']}")
    fields["saved_plan"] = fields.pop("plan")
    return fields


def _plan(data: Any, what: str) -> Plan | None:
    if data is None:
        return None
    read: dict[str, Callable[[Any, str], Any]] = {
        "label": _text,
        "examples": lambda value, what: _count(value, what, 1),
        "points": lambda value, what: tuple(_point(point, what) for point in _list(value, what)),
        "conflicts": lambda value, what: tuple(
            _conflict(pair, what) for pair in _list(value, what)
        ),
        "command": _text,
        "are_rows": _flag,
    }
    fields = _fields(_object(data, what), read, "the plan")
    points = fields["points"]
    names = tuple(points[0].apart) if points else ()
    if not names or any(tuple(point.apart) != names for point in points):
        raise UnskewError(f"{what} has no points, or points of different variables")
    return Plan(names=names, **fields)


def _point(data: Any, what: str) -> Point:
    read: dict[str, Callable[[Any, str], Any]] = {
        "draws": _number,
        "total_variation": lambda value, what: _each(_number, value, what),
        "distance": _number,
        "bound": _number,
    }
    fields = _fields(_object(data, what), read, "a point of the plan")
    return Point(apart=fields.pop("total_variation"), **fields)


def _conflict(data: Any, what: str) -> tuple[str, str, float]:
    if not isinstance(data, list) or len(data) != 3:
        raise UnskewError(f"{what} has {brief(data)}, not two names and a number")
    return _text(data[0], what), _text(data[1], what), _number(data[2], what)


def _variable_data(variable: VariableAudit) -> dict[str, Any]:
    values = values_data(variable.name, variable.counts)
    return {
        "doc": variable.doc,
        "declared": variable.declared,
        "edges": list(variable.edges),
        "counts": [list(pair) for pair in zip(values, variable.counts.values(), strict=True)],
        "tail": [list(pair) for pair in variable.tail.times.items()] if variable.tail else [],
    }


def _value(data: Any, what: str) -> Hashable:
    try:
        return value_of(data)
    except ValueError as error:
        raise UnskewError(f"{what} has {brief(data)}, which is no value") from error


def _variables(data: Any, what: str) -> dict[str, VariableAudit]:
    read: dict[str, Callable[[Any, str], Any]] = {
        "doc": _text,
        "declared": _flag,
        "edges": _edges,
        "counts": _counts,
        "tail": _tail,
    }
    return {
        name: VariableAudit(name, **_fields(_object(held, name), read, f"variable {brief(name)}"))
        for name, held in _object(data, what).items()
    }


def _edges(data: Any, what: str) -> tuple[float, ...]:
    edges = tuple(_number(edge, what) for edge in _list(data, what))
    if any(high <= low for low, high in pairwise(edges)):
        raise UnskewError(f"{what} are {brief(edges)}, which do not rise")
    return edges


def _counts(data: Any, what: str) -> dict[Hashable, int]:
    pairs = _list(data, what)
    counts: dict[Hashable, int] = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise UnskewError(f"{what} has {brief(pair)}, not a value and its count")
        counts[_value(pair[0], what)] = _count(pair[1], what)
    if len(counts) < len(pairs):
        raise UnskewError(f"{what} has a value twice")
    if not any(counts.values()):
        raise UnskewError(f"{what} counts no example")
    return counts


def _tail(data: Any, what: str) -> Tail | None:
    """Read how many of the values that have no name occur once, twice, and so on."""
    times: dict[int, int] = {}
    for pair in _list(data, what):
        if not isinstance(pair, list) or len(pair) != 2:
            raise UnskewError(f"{what} has {brief(pair)}, not two counts")
        times[_count(pair[0], what, 1)] = _count(pair[1], what, 1)
    return Tail(times) if times else None


def _fields(
    data: Mapping[str, Any], read: Mapping[str, Callable[[Any, str], Any]], what: str
) -> dict[str, Any]:
    """Read the fields of an object, each in its own way; refuse one too many or too few."""
    for name in data:
        if name not in read:
            raise unknown(f"field of {what}", name, read)
    for name in read:
        if name not in data:
            raise UnskewError(f"{what} has no {name!r}")
    return {name: reader(data[name], f"{name} of {what}") for name, reader in read.items()}


def _each(read: Callable[[Any, str], Any], data: Any, what: str) -> dict[str, Any]:
    """Read every value of an object."""
    return {name: read(value, brief(name)) for name, value in _object(data, what).items()}


def _object(data: Any, what: str) -> dict[str, Any]:
    return _of_type(dict, data, what, "an object")


def _list(data: Any, what: str) -> list[Any]:
    return _of_type(list, data, what, "a list")


def _text(data: Any, what: str) -> str:
    return _of_type(str, data, what, "a text")


def _flag(data: Any, what: str) -> bool:
    return _of_type(bool, data, what, "true or false")


def _number(data: Any, what: str) -> float:
    if type(data) in (int, float) and abs(data) <= sys.float_info.max:
        return data  # type: ignore[no-any-return]
    raise UnskewError(f"{what} is {brief(data)}, not a finite number")


def _count(data: Any, what: str, least: int = 0) -> int:
    wanted = f"a whole number of at least {least}"
    count = _of_type(int, data, what, wanted)
    if not least <= count <= _MOST:
        raise UnskewError(f"{what} is {brief(data)}, not {wanted}")
    return count


def _of_type(kind: type[T], data: Any, what: str, wanted: str) -> T:
    """Return what JSON gave, if it is of the type; true is no number."""
    if type(data) is not kind:
        raise UnskewError(f"{what} is {brief(data)}, not {wanted}")
    return data


def _is_json(example: Any) -> bool:
    try:
        json.dumps(example, allow_nan=False)
    except Exception:  # an example may be of a user's own class, and raise anything
        return False
    return True
