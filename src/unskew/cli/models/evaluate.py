"""The command that scores a run: evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli.models.command import choose, need_torch, takes
from unskew.cli.options import Json, option
from unskew.models.options import EvaluateKarelOptions

MODELS = {"karel": EvaluateKarelOptions}


@takes(MODELS)
def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or the file of a model.")],
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            help="Sources, datasets or files. Karel also takes named recipes. Without any, the "
            "Calculator is scored on its four sources, and Karel on karel/msr-test."
        ),
    ] = None,
    n: Annotated[
        int | None,
        option(
            "Examples to read from each target, evenly spaced.",
            "-n",
            default="all; 10,000 of a source",
        ),
    ] = None,
    seed: Annotated[int, option("Seed for examples of a source.")] = 10_000,
    as_json: Json = False,
    **own: Any,
) -> None:
    """Score a run: show the share of the examples that it solves."""
    need_torch()
    from unskew.models.checkpoint import load_checkpoint
    from unskew.models.karel.train.run import KIND
    from unskew.models.runs import settings

    facts = load_checkpoint(run)[1] if run.is_file() else settings(run)
    if facts.get("kind") == KIND:
        from unskew.cli.models.karel import evaluate_karel

        options = EvaluateKarelOptions(**choose(MODELS, "karel", own))
        evaluate_karel(run, targets or ["karel/msr-test"], n, seed, options, as_json)
    else:
        from unskew.cli.models.calculator import evaluate_calculator

        choose(MODELS, "calculator", own)
        evaluate_calculator(run, targets, n, seed, as_json)
