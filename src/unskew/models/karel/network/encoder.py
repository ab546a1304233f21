"""The convolutions of the synthesizer: one that reads a pair, then residual blocks of three.

On a GPU the bias, the residual and the ReLU are part of cuDNN's convolution. In the backward pass
one kernel adds the gradient of the residual, masks it and sums it for the bias. So only the
convolutions themselves pass over the memory.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

CONVOLUTIONS_A_BLOCK = 3


def run_convolutions(x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Tensor:
    """Apply the first convolution, then blocks of three with a residual; a ReLU after each.

    The third convolution of a block adds the block's input before its ReLU. ``x`` is
    (n, C, 18, 18), best with the channels last in memory; weights are (out, in, 3, 3).
    """
    if x.is_cuda:
        out: Tensor = _Convolutions.apply(x, *weights, *biases)  # type: ignore[no-untyped-call]
        return out
    out = residual = functional.conv2d(x, weights[0], biases[0], padding=1).relu()
    for number, (weight, bias) in enumerate(zip(weights[1:], biases[1:], strict=True), start=1):
        out = functional.conv2d(out, weight, bias, padding=1)
        if number % CONVOLUTIONS_A_BLOCK == 0:
            out = residual = (out + residual).relu()
        else:
            out = out.relu()
    return out


class _Convolutions(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, *parameters: Tensor) -> Tensor:
        weights, biases = parameters[: len(parameters) // 2], parameters[len(parameters) // 2 :]
        kept = [x]
        for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            how: tuple[Any, ...] = ((1, 1), (1, 1), (1, 1), 1)  # stride, padding, dilation, groups
            if number and number % CONVOLUTIONS_A_BLOCK == 0:
                residual = kept[-CONVOLUTIONS_A_BLOCK]
                out = torch.cudnn_convolution_add_relu(kept[-1], weight, residual, 1.0, bias, *how)
            else:
                out = torch.cudnn_convolution_relu(kept[-1], weight, bias, *how)
            kept.append(out)
        ctx.save_for_backward(*kept, *weights)
        return kept[-1]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        from unskew.models.karel.network.kernels import relu_backward

        count = len(ctx.saved_tensors) // 2
        kept, weights = ctx.saved_tensors[: count + 1], ctx.saved_tensors[count + 1 :]
        d_weights: list[Tensor | None] = [None] * count
        d_biases: list[Tensor | None] = [None] * count
        grad, residual = grads[0].contiguous(memory_format=torch.channels_last), None
        for number in reversed(range(count)):
            # The output of a block is also the next block's residual, so it has two gradients.
            joins = number % CONVOLUTIONS_A_BLOCK == 0
            grad, d_biases[number] = relu_backward(
                grad, residual if joins else None, kept[number + 1]
            )
            if joins:
                residual = grad
            masks = [number > 0 or ctx.needs_input_grad[0], True, False]
            grad, d_weights[number], _ = torch.ops.aten.convolution_backward(
                grad, kept[number], weights[number], None, (1, 1), (1, 1), (1, 1), False, (0, 0),
                1, masks,
            )  # fmt: skip
        return grad, *d_weights, *d_biases
