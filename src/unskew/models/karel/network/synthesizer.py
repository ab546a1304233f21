"""The Karel synthesizer (section 5, after Bunel et al. 2018): from pairs of worlds to programs.

Each pair of worlds goes through convolutions to an embedding. For each pair an LSTM reads that
embedding and the program's last token at every step; the maximum over the pairs gives the next
token. Three rearrangements leave the function as it is and cost less: the two convolutions that
read the worlds before and after are one with a block-diagonal weight; the first layer's input
weight is applied once to every token of the vocabulary and once to every pair, not at every
step; and the linear layer reads its cells with the channels last, as they lie in memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from unskew.core.errors import UnskewError, check_count, check_range, check_whole
from unskew.core.rng import generator
from unskew.domains.karel.language.tokens import PAD, VOCABULARY
from unskew.models.calculator.recurrence import lstm_cell
from unskew.models.karel.network.channels import CHANNELS, FRAME, expand
from unskew.models.karel.network.encoder import CONVOLUTIONS_A_BLOCK, run_convolutions
from unskew.models.karel.network.packed import Steps, input_gates, run_packed_lstm
from unskew.models.runs import as_before

TOKENS = len(VOCABULARY)  # PAD, which no program has, also starts and fills a row
MOST = {  # of each size
    "channels": 4096, "blocks": 64, "pair": 65_536, "token": 65_536, "hidden": 65_536, "layers": 64,
}  # fmt: skip
# With `differences`: squares of what a run changes, a channel, added up over the cells (about), so
# that embeddings are of size one; and how much louder an LSTM is heard above, or next to nothing of
# a pair would reach the answer through two of them.
CHANGED, UPWARD = 0.35, 3.0
MOST_PARAMETERS = 10**9  # 16 GB with their gradients and moments


class Parameter(NamedTuple):
    """What is learned: its shape, where it starts, and how much is added up with it."""

    shape: tuple[int, ...]
    bound: float  # of its first, uniform values
    inputs: int = 1  # numbers that a layer adds up with it; one for what is only added


@dataclass(frozen=True)
class SynthesizerConfig:
    """The sizes of the model; the defaults are those of Bunel et al., 12.4 M parameters."""

    channels: int = 64  # half of them read the world before, half the one after
    blocks: int = 2
    pair: int = 512
    token: int = 256
    hidden: int = 256
    layers: int = 2
    seed: int = 0
    differences: bool = False  # first weights that see what a program changed, and let it through

    def __post_init__(self) -> None:
        """Refuse what is no size, and what no machine has the memory for."""
        for name, most in MOST.items():
            size = getattr(self, name)
            check_count(name, size)
            check_range(name, size, 1, most)
        if self.channels % 2:
            raise UnskewError(f"channels is {self.channels}; give an even number, half a world")
        check_whole("seed", self.seed, 0)
        if self.parameters > MOST_PARAMETERS:
            raise UnskewError(
                f"the model would have {self.parameters:,} parameters; allowed are "
                f"{MOST_PARAMETERS:,}: lower pair ({self.pair}), hidden ({self.hidden}) or "
                f"channels ({self.channels})"
            )

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return sum(math.prod(each.shape) for each in self.shapes().values())

    @property
    def convolutions(self) -> int:
        """Number of convolutions from ``channels`` to ``channels``."""
        return CONVOLUTIONS_A_BLOCK * self.blocks

    def facts(self) -> dict[str, Any]:
        """Return the settings as a run keeps them."""
        return as_before(self, "differences")

    def shapes(self) -> dict[str, Parameter]:
        """Return every parameter by name."""
        half, gates = self.channels // 2, 4 * self.hidden
        cells = FRAME * FRAME * self.channels
        # Bounds that keep the size of what goes through a ReLU (He et al.) or a linear layer.
        reads, inner = (math.sqrt(6 / (9 * n)) for n in (CHANNELS, self.channels))
        cell = math.sqrt(3 / (CHANGED * self.channels if self.differences else cells))
        state = 1 / math.sqrt(self.hidden)
        upward = UPWARD * state if self.differences else state
        shapes: dict[str, Parameter] = {}
        for world in ("before", "after"):
            shapes[f"{world}"] = Parameter((half, CHANNELS, 3, 3), reads, 9 * CHANNELS)
            shapes[f"{world}_bias"] = Parameter((half,), reads)
        for number in range(self.convolutions):
            square = (self.channels, self.channels, 3, 3)
            shapes[f"convolution{number}"] = Parameter(square, inner, 9 * self.channels)
            shapes[f"convolution{number}_bias"] = Parameter((self.channels,), inner)
        shapes["pair"] = Parameter((self.pair, cells), cell, cells)
        shapes["pair_bias"] = Parameter((self.pair,), cell)
        token = 1.0 if self.differences else 0.1  # Bunel et al.'s
        shapes["tokens"] = Parameter((TOKENS, self.token), token)  # one is looked up
        shapes["from_token"] = Parameter((self.token, gates), state, self.token)
        shapes["from_pair"] = Parameter((self.pair, gates), state, self.pair)
        for layer in range(self.layers):
            if layer:
                shapes[f"from_below{layer}"] = Parameter((self.hidden, gates), upward, self.hidden)
            shapes[f"recurrent{layer}"] = Parameter((self.hidden, gates), state, self.hidden)
            shapes[f"gates_bias{layer}"] = Parameter((gates,), state)
        shapes["start_hidden"] = Parameter((self.layers, self.hidden), 0.1)
        shapes["start_cell"] = Parameter((self.layers, self.hidden), 0.1)
        shapes["answer"] = Parameter((self.hidden, TOKENS), upward, self.hidden)
        shapes["answer_bias"] = Parameter((TOKENS,), state)
        return shapes


@dataclass(frozen=True)
class Decoding:
    """What a decoder carries from token to token, one entry a layer: (…, pairs, H)."""

    hidden: list[Tensor]
    cell: list[Tensor]


class Synthesizer(nn.Module):
    """The network. Weights are float32; ``dtype`` says what is computed in."""

    def __init__(self, config: SynthesizerConfig) -> None:
        """Draw the weights from the config's seed."""
        super().__init__()
        self.config = config
        for name, (shape, bound, _) in config.shapes().items():
            drawn = generator(config.seed, "weights", name).uniform(-bound, bound, shape)
            value = torch.from_numpy(drawn.astype(np.float32))
            self.register_parameter(name, nn.Parameter(value))
        if config.differences:
            self._subtract()

    def _subtract(self) -> None:
        """Let the first weights see only what differs between the world before and the one after.

        Both are read alike, and whatever reads the two halves next subtracts one from the other:
        the first convolution of a block and the layer that embeds a pair. Where nothing changed
        nothing comes through, whatever stands there, as long as no bias adds to it.
        """
        half = self.config.channels // 2
        weights = {name: parameter.detach() for name, parameter in self.named_parameters()}
        weights["after"].copy_(weights["before"])
        for number in range(0, self.config.convolutions, CONVOLUTIONS_A_BLOCK):
            weight = weights[f"convolution{number}"]
            weight[:, half:] = -weight[:, :half]
        cells = weights["pair"].view(self.config.pair, -1, self.config.channels)
        cells[..., half:] = -cells[..., :half]
        for name in ("before", "after", "pair"):
            weights[f"{name}_bias"].zero_()
        for number in range(self.config.convolutions):
            weights[f"convolution{number}_bias"].zero_()

    def encode(self, worlds: Tensor, dtype: torch.dtype) -> Tensor:
        """Return the embeddings (n, pair) of packed pairs (n, 2, 260)."""
        x = expand(worlds, dtype).permute(0, 3, 1, 2)  # channels last in memory
        weights, biases = self._convolutions(dtype)
        out = run_convolutions(x, weights, biases)
        cells = out.permute(0, 2, 3, 1).flatten(1)
        return functional.linear(cells, self._at("pair", dtype), self._at("pair_bias", dtype))

    def _convolutions(self, dtype: torch.dtype) -> tuple[list[Tensor], list[Tensor]]:
        """Return weights and biases, the two that read worlds as one."""
        before, after = self._at("before", dtype), self._at("after", dtype)
        first = torch.cat(
            [functional.pad(before, (0, 0, 0, 0, 0, CHANNELS)),
             functional.pad(after, (0, 0, 0, 0, CHANNELS, 0))]
        )  # fmt: skip
        first_bias = torch.cat([self._at("before_bias", dtype), self._at("after_bias", dtype)])
        names = [f"convolution{number}" for number in range(self.config.convolutions)]
        weights = [first, *(self._at(name, dtype) for name in names)]
        biases = [first_bias, *(self._at(f"{name}_bias", dtype) for name in names)]
        last = torch.channels_last
        return [weight.contiguous(memory_format=last) for weight in weights], biases

    def pair_gates(self, worlds: Tensor, dtype: torch.dtype) -> Tensor:
        """Return what pairs (B, k, 2, 260) add to the first layer's gates: (B, k, 4H)."""
        embedded = self.encode(worlds.flatten(0, 1), dtype)
        return (embedded @ self._at("from_pair", dtype)).view(*worlds.shape[:2], -1)

    def token_gates(self, dtype: torch.dtype) -> Tensor:
        """Return what each token adds to the first layer's gates, bias included: (TOKENS, 4H)."""
        return torch.addmm(
            self._at("gates_bias0", dtype),
            self._at("tokens", dtype),
            self._at("from_token", dtype),
        )

    def logits(
        self, worlds: Tensor, programs: Tensor, steps: Steps, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        """Read programs (B, L) token by token; return each next token's logits and the token.

        worlds: (B, k, 2, 260); rows go from the longest program to the shortest, as ``steps``
        lays them out; a row that is shorter than its place has PAD there. Both results have a
        place for each of its places: (P, TOKENS) in float32, (P,).
        """
        pairs = worlds.shape[1]
        targets = programs.long()[steps.rows, steps.times]
        tokens = functional.pad(programs.long(), (1, 0), value=PAD)[steps.rows, steps.times]
        gates = input_gates(self.token_gates(dtype), self.pair_gates(worlds, dtype), tokens, steps)
        states = gates
        for layer in range(self.config.layers):
            if layer:
                below, bias = self._at(f"from_below{layer}", dtype), f"gates_bias{layer}"
                gates = torch.addmm(self._at(bias, dtype), states, below)
            states = run_packed_lstm(
                gates,
                self._at(f"recurrent{layer}", dtype),
                self.get_parameter("start_hidden")[layer],
                self.get_parameter("start_cell")[layer],
                [size * pairs for size in steps.sizes],
            )
        pooled = states.view(len(steps), pairs, -1).max(dim=1).values
        return self._answers(pooled, dtype), targets

    def loss(self, worlds: Tensor, programs: Tensor, steps: Steps, dtype: torch.dtype) -> Tensor:
        """Return the negative log-likelihood of programs, divided by the number of places."""
        logits, targets = self.logits(worlds, programs, steps, dtype)
        total = functional.cross_entropy(logits, targets, ignore_index=PAD, reduction="sum")
        return total / len(steps)

    def start(self, shape: Sequence[int], dtype: torch.dtype) -> Decoding:
        """Return where decoding begins, for candidates and pairs of this shape."""
        states = []
        for name, kind in (("start_hidden", dtype), ("start_cell", torch.float32)):
            each = self.get_parameter(name)
            states.append([row.to(kind).expand(*shape, -1).contiguous() for row in each])
        return Decoding(*states)

    def advance(
        self, tokens: Tensor, pair_gates: Tensor, before: Decoding, dtype: torch.dtype
    ) -> tuple[Tensor, Decoding]:
        """Read one more token (…,) of each candidate; return log-probabilities of the next one.

        pair_gates: (…, k, 4H), of the tokens' shape or one that broadcasts to it.
        """
        gates = self.token_gates(dtype)[tokens].unsqueeze(-2) + pair_gates
        after = Decoding([], [])
        for layer, (hidden, cell) in enumerate(zip(before.hidden, before.cell, strict=True)):
            if layer:
                below = self._at(f"from_below{layer}", dtype)
                gates = after.hidden[-1] @ below + self._at(f"gates_bias{layer}", dtype)
            recurrent = hidden @ self._at(f"recurrent{layer}", dtype)
            new_hidden, new_cell = lstm_cell(gates, recurrent, cell)
            after.hidden.append(new_hidden)
            after.cell.append(new_cell)
        pooled = after.hidden[-1].amax(dim=-2)
        return self._answers(pooled, dtype).log_softmax(dim=-1), after

    def _answers(self, pooled: Tensor, dtype: torch.dtype) -> Tensor:
        answer = functional.pad(self._at("answer", dtype), (0, -TOKENS % 8))  # aligned rows
        answers = (pooled @ answer)[..., :TOKENS] + self._at("answer_bias", dtype)
        return answers.float()

    def _at(self, name: str, dtype: torch.dtype) -> Tensor:
        """Return a parameter as it is computed with."""
        return self.get_parameter(name).to(dtype)


def best_dtype(device: torch.device) -> torch.dtype:
    """Return what training computes in: bfloat16 on a GPU, float32 elsewhere."""
    return torch.bfloat16 if device.type == "cuda" else torch.float32
