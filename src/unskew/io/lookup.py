"""What a user may call by name: sources, variables and functions of their own modules.

A name of the form ``module:function`` is imported here and nowhere else. ``find_source``,
``find_variable`` and ``find_object`` are for names that a person gave. Names in a recipe go
through ``recipe_source``, ``recipe_domain`` and ``recipe_variables``, which import only what the
recipe trusts: the recipe of a dataset may be a stranger's.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from unskew.core.batch import Batch
from unskew.core.domain import Domain
from unskew.core.errors import UnskewError, unknown
from unskew.core.recipe import Recipe
from unskew.core.rng import generator
from unskew.core.source import Source, own_source, plain_source
from unskew.core.usercode import own_code, stdout_to_stderr
from unskew.core.variables.changes import changed
from unskew.core.variables.column import column_variable, function_variable
from unskew.core.variables.combine import as_variable, as_variables
from unskew.core.variables.measures.measure import VALUE, unquoted
from unskew.core.variables.measures.names import CHANGES, is_call, parse_name
from unskew.core.variables.path import is_inside
from unskew.core.variables.variable import By, SalientVariable
from unskew.domains import domain_names, load_domain

IF_TRUSTED = "if you trust whoever made the data, add --trust (in Python: trust=True)"

_OWN_CALL = re.compile(r"([A-Za-z_][\w.]*:\w+)\((.+)\)", re.DOTALL)


def find_source(name: str, settings: Mapping[str, Any] | None = None) -> Source:
    """Return a source by name: ``calculator/dcfg``, or ``my_module:my_function``.

    In a module with a ``DOMAIN`` it may also be one of its sources, with their parameters.
    """
    if ":" in name:
        own = _own_domain(name)
        if own is not None:
            return replace(own_source(own.source(name.partition(":")[2], settings)), name=name)
        if settings:
            raise UnskewError(
                f"source {name!r} takes no settings ({', '.join(settings)}); set them in the module"
            )
        function = find_object(name)
        is_source = isinstance(function, Source)
        source = own_source(function) if is_source else plain_source(function, name)
        return replace(source, name=name)
    domain, slash, source_name = name.partition("/")
    if not slash:
        raise unknown("source", name, source_names())
    if find_table(name) is not None:
        raise UnskewError(f"{name} is a table, not a source; show it, or convert it to a file")
    if find_recipe(name) is not None:
        raise UnskewError(
            f"{name} is a recipe, not a source; run it with `unskew generate {name} -o DIR` "
            "and give that folder"
        )
    return load_domain(domain).source(source_name, settings)


def source_names() -> list[str]:
    """Return every built-in source as ``domain/source``."""
    return [f"{domain}/{name}" for domain in domain_names() for name in load_domain(domain).sources]


def is_built_in(name: str) -> bool:
    """Return whether a built-in domain has a source, a recipe or a table of this name."""
    domain, slash, entry = name.partition("/")
    return bool(slash) and domain in domain_names() and entry in load_domain(domain).names()


def built_in_names() -> list[str]:
    """Return every built-in source, recipe and table as ``domain/name``."""
    return [f"{name}/{entry}" for name in domain_names() for entry in load_domain(name).names()]


def find_recipe(name: str) -> Recipe | None:
    """Return a named recipe, ``karel/msr-test``; None where there is none of that name."""
    domain, _, recipe = name.partition("/")
    return load_domain(domain).catalog.recipes.get(recipe) if domain in domain_names() else None


def find_table(name: str) -> Callable[[], Batch] | None:
    """Return a table of examples, ``karel/problems``; None where there is none of that name."""
    domain, _, table = name.partition("/")
    return load_domain(domain).catalog.tables.get(table) if domain in domain_names() else None


def built_in_domain(source: str) -> Domain | None:
    """Return the domain of a built-in source's name; imports nothing of anyone else's."""
    domain, slash, _ = source.partition("/")  # a function may be called like a domain
    return load_domain(domain) if slash and domain in domain_names() else None


def recipe_source(recipe: Recipe) -> Source:
    """Return the source of a recipe; refuse code that the recipe does not trust."""
    _refuse_code(untrusted_code(recipe, recipe.source))
    return find_source(recipe.source, recipe.parameters)


def recipe_domain(recipe: Recipe) -> Domain | None:
    """Return the domain of a recipe's source.

    There is none if its module cannot be imported here, or is not trusted: the data can still be
    read.
    """
    if ":" not in recipe.source:
        return built_in_domain(recipe.source)
    if not recipe.trusts(recipe.source):
        return None
    try:
        return _own_domain(recipe.source)
    except UnskewError:
        return None


def recipe_key(recipe: Recipe) -> str:
    """Return the column whose content tells a recipe's examples apart; empty: the whole row."""
    domain = recipe_domain(recipe)
    return domain.key if domain is not None else ""


