"""One typed door to Numba, so that kernels keep their signatures under strict type checking."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., object])


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

    try:
        return cast("F", numba.njit(function, cache=True, nogil=True, **options))
    except RuntimeError:  # neither the package's folder nor the user's own can be written to
        return cast("F", numba.njit(function, nogil=True, **options))
