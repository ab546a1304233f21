"""A domain: its sources, its variables, how to show and how to check an example."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_type_hints

from unskew.errors import UnskewError, brief, check_range, unknown
from unskew.jsontext import json_text
from unskew.salient import as_variable
from unskew.source import Source
from unskew.usercode import own_code, place_of, raised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unskew.batch import Batch
    from unskew.recipe import Recipe
    from unskew.salient import SalientVariable


@dataclass(frozen=True)
class Range:
    """What a parameter of a source means and may be: the note in ``Annotated[float, Range(…)]``."""

    low: float
    high: float
    doc: str
    words: str = ""  # what it may be, where the numbers say less


@dataclass(frozen=True)
class Choice:
    """One of a few texts: the note in ``Annotated[str, Choice(…)]``."""

    options: tuple[str, ...]
    doc: str
    words: str = ""  # the options in short, where they are many


@dataclass(frozen=True)
class Domain:
    """Everything that is known of one kind of example.

    ``sources`` are functions whose keyword parameters, each with a default and a ``Range`` or a
    ``Choice``, are the parameters of the source. ``variables`` are known by the names that they
    have here. ``show`` draws one example as text; ``check`` returns a NumPy array of bool, one
    for each row of a batch: whether the row is right.

    A domain may leave out the rest. ``read_row`` makes an example of a row in any form that the
    domain knows, and None of any other row; ``read_text`` makes such rows of a text file and its
    name; ``are_examples`` says whether a table is all examples
    as it stands, so that its rows need not be read one by one; ``write_row`` makes plain JSON of
    an example that is not that already; ``forms`` are those of others, by name, each a function
    of an example and its number. ``trace`` yields an example step by step, as text; ``draw``
    returns it as SVG.
    ``main`` names the variables that an audit shows unasked; ``found``, where what there is to
    measure differs from source to source, finds them in a first batch, and says of others why
    they are left out. ``tables`` are small fixed sets of examples; ``recipes`` are datasets that
    people ask for by name. ``recheck`` works out one example again, slowly and in another way than
    ``check``, and says whether it is right.
    """

    name: str
    doc: str
    sources: Mapping[str, Callable[..., Source]]
    variables: Mapping[str, SalientVariable]
    show: Callable[[Mapping[str, Any]], str]
    check: Callable[[Batch], NDArray[np.bool_]]
    read_row: Callable[[Mapping[str, Any]], dict[str, Any] | None] | None = None
    read_text: Callable[[str, str], list[dict[str, Any]]] | None = None
    are_examples: Callable[[Batch], bool] | None = None
    write_row: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    forms: Mapping[str, Callable[[Mapping[str, Any], int], dict[str, Any]]] = field(
        default_factory=dict
    )
    trace: Callable[[Mapping[str, Any]], Iterator[str]] | None = None
    draw: Callable[[Mapping[str, Any]], str] | None = None
    main: tuple[str, ...] = ()
    found: Callable[[Batch], tuple[Sequence[SalientVariable], dict[str, str]]] | None = None
    may_lack: tuple[str, ...] = ()  # columns in which a row may have no value
    extra: str = ""  # of this package: it installs what the sources need
    key: str = ""  # the column whose content tells examples apart; all columns where it is empty
    recheck: Callable[[Mapping[str, Any]], bool] | None = None
    tables: Mapping[str, Callable[[], Batch]] = field(default_factory=dict)
    recipes: Mapping[str, Recipe] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give each variable its name; a plain function of an example becomes one.

        Where all have theirs the mapping stays: it may know more names than it lists.
        """
        if all(getattr(v, "name", None) == name for name, v in self.variables.items()):
            return
        named = {name: as_variable(variable, name) for name, variable in self.variables.items()}
        object.__setattr__(self, "variables", named)

    def source(self, name: str, settings: Mapping[str, Any] | None = None) -> Source:
        """Make a source by name, with settings that may still be text."""
        if name not in self.sources:
            known = [f"{self.name}/{source}" for source in self.sources]
            raise unknown("source", f"{self.name}/{name}", known)
        chosen = _settle(f"{self.name}/{name}", self.sources[name], settings or {})
        with own_code(f"source '{self.name}/{name}'", "mend it"):
            made = self.sources[name](**chosen)
        if not isinstance(made, Source):
            raise UnskewError(
                f"source '{self.name}/{name}'{_at(self.sources[name])} returned {brief(made)}; "
                "return a Source: plain_source(draw) makes one"
            )
        return replace(made, name=f"{self.name}/{name}", parameters=chosen, domain=self)

    def variable(self, name: str) -> SalientVariable:
        """Return a salient variable by name."""
        if name not in self.variables:
            raise unknown(f"variable of {self.name}", name, self.variables)
        return as_variable(self.variables[name])