def recipe_variables(recipe: Recipe) -> list[SalientVariable]:
    """Return the variables that a recipe homogenizes; refuse code that it does not trust."""
    _refuse_code(untrusted_code(recipe, *recipe.homogenize))
    return find_variables(recipe.homogenize, recipe_domain(recipe))


def untrusted_code(recipe: Recipe, *names: str) -> list[str]:
    """Return those of a recipe's names that are code which the recipe does not trust."""
    return [name for name in names if is_code(name) and not recipe.trusts(name)]


def is_code(name: str) -> bool:
    """Return whether a name means code that is imported; a label of a measure may hold a colon."""
    return ":" in name and (not is_call(name) or _own_call(name) is not None)


def _refuse_code(names: Sequence[str]) -> None:
    if names:
        raise UnskewError(
            f"the data names the code {', '.join(names)}, which is not run; {IF_TRUSTED}"
        )


def find_variables(
    names: Sequence[str], domain: Domain | None, columns: Sequence[str] | None = None
) -> list[SalientVariable]:
    """Return variables by name, see ``find_variable``."""
    return [find_variable(name, domain, columns) for name in names]


def find_variable(
    name: str, domain: Domain | None, columns: Sequence[str] | None = None
) -> SalientVariable:
    """Return a variable by name.

    It is a variable of the domain, a column, a path such as ``meta.lang``, a measure such as
    ``words(prompt)``, ``my_module:variable`` or ``domain/variable``. Where there is neither a
    domain nor a table, it is read in examples that are dicts.
    """
    if domain is not None and name in domain.variables:
        return domain.variable(name)
    if columns is not None and name in columns:  # also where a column is called like code
        return column_variable(name)
    own = _of_function(name) or _of_domain(name, domain)
    if own is not None:
        return own
    if is_call(name):
        return column_variable(name, known=False)
    if ":" in name:
        return as_variable(find_object(name), name)
    if columns is None and (domain is None or is_inside(name)):
        return column_variable(name, known=False)
    if columns is None and domain is not None and name in _drawn_columns(domain):
        return column_variable(name)
    columns = columns or ()
    if any(is_inside(name, column) for column in columns):
        return column_variable(name, known=False)
    other, slash, variable = name.partition("/")
    if slash and other in domain_names():
        return load_domain(other).variable(variable)
    if name.count("(") > name.count(")"):
        raise UnskewError(f"{name!r} has a bracket that is not closed; add ) at its end")
    known = [*(domain.variables if domain else ()), *columns]
    raise unknown("variable", name, known)


def _of_function(name: str) -> SalientVariable | None:
    """Return the variable of ``my_module:function(path)``, changed or not; else None."""
    call = _own_call(name)
    if call is None:
        return None
    inner = call[0]
    variable = function_variable(inner, find_object(call[1]), unquoted(call[2]), known=False)
    if inner == name:
        return variable
    whole = parse_name(name)
    return replace(changed(variable, whole.change, whole.numbers), name=name)


