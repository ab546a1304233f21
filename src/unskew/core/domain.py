"""A domain: its sources, its variables, how to show and how to check an example."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, get_type_hints

from unskew.core.errors import UnskewError, brief, check_range, unknown
from unskew.core.source import Source
from unskew.core.usercode import in_brackets, own_code, place_of
from unskew.core.values.json_text import json_text
from unskew.core.variables.combine import as_variable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unskew.core.batch import Batch
    from unskew.core.recipe import Recipe
    from unskew.core.variables.variable import SalientVariable

Example: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Range:
    """The allowed values of a parameter that is a number: ``Annotated[float, Range(…)]``."""

    low: float
    high: float
    doc: str
    words: str = ""  # the allowed values in words, if the two limits do not say enough


@dataclass(frozen=True)
class Choice:
    """The allowed values of a parameter that is a text: ``Annotated[str, Choice(…)]``."""

    options: tuple[str, ...]
    doc: str
    words: str = ""  # the options in short, if there are many


@dataclass(frozen=True)
class Formats:
    """How the examples of a domain are read and written, if plain columns are not enough.

    Args:
        read_row: turns a row of a file into an example, or returns None if it is not one.
        read_text: takes the content and the name of a text file, and returns rows.
        are_examples: says whether every row of a table is an example already. Then ``read_row``
            is not called for each row.
        may_lack: columns in which a row may have no value.
        write_row: turns an example into plain JSON.
        others: the formats of other programs, by name. Each is a function of an example and of
            its number in the file.
    """

    read_row: Callable[[Example], dict[str, Any] | None] | None = None
    read_text: Callable[[str, str], list[dict[str, Any]]] | None = None
    are_examples: Callable[[Batch], bool] | None = None
    may_lack: tuple[str, ...] = ()
    write_row: Callable[[Example], dict[str, Any]] | None = None
    others: Mapping[str, Callable[[Example, int], dict[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Views:
    """More ways to show an example: ``trace`` yields its steps as text, ``draw`` returns SVG."""

    trace: Callable[[Example], Iterator[str]] | None = None
    draw: Callable[[Example], str] | None = None


@dataclass(frozen=True)
class Catalog:
    """Data that users ask for by name: small fixed ``tables`` of examples, and ``recipes``."""

    tables: Mapping[str, Callable[[], Batch]] = field(default_factory=dict)
    recipes: Mapping[str, Recipe] = field(default_factory=dict)


@dataclass(frozen=True)
class Domain:
    """Everything that unskew knows about one kind of example.

    Args:
        name: the name of the domain.
        doc: what its examples are.
        sources: functions that make a source. Each keyword parameter of such a function is a
            parameter of the source; it needs a default and a ``Range`` or a ``Choice``.
        variables: salient variables, or plain functions of an example.
        show: writes one example as text.
        check: returns a NumPy array of bool: for each row of a batch, whether the row is right.
        key: the column that tells examples apart. Without it, all columns do.
        recheck: works out one example again, in a slower way than ``check``, and says whether the
            example is right.
        score: returns the score of an answer to an example, from 0 to 1, where more answers than
            the one of the example may be right. ``discover`` asks it what a blind guess scores.
        main: the variables that an audit shows. Without it, all.
        find_variables: for a domain in which every source has other variables. It takes the first
            batch and returns the variables to show, and for each other one why it is left out.
        formats: how examples are read and written.
        views: more ways to show an example.
        catalog: tables and recipes by name.
        extra: the extra of this package that installs what the sources need.
    """

    name: str
    doc: str
    sources: Mapping[str, Callable[..., Source]]
    variables: Mapping[str, SalientVariable]
    show: Callable[[Example], str]
    check: Callable[[Batch], NDArray[np.bool_]]
    key: str = ""
    recheck: Callable[[Example], bool] | None = None
    score: Callable[[Example, str], float] | None = None
    main: tuple[str, ...] = ()
    find_variables: Callable[[Batch], tuple[Sequence[SalientVariable], dict[str, str]]] | None = (
        None
    )
    formats: Formats = Formats()
    views: Views = Views()
    catalog: Catalog = Catalog()
    extra: str = ""

    def __post_init__(self) -> None:
        """Give each variable its name, and turn plain functions into variables.

        If all variables have their names, the mapping stays the same object: it may know more
        names than it lists.
        """
        if all(getattr(v, "name", None) == name for name, v in self.variables.items()):
            return
        named = {name: as_variable(variable, name) for name, variable in self.variables.items()}
        object.__setattr__(self, "variables", named)

    def names(self) -> list[str]:
        """Return the names of its sources, recipes and tables."""
        return [*self.sources, *self.catalog.recipes, *self.catalog.tables]

    def source(self, name: str, settings: Mapping[str, Any] | None = None) -> Source:
        """Make a source by name. The values of the settings may be text."""
        if name not in self.sources:
            known = [f"{self.name}/{entry}" for entry in self.names()]
            step = f"unskew list {self.name} names them"
            raise unknown("source", f"{self.name}/{name}", known, step)
        chosen = _settle(f"{self.name}/{name}", self.sources[name], settings or {})
        with own_code(f"source '{self.name}/{name}'", "mend it"):
            made = self.sources[name](**chosen)
        if not isinstance(made, Source):
            raise UnskewError(
                f"source '{self.name}/{name}'{in_brackets(self.sources[name])} returned "
                f"{brief(made)}; return a Source: plain_source(draw) makes one"
            )
        return replace(made, name=f"{self.name}/{name}", parameters=chosen, domain=self)

    def variable(self, name: str) -> SalientVariable:
        """Return a salient variable by name."""
        if name not in self.variables:
            raise unknown(f"variable of {self.name}", name, self.variables)
        return as_variable(self.variables[name])


def right_rows(batch: Batch, domain: Domain) -> NDArray[np.bool_]:
    """Call the domain's ``check`` on a batch, and refuse a result of the wrong type or shape."""
    import numpy as np

    right: object = domain.check(batch)
    if isinstance(right, np.ndarray) and right.dtype == bool and right.shape == (len(batch),):
        return right
    if isinstance(right, np.ndarray):
        got = f"an array of {right.dtype} of shape {right.shape}"
    else:
        got = repr(right) if isinstance(right, (bool, int)) else f"a {type(right).__name__}"
    raise UnskewError(
        f"the check of {domain.name} returned {got}; return a NumPy array of bool with one value "
        f"for each of the {len(batch):,} rows of the batch"
    )