def right_rows(batch: Batch, domain: Domain) -> NDArray[np.bool_]:
    """Return which rows of a batch are right, as the domain's ``check`` says."""
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
    """Write an example as its domain draws it; of no domain, as JSON or as it prints itself."""
    if domain is not None:
        with domain_code(domain, "show"):
            return domain.show(example)
    if isinstance(example, (dict, list)):
        return json_text(example)
    try:
        return str(example)
    except Exception:  # it may be of a user's own class, and raise anything
        return brief(example)


def example_data(example: Any, domain: Domain | None) -> Any:
    """Return an example as JSON has it, where its domain knows how."""
    if domain is None or domain.write_row is None:
        return example
    with domain_code(domain, "write_row"):
        return domain.write_row(example)


def example_trace(example: Any, domain: Domain | None) -> Iterator[str]:
    """Yield an example step by step, where its domain has steps."""
    if domain is not None and domain.trace is not None:
        with domain_code(domain, "trace"):
            yield from domain.trace(example)


@contextmanager
def domain_code(domain: Domain, function: str) -> Iterator[None]:
    """Turn an error of a domain's function into one line: the function is wrong, or its data."""
    try:
        yield
    except UnskewError:
        raise
    except (Exception, SystemExit) as error:  # a user's own domain may raise anything
        if place_of(domain.show):  # a domain of the user's own
            raise UnskewError(
                f"{function} of domain {domain.name!r} raised {raised(error)}; mend it, or give it "
                "examples of its domain"
            ) from error
        raise UnskewError(
            f"this is no example of {domain.name} ({raised(error)}); keep other data apart"
        ) from error


@dataclass(frozen=True)
class Parameter:
    """One documented parameter of a source."""

    name: str
    kind: type
    default: Any
    range: Range | Choice

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
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
    except Exception as error:  # a name in an annotation may be missing, a source no function
        raise UnskewError(
            f"the parameters of source {_name(make)} cannot be read "
            f"({type(error).__name__}: {error}); write them as {_EXAMPLE}"
        ) from error
    return {name: _parameter(make, parameter, hints.get(name)) for name, parameter in known.items()}


_EXAMPLE = "name: Annotated[int, Range(low, high, 'what it means')] = default"


def _parameter(
    make: Callable[..., Source], parameter: inspect.Parameter, annotated: Any
) -> Parameter:
    """Read one parameter, or say what it lacks."""
    kind = getattr(annotated, "__origin__", None)
    note = next(iter(getattr(annotated, "__metadata__", ())), None)
    lacks = None
    if not isinstance(note, (Range, Choice)):
        lacks = "is not annotated with a Range or a Choice"
    elif isinstance(note, Range) and kind not in (int, float):
        lacks = "has a Range, but is no int or float"
    elif parameter.default is parameter.empty:
        lacks = "has no default"
    if lacks is None:
        return Parameter(parameter.name, kind, parameter.default, note)  # type: ignore[arg-type]
    raise UnskewError(
        f"parameter {parameter.name!r} of source {_name(make)} {lacks}; write it as {_EXAMPLE}"
    )


def _name(make: Callable[..., Source]) -> str:
    return f"{getattr(make, '__name__', brief(make))}{_at(make)}"


def _at(make: Callable[..., Source]) -> str:
    place = place_of(make)
    return f" ({place})" if place else ""


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
    """Read a value that may be text; a number's range is checked later."""
    if isinstance(parameter.range, Choice):
        value = str(value).lower() if isinstance(value, bool) else value  # false is an option
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
        wanted = parameter.range.words or f"{kind} from {low} to {high}"
        raise UnskewError(f"{source} {parameter.name} is {value!r}; give {wanted}") from None
    return read
