"""The acceptance step of SampledHomogenize, compiled (appendix B.1 of the paper)."""

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled_when_called

# The kernel's state besides the counts: t, the smallest count, and how many values have it.
TOTAL, LEAST, AT_LEAST = 0, 1, 2


@compiled_when_called
def accept(
    codes: NDArray[np.int64],
    uniforms: NDArray[np.float64],
    epsilon: float,
    grown: bool,
    counts: NDArray[np.int64],
    state: NDArray[np.int64],
    keep: NDArray[np.bool_],
    most: int,
) -> int:
    """Count each draw, then keep it with probability g = (p_min + ε) / (p_curr + ε).

    Stops when ``most`` are kept, as the paper's loop does, and returns how many draws it saw.
    ``counts`` is C, and ``state`` holds the numbers named above. Counts only grow, so X is
    searched for the smallest count only when no value has the old one any more. With ``grown``,
    X is the values counted so far.
    """
    total, least, at_least = state[TOTAL], state[LEAST], state[AT_LEAST]
    seen, kept = 0, 0
    for i in range(len(codes)):
        if kept == most:
            break
        seen += 1
        code = codes[i]
        before = counts[code]
        counts[code] = before + 1
        total += 1
        if grown and before == 0:
            at_least = at_least + 1 if least == 1 else 1
            least = 1
        elif before == least:
            at_least -= 1
            if at_least == 0:
                least += 1
                for x in range(len(counts)):
                    if counts[x] == least:
                        at_least += 1
        # u < (least/t + ε) / (count/t + ε), multiplied by t to save three divisions.
        slack = epsilon * total
        keep[i] = uniforms[i] * (before + 1 + slack) < least + slack
        kept += keep[i]
    state[TOTAL], state[LEAST], state[AT_LEAST] = total, least, at_least
    return seen