def example_text(example: Any, domain: Domain | None) -> str:
    """Write an example with the ``show`` of its domain; without a domain, as JSON or with str."""
    if domain is not None:
        with domain_code(domain, "show"):
            return _text_of(domain, "show", domain.show(example))
    if isinstance(example, (dict, list)):
        return json_text(example)
    try:
        return str(example)
    except Exception:  # the class may be a user's own, and raise anything
        return brief(example)


def example_data(example: Any, domain: Domain | None) -> Any:
    """Return an example as plain JSON, if its domain has a function for that."""
    if domain is None or domain.formats.write_row is None:
        return example
    with domain_code(domain, "write_row"):
        return domain.formats.write_row(example)


def example_trace(example: Any, domain: Domain | None) -> Iterator[str]:
    """Yield the steps of an example, if its domain has steps."""
    if domain is None or domain.views.trace is None:
        return
    with domain_code(domain, "trace"):
        steps = iter(domain.views.trace(example))
    while True:
        with domain_code(domain, "trace"):  # not the caller, who may stop between steps
            step = next(steps, None)
        if step is None:
            return
        yield _text_of(domain, "trace", step)


def _text_of(domain: Domain, function: str, text: object) -> str:
    """Return the text that a function of a domain gave; refuse anything else."""
    if not isinstance(text, str):
        raise UnskewError(f"{function} of domain {domain.name!r} gave {brief(text)}; give a text")
    return text


