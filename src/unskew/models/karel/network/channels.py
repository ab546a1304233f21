"""Packed worlds, expanded to the channels that the convolutions read."""

import torch
from torch import Tensor
from torch.nn import functional

from unskew.domains.karel.world import (
    CELLS,
    FACING,
    HEIGHT,
    OUTLINE,
    POSITION,
    SIDE,
    TENSOR_SHAPE,
    WALL,
    WALL_CHANNEL,
    WIDTH,
)

CHANNELS, FRAME = TENSOR_SHAPE[0], TENSOR_SHAPE[1]
EDGE = 256  # the kind of the cells around a grid; the kind of another cell is its byte


def expand(worlds: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the channels (n, 18, 18, 32) of packed pairs (n, 2, 260), before and then after.

    The channels are those of ``world.to_tensor``, but come last.
    """
    if worlds.is_cuda:
        from unskew.models.karel.network.kernels import expand as expand_on_gpu

        return expand_on_gpu(worlds, dtype)
    packed = worlds.int()
    cells = functional.pad(packed[..., :CELLS].view(-1, 2, SIDE, SIDE), (1, 1, 1, 1))
    height, width, position, facing = (
        packed[..., part] for part in (HEIGHT, WIDTH, POSITION, FACING)
    )
    top, right = (size.view(-1, 1, 1, 2) for size in (height, width))
    y = torch.arange(-1, SIDE + 1, dtype=torch.int32).view(-1, 1, 1)
    x = y.view(-1, 1)
    on_edge = (y == -1) | (x == -1) | (y == top) | (x == right)
    kinds = torch.where(on_edge, EDGE, cells.permute(0, 2, 3, 1))  # (n, 18, 18, 2)
    kinds.masked_fill_((y > top) | (x > right), 0)
    channels = functional.embedding(kinds, _channels_of_kinds(dtype))  # (n, 18, 18, 2, 16)
    pair, side = torch.arange(len(worlds)).view(-1, 1), torch.arange(2)
    channels[pair, position // SIDE + 1, position % SIDE + 1, side, facing] = 1
    return channels.flatten(-2)


def _channels_of_kinds(dtype: torch.dtype) -> Tensor:
    """Return the channels of each kind of cell: free, a number of markers, a wall, the edge."""
    table = torch.zeros(EDGE + 1, CHANNELS, dtype=dtype)
    table[WALL, WALL_CHANNEL] = table[EDGE, OUTLINE] = 1
    for markers in range(1, CHANNELS - OUTLINE):
        table[markers, OUTLINE + markers] = 1
    return table
