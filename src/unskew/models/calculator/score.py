"""Scoring readers: the share of expressions whose value is predicted exactly (section 6.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from unskew.models.calculator.network import Expressions, Readers


@torch.no_grad()
def accuracies(model: Readers, data: Expressions, rows: int = 512) -> NDArray[np.float64]:
    """Return the accuracy of each member on the same expressions, (M,)."""
    model.eval()
    device = next(model.parameters()).device
    right = torch.zeros(model.members, device=device)
    for start in range(0, len(data), rows):
        tokens, lengths, values = (
            torch.from_numpy(array[start : start + rows]).to(device)
            for array in (data.tokens, data.lengths, data.values)
        )
        tokens = tokens[:, : int(lengths.max())]
        logits = model(tokens.expand(model.members, -1, -1), lengths.expand(model.members, -1))
        right += (logits.argmax(dim=-1) == values).sum(dim=1)
    return right.double().cpu().numpy() / len(data)


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and half the width of its 95 % interval (Student's t)."""

    mean: float
    half_width: float
    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """Return the estimate from independent repetitions; from one alone the width is unknown."""
        numbers = tuple(float(value) for value in values)
        mean = sum(numbers) / len(numbers)
        if len(numbers) < 2:
            return cls(mean, math.nan, numbers)
        spread = float(np.std(numbers, ddof=1)) / math.sqrt(len(numbers))
        return cls(mean, student_t(len(numbers) - 1) * spread, numbers)


def student_t(freedom: int) -> float:
    """Return the 97.5 % point of Student's t; beyond the table, by Cornish-Fisher."""
    table = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
    if freedom <= len(table):
        return table[freedom - 1]
    z = 1.959964
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / float(freedom**power) for power, term in enumerate(terms, start=1))
