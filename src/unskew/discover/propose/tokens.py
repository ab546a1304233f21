"""Features of the tokens of texts: which come how often, and which stand in the same places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import Coded, as_coded
from unskew.core.variables.measures.names import MEASURES
from unskew.core.variables.measures.text import Text, with_tokens
from unskew.discover.proposal import Field, Null
from unskew.discover.propose.make import Made, of_measure, of_values, sentence

SMALL = 80  # different tokens of programs and expressions; more are a language
MOST_WORDS, MOST_PAIRS = 80, 40  # of a language, that are proposed
MOST_TOKENS = 2_000_000  # that are counted to find the vocabulary
RARE = 0.005  # share of the rows in which a word is too rare to matter
ALIKE = 0.8  # cosine of the neighbours of two tokens that stand in the same places
ENOUGH = 30  # times that a token comes, so that its neighbours are known
_TEXT = MEASURES["tokens"]


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a field. Numbers of more than one digit are one token."""

    rows: Counter[str]  # in how many rows each token comes
    classes: tuple[tuple[str, ...], ...]  # tokens that stand in the same places
    is_small: bool
    unseen: int  # rows that were not looked at

    @classmethod
    def of(cls, field: Field) -> Vocabulary:
        """Count the tokens of the rows, as they are written."""
        rows: Counter[str] = Counter()
        total = Counter[str]()
        weights = np.bincount(field.codes, minlength=len(field.distinct)).tolist()
        looked = tokens = 0
        texts: list[tuple[Text, int]] = []
        for view, weight in zip(field.views(_TEXT), weights, strict=True):
            looked += weight
            if view is None:
                continue
            texts.append((view, weight))
            for token in set(view.tokens):
                rows[token] += weight
            tokens += len(view.tokens)
            if tokens > MOST_TOKENS:
                break
        for token in [token for token in rows if _is_long_number(token)]:
            del rows[token]
        small = 0 < len(rows) <= SMALL
        classes: tuple[tuple[str, ...], ...] = ()
        if small:
            for view, weight in texts:
                for token in view.tokens:
                    total[token] += weight
            classes = _classes([t for t in rows if total[t] >= ENOUGH], [v for v, _ in texts])
        return cls(rows, classes, small, len(field.values) - looked)

    def redrawn(self, field: Field, rng: np.random.Generator) -> Field:
        """Return texts in which each token of a class is drawn evenly from its class."""
        class_of = {token: group for group in self.classes for token in group}
        uniform = _uniform(rng)

        def drawn(token: str) -> str:
            group = class_of.get(token)
            return token if group is None else group[int(next(uniform) * len(group))]

        texts = [
            with_tokens(value, drawn) if isinstance(value, str) else None for value in field.values
        ]
        return field.with_values(texts)


def _uniform(rng: np.random.Generator) -> Iterator[float]:
    """Yield numbers from 0 to 1 without end."""
    while True:
        yield from rng.random(65_536).tolist()


def token_features(
    field: Field, vocabulary: Vocabulary, rng: np.random.Generator
) -> Iterator[Made]:
    """Propose how often tokens come, or which words and pairs of words come."""
    if vocabulary.is_small:
        yield from _few_tokens(field, vocabulary, rng)
    else:
        yield from _many_words(field, vocabulary)
    if vocabulary.unseen:
        yield from ["rows whose words were not counted"] * vocabulary.unseen


def _few_tokens(field: Field, vocabulary: Vocabulary, rng: np.random.Generator) -> Iterator[Made]:
    grouped = {token for group in vocabulary.classes for token in group}
    for group in vocabulary.classes:
        yield from of_measure(field, "occurrences", *group, null="bell", least=0)
        of_group = _counted(field, group)
        for token in group:
            drawn = rng.binomial(of_group, 1 / len(group))
            yield from _token(field, token, (as_coded(drawn),))
    for token in vocabulary.rows:
        if token not in grouped:
            yield from _token(field, token, ())
    for label in _labels(field, vocabulary):
        yield from of_measure(field, "depth_without", label, least=0)


