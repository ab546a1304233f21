"""Features of a user's own functions, and of a domain's variables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, get_type_hints

import numpy as np

from unskew.core.batch import Batch
from unskew.core.domain import Domain
from unskew.core.errors import UnskewError, brief
from unskew.core.values.missing import is_missing
from unskew.core.variables.changes import changed
from unskew.core.variables.coded import as_coded
from unskew.core.variables.column import function_variable
from unskew.core.variables.measures.measure import quoted
from unskew.core.variables.measures.names import parse_name
from unskew.discovery.proposal import Field, Proposal
from unskew.discovery.propose.make import SAME, Made, of_values

OwnFunction: TypeAlias = Callable[[Any], Any]


def of_domain(domain: Domain, batch: Batch) -> Iterator[Made]:
    """Propose the variables of a domain. One that cannot be measured is left out."""
    if domain.find_variables is not None:
        variables, left_out = domain.find_variables(batch)
        yield from [f"variables of {domain.name} that are not for audits"] * len(left_out)
    else:
        variables = [domain.variable(name) for name in domain.variables]
    for variable in variables:
        try:
            values = as_coded(variable.measure(batch))
        except UnskewError as error:
            yield f"variables of {domain.name} that cannot be measured ({brief(str(error), 120)})"
            continue
        if len(values.distinct) < 2 and len(variable.support or ()) < 2:
            yield SAME
            continue
        doc = variable.doc or f"{variable.name} of {domain.name}"
        yield Proposal(variable.name, doc, (), values, support=variable.support, own=variable)


def of_functions(functions: Sequence[OwnFunction], field: Field, batch: Batch) -> Iterator[Made]:
    """Propose what a user's functions return for a field whose values they take.

    The type of a function's parameter says which values it takes. Without one, it takes all.
    """
    for function in functions:
        takes = _takes(function)
        first = next((value for value in field.values if not is_missing(value)), None)
        if takes is not None and not isinstance(first, takes):
            continue
        name = f"{_called(function)}({quoted(field.path)})"
        variable = function_variable(name, function, field.path)
        try:
            values = as_coded(variable.measure(batch))
        except UnskewError as error:
            yield brief(str(error), 200)
            continue
        doc = f"{field.path}: {variable.doc.rstrip('.') or _called(function)}"
        for made in of_values(name, doc, (field.path,), values):
            if isinstance(made, str):
                yield made
            elif made.name == name:
                yield replace(made, own=variable)
            else:
                edges = parse_name(made.name).numbers
                yield replace(made, own=replace(changed(variable, "bins", edges), name=made.name))


def _takes(function: OwnFunction) -> type | tuple[type, ...] | None:
    """Return the type of the values that a function takes; None if it does not say."""
    try:
        hints = get_type_hints(function)
        parameter = next(iter(inspect.signature(function).parameters))
    except (TypeError, NameError, ValueError, StopIteration):
        return None
    kind = hints.get(parameter)
    kind = getattr(kind, "__origin__", kind)
    if kind is float:
        return (int, float)
    if kind is np.ndarray:
        return (list, np.ndarray)
    return kind if isinstance(kind, type) and kind is not object else None


def _called(function: OwnFunction) -> str:
    """Return how a function is named: as ``my_module:name`` where it can be imported."""
    name = getattr(function, "__qualname__", type(function).__name__)
    module = getattr(function, "__module__", "__main__")
    importable = module != "__main__" and name.isidentifier()
    return f"{module}:{name}" if importable else name.rpartition(".")[2].strip("<>")