def _drawn_columns(domain: Domain) -> Sequence[str]:
    """Return the columns of the examples that a domain's first source draws."""
    first = next(iter(domain.sources), None)
    if first is None:
        return ()
    try:
        return list(domain.source(first).draw(generator(0, "columns"), 1)[0].columns)
    except UnskewError:  # a source may need a library that is not here
        return ()


def _of_domain(name: str, domain: Domain | None) -> SalientVariable | None:
    """Return a variable of the domain that a name changes, ``bins(length, 5, 9)``; else None."""
    if domain is None or not is_call(name) or name.partition("(")[0] not in CHANGES:
        return None
    whole = parse_name(name)
    if whole.measure is not VALUE or whole.paths[0] not in domain.variables:
        return None
    variable = domain.variable(whole.paths[0])
    return replace(changed(variable, whole.change, whole.numbers), name=name)


def _own_call(name: str) -> re.Match[str] | None:
    """Return the call ``my_module:function(path)`` that a name is or changes."""
    if is_call(name):
        change = name.partition("(")[0] in CHANGES
        name = parse_name(name).paths[0] if change else name
    return _OWN_CALL.fullmatch(name)


def resolve(
    by: By | str | Sequence[str], domain: Domain | None, columns: Sequence[str] | None = None
) -> tuple[SalientVariable, ...]:
    """Return the variables of ``by``. Each text in it is a name, see ``find_variable``."""

    def named(variable: Any) -> Any:
        is_name = isinstance(variable, str)
        return find_variable(variable, domain, columns) if is_name else variable

    if isinstance(by, Mapping):
        return as_variables({name: named(variable) for name, variable in by.items()})
    if isinstance(by, Sequence) and not isinstance(by, str):
        return as_variables([named(variable) for variable in by])
    return as_variables(named(by))


def find_object(name: str) -> Any:
    """Import a function, variable or source as ``my_module:name``, from the current folder too."""
    module, attribute = _own_module(name), name.partition(":")[2]
    value = getattr(module, attribute, None)
    if value is None:
        public = [key for key in vars(module) if not key.startswith("_")]
        raise unknown(f"name in module {module.__name__}", attribute, public)
    if not (callable(value) or isinstance(value, (SalientVariable, Source))):
        raise UnskewError(f"{name!r} is {type(value).__name__}; name a function or a variable")
    return value


def _own_domain(name: str) -> Domain | None:
    """Return the ``DOMAIN`` of a user's module where ``my_module:name`` is one of its sources."""
    domain = getattr(_own_module(name), "DOMAIN", None)
    known = isinstance(domain, Domain) and name.partition(":")[2] in domain.sources
    return domain if known else None


def _own_module(name: str) -> ModuleType:
    """Import the module of ``my_module:name``, from the current folder too.

    The current folder may be full of a stranger's files, so it comes last, and only while the
    module is imported: no file in it takes the place of a library that is imported later.
    """
    path = name.partition(":")[0]
    sys.path.append("")
    try:
        with stdout_to_stderr(), own_code(f"the import of {name!r}", "make it importable"):
            module = _imported(name, path)
    finally:  # the last one: the module may have changed the list, and Python's own entry stays
        sys.path.reverse()
        sys.path.remove("")
        sys.path.reverse()
    _check_not_hidden(name, path.partition(".")[0])
    return module


def _imported(name: str, path: str) -> ModuleType:
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        step = "run where it can be imported"
        if error.name == path and path.endswith(".py"):  # the module is there
            step = f"write {name.replace('.py:', ':')}"
        raise UnskewError(f"{name!r}: there is no module {error.name!r}; {step}") from error


def _check_not_hidden(name: str, top: str) -> None:
    """Refuse a module of the current folder if Python found another one of that name."""
    origin = getattr(sys.modules.get(top), "__file__", None)
    for here in (Path(f"{top}.py"), Path(top, "__init__.py")):
        if here.is_file() and (origin is None or not here.samefile(origin)):
            raise UnskewError(
                f"{name!r}: {here} is hidden by {origin or 'a module of Python'}, which has the "
                "same name; rename the file"
            )
