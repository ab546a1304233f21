"""Six Triton kernels for the work of the synthesizer on a GPU outside cuDNN and cuBLAS.

Each kernel has a twin in plain PyTorch where it is called. This module is imported only there, and
only for tensors on a GPU. A launch fixes every shape, so that a graph can capture it.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

ROWS = 64  # of the tiles of an LSTM step
COLUMNS = 1024  # gates that one program adds or sums


def expand(worlds: Tensor, dtype: torch.dtype) -> Tensor:
    """See ``channels.expand``: pairs (n, 2, 260) become (n, 18, 18, 32)."""
    out = torch.empty(len(worlds), 18, 18, 32, dtype=dtype, device=worlds.device)
    _expand[(len(worlds), 6)](worlds, out)
    return out


@triton.jit
def _expand(worlds, out):
    pair = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * 64 + tl.arange(0, 64)[:, None]
    y, x = place // 18 - 1, place % 18 - 1
    channel = tl.arange(0, 32)[None, :]
    world = worlds + pair * 520 + (channel // 16) * 260
    kind = channel % 16
    height, width = tl.load(world + 256).to(tl.int32), tl.load(world + 257).to(tl.int32)
    hero, facing = tl.load(world + 258).to(tl.int32), tl.load(world + 259).to(tl.int32)
    inside = (y >= 0) & (x >= 0) & (y < height) & (x < width)
    cell = tl.load(world + y * 16 + x, mask=inside, other=0).to(tl.int32)
    karel = (kind == facing) & inside & (hero == y * 16 + x)
    wall = (kind == 4) & (cell == 255)
    on_edge = (y == -1) | (x == -1) | (y == height) | (x == width)
    outline = (kind == 5) & on_edge & (y <= height) & (x <= width)
    markers = (kind > 5) & (cell == kind - 5)
    value = (karel | wall | outline | markers).to(out.dtype.element_ty)
    tl.store(out + (pair * 324 + place) * 32 + channel, value, mask=place < 324)


def relu_backward(grad: Tensor, other: Tensor | None, out: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradient (grad + other) · [out > 0] and its sum over all but the channels.

    All are (n, C, 18, 18), channels last in memory. One pass reads and writes each of them once.
    """
    channels = out.shape[1]
    rows = out.numel() // channels
    programs, block = -(-rows // 2048), 128
    masked = torch.empty_like(out)
    partial = torch.empty(programs, channels, dtype=torch.float32, device=out.device)
    _relu_backward[(programs,)](
        grad, out if other is None else other, out, masked, partial, rows,
        HAS_OTHER=other is not None, CHANNELS=channels, BLOCK=block, LOOPS=2048 // block,
    )  # fmt: skip
    return masked, partial.sum(dim=0)


@triton.jit
def _relu_backward(
    grad, other, out, masked, partial, rows,
    HAS_OTHER: tl.constexpr, CHANNELS: tl.constexpr, BLOCK: tl.constexpr, LOOPS: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0).to(tl.int64)
    channel = tl.arange(0, CHANNELS)
    total = tl.zeros((CHANNELS,), tl.float32)
    for loop in range(LOOPS):
        row = (program * LOOPS + loop) * BLOCK + tl.arange(0, BLOCK)
        at = row[:, None] * CHANNELS + channel[None, :]
        inside = (row < rows)[:, None]
        value = tl.load(grad + at, mask=inside, other=0).to(tl.float32)
        if HAS_OTHER:
            value += tl.load(other + at, mask=inside, other=0).to(tl.float32)
        value = tl.where(tl.load(out + at, mask=inside, other=0) > 0, value, 0.0)
        tl.store(masked + at, value.to(masked.dtype.element_ty), mask=inside)
        total += tl.sum(value, axis=0)
    tl.store(partial + program * CHANNELS + channel, total)


def add_gates(table: Tensor, pair_gates: Tensor, tokens: Tensor, rows: Tensor) -> Tensor:
    """See ``packed.input_gates``: table[tokens] + pair_gates[rows] for every pair."""
    pairs, width = pair_gates.shape[1:]
    out = torch.empty(len(tokens) * pairs, width, dtype=table.dtype, device=table.device)
    columns = min(width, COLUMNS)
    _add_gates[(len(tokens), width // columns)](
        table, pair_gates, tokens, rows, out, PAIRS=pairs, WIDTH=width, COLUMNS=columns
    )
    return out


@triton.jit
def _add_gates(
    table, pair_gates, tokens, rows, out,
    PAIRS: tl.constexpr, WIDTH: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    place = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    token, row = tl.load(tokens + place), tl.load(rows + place)
    shared = tl.load(table + token * WIDTH + column).to(tl.float32)
    for pair in range(PAIRS):
        own = tl.load(pair_gates + (row * PAIRS + pair) * WIDTH + column).to(tl.float32)
        to = out + (place * PAIRS + pair) * WIDTH + column
        tl.store(to, (shared + own).to(out.dtype.element_ty))


def sum_steps(d_gates: Tensor, starts: Tensor, lengths: Tensor) -> Tensor:
    """Return the sums of packed rows over the steps of each sequence: (sequences, 4H), float32.

    ``d_gates`` are (P, 4H). Step t begins at row ``starts[t]``. ``lengths`` counts the steps.
    """
    width = d_gates.shape[1]
    out = torch.empty(len(lengths), width, dtype=torch.float32, device=d_gates.device)
    columns = min(width, COLUMNS)
    _sum_steps[(len(lengths), width // columns)](
        d_gates, starts, lengths, out, WIDTH=width, COLUMNS=columns
    )
    return out


@triton.jit
def _sum_steps(d_gates, starts, lengths, out, WIDTH: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((COLUMNS,), tl.float32)
    for step in range(tl.load(lengths + row)):
        at = (tl.load(starts + step) + row) * WIDTH + column
        total += tl.load(d_gates + at).to(tl.float32)
    tl.store(out + row * WIDTH + column, total)


def lstm_step(
    gates: Tensor, before: Tensor, weights: Tensor, cell: Tensor,
    active: Tensor, new_cell: Tensor, state: Tensor,
) -> None:  # fmt: skip
    """Take one step, product and cell in one kernel; see ``packed`` for the arguments."""
    rows, hidden = state.shape
    units, depth = min(hidden, 32), min(hidden, 64)
    _lstm_step[(hidden // units, -(-rows // ROWS))](
        gates, before, weights, cell, active, new_cell, state, rows,
        H=hidden, M=ROWS, U=units, K=depth, num_warps=4, num_stages=_stages(state),
    )  # fmt: skip


@triton.jit(do_not_specialize=["rows"])  # compiled once for any number of rows
def _lstm_step(
    gates, before, weights, cell, active, new_cell, state, rows,
    H: tl.constexpr, M: tl.constexpr, U: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    unit = (tl.program_id(0) * U + tl.arange(0, U))[None, :]
    row = (tl.program_id(1) * M + tl.arange(0, M))[:, None]
    inside = row < rows
    i = tl.zeros((M, U), tl.float32)
    f = tl.zeros((M, U), tl.float32)
    g = tl.zeros((M, U), tl.float32)
    o = tl.zeros((M, U), tl.float32)
    for k in range(0, H, K):
        depth = k + tl.arange(0, K)
        h = tl.load(before + row * H + depth[None, :], mask=inside, other=0)
        w = weights + depth[:, None] * (4 * H) + unit
        i = tl.dot(h, tl.load(w), i, input_precision="ieee")
        f = tl.dot(h, tl.load(w + H), f, input_precision="ieee")
        g = tl.dot(h, tl.load(w + 2 * H), g, input_precision="ieee")
        o = tl.dot(h, tl.load(w + 3 * H), o, input_precision="ieee")
    at, wide = row * H + unit, row * (4 * H) + unit
    i = tl.sigmoid(i + tl.load(gates + wide, mask=inside, other=0).to(tl.float32))
    f = tl.sigmoid(f + tl.load(gates + wide + H, mask=inside, other=0).to(tl.float32))
    g = g + tl.load(gates + wide + 2 * H, mask=inside, other=0).to(tl.float32)
    g = 2 * tl.sigmoid(2 * g) - 1  # tanh
    o = tl.sigmoid(o + tl.load(gates + wide + 3 * H, mask=inside, other=0).to(tl.float32))
    new = f * tl.load(cell + at, mask=inside, other=0) + i * g
    kind = active.dtype.element_ty
    tl.store(active + wide, i.to(kind), mask=inside)
    tl.store(active + wide + H, f.to(kind), mask=inside)
    tl.store(active + wide + 2 * H, g.to(kind), mask=inside)
    tl.store(active + wide + 3 * H, o.to(kind), mask=inside)
    tl.store(new_cell + at, new, mask=inside)
    tl.store(state + at, (o * (2 * tl.sigmoid(2 * new) - 1)).to(kind), mask=inside)


def _stages(states: Tensor) -> int:
    """Return how many tiles are loaded ahead; those of float32 (in tests) are twice as large."""
    return 3 if states.dtype == torch.bfloat16 else 1


def lstm_step_back(
    later: Tensor, weights: Tensor, d_state: Tensor, d_cell: Tensor,
    active: Tensor, cell: Tensor, new_cell: Tensor, d_gates: Tensor,
) -> None:  # fmt: skip
    """Go one step back, product and cell in one kernel; see ``packed`` for the arguments."""
    rows, hidden = d_state.shape
    units = min(hidden, 64 if d_state.dtype == torch.bfloat16 else 32)
    _lstm_step_back[(hidden // units, -(-rows // ROWS))](
        later, weights, d_state, d_cell, active, cell, new_cell, d_gates, rows, len(later),
        H=hidden, M=ROWS, U=units, K=units, num_warps=4, num_stages=_stages(d_state) + 1,
    )  # fmt: skip


@triton.jit(do_not_specialize=["rows", "later_rows"])
def _lstm_step_back(
    later, weights, d_state, d_cell, active, cell, new_cell, d_gates, rows, later_rows,
    H: tl.constexpr, M: tl.constexpr, U: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    unit = (tl.program_id(0) * U + tl.arange(0, U))[None, :]
    row = (tl.program_id(1) * M + tl.arange(0, M))[:, None]
    inside = row < rows
    d_h = tl.zeros((M, U), tl.float32)
    if tl.program_id(1) * M < later_rows:
        for k in range(0, 4 * H, K):
            depth = k + tl.arange(0, K)
            d = tl.load(later + row * (4 * H) + depth[None, :], mask=row < later_rows, other=0)
            w = tl.load(weights + unit * (4 * H) + depth[:, None])
            d_h = tl.dot(d, w, d_h, input_precision="ieee")
    at, wide = row * H + unit, row * (4 * H) + unit
    d_h += tl.load(d_state + at, mask=inside, other=0).to(tl.float32)
    i = tl.load(active + wide, mask=inside, other=0).to(tl.float32)
    f = tl.load(active + wide + H, mask=inside, other=0).to(tl.float32)
    g = tl.load(active + wide + 2 * H, mask=inside, other=0).to(tl.float32)
    o = tl.load(active + wide + 3 * H, mask=inside, other=0).to(tl.float32)
    squashed = 2 * tl.sigmoid(2 * tl.load(new_cell + at, mask=inside, other=0)) - 1
    d_c = tl.load(d_cell + at, mask=inside, other=0) + d_h * o * (1 - squashed * squashed)
    old = tl.load(cell + at, mask=inside, other=0)
    kind = d_gates.dtype.element_ty
    tl.store(d_gates + wide, (d_c * g * i * (1 - i)).to(kind), mask=inside)
    tl.store(d_gates + wide + H, (d_c * old * f * (1 - f)).to(kind), mask=inside)
    tl.store(d_gates + wide + 2 * H, (d_c * i * (1 - g * g)).to(kind), mask=inside)
    tl.store(d_gates + wide + 3 * H, (d_h * squashed * o * (1 - o)).to(kind), mask=inside)
    tl.store(d_cell + at, d_c * f, mask=inside)