@contextmanager
def domain_code(domain: Domain, function: str) -> Iterator[None]:
    """Turn an error in a domain's function into one line that blames the function or the data."""
    is_own = bool(place_of(domain.show))  # the domain is a user's own
    step = (
        "mend it, or give it examples of its domain"
        if is_own
        else f"this is no example of {domain.name}: keep other data apart"
    )
    with own_code(f"{function} of domain {domain.name!r}", step):
        yield


@dataclass(frozen=True)
class Parameter:
    """One documented parameter of a source."""

    name: str
    kind: type
    default: Any
    range: Range | Choice

    @property
    def allowed(self) -> str:
        """Return the allowed values in words."""
        if self.range.words:
            return self.range.words
        if isinstance(self.range, Choice):
            return ", ".join(self.range.options)
        return f"{self.range.low:g} to {self.range.high:g}"


def parameters(make: Callable[..., Source]) -> dict[str, Parameter]:
    """Read the parameters of a source from its signature."""
    try:
        hints = get_type_hints(make, include_extras=True)
        known = inspect.signature(make).parameters
    except Exception as error:  # an annotation may name nothing, a source may be no function
        raise UnskewError(
            f"the parameters of source {_name(make)} cannot be read "
            f"({type(error).__name__}: {error}); write them as {_EXAMPLE}"
        ) from error
    return {name: _parameter(make, parameter, hints.get(name)) for name, parameter in known.items()}


_EXAMPLE = "name: Annotated[int, Range(low, high, 'what it means')] = default"


def _parameter(
    make: Callable[..., Source], parameter: inspect.Parameter, annotated: Any
) -> Parameter:
    """Read one parameter, or refuse it and say what is missing."""
    kind = getattr(annotated, "__origin__", None)
    note = next(iter(getattr(annotated, "__metadata__", ())), None)
    problem = None
    if not isinstance(note, (Range, Choice)):
        problem = "is not annotated with a Range or a Choice"
    elif isinstance(note, Range) and kind not in (int, float):
        problem = "has a Range, but is no int or float"
    elif parameter.default is parameter.empty:
        problem = "has no default"
    if problem is None:
        return Parameter(parameter.name, kind, parameter.default, note)  # type: ignore[arg-type]
    raise UnskewError(
        f"parameter {parameter.name!r} of source {_name(make)} {problem}; write it as {_EXAMPLE}"
    )


def _name(make: Callable[..., Source]) -> str:
    return f"{getattr(make, '__name__', brief(make))}{in_brackets(make)}"


def _settle(
    source: str, make: Callable[..., Source], settings: Mapping[str, Any]
) -> dict[str, Any]:
    known = parameters(make)
    chosen = {name: parameter.default for name, parameter in known.items()}
    for name, value in settings.items():
        if name not in known:
            raise unknown(f"parameter of {source}", name, known)
        chosen[name] = _read(source, known[name], value)
    for name, value in chosen.items():
        allowed = known[name].range
        if isinstance(allowed, Range):
            check_range(f"{source} {name}", value, allowed.low, allowed.high, step=allowed.doc)
    return chosen


def _read(source: str, parameter: Parameter, value: Any) -> Any:
    """Read a value that may be text. The range of a number is checked later."""
    if isinstance(parameter.range, Choice):
        value = str(value).lower() if isinstance(value, bool) else value  # "false" is an option
        if value not in parameter.range.options:
            raise UnskewError(
                f"{source} {parameter.name} is {value!r}; give one of {parameter.allowed}"
            )
        return value
    try:
        read = parameter.kind(value)
        if parameter.kind is int and not isinstance(value, str) and read != value:
            raise ValueError  # 4.5 is not 4
    except OverflowError:
        return value  # out of every range
    except (TypeError, ValueError):
        kind = "a whole number" if parameter.kind is int else "a number"
        low, high = parameter.range.low, parameter.range.high
        allowed = parameter.range.words or f"{kind} from {low} to {high}"
        raise UnskewError(f"{source} {parameter.name} is {value!r}; give {allowed}") from None
    return read
