"""Naive twin of the Karel synthesizer: PyTorch's own modules, every step computed in full."""

from typing import Any

import torch
from torch import Tensor, nn


class PlainSynthesizer(nn.Module):
    """Bunel et al.'s network: worlds as tensors (B, k, 16, 18, 18), tokens (B, T), logits."""

    def __init__(self, channels=64, blocks=2, pair=512, token=256, hidden=256, layers=2, tokens=51):
        super().__init__()
        self.read_before = nn.Conv2d(16, channels // 2, 3, padding=1)
        self.read_after = nn.Conv2d(16, channels // 2, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(3))
            for _ in range(blocks)
        )
        self.embed_pair = nn.Linear(18 * 18 * channels, pair)
        self.embed_token = nn.Embedding(tokens, token)
        self.lstm = nn.LSTM(token + pair, hidden, layers, batch_first=True)
        self.start_hidden = nn.Parameter(torch.zeros(layers, hidden))
        self.start_cell = nn.Parameter(torch.zeros(layers, hidden))
        self.answer = nn.Linear(hidden, tokens)

    def encode(self, before: Tensor, after: Tensor) -> Tensor:
        first = self.read_before(before.flatten(0, 1)).relu()
        x = torch.cat([first, self.read_after(after.flatten(0, 1)).relu()], dim=1)
        for one, two, three in self.blocks:
            x = (x + three(two(one(x).relu()).relu())).relu()
        return self.embed_pair(x.flatten(1))

    def forward(self, before: Tensor, after: Tensor, tokens: Tensor) -> Tensor:
        batch, pairs = before.shape[:2]
        pair = self.encode(before, after)
        steps = tokens.shape[1]
        token = self.embed_token(tokens).repeat_interleave(pairs, dim=0)
        both = torch.cat([token, pair.unsqueeze(1).expand(-1, steps, -1)], dim=2)
        start = [
            state.unsqueeze(1).expand(-1, batch * pairs, -1).contiguous().to(both.dtype)
            for state in (self.start_hidden, self.start_cell)
        ]
        states, _ = self.lstm(both, tuple(start))
        pooled = states.view(batch, pairs, steps, -1).amax(dim=1)
        return self.answer(pooled)


def plain_copy(model: Any) -> PlainSynthesizer:
    """The same function as a ``Synthesizer``, from its weights."""
    c = model.config
    plain = PlainSynthesizer(c.channels, c.blocks, c.pair, c.token, c.hidden, c.layers)
    mine = dict(model.named_parameters())
    cells = mine["pair"].view(c.pair, 18, 18, c.channels).permute(0, 3, 1, 2).flatten(1)
    given = {
        "read_before.weight": mine["before"],
        "read_before.bias": mine["before_bias"],
        "read_after.weight": mine["after"],
        "read_after.bias": mine["after_bias"],
        "embed_pair.weight": cells,
        "embed_pair.bias": mine["pair_bias"],
        "embed_token.weight": mine["tokens"],
        "start_hidden": mine["start_hidden"],
        "start_cell": mine["start_cell"],
        "answer.weight": mine["answer"].t(),
        "answer.bias": mine["answer_bias"],
    }
    for number in range(3 * c.blocks):
        for kind, suffix in (("weight", ""), ("bias", "_bias")):
            name = f"blocks.{number // 3}.{number % 3}.{kind}"
            given[name] = mine[f"convolution{number}{suffix}"]
    for layer in range(c.layers):
        below = [mine["from_token"], mine["from_pair"]] if layer == 0 else None
        inputs = torch.cat(below) if below else mine[f"from_below{layer}"]
        given[f"lstm.weight_ih_l{layer}"] = inputs.t()
        given[f"lstm.weight_hh_l{layer}"] = mine[f"recurrent{layer}"].t()
        given[f"lstm.bias_ih_l{layer}"] = mine[f"gates_bias{layer}"]
        given[f"lstm.bias_hh_l{layer}"] = torch.zeros_like(mine[f"gates_bias{layer}"])
    plain.load_state_dict(given)
    return plain
