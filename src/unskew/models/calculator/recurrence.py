"""Many LSTMs of one size, side by side, as one batched matrix product a time step.

A small LSTM leaves a GPU idle. Members of an ensemble (other seeds, other training sets) have
their own weights but the same shape, so M of them run as one. The backward pass is written out
so that the gradient of the recurrent weights is one product over all steps, summed in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor


def run_lstms(gates: Tensor, weights: Tensor, *, fused: bool = False) -> Tensor:
    """Return the hidden states of every step.

    ``fused`` compiles the element-wise part of a step into one kernel: it pays where one shape
    runs thousands of times, as in training on a GPU.
    gates: (M, T, B, 4H), what the inputs contribute, in the order i f g o;
    weights: (M, H, 4H), the recurrent weights; result: (M, T, B, H). States start at zero.
    """
    states: Tensor = _Recurrence.apply(gates, weights, fused)  # type: ignore[no-untyped-call]
    return states


class _Recurrence(torch.autograd.Function):
    # Members come first so that the steps of one member lie together: the products over all
    # steps at the end then need no copy.
    @staticmethod
    def forward(ctx: Any, gates: Tensor, weights: Tensor, fused: bool) -> Tensor:
        members, steps, rows, width = gates.shape
        cell_forward, _ = _cells(fused)
        states = gates.new_zeros(members, steps + 1, rows, width // 4)
        active = torch.empty_like(gates)  # the gates after their non-linearities
        # One tensor a step: a fused cell may not write into a tensor that it also reads.
        cells = [torch.zeros_like(states[:, 0], dtype=torch.float32)]
        for t in range(steps):
            cells.append(torch.empty_like(cells[0]))
            recurrent = torch.bmm(states[:, t], weights)
            cell_forward(
                gates[:, t], recurrent, cells[t], active[:, t], cells[t + 1], states[:, t + 1]
            )
        ctx.fused = fused
        ctx.save_for_backward(active, states, weights, *cells)
        return states[:, 1:]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        (d_states,) = grads
        active, states, weights, *cells = ctx.saved_tensors
        steps = active.shape[1]
        _, cell_backward = _cells(ctx.fused)
        d_gates = torch.empty_like(active)
        d_hidden = torch.zeros_like(states[:, 0])
        d_cell = torch.zeros_like(cells[0])
        back = weights.transpose(1, 2)
        for t in reversed(range(steps)):
            d_state, this = d_states[:, t], active[:, t]
            cell_backward(d_hidden, d_state, d_cell, this, cells[t], cells[t + 1], d_gates[:, t])
            if t:
                d_hidden = torch.bmm(d_gates[:, t], back)
        before = states[:, :-1].flatten(1, 2)
        return d_gates, torch.bmm(before.transpose(1, 2), d_gates.flatten(1, 2)), None


def lstm_cell(gates: Tensor, recurrent: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return the new state and the new cell (float32) of one step, for decoding."""
    i, f, g, o = (gates.float() + recurrent.float()).chunk(4, dim=-1)
    new = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return (o.sigmoid() * new.tanh()).to(gates.dtype), new


def forward_cell(
    gates: Tensor, recurrent: Tensor, cell: Tensor, active: Tensor, new_cell: Tensor, state: Tensor
) -> None:
    """One step, written in place: the activated gates, the new cell (float32), the new state."""
    i, f, g, o = (gates.float() + recurrent.float()).chunk(4, dim=-1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    new = f * cell + i * g
    _store(active, i, f, g, o)
    new_cell.copy_(new)
    state.copy_(o * new.tanh())


def backward_cell(
    d_hidden: Tensor,
    d_state: Tensor,
    d_cell: Tensor,
    active: Tensor,
    cell: Tensor,
    new: Tensor,
    d_gates: Tensor,
) -> None:
    """One step back, in place: gradients of the gates (not yet activated) and of the old cell."""
    i, f, g, o = active.float().chunk(4, dim=-1)
    d_h = d_hidden.float() + d_state.float()
    squashed = new.tanh()
    d_c = d_cell + d_h * o * (1 - squashed * squashed)
    _store(
        d_gates,
        d_c * g * i * (1 - i),
        d_c * cell * f * (1 - f),
        d_c * i * (1 - g * g),
        d_h * squashed * o * (1 - o),
    )
    d_cell.copy_(d_c * f)


def _store(gates: Tensor, *pieces: Tensor) -> None:
    """Write the four gates one beside another, each once."""
    for place, piece in zip(gates.chunk(4, dim=-1), pieces, strict=True):
        place.copy_(piece)


@cache
def _cells(fused: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the two cells, plain or each fused into one kernel."""
    if not fused:
        return forward_cell, backward_cell
    return torch.compile(forward_cell), torch.compile(backward_cell)
