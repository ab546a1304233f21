"""Solving tasks with a synthesizer: decode programs, and judge them (section 4)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.domains.karel.language.tokens import PAD
from unskew.domains.karel.running.judge import Judged, judge
from unskew.domains.karel.world import from_picture
from unskew.models.karel.data.tasks import Tasks
from unskew.models.karel.decode.beam import beam_search
from unskew.models.karel.network.synthesizer import Synthesizer

SHOWN = 5  # pairs of worlds
LONGEST = 65  # tokens of a decoded program: the longest of the original test set


@dataclass(frozen=True)
class Solved:
    """The candidates of n tasks, the most probable first, and which of them are right.

    ``programs`` has their token ids (n, beam, width), ``scores`` their log-probabilities (n, beam).
    """

    programs: NDArray[np.uint8]
    scores: NDArray[np.float32]
    judged: Judged


def warm_up(model: Synthesizer) -> None:
    """Solve the smallest task, so that everything is compiled and loaded before the next one."""
    world = from_picture(" .  .\n>.  .")
    pair = np.stack([world, world])[None, None]
    solve(model, Tasks.of_arrays(np.zeros((1, 1), np.uint8), pair), beam=2, longest=5)


def solve(
    model: Synthesizer, tasks: Tasks, beam: int, *, shown: int | None = None, longest: int = LONGEST
) -> Solved:
    """Write programs for tasks with a model, and return them with which of them are right.

    Args:
        model: a synthesizer.
        tasks: the worlds, and the true programs if there are any.
        beam: the number of candidates for each task, 1 to 64.
        shown: how many pairs the model sees. Without it, the first five, or all if there are fewer.
        longest: the most tokens of a program.
    """
    device = next(model.parameters()).device
    shown = min(SHOWN, tasks.worlds.shape[1]) if shown is None else shown
    candidates = beam_search(model, tasks.worlds[:, :shown].to(device), beam, longest)
    programs = candidates.programs.cpu().numpy()
    worlds = tasks.worlds.cpu().numpy()
    judged = judge(programs, tasks.programs.cpu().numpy(), worlds[:, :, 0], worlds[:, :, 1], shown)
    width = max(1, int((programs != PAD).sum(axis=2).max(initial=0)))
    return Solved(programs[..., :width], candidates.scores.cpu().numpy(), judged)
