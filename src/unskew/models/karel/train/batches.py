"""Opening what a run is trained on: tasks that are there, or an endless mixture of streams.

Each returns how a run opens its batches, now or where it was stopped, and what names the data in
the run's settings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from unskew.models.karel.data.mixture import Mixture
from unskew.models.karel.data.rounds import Rounds
from unskew.models.karel.data.tasks import Minibatches, Tasks
from unskew.models.karel.train.run import OpenBatches
from unskew.models.karel.train.step import Batches, StepConfig
from unskew.models.ranks import ALONE, Ranks


def fixed(
    tasks: Tasks, step: StepConfig, ranks: Ranks = ALONE
) -> tuple[OpenBatches, dict[str, Any]]:
    """Open tasks that are gone through again and again."""
    there = tasks.to(ranks.device)

    def minibatches(_: int, __: Mapping[str, Any] | None) -> Batches:
        return Minibatches(there, step.batch, step.shown, step.seed, ranks=ranks)

    return minibatches, {"tasks": tasks.digest()}


def endless(
    mixture: Mixture,
    step: StepConfig,
    *,
    reuse: int = 1,
    workers: int | None = None,
    ranks: Ranks = ALONE,
) -> tuple[OpenBatches, dict[str, Any]]:
    """Open streams that are made beside the training, by all cores but one unless said.

    By no workers, they are made in its midst: a short run is done before processes have begun.
    """
    crew = max(1, (os.cpu_count() or 2) - 1) if workers is None else workers

    def rounds(number: int, state: Mapping[str, Any] | None) -> Batches:
        return Rounds(
            mixture, step.batch, step.shown, step.seed, ranks.device,
            reuse=reuse, workers=crew, number=number, state=state, ranks=ranks,
        )  # fmt: skip

    return rounds, {**mixture.facts(), "reuse": reuse}
