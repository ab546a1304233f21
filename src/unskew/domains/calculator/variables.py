"""The five salient variables of section 6.2, measured on the text of an expression."""

from __future__ import annotations

import numpy as np

from unskew.core.batch import Batch
from unskew.core.variables.combine import round_to
from unskew.core.variables.variable import SalientVariable, Values
from unskew.domains.calculator import kernels
from unskew.domains.calculator.sources import expressions


def _measured(name: str, what: int, doc: str) -> SalientVariable:
    return SalientVariable(
        name, lambda batch: kernels.measure_texts(*expressions(batch), what), doc=doc
    )


def _mean_depth(batch: Batch) -> Values:
    text = expressions(batch)
    digits = kernels.measure_texts(*text, kernels.OPERATIONS) + 1
    mean: Values = kernels.measure_texts(*text, kernels.DEPTH_SUM) / np.maximum(digits, 1)
    return mean


# Every expression has an odd length, 2·digits − 1 + 2·pairs, so "the nearest even number" is
# always a tie. Ties go up here, so that lengths that the samplers choose separately stay separate.
VARIABLES = (
    round_to(
        _measured("length", kernels.LENGTH, "characters, to the nearest even number, ties up"), 2
    ),
    _measured("operations", kernels.OPERATIONS, "number of + − *"),
    _measured("parentheses", kernels.PARENTHESES, "pairs of parentheses"),
    round_to(
        SalientVariable(
            "mean_depth", _mean_depth, doc="parentheses around a digit, mean, to the nearest ¼"
        ),
        0.25,
    ),
    _measured("max_depth", kernels.MAX_DEPTH, "parentheses around a digit, maximum"),
)
