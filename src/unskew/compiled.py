"""One typed door to Numba, so that kernels keep their signatures under strict type checking."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile at first call, keep the machine code on disk, release the interpreter lock."""
    try:
        return cast("F", numba.njit(function, cache=True, nogil=True))
    except RuntimeError:  # neither the package's folder nor the user's own can be written to
        return cast("F", numba.njit(function, nogil=True))
