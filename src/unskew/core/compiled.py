"""One typed door to Numba, so that kernels keep their signatures under strict type checking."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., object])


SLOW = 2.0  # seconds of compiling after which a user is told
NOTICE = (
    "compiling, once on this machine: some seconds for the Calculator, a minute or so for "
    "Karel; unskew warm-up does it ahead"
)


class Compiling:
    """Counts what is compiled in this process, and says so once if it takes long."""

    def __init__(
        self, say: Callable[[str], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Start with nothing compiled; ``say`` is called with the notice."""
        self.kernels, self.say = 0, say
        self._clock, self._open, self._begun, self._seconds = clock, 0, 0.0, 0.0
        self._is_said = False

    def begin(self) -> None:
        """Note that a kernel is compiled now, maybe while another one is."""
        now = self._clock()
        if not self._open:
            self._begun = now
        self._open += 1
        self.kernels += 1
        if self._seconds + now - self._begun >= SLOW and not self._is_said:
            self._is_said = True
            self.say(NOTICE)

    def end(self) -> None:
        """Note that the last kernel that was begun is compiled."""
        self._open -= 1
        if not self._open:
            self._seconds += self._clock() - self._begun


@cache
def compiling() -> Compiling:
    """Return what is compiled in this process."""
    return Compiling(say_on_stderr)


def say_on_stderr(notice: str) -> None:
    """Print a notice on stderr."""
    sys.stderr.write(f"{notice}\n")
    sys.stderr.flush()


@contextmanager
def notice_to(say: Callable[[str], object]) -> Iterator[None]:
    """Give the notice about compiling to a function while the block runs."""
    own = compiling()
    before, own.say = own.say, say
    try:
        yield
    finally:
        own.say = before


@cache
def _listen() -> None:
    """Let Numba tell when it compiles. It does not tell of code that it takes from disk."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, _: object) -> None:
            compiling().begin()

        def on_end(self, _: object) -> None:
            compiling().end()

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


def compiled(function: F) -> F:
    """Compile at first call, keep the machine code on disk, release the interpreter lock."""
    return _compile(function, {})


def compiled_inner(function: F) -> F:
    """Compile a function that makes no arrays, without counting who holds those that it gets.

    In a small function, this counting takes longer than the work itself.
    """
    return _compile(function, {"_nrt": False})


def compiled_when_called(function: F) -> F:
    """Compile as ``compiled`` does, but import Numba only when the function is called.

    Another kernel cannot call such a function.
    """

    @cache
    def kernel() -> Callable[..., object]:
        return compiled(function)

    @wraps(function)
    def call(*arguments: Any) -> object:
        return kernel()(*arguments)

    return cast("F", call)


def _compile(function: F, options: dict[str, Any]) -> F:
    import numba

    _listen()
    try:
        return cast("F", numba.njit(function, cache=True, nogil=True, **options))
    except RuntimeError:  # neither the package's folder nor the user's own can be written to
        return cast("F", numba.njit(function, nogil=True, **options))
