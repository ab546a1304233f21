"""The Karel synthesizer (section 5, after Bunel et al. 2018): from pairs of worlds to programs.

Convolutions turn each pair of worlds into an embedding. For each pair, an LSTM reads the embedding
and the program's last token at every step. The maximum over the pairs gives the next token.

Three changes compute the same function with less work. The two convolutions that read the worlds
before and after are one, with a block-diagonal weight. The input weight of the first layer is
applied once to every token of the vocabulary and once to every pair, not at every step. The linear
layer reads its cells with the channels last, as they lie in memory.
"""

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
from unskew.models.runs import facts_without

TOKENS = len(VOCABULARY)  # PAD is in no program; it starts and fills a row
LARGEST = {
    "channels": 4096, "blocks": 64, "pair": 65_536, "token": 65_536, "hidden": 65_536, "layers": 64,
}  # fmt: skip
# With `differences`: about the sum of the squared changes of a run over the cells of a channel, so
# that embeddings have size one; and a factor for the weights above an LSTM, because two LSTMs would
# let almost nothing of a pair through to the answer.
CHANGED, UPWARD = 0.35, 3.0
MOST_PARAMETERS = 10**9  # 16 GB with their gradients and moments


class Weight(NamedTuple):
    """The shape of a parameter, its first values, and the size of the layer that it belongs to."""

    shape: tuple[int, ...]
    bound: float  # of its first values, which are uniform
    inputs: int = 1  # numbers that a layer adds up with it; 1 for a bias


@dataclass(frozen=True)
class SynthesizerConfig:
    """The sizes of the model. The defaults are the sizes of Bunel et al., 12.4 M parameters."""

    channels: int = 64  # half of them read the world before, half the world after
    blocks: int = 2
    pair: int = 512
    token: int = 256
    hidden: int = 256
    layers: int = 2
    seed: int = 0
    differences: bool = False  # whether the first weights see only what a program changed

    def __post_init__(self) -> None:
        """Refuse values that are not sizes, and sizes that no machine has the memory for."""
        for name, most in LARGEST.items():
            size = getattr(self, name)
            check_count(name, size)
            check_range(name, size, 1, most)
        if self.channels % 2:
            raise UnskewError(f"channels is {self.channels}; give an even number")
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
        return sum(math.prod(weight.shape) for weight in self.shapes().values())

    @property
    def convolutions(self) -> int:
        """Number of convolutions from ``channels`` to ``channels``."""
        return CONVOLUTIONS_A_BLOCK * self.blocks

    def facts(self) -> dict[str, Any]:
        """Return the settings, as the folder of a run keeps them."""
        return facts_without(self, "differences")

    def shapes(self) -> dict[str, Weight]:
        """Return every parameter by name."""
        half, gates = self.channels // 2, 4 * self.hidden
        cells = FRAME * FRAME * self.channels
        # These bounds keep the size of numbers behind a ReLU (He et al.) or a linear layer.
        reads, inner = (math.sqrt(6 / (9 * n)) for n in (CHANNELS, self.channels))
        cell = math.sqrt(3 / (CHANGED * self.channels if self.differences else cells))
        state = 1 / math.sqrt(self.hidden)
        upward = UPWARD * state if self.differences else state
        shapes: dict[str, Weight] = {}
        for world in ("before", "after"):
            shapes[world] = Weight((half, CHANNELS, 3, 3), reads, 9 * CHANNELS)
            shapes[f"{world}_bias"] = Weight((half,), reads)
        for number in range(self.convolutions):
            square = (self.channels, self.channels, 3, 3)
            shapes[f"convolution{number}"] = Weight(square, inner, 9 * self.channels)
            shapes[f"convolution{number}_bias"] = Weight((self.channels,), inner)
        shapes["pair"] = Weight((self.pair, cells), cell, cells)
        shapes["pair_bias"] = Weight((self.pair,), cell)
        token = 1.0 if self.differences else 0.1  # Bunel et al.'s
        shapes["tokens"] = Weight((TOKENS, self.token), token)  # one row is looked up
        shapes["from_token"] = Weight((self.token, gates), state, self.token)
        shapes["from_pair"] = Weight((self.pair, gates), state, self.pair)
        for layer in range(self.layers):
            if layer:
                shapes[f"from_below{layer}"] = Weight((self.hidden, gates), upward, self.hidden)
            shapes[f"recurrent{layer}"] = Weight((self.hidden, gates), state, self.hidden)
            shapes[f"gates_bias{layer}"] = Weight((gates,), state)
        shapes["start_hidden"] = Weight((self.layers, self.hidden), 0.1)
        shapes["start_cell"] = Weight((self.layers, self.hidden), 0.1)
        shapes["answer"] = Weight((self.hidden, TOKENS), upward, self.hidden)
        shapes["answer_bias"] = Weight((TOKENS,), state)
        return shapes


