"""How an experiment tells where it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Say:
    """What is called when a stage begins, and when a stage's training goes on."""

    stage: Callable[[str], None] = lambda _: None
    step: Callable[[Any], None] = lambda _: None  # with the Progress of what is trained
