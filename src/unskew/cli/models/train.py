"""The command that trains a model: train."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli.models.command import choose, need_torch, takes
from unskew.cli.options import Seed, option
from unskew.core.errors import UnskewError
from unskew.models.options import TrainCalculatorOptions, TrainKarelOptions

MODELS = {"calculator": TrainCalculatorOptions, "karel": TrainKarelOptions}


def _defaults(name: str) -> str:
    """Return the defaults of an option that both models have."""
    one, other = (getattr(options, name) for options in MODELS.values())
    return f"{one:,}" if other is None else f"{one:,}; Karel: {other:,}"


@takes(MODELS)
def train(
    datasets: Annotated[
        list[str], typer.Argument(help="One or more datasets or files. Karel also takes sources.")
    ],
    output: Annotated[Path, option("Folder for the run.", "-o", "--output")],
    steps: Annotated[
        int | None,
        option("Number of optimizer steps.", default=f"{_defaults('steps')}; Karel: --minutes"),
    ] = None,
    batch: Annotated[
        int | None, option("Examples in each step.", default=_defaults("batch"))
    ] = None,
    rate: Annotated[float | None, option("Peak learning rate.", default=_defaults("rate"))] = None,
    seed: Seed = 0,
    **own: Any,
) -> None:
    """Train a model of the Calculator or of Karel. Run it again to continue a stopped run."""
    need_torch()
    domain = "karel" if _is_karel(datasets) else "calculator"
    chosen = choose(MODELS, domain, {"steps": steps, "batch": batch, "rate": rate, **own})
    chosen |= {"datasets": datasets, "output": output, "seed": seed}
    if domain == "karel":
        from unskew.cli.models.karel import train_karel

        train_karel(TrainKarelOptions(**chosen))
    else:
        from unskew.cli.models.calculator import train_calculator

        train_calculator(TrainCalculatorOptions(**chosen))


def _is_karel(names: list[str]) -> bool:
    """Return whether the data is Karel's; refuse data of several domains."""
    from unskew.datasets.open import open_target

    domains = {domain.name if domain else "" for domain in (open_target(n).domain for n in names)}
    if len(domains) > 1:
        raise UnskewError(f"{', '.join(names)} are of several domains; train on one domain")
    return domains == {"karel"}