@dataclass(frozen=True)
class Decoding:
    """The state of a decoder between two tokens, one entry for each layer: (…, pairs, H)."""

    hidden: list[Tensor]
    cell: list[Tensor]


class Synthesizer(nn.Module):
    """The network. Weights are float32; it computes in ``dtype``."""

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
        """Let the first weights see only differences between the worlds before and after.

        The same weights read both worlds. The layers that read both halves next subtract one from
        the other: the first convolution of each block, and the layer that embeds a pair. Biases
        are zero. So the signal is zero where nothing changed.
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
        """Return weights and biases; the two convolutions that read worlds are the first one."""
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
        """Return the numbers that pairs (B, k, 2, 260) add to the first gates: (B, k, 4H)."""
        embedded = self.encode(worlds.flatten(0, 1), dtype)
        return (embedded @ self._at("from_pair", dtype)).view(*worlds.shape[:2], -1)

    def token_gates(self, dtype: torch.dtype) -> Tensor:
        """Return the numbers that each token adds to the first gates, with bias: (TOKENS, 4H)."""
        names = ("gates_bias0", "tokens", "from_token")
        return torch.addmm(*(self._at(name, dtype) for name in names))

    def logits(
        self, worlds: Tensor, programs: Tensor, steps: Steps, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        """Read programs (B, L) token by token; return the logits of each next token, and the token.

        Rows go from the longest program to the shortest, in the layout of ``steps``; a program that
        is shorter than its row ends with PAD. Worlds are (B, k, 2, 260). The results have an entry
        for each place of ``steps``: (P, TOKENS) in float32, and (P,).
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
        """Return the state before the first token, for candidates and pairs of this shape."""
        hidden, cell = (
            [row.to(kind).expand(*shape, -1).contiguous() for row in self.get_parameter(name)]
            for name, kind in (("start_hidden", dtype), ("start_cell", torch.float32))
        )
        return Decoding(hidden, cell)

    def advance(
        self, tokens: Tensor, pair_gates: Tensor, before: Decoding, dtype: torch.dtype
    ) -> tuple[Tensor, Decoding]:
        """Read a token (…,) of each candidate; return log-probabilities of the next token.

        ``pair_gates`` are (…, k, 4H), where … is the shape of the tokens or broadcasts to it.
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
        """Return the logits of the tokens, in float32."""
        answer = functional.pad(self._at("answer", dtype), (0, -TOKENS % 8))  # aligned rows
        answers = (pooled @ answer)[..., :TOKENS] + self._at("answer_bias", dtype)
        return answers.float()

    def _at(self, name: str, dtype: torch.dtype) -> Tensor:
        """Return a parameter in the type of the computation."""
        return self.get_parameter(name).to(dtype)


def best_dtype(device: torch.device) -> torch.dtype:
    """Return the type in which training computes: bfloat16 on a GPU, float32 on a CPU."""
    return torch.bfloat16 if device.type == "cuda" else torch.float32
