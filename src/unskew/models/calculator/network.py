"""The Calculator's model (section 6.1): a character LSTM and a dense layer choose one of ten."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError, check_count, check_range, check_whole
from unskew.core.rng import generator
from unskew.domains.calculator.kernels import token_rows
from unskew.domains.calculator.sources import VALUE, evaluate, expressions
from unskew.models.calculator.recurrence import run_lstms

ALPHABET = "0123456789+-*()"  # token 0 is padding
TOKENS, ANSWERS = 16, 10
LARGEST_MAX_LENGTH = 65_536  # characters


@dataclass(frozen=True)
class ReaderConfig:
    """The sizes of the model; ``seeds`` has one entry for each member."""

    hidden: int = 128
    max_length: int = 64
    seeds: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        """Refuse values that are not sizes; a checkpoint may have any values."""
        check_count("hidden", self.hidden)
        check_count("max_length", self.max_length)
        check_range("max_length", self.max_length, 1, LARGEST_MAX_LENGTH)
        check_count("the number of seeds", len(self.seeds))
        for seed in self.seeds:
            check_whole("seed", seed, 0)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each parameter of a member."""
        return {
            "inputs": (TOKENS, 4 * self.hidden),  # one-hot characters to gates i f g o, with bias
            "recurrent": (self.hidden, 4 * self.hidden),
            "dense": (self.hidden, self.hidden),
            "dense_bias": (self.hidden,),
            "answer": (self.hidden, ANSWERS),
            "answer_bias": (ANSWERS,),
        }


class Readers(nn.Module):
    """An LSTM classifier for each member, with its own weights, computed side by side."""

    def __init__(self, config: ReaderConfig) -> None:
        """Draw each member's weights from its own seed."""
        super().__init__()
        self.config = config
        hidden = config.hidden
        for name, shape in config.shapes().items():
            bound = 1 / math.sqrt(hidden)
            rngs = [generator(seed, "weights", name) for seed in config.seeds]
            drawn = np.stack([rng.uniform(-bound, bound, shape) for rng in rngs])
            value = torch.from_numpy(drawn.astype(np.float32))
            self.register_parameter(name, nn.Parameter(value))
        with torch.no_grad():  # first remember: so long expressions are learned sooner
            self.get_parameter("inputs")[..., hidden : 2 * hidden] += 1

    @property
    def members(self) -> int:
        """Number of members."""
        return len(self.config.seeds)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return logits (M, B, 10) of tokens (M, B, T) whose texts have ``lengths`` (M, B)."""
        dtype = torch.bfloat16 if tokens.is_cuda else torch.float32
        members, rows, steps = tokens.shape
        by_step = tokens.transpose(1, 2).reshape(members, steps * rows, 1)
        one_hot = (by_step == torch.arange(TOKENS, device=tokens.device)).to(dtype)
        gates = torch.bmm(one_hot, self.get_parameter("inputs").to(dtype))
        states = run_lstms(
            gates.view(members, steps, rows, -1),
            self.get_parameter("recurrent").to(dtype),
            fused=self.training and tokens.is_cuda,
        )
        last = (lengths - 1).view(members, 1, rows, 1).expand(-1, -1, -1, states.shape[-1])
        final = states.gather(1, last).squeeze(1).float()
        dense = torch.baddbmm(self._bias("dense_bias"), final, self.get_parameter("dense")).relu()
        return torch.baddbmm(self._bias("answer_bias"), dense, self.get_parameter("answer"))

    def losses(self, tokens: Tensor, lengths: Tensor, values: Tensor) -> Tensor:
        """Return the mean cross-entropy of each member, (M,)."""
        logits = self(tokens, lengths)
        losses = nn.functional.cross_entropy(
            logits.flatten(0, 1), values.flatten(), reduction="none"
        )
        return losses.view(values.shape).mean(dim=1)

    def _bias(self, name: str) -> Tensor:
        return self.get_parameter(name).unsqueeze(1)


@dataclass(frozen=True)
class Expressions:
    """Expressions as the model reads them: token rows (n, T), lengths (n,) and values (n,)."""

    tokens: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    values: NDArray[np.uint8]

    @classmethod
    def of(cls, batch: Batch, max_length: int) -> Expressions:
        """Encode a batch; refuse an expression that is malformed, too long or has a wrong value."""
        if batch.is_plain:
            batch = Batch.from_arrow(batch.to_arrow())
        values = evaluate(batch)
        ids = np.zeros(256, dtype=np.uint8)
        ids[list(ALPHABET.encode())] = np.arange(1, len(ALPHABET) + 1)
        tokens, lengths = token_rows(*expressions(batch), ids, max_length)
        if lengths.max() > max_length:
            raise UnskewError(
                f"an expression has {lengths.max()} characters; the model reads at most "
                f"{max_length}: leave out longer ones, or train with a larger --max-length"
            )
        if VALUE in batch.columns:
            claimed = np.asarray(batch.columns[VALUE])
            wrong = np.flatnonzero(np.asarray(claimed != values))
            if len(wrong):
                row = int(wrong[0])
                raise UnskewError(
                    f"row {row} has the value {claimed[row]!r}, but its expression is "
                    f"{values[row]}; mend the column {VALUE!r} or leave it out"
                )
        return cls(tokens, lengths, values)

    def digest(self) -> str:
        """Return a hash of the content: sixteen hexadecimal digits."""
        digest = hashlib.blake2b(self.tokens.tobytes(), digest_size=8)
        digest.update(self.lengths.tobytes())
        return digest.hexdigest()

    def __len__(self) -> int:
        """Return the number of expressions."""
        return len(self.lengths)


def joined(sets: Sequence[Expressions]) -> Expressions:
    """Return sets of expressions as one set."""
    return Expressions(
        np.concatenate([data.tokens for data in sets]),
        np.concatenate([data.lengths for data in sets]),
        np.concatenate([data.values for data in sets]),
    )
