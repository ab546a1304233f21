"""An LSTM over sequences of many lengths that computes no padding.

The sequences are ordered from the longest to the shortest, so the sequences that still run at a
step are the first ones. All steps lie in one tensor, end to end: step t has ``sizes[t]`` rows,
never more than the step before. The computation depends on ``sizes`` only, so batches with the
same ``sizes`` share one captured graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from unskew.core.errors import UnskewError
from unskew.models.calculator.recurrence import backward_cell, forward_cell


@dataclass(frozen=True)
class Steps:
    """Which sequences run at which step, for sequences from the longest to the shortest."""

    sizes: tuple[int, ...]  # sequences at each step
    lengths: Tensor  # (B,) steps of each sequence, int32
    starts: Tensor  # (T,) where each step begins, int64
    rows: Tensor  # (P,) the sequence of each place, int64
    times: Tensor  # (P,) the step of each place, int64

    @classmethod
    def of(cls, lengths: Sequence[int], device: torch.device) -> Steps:
        """Lay out sequences of these lengths, from the longest to the shortest."""
        if not lengths or min(lengths) < 1 or list(lengths) != sorted(lengths, reverse=True):
            raise UnskewError("lengths of packed sequences must be given from the longest down")
        sizes = [sum(length > step for length in lengths) for step in range(lengths[0])]
        starts = [0, *accumulate(sizes)][:-1]
        rows = torch.cat([torch.arange(size) for size in sizes])
        times = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
        return cls(
            tuple(sizes),
            torch.tensor(lengths, dtype=torch.int32, device=device),
            torch.tensor(starts, device=device),
            rows.to(device),
            times.to(device),
        )

    def __len__(self) -> int:
        """Return the number of places, P."""
        return len(self.rows)


def input_gates(table: Tensor, pair_gates: Tensor, tokens: Tensor, steps: Steps) -> Tensor:
    """Return the numbers that tokens and pairs add to the first gates, packed: (P · pairs, 4H).

    Nothing is multiplied with a weight here.

    Args:
        table: The part of each token of the vocabulary, (tokens, 4H).
        pair_gates: The part of each pair, which is the same at every step, (B, pairs, 4H).
        tokens: The token at each place, (P,).
        steps: The layout of the batch.
    """
    gates: Tensor = _InputGates.apply(table, pair_gates, tokens, steps)  # type: ignore[no-untyped-call]
    return gates


class _InputGates(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, table: Tensor, pair_gates: Tensor, tokens: Tensor, steps: Steps
    ) -> Tensor:
        ctx.steps, ctx.shape, ctx.vocabulary = steps, pair_gates.shape, len(table)
        ctx.save_for_backward(tokens)
        if table.is_cuda:
            from unskew.models.karel.network.kernels import add_gates

            return add_gates(table, pair_gates, tokens, steps.rows)
        return (table[tokens].unsqueeze(1) + pair_gates[steps.rows]).flatten(0, 1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (d_gates,) = grads
        (tokens,) = ctx.saved_tensors
        rows, pairs, width = ctx.shape
        # Rows of 64 entries: a product whose rows are not aligned is many times slower on a GPU.
        ids = torch.arange(-(-ctx.vocabulary // 64) * 64, device=tokens.device)
        one_hot = (tokens.repeat_interleave(pairs).unsqueeze(1) == ids).to(d_gates.dtype)
        d_table = (one_hot.t() @ d_gates)[: ctx.vocabulary]
        steps: Steps = ctx.steps
        if d_gates.is_cuda:
            from unskew.models.karel.network.kernels import sum_steps

            lengths = steps.lengths.repeat_interleave(pairs)
            d_pairs = sum_steps(d_gates, steps.starts * pairs, lengths)
        else:
            d_pairs = d_gates.new_zeros(rows, pairs, width)
            d_pairs.index_add_(0, steps.rows, d_gates.view(-1, pairs, width))
        return d_table, d_pairs.view(ctx.shape).to(d_gates.dtype), None, None


def run_packed_lstm(
    gates: Tensor, weights: Tensor, hidden: Tensor, cell: Tensor, sizes: Sequence[int]
) -> Tensor:
    """Return the hidden states of every step, (P, H).

    Args:
        gates: What the inputs add to the gates, in the order i f g o: (P, 4H).
        weights: The recurrent weights, (H, 4H).
        hidden: The first state of every sequence, (H,).
        cell: The first cell of every sequence, (H,).
        sizes: The number of rows of each step.
    """
    states: Tensor = _PackedLstm.apply(gates, weights, hidden, cell, tuple(sizes))  # type: ignore[no-untyped-call]
    return states


class _PackedLstm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, gates: Tensor, weights: Tensor, hidden: Tensor, cell: Tensor, sizes: Any
    ) -> Tensor:
        step = _lstm_step
        if gates.is_cuda:
            from unskew.models.karel.network.kernels import lstm_step as step
        width = len(weights)
        states = gates.new_empty(len(gates), width)
        cells = gates.new_empty(len(gates), width, dtype=torch.float32)
        active = torch.empty_like(gates)  # the gates after their non-linearities
        first_hidden = hidden.to(gates.dtype).expand(sizes[0], -1).contiguous()
        first_cell = cell.float().expand(sizes[0], -1).contiguous()
        before, old = first_hidden, first_cell
        for lo, hi in _spans(sizes):
            n, new, state = hi - lo, cells[lo:hi], states[lo:hi]
            step(gates[lo:hi], before[:n], weights, old[:n], active[lo:hi], new, state)
            before, old = state, new
        ctx.sizes = sizes
        ctx.save_for_backward(active, states, cells, weights, first_hidden, first_cell)
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, None]:
        d_states = grads[0].contiguous()
        active, states, cells, weights, first_hidden, first_cell = ctx.saved_tensors
        step = _lstm_step_back
        if active.is_cuda:
            from unskew.models.karel.network.kernels import lstm_step_back as step
        spans = _spans(ctx.sizes)
        d_gates = torch.empty_like(active)
        d_cell = torch.zeros_like(first_cell)  # sequences that end earlier join with zeros
        later = d_gates[:0]
        for t in reversed(range(len(spans))):
            lo, hi = spans[t]
            n, this = hi - lo, d_gates[lo:hi]
            old = cells[slice(*spans[t - 1])] if t else first_cell
            step(
                later, weights, d_states[lo:hi], d_cell[:n], active[lo:hi], old[:n],
                cells[lo:hi], this,
            )  # fmt: skip
            later = this
        following = zip(spans, ctx.sizes[1:], strict=False)
        before = torch.cat([first_hidden, *(states[lo : lo + n] for (lo, _), n in following)])
        d_weights = before.t() @ d_gates
        d_hidden = weights @ later.sum(dim=0)
        return d_gates, d_weights, d_hidden, d_cell.sum(dim=0), None


def _spans(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first row of each step, and the row after its last."""
    ends = list(accumulate(sizes))
    return list(zip([0, *ends], ends, strict=False))


def _lstm_step(
    gates: Tensor, before: Tensor, weights: Tensor, cell: Tensor,
    active: Tensor, new_cell: Tensor, state: Tensor,
) -> None:  # fmt: skip
    """Take one step in place: write the activated gates, the new cell and the new state."""
    forward_cell(gates, before @ weights, cell, active, new_cell, state)


def _lstm_step_back(
    later: Tensor, weights: Tensor, d_state: Tensor, d_cell: Tensor,
    active: Tensor, cell: Tensor, new_cell: Tensor, d_gates: Tensor,
) -> None:  # fmt: skip
    """Go one step back in place: write the gradients of the gates and of the old cell.

    ``later`` are the gradients of the next step's gates, which may have fewer rows.
    """
    d_hidden = torch.zeros_like(d_state)
    torch.mm(later, weights.t(), out=d_hidden[: len(later)])
    backward_cell(d_hidden, d_state, d_cell, active, cell, new_cell, d_gates)
