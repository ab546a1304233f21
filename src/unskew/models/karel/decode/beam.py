"""Beam search on the device: the most probable programs that the grammar allows.

A complete candidate keeps its place as long as its probability is among the best. A beam of one
is greedy decoding. In float32 the result depends neither on the device nor on how many tasks are
decoded together, except if probabilities are equal up to their last bits. In bfloat16, candidates
may swap ranks if their probabilities differ by less than about a hundredth.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from unskew.core.errors import check_range
from unskew.domains.karel.language.tokens import PAD
from unskew.models.karel.decode.grammar import Unfinished
from unskew.models.karel.network.synthesizer import TOKENS, Decoding, Synthesizer

LARGEST_BEAM = 64
MOST_CANDIDATES, MOST_TASKS = 16_384, 512  # decoded together: a few GB


@dataclass(frozen=True)
class Candidates:
    """Programs (n, beam, max_length), the most probable first, and log-probabilities (n, beam).

    If there are fewer programs than the beam is wide, the rest is PAD with −inf.
    """

    programs: Tensor
    scores: Tensor


@torch.no_grad()
def beam_search(
    model: Synthesizer,
    worlds: Tensor,
    beam: int,
    max_length: int,
    *,
    dtype: torch.dtype = torch.float32,
    at_once: int | None = None,
) -> Candidates:
    """Find the most probable programs for the shown pairs (n, k, 2, 260) of each task."""
    check_range("beam", beam, 1, LARGEST_BEAM)
    rows = at_once or min(MOST_TASKS, MOST_CANDIDATES // beam)
    # TF32 would round the operands of a float32 convolution to ten bits.
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        parts = [
            _search(model, part, beam, max_length, dtype) for part in torch.split(worlds, rows)
        ]
    return Candidates(
        torch.cat([part.programs for part in parts]), torch.cat([part.scores for part in parts])
    )


def _search(
    model: Synthesizer, worlds: Tensor, beam: int, max_length: int, dtype: torch.dtype
) -> Candidates:
    tasks, pairs = worlds.shape[:2]
    shape, device = (tasks, beam), worlds.device
    pair_gates = model.pair_gates(worlds, dtype).unsqueeze(1)  # (tasks, 1, pairs, 4H)
    state = model.start((*shape, pairs), dtype)
    syntax = Unfinished.empty(shape, max_length, device)
    programs = torch.full((*shape, max_length), PAD, dtype=torch.uint8, device=device)
    tokens = torch.full(shape, PAD, device=device)
    scores = torch.full(shape, -torch.inf, device=device)
    scores[:, 0] = 0  # all candidates begin with the same tokens, so only one begins
    for step in range(max_length):
        log_probabilities, state = model.advance(tokens, pair_gates, state, dtype)
        log_probabilities = log_probabilities.masked_fill(syntax.done().unsqueeze(-1), 0.0)
        log_probabilities = log_probabilities.masked_fill(~syntax.allowed(), -torch.inf)
        totals = (scores.unsqueeze(-1) + log_probabilities).flatten(1)
        best, order = totals.sort(dim=1, descending=True, stable=True)
        scores = best[:, :beam]
        parents, tokens = order[:, :beam] // TOKENS, order[:, :beam] % TOKENS
        state = Decoding(_pick(state.hidden, parents), _pick(state.cell, parents))
        syntax = syntax.pick(parents).after(tokens)
        programs = programs.gather(1, parents.unsqueeze(-1).expand_as(programs))
        programs[..., step] = tokens
        if bool((syntax.done() | scores.isneginf()).all()):
            break
    programs.masked_fill_(scores.isneginf().unsqueeze(-1), PAD)
    return Candidates(programs, scores)


def _pick(states: list[Tensor], parents: Tensor) -> list[Tensor]:
    """Return the states (tasks, beam, pairs, H) of these candidates."""
    tasks = torch.arange(len(parents), device=parents.device).unsqueeze(1)
    return [state[tasks, parents] for state in states]
