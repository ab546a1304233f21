"""The options of the Calculator's model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from unskew.models.options import Help


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """What ``unskew train`` takes for the Calculator's model."""

    datasets: Sequence[str]
    output: Path
    steps: int = 2000
    batch: int = 128
    rate: float = 2e-3
    seed: int = 0
    hidden: Annotated[int, Help("Size of the LSTM's state.")] = 128
    seeds: Annotated[int, Help("Models to train side by side, one for each seed.")] = 1
    max_length: Annotated[int, Help("Longest expression, in characters.")] = 64
