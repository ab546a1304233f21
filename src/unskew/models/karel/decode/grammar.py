"""Karel's grammar as tables, for millions of unfinished programs at once on the device.

This is a predictive parser. An unfinished program is a stack of the symbols that must still be
read. The next token depends on the top symbol only, and replaces it by at most four symbols. The
fewest tokens that a stack still needs are always known. So a token is also refused if it leaves no
room to close everything that is open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from unskew.core.errors import check_range
from unskew.domains.karel.language.tokens import (
    ACTIONS,
    CONDITIONS,
    IDS,
    MAX_REPEAT,
    MAX_TOKENS,
    PAD,
    VOCABULARY,
)

SHORTEST = 5  # tokens of a program of one action
_MOST = 4  # symbols that replace one symbol

# For each symbol the tokens that it can begin with, and the symbols that must follow each token.
Rules = Mapping[str, Mapping[str, tuple[str, ...]]]


def rules_of_karel() -> Rules:
    """Return the grammar of programs; after "done" there is only padding."""
    rules: dict[str, dict[str, tuple[str, ...]]] = {
        "done": {VOCABULARY[PAD]: ("done",)},
        "program": {"DEF": ("run",)},
        "run": {"run": ("open m",)},
        "condition": {"c(": ("test", "close c")},
        "test": {**dict.fromkeys(CONDITIONS, ()), "not": ("condition",)},
        "close c": {"c)": ()},
        "count": {f"R={n}": ("open r",) for n in range(MAX_REPEAT + 1)},
        "else": {"ELSE": ("open e",)},
    }
    for kind in "mrwie":
        rest = f"rest {kind}"
        statement: dict[str, tuple[str, ...]] = {
            **dict.fromkeys(ACTIONS, (rest,)),
            "REPEAT": ("count", rest),
            "WHILE": ("condition", "open w", rest),
            "IF": ("condition", "open i", rest),
            "IFELSE": ("condition", "open i", "else", rest),
        }
        rules[f"open {kind}"] = {f"{kind}(": (f"body {kind}",)}
        rules[f"body {kind}"] = statement
        rules[rest] = {**statement, f"{kind})": ()}
    return rules


@dataclass(frozen=True)
class Tables:
    """The grammar by the numbers of the top symbol and of the token, (S, V)."""

    allowed: Tensor  # bool
    pushed: Tensor  # (S, V, 4) the symbols that replace the top symbol; the last is read next
    count: Tensor  # int64, how many symbols replace it
    change: Tensor  # int64, of the fewest tokens needed
    program: int  # the symbol that a program begins with
    needed: int  # the fewest tokens that this symbol needs


@cache
def tables(device: torch.device) -> Tables:
    """Return the tables on a device."""
    rules = rules_of_karel()
    numbers = {symbol: number for number, symbol in enumerate(rules)}
    need = _needs(rules)
    shape = (len(rules), len(VOCABULARY))
    allowed = torch.zeros(shape, dtype=torch.bool)
    # A token that is not allowed leaves the stack as it is, so bad candidates do no harm.
    pushed = torch.zeros(*shape, _MOST, dtype=torch.uint8)
    pushed[:, :, 0] = torch.arange(len(rules)).unsqueeze(1)
    count, change = torch.ones(shape, dtype=torch.int64), torch.zeros(shape, dtype=torch.int64)
    for symbol, choices in rules.items():
        for token, follow in choices.items():
            at = (numbers[symbol], IDS[token])
            allowed[at] = True
            for place, name in enumerate(reversed(follow)):
                pushed[*at, place] = numbers[name]
            count[at] = len(follow)
            change[at] = sum(need[name] for name in follow) - need[symbol]
    allowed, pushed, count, change = (t.to(device) for t in (allowed, pushed, count, change))
    return Tables(allowed, pushed, count, change, numbers["program"], need["program"])


def _needs(rules: Rules) -> dict[str, int]:
    """Return the fewest tokens that each symbol needs."""
    need = dict.fromkeys(rules, MAX_TOKENS)
    need["done"] = 0
    for _ in rules:  # each round finds the final number of at least one more symbol
        for symbol, choices in rules.items():
            if symbol != "done":
                shortest = min(sum(need[s] for s in follow) for follow in choices.values())
                need[symbol] = min(need[symbol], 1 + shortest)
    return need


@dataclass(frozen=True)
class Unfinished:
    """Unfinished programs of any shape (…): their stacks, and how many tokens are left."""

    stack: Tensor  # (…, depth) uint8; "done" is at the bottom
    height: Tensor  # (…) int64
    needed: Tensor  # (…) int64
    left: int

    @classmethod
    def empty(cls, shape: tuple[int, ...], max_length: int, device: torch.device) -> Unfinished:
        """Begin programs of at most ``max_length`` tokens."""
        check_range("max_length", max_length, SHORTEST, MAX_TOKENS)
        grammar = tables(device)
        stack = torch.zeros(*shape, max_length + 1 + _MOST, dtype=torch.uint8, device=device)
        stack[..., 1] = grammar.program
        height = torch.full(shape, 2, device=device)
        return cls(stack, height, torch.full(shape, grammar.needed, device=device), max_length)

    def allowed(self) -> Tensor:
        """Return which tokens may come next, (…, V): a program can still end in time after them."""
        grammar, top = tables(self.stack.device), self._top()
        fits = self.needed.unsqueeze(-1) + grammar.change[top] < self.left
        return grammar.allowed[top] & fits

    def after(self, tokens: Tensor) -> Unfinished:
        """Return the programs with one more token (…) each."""
        grammar, top = tables(self.stack.device), self._top()
        places = (self.height - 1).unsqueeze(-1) + torch.arange(_MOST, device=tokens.device)
        stack = self.stack.scatter(-1, places, grammar.pushed[top, tokens])
        height = self.height - 1 + grammar.count[top, tokens]
        return Unfinished(stack, height, self.needed + grammar.change[top, tokens], self.left - 1)

    def pick(self, parents: Tensor) -> Unfinished:
        """Return the programs at these places along the last axis."""
        depth = self.stack.shape[-1]
        stack = self.stack.gather(-2, parents.unsqueeze(-1).expand(*parents.shape, depth))
        height, needed = self.height.gather(-1, parents), self.needed.gather(-1, parents)
        return Unfinished(stack, height, needed, self.left)

    def done(self) -> Tensor:
        """Return which programs are complete."""
        return self.height == 1

    def _top(self) -> Tensor:
        return self.stack.gather(-1, (self.height - 1).unsqueeze(-1)).squeeze(-1).long()
