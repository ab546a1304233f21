"""Sources of examples (the paper's q): draw a batch, and say what was thrown away and why."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from unskew.core.batch import Batch
from unskew.core.collected import Collected
from unskew.core.errors import RowError, UnskewError, brief
from unskew.core.processes.stop import raise_if_stopped
from unskew.core.usercode import RAISED, own_code, raised

if TYPE_CHECKING:
    from unskew.core.domain import Domain

# draw(rng, n) returns exactly n valid examples and counts, by reason, what validity cost.
Drawn = TypeVar("Drawn", bound=Callable[..., tuple[Batch, Counter[str]]])
Draw: TypeAlias = Callable[[np.random.Generator, int], tuple[Batch, Counter[str]]]


@dataclass(frozen=True)
class Source:
    """A named distribution to draw from.

    Args:
        name: the name of the source.
        draw: ``draw(rng, n)`` returns n valid examples, and counts by reason what it threw away.
        parameters: the values of its parameters.
        chunk: how many examples to draw at once.
        derive: ``derive(rng, batch)`` makes given examples again: new worlds for the same
            programs. It returns them in order, and counts by reason the examples it could not
            make. Few sources have this.
        domain: the domain that the source belongs to, if there is one.
    """

    name: str
    draw: Draw
    parameters: Mapping[str, Any] = field(default_factory=dict)
    chunk: int = 1 << 15
    derive: Callable[[np.random.Generator, Batch], tuple[Batch, Counter[str]]] | None = None
    domain: Domain | None = field(default=None, compare=False, repr=False)

    @property
    def is_own(self) -> bool:
        """Whether this is a user's own source, and not one of the package."""
        return ":" in self.name or self.domain is None


def plain_source(draw: Callable[[np.random.Generator], Any], name: str | None = None) -> Source:
    """Return a source that draws with a plain function ``draw(rng) -> example``."""
    label = name or str(getattr(draw, "__name__", type(draw).__name__))
    _check_sampler(draw, label)

    def many(rng: np.random.Generator, n: int) -> tuple[Batch, Counter[str]]:
        try:
            collected = Collected()
            for _ in range(n):
                collected.add(draw(rng))
                raise_if_stopped()
            return collected.batch(), Counter()
        except RowError as error:
            raise error.at(f"sampler {label!r}") from error
        except UnskewError:
            raise
        except RAISED as error:  # the user's own function may raise anything
            raise UnskewError(
                f"sampler {label!r} raised {raised(error)}; "
                "make it return one example for every generator"
            ) from error

    # A plain function may be slow, so no more is drawn ahead than this.
    return Source(label, _of(many, draw), chunk=256)


def own_source(source: Source | Callable[[np.random.Generator], Any]) -> Source:
    """Return a source for a user's own source or plain function; its errors are one line."""
    if not isinstance(source, Source):
        return plain_source(source)
    what, derive = f"source {source.name!r}", source.derive

    def draw(rng: np.random.Generator, n: int) -> tuple[Batch, Counter[str]]:
        with own_code(what, "mend its draw(rng, n)"):
            drawn = source.draw(rng, n)
        return _checked(drawn, f"{what} draw")

    def derived(rng: np.random.Generator, given: Batch) -> tuple[Batch, Counter[str]]:
        with own_code(what, "mend its derive(rng, batch)"):
            made = derive(rng, given) if derive is not None else None
        return _checked(made, f"{what} derive")

    return replace(
        source,
        draw=_of(draw, source.draw),
        derive=None if derive is None else _of(derived, derive),
    )


def _of(function: Drawn, wrapped: Callable[..., Any]) -> Drawn:
    """Note which of the user's functions a function stands for, so that it can be named."""
    update_wrapper(function, wrapped, assigned=(), updated=())
    return function


def _checked(drawn: Any, what: str) -> tuple[Batch, Counter[str]]:
    """Refuse what is no batch with counts of what was dropped."""
    pair = isinstance(drawn, tuple) and len(drawn) == 2
    if not (pair and isinstance(drawn[0], Batch) and isinstance(drawn[1], Mapping)):
        raise UnskewError(
            f"{what} returned {brief(drawn)}; return a Batch and a Counter of what was dropped"
        )
    return drawn[0], Counter(drawn[1])


def _check_sampler(draw: object, label: str) -> None:
    if not callable(draw):
        step = "pass a function draw(rng) -> example"
        if isinstance(draw, Iterable):
            step += ", or choose from examples that are there already: unskew.resample"
        raise UnskewError(f"sampler is {brief(draw)}, which cannot be called; {step}")
    try:
        signature = inspect.signature(draw)
    except (TypeError, ValueError):
        return  # some built-in functions do not tell
    try:
        signature.bind(None)
    except TypeError:
        raise UnskewError(
            f"sampler {label}{signature} must take one argument, the generator it draws from: "
            "write it as draw(rng) -> example"
        ) from None
