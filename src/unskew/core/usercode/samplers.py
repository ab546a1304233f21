"""Users' functions that draw: one example a call, many a call, or several calls at a time.

Each class draws in two ways. A call of it, ``(rng, n)``, returns exactly n examples.
``some(rng, needed, drawn)`` returns at least one example, and draws as little ahead as is sensible.
``needed`` says how many examples are surely needed, and is None if nobody knows. ``drawn`` says how
many were drawn before. With a cache, each call of the user's function is kept in its file.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, TypeAlias

import numpy as np

from unskew.core.batch import Batch
from unskew.core.errors import RowError, UnskewError, brief
from unskew.core.processes.stop import interrupt, raise_if_stopped
from unskew.core.rng import child
from unskew.core.usercode import in_brackets, own_code
from unskew.core.usercode.cache import Cache
from unskew.core.usercode.collected import Collected, Returned

CHUNK = 256  # examples of a user's function that are collected at once, unless it says more
MOST_AHEAD = 1024  # examples that are drawn one by one without knowing how many are needed
AHEAD = 0.004  # seconds of drawing that may turn out to be for nothing
STEP = 1.0  # seconds of drawing until the examples are handed on, where all of them are needed
SHARE = 8  # examples drawn before for each one that is drawn ahead
WAVES = 4  # calls for each call at a time, until the examples are handed on

Drawn: TypeAlias = tuple[Batch, Counter[str]]


class OneByOne:
    """Draws with ``call(rng) -> example``. Time decides how many come at once, but not which."""

    def __init__(
        self,
        call: Callable[[np.random.Generator], Any],
        label: str,
        clock: Callable[[], float] = time.perf_counter,
        cache: Cache | None = None,
    ) -> None:
        """Call nothing yet."""
        self._call = call if cache is None else cache.call(call, "one by one")
        self._function, self._label = call, label
        self._clock, self.cached = clock, cache is not None
        self._returned = Returned()

    def __call__(self, rng: np.random.Generator, n: int) -> Drawn:
        """Return n examples."""
        with _errors(self._label, self._function, "make it return one example for every generator"):
            collected, stops = Collected(), interrupt()
            for _ in range(n):
                collected.add(self._call(rng))
                if stops is not None:
                    stops.raise_again()
            return self._batch(collected), Counter()

    def some(self, rng: np.random.Generator, needed: int | None, drawn: int) -> Drawn:
        """Return the examples of a few milliseconds, and few of them while few were drawn before.

        If they are surely needed, it is the examples of a second. With a cache it is one example,
        because each may cost.
        """
        ahead = 0 if self.cached else drawn // SHARE
        most = min(MOST_AHEAD, 1 + ahead) if needed is None else min(CHUNK, needed)
        seconds, clock = AHEAD if needed is None else STEP, self._clock
        with _errors(self._label, self._function, "make it return one example for every generator"):
            collected, stops, call = Collected(), interrupt(), self._call
            add, end = collected.add, clock() + seconds
            for _ in range(most):
                add(call(rng))
                if stops is not None:
                    stops.raise_again()
                if clock() >= end:
                    break
            batch = self._batch(collected)
            if len(batch) < CHUNK:
                self._returned.check(batch.examples())
            return batch, Counter()

    def _batch(self, collected: Collected) -> Batch:
        batch = collected.batch()
        _refuse_unfinished(batch, self._label, self._function)
        return batch


class ManyAtOnce:
    """Draws with ``call(rng, n) -> examples``: at least one and at most n examples in a list."""

    def __init__(
        self,
        call: Callable[[np.random.Generator, int], Any],
        label: str,
        size: int,
        cache: Cache | None = None,
    ) -> None:
        """Call nothing yet; no call is asked for more than ``size`` examples."""
        self._call = self._listed if cache is None else cache.call(self._listed, "in batches")
        self._function, self._label, self._size = call, label, size
        self.cached = cache is not None

    def __call__(self, rng: np.random.Generator, n: int) -> Drawn:
        """Return n examples, of as many calls as it takes."""
        with _errors(
            self._label, self._function, "make it return a list of examples for every generator"
        ):
            collected = Collected()
            while len(collected) < n:
                asked = min(self._size, n - len(collected))
                for example in self._call(rng, asked):
                    collected.add(example)
                raise_if_stopped()
            return collected.batch(), Counter()

    def some(self, rng: np.random.Generator, needed: int | None, _: int) -> Drawn:
        """Return as many examples as one call gives, or as are needed if that is fewer."""
        return self(rng, self._size if needed is None else min(self._size, needed))

    def _listed(self, rng: np.random.Generator, asked: int) -> list[Any]:
        """Return the examples of one call; a table or a dict of columns becomes dicts."""
        returned = self._function(rng, asked)
        if isinstance(returned, Mapping) or hasattr(type(returned), "__arrow_c_stream__"):
            import pyarrow as pa

            returned = pa.table(returned).to_pylist()
        if isinstance(returned, np.ndarray) and returned.ndim:
            returned = returned.tolist() if returned.ndim == 1 else list(returned)
        what = f"sampler {self._label!r}{in_brackets(self._function)} returned"
        if not isinstance(returned, (list, tuple)):
            raise UnskewError(
                f"{what} {brief(returned)} when asked for {asked}; with batch, draw(rng, n) "
                "returns a list of examples"
            )
        if not 1 <= len(returned) <= asked:
            raise UnskewError(
                f"{what} {len(returned)} examples when asked for {asked}; return at least one and "
                f"at most {asked}"
            )
        return list(returned)


class Concurrently:
    """Draws with ``await call(rng)``, where at most ``most`` calls run at a time.

    Each call has a generator of its own, which its number decides. The examples are in the order
    of the calls, whichever returns first.
    """

    def __init__(
        self,
        call: Callable[[np.random.Generator], Awaitable[Any]],
        label: str,
        most: int,
        cache: Cache | None = None,
    ) -> None:
        """Call nothing yet."""
        from unskew.core.usercode.event_loop import EventLoop  # asyncio takes a while to import

        self._call = call if cache is None else cache.awaited(call, "async")
        self._function, self._label, self._most = call, label, most
        self.cached = cache is not None
        self._loop = EventLoop()

    def __call__(self, rng: np.random.Generator, n: int) -> Drawn:
        """Return n examples."""
        with _errors(self._label, self._function, "make it return one example for every generator"):
            calls = [self._bound(child(rng)) for _ in range(n)]
            collected = Collected()
            for example in self._loop.results(calls, self._most):
                collected.add(example)
            return collected.batch(), Counter()

    def some(self, rng: np.random.Generator, needed: int | None, _: int) -> Drawn:
        """Return the examples of as many calls as run at a time; of more if they are needed."""
        return self(rng, self._most if needed is None else min(needed, WAVES * self._most))

    def _bound(self, rng: np.random.Generator) -> Callable[[], Awaitable[Any]]:
        return lambda: self._call(rng)


Sampler: TypeAlias = OneByOne | ManyAtOnce | Concurrently


def _refuse_unfinished(batch: Batch, label: str, function: object) -> None:
    """Refuse what a call of an async function, or of one with ``yield``, returns."""
    example = next(batch.examples(), None)
    if isinstance(example, (GeneratorType, AsyncGeneratorType)):
        raise UnskewError(
            f"sampler {label!r}{in_brackets(function)} returned a generator; let each call return "
            "one example: return in place of yield"
        )
    if isinstance(example, CoroutineType):
        for coroutine in batch.examples():
            coroutine.close()  # it never runs, which Python would warn of
        raise UnskewError(
            f"sampler {label!r}{in_brackets(function)} returned a coroutine; write it as "
            "async def draw(rng)"
        )


@contextmanager
def _errors(label: str, function: object, step: str) -> Iterator[None]:
    """Turn an error of a sampler, or of one of its examples, into one line."""
    what = f"sampler {label!r}"
    try:
        with own_code(what, step):
            yield
    except RowError as error:
        raise error.at(f"{what}{in_brackets(function)}") from error
