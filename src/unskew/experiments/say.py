"""How an experiment reports its progress."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Say:
    """The functions that an experiment calls to report progress."""

    stage: Callable[[str], None] = lambda _: None  # called with a text when a stage begins
    step: Callable[[Any], None] = lambda _: None  # called with the Progress of a training
