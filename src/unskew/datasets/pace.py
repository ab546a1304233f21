"""How many examples of a sampler an audit takes: fewer if more would take long."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from unskew.core.batch import Batch, concatenate
from unskew.core.errors import UnskewError, brief, warn_user
from unskew.core.source import Source, sampler
from unskew.core.usercode.samplers import CHUNK
from unskew.datasets.target import Target

DEFAULT_N = 100_000  # examples that are read if the target never ends
FIRST = 512  # examples of a sampler after which its speed is judged
LONG = 120.0  # seconds; an audit that would take longer stops, unless a number was asked for
_UNITS = ((86_400, "days"), (3_600, "hours"), (60, "minutes"), (1, "seconds"))


def examples_of(
    target: Target,
    n: int | None,
    advance: Callable[[int], None],
    clock: Callable[[], float],
    default: int = DEFAULT_N,
    what: str = "this audit",
) -> Iterator[Batch]:
    """Yield ``n`` examples; if ``n`` is None, all, or ``default`` of a target that never ends.

    ``what`` names the reader in messages.
    """
    limit = default if n is None and target.endless else n
    source = target.source
    if source is None or source.sampler is None:
        for batch in target.read(limit):
            yield batch
            advance(len(batch))
        return
    seconds, done, batches = 0.0, 0, _even(target.read(limit), advance)
    while True:
        begin = clock()
        drawn = next(batches, None)
        seconds += clock() - begin
        if drawn is None:
            return
        done += len(drawn)
        yield drawn
        reason = _reason_to_stop(source, done / seconds if seconds else float("inf"), default)
        if n is None and done == FIRST and reason:
            warn_user(
                f"{what} has the first {FIRST} examples of sampler {source.name!r}: {reason}; "
                f"give n for more (n={default:_})"
            )
            return


def _reason_to_stop(source: Source, rate: float, default: int) -> str:
    """Return why a sampler is not asked for the default number of examples; empty if it is."""
    if source.sampler is not None and source.sampler.cached:
        return "they are cached, so each may cost"
    seconds = default / rate
    if seconds <= LONG:
        return ""
    return f"they came at {rate:.3g} a second, and {default:,} would take {duration(seconds)}"


def _even(batches: Iterator[Batch], advance: Callable[[int], None]) -> Iterator[Batch]:
    """Yield the same examples in batches of one size, so that speed does not decide about bins."""
    pieces: list[Batch] = []
    for batch in batches:
        advance(len(batch))
        pieces.append(batch)
        while sum(map(len, pieces)) >= CHUNK:
            whole = concatenate(pieces) if len(pieces) > 1 else pieces[0]
            yield whole.head(CHUNK)
            pieces = [whole.slice(CHUNK, len(whole))] if len(whole) > CHUNK else []
    if pieces:
        yield concatenate(pieces)


def as_sampler(
    target: Any, batch: bool | int, concurrency: int, cache: str | os.PathLike[str] | None
) -> Any:
    """Return a source for a function with options of its own; anything else stays as it is."""
    if batch is False and concurrency == 1 and cache is None:
        return target
    if isinstance(target, Source) or not callable(target):
        raise UnskewError(
            f"batch, concurrency and cache are for functions, not for {brief(target)}; give the "
            "function, or unskew.sampler(function, …)"
        )
    return sampler(target, batch=batch, concurrency=concurrency, cache=cache)


def duration(seconds: float) -> str:
    """Return a length of time in words, to two digits: 13 hours, 3.5 minutes."""
    size, unit = next((unit for unit in _UNITS if seconds >= unit[0]), _UNITS[-1])
    number = seconds / size
    return f"{number:.0f} {unit}" if number >= 10 else f"{number:.2g} {unit}"
