"""Sources of examples (the paper's q): draw a batch, and say what was thrown away and why."""

from __future__ import annotations

import inspect
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError, brief, check_count
from unskew.core.usercode import own_code
from unskew.core.usercode.cache import Cache
from unskew.core.usercode.samplers import CHUNK, Concurrently, ManyAtOnce, OneByOne, Sampler

if TYPE_CHECKING:
    from unskew.core.domain import Domain

# draw(rng, n) returns exactly n valid examples and counts, by reason, what validity cost.
Drawn = TypeVar("Drawn", bound=Callable[..., tuple[Batch, Counter[str]]])
# (A text, since to read a file needs no np.random, which is imported when it is first named.)
Draw: TypeAlias = "Callable[[np.random.Generator, int], tuple[Batch, Counter[str]]]"


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

    @property
    def sampler(self) -> Sampler | None:
        """What draws, if it is a user's function: it may be slow, so little is drawn ahead."""
        return self.draw if isinstance(self.draw, Sampler) else None


def sampler(
    draw: Callable[..., Any],
    *,
    batch: bool | int = False,
    concurrency: int = 1,
    cache: str | os.PathLike[str] | None = None,
) -> Source:
    """Return a source that draws with a function of yours; all randomness must come from ``rng``.

    Args:
        draw: ``draw(rng)`` returns one example. It may be an ``async def``.
        batch: with it, ``draw(rng, n)`` returns a list of at least one and at most n examples, or
            a table of them. A number says how many to ask for at once; True asks for 256.
        concurrency: how many calls of an ``async def`` run at a time. Each call gets a generator
            of its own, so the examples do not depend on which call returns first.
        cache: the path of a JSONL file. Every example is written to it at once, and is taken from
            it when it is needed again, also in another run.
    """
    label = _label(draw)
    check_count("concurrency", concurrency, "run at least one call at a time")
    if batch is not False:
        check_count("batch", CHUNK if batch is True else batch, "ask for at least one example")
    is_async = _is_async(draw)
    _check_sampler(draw, label, many=batch is not False)
    if batch is not False and is_async:
        raise UnskewError(
            f"sampler {label!r} is async, and draws a batch; leave batch out and give concurrency, "
            "or make it no async function"
        )
    if concurrency > 1 and not is_async:
        raise UnskewError(
            f"concurrency is {concurrency}, but sampler {label!r} is not async; write it as "
            "async def draw(rng), or leave concurrency out"
        )
    kept = None if cache is None else Cache(cache, draw)
    way: Sampler
    if is_async:
        way = Concurrently(draw, label, int(concurrency), kept)
    elif batch is not False:
        way = ManyAtOnce(draw, label, CHUNK if batch is True else int(batch), kept)
    else:
        way = OneByOne(draw, label, cache=kept)
    return Source(label, _of(way, draw), chunk=CHUNK)


def plain_source(
    draw: Callable[[np.random.Generator], Any],
    name: str | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Source:
    """Return a source that draws with a plain or async function ``draw(rng) -> example``.

    ``clock`` measures in seconds how long calls take.
    """
    label = name or _label(draw)
    _check_sampler(draw, label)
    way = Concurrently(draw, label, 1) if _is_async(draw) else OneByOne(draw, label, clock)
    return Source(label, _of(way, draw), chunk=CHUNK)


def _label(draw: Callable[..., Any]) -> str:
    return str(getattr(draw, "__name__", type(draw).__name__))


def _is_async(draw: object) -> bool:
    """Whether a function, or an object that can be called, is an ``async def``."""
    functions = (draw, vars(type(draw)).get("__call__"))
    return any(map(inspect.iscoroutinefunction, functions))


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
        draw=_of(draw, source.draw) if source.sampler is None else source.draw,
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


def _check_sampler(draw: object, label: str, *, many: bool = False) -> None:
    form = "draw(rng, n) -> examples" if many else "draw(rng) -> example"
    if not callable(draw):
        step = f"pass a function {form}"
        if isinstance(draw, Iterable):
            step += ", or choose from examples that are there already: unskew.resample"
        raise UnskewError(f"sampler is {brief(draw)}, which cannot be called; {step}")
    try:
        signature = inspect.signature(draw)
    except (TypeError, ValueError):
        return  # some built-in functions do not tell
    arguments = (None, 1) if many else (None,)
    try:
        signature.bind(*arguments)
    except TypeError:
        takes = (
            "two arguments, the generator it draws from and a number of examples"
            if many
            else "one argument, the generator it draws from"
        )
        other = "" if many else ", or give unskew.sampler(draw, batch=True) for draw(rng, n)"
        raise UnskewError(
            f"sampler {label}{signature} must take {takes}: write it as {form}{other}"
        ) from None
