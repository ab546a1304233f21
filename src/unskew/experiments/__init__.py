"""The paper's experiments and ours, with their tables and their page."""

from typing import Any

from unskew.core.errors import unknown

KAREL = (  # the names of ``karel/experiments.py``, which is slow to import
    "karel-original",
    "karel-narrow-sets",
    "karel-nesting",
    "karel-actions",
    "karel-grids",
    "karel-real-world",
    "karel-narrow-training",
    "karel-beyond",
    "karel-passes",
)
CALCULATOR = ("calculator", "calculator-budgets")
EXPERIMENTS = (*CALCULATOR, *KAREL)


def load_experiment(name: str) -> Any:
    """Return an experiment by name: a module of the Calculator, or an ``Experiment`` of Karel."""
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    if name in KAREL:
        from unskew.experiments.karel import experiments

        return {experiment.name: experiment for experiment in experiments.EXPERIMENTS}[name]
    from unskew.experiments import calculator, calculator_budgets

    return {module.NAME: module for module in (calculator, calculator_budgets)}[name]
