"""Dice: a domain of one's own."""

from typing import Annotated

import numpy as np

from unskew import Domain, Source, clip, round_to
from unskew.core.domain import Range
from unskew.core.source import plain_source


def throws(sides: Annotated[int, Range(2, 20, "sides of each die")] = 6) -> Source:
    """Throw one die, and one more as long as a coin shows heads."""

    def draw(rng: np.random.Generator) -> dict:
        dice = rng.integers(1, sides + 1, size=rng.geometric(0.5)).tolist()
        return {"dice": " ".join(map(str, dice)), "sum": sum(dice)}

    return plain_source(draw)


def pips(throw: dict) -> list[int]:
    """Read the dice of an example."""
    return [int(die) for die in throw["dice"].split()]


DOMAIN = Domain(
    name="dice",
    doc="a few dice and their sum",
    sources={"throws": throws},
    variables={
        "number": clip(lambda throw: len(pips(throw)), 1, 8),
        "sum": round_to(lambda throw: throw["sum"], 5),
    },
    show=lambda throw: f"{throw['dice']} = {throw['sum']}",
    check=lambda batch: np.array([sum(pips(t)) == t["sum"] for t in batch.examples()]),
)
