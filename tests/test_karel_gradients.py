"""Gradients of the synthesizer in float32 are as exact as those of PyTorch's own modules."""

import pytest
import torch

from tests.karel_gradients import SMALL, Case, too_inexact
from tests.test_karel_model import TINY
from unskew.models.karel.network import packed

CPU = torch.device("cpu")


@pytest.mark.parametrize("config", [TINY, SMALL])
def test_float32_costs_gradients_no_more_than_pytorchs_own_modules(config):
    assert too_inexact(Case.of(config, 16, CPU)) == {}


def test_a_gradient_that_is_off_by_a_thousandth_is_found(monkeypatch):
    """Planted in the LSTM's way back: that of one gate of four."""
    right = packed.backward_cell

    def wrong(d_hidden, d_state, d_cell, active, cell, new_cell, d_gates):
        right(d_hidden, d_state, d_cell, active, cell, new_cell, d_gates)
        d_gates[:, : cell.shape[1]] *= 1.001

    monkeypatch.setattr(packed, "backward_cell", wrong)
    errors = too_inexact(Case.of(TINY, 16, CPU))
    assert {"lstm.bias_ih_l0", "lstm.weight_hh_l1", "embed_pair.weight"} <= set(errors)
    assert not {"logits", "answer.weight", "answer.bias"} & set(errors)