def _counted(field: Field, tokens: Sequence[str]) -> NDArray[np.int64]:
    measure = MEASURES["occurrences"].with_arguments(*tokens)
    return np.array([count or 0 for count in field.measured(measure).tolist()], dtype=np.int64)


def _token(field: Field, token: str, chance: tuple[Coded, ...]) -> Iterator[Made]:
    """Propose how often a token comes, and whether it does."""
    for name in ("occurrences", "contains"):
        measure = MEASURES[name].with_arguments(token)
        values = field.measured(measure)
        if name == "contains":
            if chance and 0 not in chance[0].distinct and False not in values.distinct:
                continue  # it comes in all rows, by chance too
            chance = tuple(c.change(lambda counts: [n != 0 for n in counts]) for c in chance)
        null: Null = "chance" if chance else "bell" if name == "occurrences" else "even"
        yield from of_values(
            measure.of_path(field.path),
            sentence(measure, field.path),
            (field.path,),
            values,
            null=null,
            chance=chance,
            least=0 if name == "occurrences" else None,
        )


def _labels(field: Field, vocabulary: Vocabulary) -> list[str]:
    """Return the words that stand before brackets, if there are a few of them."""
    before: Counter[str] = Counter()
    for view in field.views(_TEXT)[:1000]:
        if view is not None:
            tokens = view.tokens
            before.update(a for a, b in pairwise(tokens) if b in "([{")
    return [label for label in before if label[0].isalpha() and label in vocabulary.rows][:12]


def _many_words(field: Field, vocabulary: Vocabulary) -> Iterator[Made]:
    """Propose the most frequent words and pairs of words of a language."""
    rows = len(field.values) - vocabulary.unseen
    folded: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    weights = np.bincount(field.codes, minlength=len(field.distinct)).tolist()
    left = MOST_TOKENS
    for view, weight in zip(field.views(_TEXT), weights, strict=True):
        if view is None or left < 0:
            continue
        left -= len(view.folded)
        for token in set(view.folded):
            folded[token] += weight
        for pair in view.pairs:
            pairs[pair] += weight
    often = [t for t, n in folded.most_common() if n >= RARE * rows and not _is_long_number(t)]
    yield from [f"words beyond the {MOST_WORDS} most frequent"] * (
        len(folded) - len(often[:MOST_WORDS])
    )
    for word in often[:MOST_WORDS]:
        yield from of_measure(field, "contains", word, null="zipf")
    both = [p for p, n in pairs.most_common() if n >= RARE * rows][:MOST_PAIRS]
    yield from [f"pairs of words beyond the {MOST_PAIRS} most frequent"] * (len(pairs) - len(both))
    for pair in both:
        yield from of_measure(field, "contains", " ".join(pair), null="zipf")


def _is_long_number(token: str) -> bool:
    return token[0].isdigit() and len(token) > 1


def _classes(tokens: Sequence[str], texts: Sequence[Text]) -> tuple[tuple[str, ...], ...]:
    """Return groups of tokens that come before and after the same tokens."""
    places = {token: place for place, token in enumerate(sorted(tokens))}
    size = len(places)
    if size < 2:
        return ()
    other = size  # the edge of a text, and rare tokens
    follows = np.zeros((size + 1, size + 1))
    for view in texts:
        codes = [other, *(places.get(token, other) for token in view.tokens), other]
        for a, b in pairwise(codes):
            follows[a, b] += 1
    around = np.concatenate([follows[:size], follows.T[:size]], axis=1)
    around /= np.maximum(np.linalg.norm(around, axis=1, keepdims=True), 1)
    alike = around @ around.T >= ALIKE
    names, left = sorted(tokens), set(range(size))
    groups = []
    while left:
        group, edge = set[int](), {min(left)}
        while edge:
            group |= edge
            edge = {b for a in edge for b in np.flatnonzero(alike[a]).tolist()} - group
        left -= group
        if len(group) > 1:
            groups.append(tuple(names[place] for place in sorted(group)))
    return tuple(groups)
