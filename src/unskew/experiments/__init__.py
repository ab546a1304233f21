"""The paper's experiments, one file each: settings, the paper's numbers as data, ``run(scale)``."""

from importlib import import_module
from typing import Any

from unskew.errors import unknown

EXPERIMENTS = ("calculator",)


def load_experiment(name: str) -> Any:
    """Load an experiment's module by name."""
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    return import_module(f"{__name__}.{name}")
