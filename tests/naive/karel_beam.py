"""Naive twin of the beam search: lists of tokens, every beginning read anew from its start."""

import torch

from tests.naive.karel_syntax import missing_tokens, next_tokens


def best(grown, beam):
    """The rule: the most probable stay, complete or not."""
    return grown[:beam]


@torch.no_grad()
def beam_search(plain, before, after, ids, beam, max_length, keep=best):
    """The (log-probability, tokens) that are left for one task, best first.

    plain: the twin of the network; before, after: (k, 16, 18, 18); ids: each token's number.
    """
    kept = [(0.0, [])]
    while unfinished := [tokens for _, tokens in kept if not complete(tokens)]:
        rows = torch.tensor([[0, *(ids[token] for token in tokens)] for tokens in unfinished])
        n = len(unfinished)
        logits = plain(before.expand(n, *before.shape), after.expand(n, *after.shape), rows)
        chances = iter(logits[:, -1].double().log_softmax(dim=1))
        grown = []
        for score, tokens in kept:
            if complete(tokens):
                grown.append((score, tokens))
                continue
            chance = next(chances)
            grown += [
                (score + float(chance[ids[token]]), [*tokens, token])
                for token in sorted(next_tokens(tokens, max_length))
            ]
        kept = keep(sorted(grown, key=lambda item: -item[0]), beam)
    return kept


def complete(tokens):
    """Whether they are a whole program."""
    return bool(tokens) and missing_tokens(tokens) == 0
