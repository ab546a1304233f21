"""What a user may call by name: sources, variables and functions of their own modules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from unskew.batch import EXAMPLE, Batch
from unskew.domain import Domain
from unskew.domains import domain_names, load_domain
from unskew.errors import UnskewError, unknown
from unskew.salient import SalientVariable, Values, as_values, as_variable
from unskew.source import Source, plain_source


def find_source(name: str, settings: Mapping[str, Any] | None = None) -> Source:
    """Return a source by name: ``calculator/dcfg``, or ``my_module:my_function``."""
    if ":" in name:
        if settings:
            raise UnskewError(
                f"source {name!r} takes no settings ({', '.join(settings)}); set them in the module"
            )
        return plain_source(find_object(name), name)
    domain, slash, source = name.partition("/")
    if not slash:
        raise unknown("source", name, source_names())
    return load_domain(domain).source(source, settings)


def source_names() -> list[str]:
    """Return every built-in source as ``domain/source``."""
    return [f"{domain}/{name}" for domain in domain_names() for name in load_domain(domain).sources]


def domain_of(source: str) -> Domain | None:
    """Return the domain of a source's name; a function of the user's own has none."""
    domain = source.partition("/")[0]
    return load_domain(domain) if ":" not in source and domain in domain_names() else None


def find_variables(
    names: Sequence[str], domain: Domain | None, columns: Sequence[str] = ()
) -> list[SalientVariable]:
    """Return variables by name, see ``find_variable``."""
    return [find_variable(name, domain, columns) for name in names]


def find_variable(name: str, domain: Domain | None, columns: Sequence[str] = ()) -> SalientVariable:
    """Return a variable: of the domain, a column, ``my_module:function`` or ``domain/variable``."""
    if ":" in name:
        return as_variable(find_object(name), name)
    if domain is not None and name in domain.variables:
        return domain.variables[name]
    if name in columns:
        return column_variable(name)
    other, slash, variable = name.partition("/")
    if slash and other in domain_names():
        return load_domain(other).variable(variable)
    known = [*(domain.variables if domain else ()), *columns]
    raise unknown("variable", name, known)


def column_variable(name: str) -> SalientVariable:
    """Return the variable that reads a column of a table, or a key of examples that are dicts."""

    def measure(batch: Batch) -> Values:
        if batch.is_plain:
            rows = batch.columns[EXAMPLE].tolist()
            values = [_key(row, name) for row in rows]
        elif name not in batch.columns:
            raise unknown("column", name, batch.columns)
        else:
            column = batch.columns[name]
            if isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype != object:
                return column
            values = column.tolist()
        for value in values:
            if isinstance(value, (list, dict)):
                raise UnskewError(
                    f"column {name!r} holds {type(value).__name__}s; name a function of the row "
                    "instead: --by my_module:my_function"
                )
        return as_values(values)

    return SalientVariable(name, measure, doc="column")


def find_object(name: str) -> Callable[..., Any]:
    """Import ``my_module:my_function``; the current folder counts as a place for modules."""
    module_name, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UnskewError(
            f"{name!r}: there is no module {error.name!r}; run where it can be imported"
        ) from error
    except Exception as error:  # the user's own module may raise anything
        raise UnskewError(f"{name!r}: {type(error).__name__} on import: {error}") from error
    found = getattr(module, attribute, None)
    if found is None:
        public = [key for key in vars(module) if not key.startswith("_")]
        raise unknown(f"name in module {module_name}", attribute, public)
    if not callable(found):
        raise UnskewError(f"{name!r} is {type(found).__name__}; name a function")
    function: Callable[..., Any] = found
    return function


def _key(row: Any, name: str) -> Any:
    if not isinstance(row, dict):
        raise UnskewError(f"an example is {row!r}, which has no {name!r}; make every one a dict")
    if name not in row:
        raise unknown("column", name, row)
    return row[name]
