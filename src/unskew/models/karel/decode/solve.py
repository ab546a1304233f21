"""Solving tasks with a synthesizer: decode, and judge what comes out (section 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from unskew.domains.karel.language.tokens import PAD
from unskew.domains.karel.running.judge import Judged, judge
from unskew.domains.karel.world import from_picture
from unskew.models.karel.data.tasks import Tasks
from unskew.models.karel.decode.beam import beam_search
from unskew.models.karel.network.synthesizer import Synthesizer

SHOWN = 5
LONGEST = 65  # tokens of a program that is decoded: the longest of the original test set


@dataclass(frozen=True)
class Solved:
    """The candidates of n tasks, the most probable first, and which of them are right.

    ``programs`` has their token ids (n, beam, width), ``scores`` their log-probabilities (n, beam).
    """

    programs: NDArray[np.uint8]
    scores: NDArray[np.float32]
    judged: Judged


def warm_up(model: Synthesizer) -> None:
    """Solve the smallest task: what it compiles or loads, those that come find ready."""
    world = from_picture(" .  .\n>.  .")
    pair = np.stack([world, world])[None, None]
    solve(model, Tasks.of_arrays(np.zeros((1, 1), np.uint8), pair), beam=2, longest=5)


def solve(
    model: Synthesizer,
    tasks: Tasks,
    beam: int,
    *,
    shown: int | None = None,
    longest: int = LONGEST,
    dtype: torch.dtype = torch.float32,
) -> Solved:
    """Write programs for tasks with a model, and return them with which of them are right.

    Args:
        model: a synthesizer.
        tasks: the worlds, and the true programs if there are any.
        beam: the number of candidates for each task, 1 to 64.
        shown: how many pairs the model sees. Without it, the first five, or all if there are fewer.
        longest: the most tokens of a program.
        dtype: the type of the arithmetic.
    """
    device = next(model.parameters()).device
    shown = min(SHOWN, tasks.worlds.shape[1]) if shown is None else shown
    worlds = tasks.worlds[:, :shown].to(device)
    found = beam_search(model, worlds, beam, longest, dtype=dtype)
    programs = found.programs.cpu().numpy()
    both = tasks.worlds.cpu().numpy()
    judged = judge(programs, tasks.programs.cpu().numpy(), both[:, :, 0], both[:, :, 1], shown)
    used = max(1, int((programs != PAD).sum(axis=2).max(initial=0)))
    return Solved(programs[..., :used], found.scores.cpu().numpy(), judged)
