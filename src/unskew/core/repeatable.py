"""Whether a sampler gives the same examples for the same generator, tried on a few."""

from __future__ import annotations

import re

import numpy as np

from unskew.core.errors import UnskewError, warn_user
from unskew.core.rng import generator
from unskew.core.source import Source
from unskew.core.usercode import in_brackets, stdout_to_stderr
from unskew.core.values.printed import printed

FEW = 3  # examples drawn twice before an audit; each may be a slow call
MORE = 5  # before a dataset or a stream, which promise the same examples again
_STEP = "draw all that is random from the rng that it is given"
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # in what a function or an object prints


def refuse_unrepeatable(source: Source) -> None:
    """Raise where a source gives other examples for the same generator."""
    if _until_different(source, MORE):
        raise UnskewError(
            f"{_what(source)} gave two different examples for the same seed, so the same data "
            f"could not be made again; {_STEP}"
        )


def warn_of_unrepeatable(source: Source) -> None:
    """Warn where a source gives other examples for the same generator."""
    drawn = _until_different(source, FEW)
    if drawn:
        warn_user(
            f"{_what(source)} gave two different examples for the same seed, so this result cannot "
            f"be made again, and the {drawn} examples that were drawn to see this are not in it; "
            f"{_STEP}"
        )


def _until_different(source: Source, most: int) -> int:
    """Return how many examples were drawn up to the first difference; 0 if there is none.

    Examples are drawn one by one from two generators that begin alike. The generators are used
    for nothing else. A source whose examples are kept in a file gives them again from there; it is
    not tried, because each example may cost.
    """
    if source.sampler is not None and source.sampler.cached:
        return 0
    left, right = (generator(0, source.name, "repeats") for _ in range(2))
    with stdout_to_stderr():
        for number in range(1, most + 1):
            if _next(source, left) != _next(source, right):
                return 2 * number
    return 0


def _next(source: Source, rng: np.random.Generator) -> list[str]:
    batch, _ = source.draw(rng, 1)
    try:
        return [_ADDRESS.sub("", printed(example)) for example in batch.examples()]
    except Exception:  # too deep or too long to print, or of a class that cannot be printed
        return []


def _what(source: Source) -> str:
    return f"sampler {source.name!r}{in_brackets(source.draw)}"
