"""The step that decides by tables which draws are kept, and counts their values, compiled."""

import math

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled_when_called


@compiled_when_called
def decide(
    codes: NDArray[np.int64],
    uniforms: NDArray[np.float64],
    tables: NDArray[np.float64],
    sizes: NDArray[np.int64],
    drawn: NDArray[np.int64],
    kept: NDArray[np.int64],
    keep: NDArray[np.bool_],
    most: int,
) -> int:
    """Keep each draw with probability min(1, exp(Σ tables)), until ``most`` are kept.

    Row j of each matrix is of variable j. The last of the ``sizes[j]`` entries of its table is for
    codes that the table does not have. Adds to the counts, and returns how many draws it saw.
    """
    seen, taken = 0, 0
    for i in range(codes.shape[1]):
        if taken == most:
            break
        seen += 1
        score = 0.0
        for j in range(codes.shape[0]):
            code = codes[j, i]
            drawn[j, code] += 1
            score += tables[j, min(code, sizes[j] - 1)]
        keep[i] = score >= 0.0 or uniforms[i] < math.exp(score)
        if keep[i]:
            taken += 1
            for j in range(codes.shape[0]):
                kept[j, codes[j, i]] += 1
    return seen
