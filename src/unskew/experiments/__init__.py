"""The paper's experiments, one file each: settings, the paper's numbers as data, ``run(scale)``."""

from importlib import import_module
from typing import Any

from unskew.core.errors import unknown

KAREL = {
    "karel-original": "original",
    "karel-narrow-sets": "narrow_sets",
    "karel-nesting": "nesting",
    "karel-actions": "actions",
    "karel-grids": "grids",
    "karel-real-world": "real_world",
    "karel-narrow-training": "narrow_training",
    "karel-beyond": "beyond",
    "karel-passes": "passes",
}
EXPERIMENTS = ("calculator", *KAREL)


def load_experiment(name: str) -> Any:
    """Load an experiment by name: the Calculator's module, or one of Karel's."""
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    if name in KAREL:
        return import_module(f"{__name__}.karel.{KAREL[name]}").EXPERIMENT
    return import_module(f"{__name__}.{name}")
