"""The paper's experiments and ours, with their tables and their page."""

from importlib import import_module
from typing import Any

from unskew.core.errors import unknown

PREFIX = "karel-"
KAREL = tuple(
    PREFIX + name
    for name in (
        "original",
        "narrow-sets",
        "nesting",
        "actions",
        "grids",
        "real-world",
        "narrow-training",
        "beyond",
        "passes",
    )
)
EXPERIMENTS = ("calculator", *KAREL)


def load_experiment(name: str) -> Any:
    """Return an experiment by name: the Calculator's module, or an ``Experiment`` of Karel."""
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    if name in KAREL:
        module = name.removeprefix(PREFIX).replace("-", "_")
        return import_module(f"{__name__}.karel.{module}").EXPERIMENT
    return import_module(f"{__name__}.{name}")
