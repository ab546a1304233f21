"""Many LSTMs of one size, side by side: each time step is one batched matrix product.

A small LSTM leaves a GPU idle. The members of an ensemble (other seeds, other training sets) have
their own weights but the same shape, so M of them run as one. The backward pass is written by
hand, so that one product over all steps gives the gradient of the recurrent weights in float32.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor


def run_lstms(gates: Tensor, weights: Tensor, *, fused: bool = False) -> Tensor:
    """Return the hidden states of every step, (M, T, B, H). States start at zero.

    Args:
        gates: What the inputs add to the gates, in the order i f g o: (M, T, B, 4H).
        weights: The recurrent weights, (M, H, 4H).
        fused: Whether to compile the element-wise part of a step into one kernel. This pays if
            one shape runs thousands of times, as in training on a GPU.
    """
    states: Tensor = _Recurrence.apply(gates, weights, fused)  # type: ignore[no-untyped-call]
    return states


class _Recurrence(torch.autograd.Function):
    # Members come first, so that all steps of a member lie together. Then the products over all
    # steps need no copy.
    @staticmethod
    def forward(ctx: Any, gates: Tensor, weights: Tensor, fused: bool) -> Tensor:
        members, steps, rows, width = gates.shape
        cell_forward, _ = _cells(fused)
        states = gates.new_zeros(members, steps + 1, rows, width // 4)
        active = torch.empty_like(gates)  # the gates after their non-linearities
        # Each step has its own tensor: a fused cell may not write into a tensor that it reads.
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
    i, f, g, o = _activated(gates, recurrent)
    new = f * cell + i * g
    return (o * new.tanh()).to(gates.dtype), new


def forward_cell(
    gates: Tensor, recurrent: Tensor, cell: Tensor, active: Tensor, new_cell: Tensor, state: Tensor
) -> None:
    """Take one step in place: write the activated gates, the new cell (float32), the new state."""
    i, f, g, o = _activated(gates, recurrent)
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
    """Go one step back in place: write the gradients of the input gates and of the old cell."""
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


def _activated(gates: Tensor, recurrent: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the four gates after their non-linearities, in float32."""
    i, f, g, o = (gates.float() + recurrent.float()).chunk(4, dim=-1)
    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()


def _store(gates: Tensor, *pieces: Tensor) -> None:
    """Write four gates next to each other, each once."""
    for place, piece in zip(gates.chunk(4, dim=-1), pieces, strict=True):
        place.copy_(piece)


@cache
def _cells(fused: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the two cells, as they are or each fused into one kernel."""
    if not fused:
        return forward_cell, backward_cell
    return torch.compile(forward_cell), torch.compile(backward_cell)
