"""Sources of examples (the paper's q): draw a batch, and say what was thrown away and why."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from unskew.batch import Batch
from unskew.errors import UnskewError

if TYPE_CHECKING:
    from unskew.domain import Domain

# draw(rng, n) returns exactly n valid examples and counts, by reason, what validity cost.
Draw: TypeAlias = Callable[[np.random.Generator, int], tuple[Batch, Counter[str]]]


@dataclass(frozen=True)
class Source:
    """A named distribution to draw from; ``chunk`` is how many examples to draw at once.

    ``derive(rng, batch)``, where a source has it, makes examples anew of given ones, as far as
    it can: new worlds for the same programs. It returns them in order, with counts of the others.
    ``domain`` is the domain that the source belongs to, if it belongs to one.
    """

    name: str
    draw: Draw
    parameters: Mapping[str, Any] = field(default_factory=dict)
    chunk: int = 1 << 15
    derive: Callable[[np.random.Generator, Batch], tuple[Batch, Counter[str]]] | None = None
    domain: Domain | None = field(default=None, compare=False, repr=False)


def plain_source(draw: Callable[[np.random.Generator], Any], name: str | None = None) -> Source:
    """Wrap a plain function ``draw(rng) -> example`` as a source."""
    label = name or str(getattr(draw, "__name__", type(draw).__name__))
    _check_sampler(draw, label)

    def many(rng: np.random.Generator, n: int) -> tuple[Batch, Counter[str]]:
        try:
            return Batch.of([draw(rng) for _ in range(n)]), Counter()
        except UnskewError:
            raise
        except (Exception, SystemExit) as error:  # the user's own function may raise anything
            raise UnskewError(
                f"sampler {label!r} raised {type(error).__name__}: {error}; "
                "make it return one example for every generator"
            ) from error

    # A plain function may be slow, so no more is drawn ahead than this.
    return Source(label, many, chunk=256)


def _check_sampler(draw: object, label: str) -> None:
    if not callable(draw):
        raise UnskewError(
            f"sampler is {draw!r}, which cannot be called; pass a function draw(rng) -> example"
        )
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
