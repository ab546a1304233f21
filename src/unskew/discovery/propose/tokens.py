"""Features of the tokens of texts: which come how often, and which stand in the same places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import Coded, as_coded
from unskew.core.variables.measures.names import MEASURES
from unskew.core.variables.measures.text import Text, with_tokens, with_words
from unskew.discovery.proposal import Field, Null
from unskew.discovery.propose.make import Made, of_measure, of_values, sentence

SMALL = 80  # different tokens of programs and expressions; more are a language
MOST_WORDS, MOST_PAIRS = 80, 40  # of a language, that are proposed
MOST_LABELS = 12  # words before brackets
MOST_TOKENS = 2_000_000  # that are counted to find the vocabulary
RARE = 0.005  # share of the rows in which a word is too rare to matter
ALIKE = 0.8  # cosine of the neighbours of two tokens that stand in the same places
LOOK = 1000  # texts that are looked at for labels and long numbers
MOST_IN_SLOT = 40  # words that fill one place
FILLED = 0.98  # share of the rows in which one of them does
TWICE = 0.02  # share of the rows in which a word comes twice, above which it is counted
NUMBERS = "numbers"  # the class of all numbers
LONGEST_NUMBER = 15  # digits of a number that is drawn anew
ENOUGH = 30  # times that a token comes, so that its neighbours are known
_TEXT = MEASURES["tokens"]


@dataclass(frozen=True)
class Vocabulary:
    """The units of the texts of a field: words between spaces if these are few, else tokens.

    Numbers of more than one digit are not counted.
    """

    rows: Counter[str]  # in how many rows each unit comes
    classes: tuple[tuple[str, ...], ...]  # units that stand in the same places
    slots: tuple[tuple[str, ...], ...]  # units of which each row has exactly one
    is_small: bool
    of_words: bool
    unseen: int  # rows that were not looked at

    @classmethod
    def of(cls, field: Field) -> Vocabulary:
        """Count the units of the rows, as they are written."""
        weights = np.bincount(field.codes, minlength=len(field.distinct)).tolist()
        views = [v for v in zip(field.views(_TEXT), weights, strict=True) if v[0] is not None]
        tokens = 0
        for looked, (view, _) in enumerate(views):
            tokens += len(view.tokens)
            if tokens > MOST_TOKENS:
                del views[looked + 1 :]
                break
        seen = sum(weight for _, weight in views)
        unseen = sum(isinstance(value, str) for value in field.values) - seen
        by_words, by_tokens = (_in_rows(views, of_words=of_words) for of_words in (True, False))
        several = tokens and sum(len(view.words) for view, _ in views) >= 2 * len(views)
        # brackets that are glued to words make many words of few tokens
        of_words = bool(several) and len(by_words) <= 1.5 * len(by_tokens)
        for is_word in (True, False) if of_words else (False,):
            rows = by_words if is_word else by_tokens
            if 0 < len(rows) <= SMALL:
                units = [view.words if is_word else view.tokens for view, _ in views]
                slots = tuple(_slots(_counts(views, rows, of_words=is_word)))
                return cls(rows, _apart(_classes(units), slots), slots, True, is_word, unseen)
        return cls(by_tokens, (), (), False, False, unseen)

    def redrawn(self, field: Field, rng: np.random.Generator) -> Field:
        """Return texts in which each unit of a class is drawn evenly from its class.

        Numbers are drawn evenly from those of as many digits.
        """
        uniform = _uniform(rng)
        ranges: dict[int, tuple[int, int]] = {}
        for unit in self._units(field):
            if unit.isdecimal() and len(unit) <= LONGEST_NUMBER:
                low, high = ranges.get(len(unit), (int(unit), int(unit)))
                ranges[len(unit)] = min(low, int(unit)), max(high, int(unit))
        kinds = {token: list(group) for group in self.classes for token in group}

        def drawn(unit: str) -> str:
            if unit.isdecimal() and len(unit) in ranges:
                low, high = ranges[len(unit)]
                return str(low + int(next(uniform) * (high - low + 1))).zfill(len(unit))
            group = kinds.get(unit)
            return unit if group is None else group[int(next(uniform) * len(group))]

        return self._changed(field, drawn)

    def mixed(self, field: Field, rng: np.random.Generator) -> Field:
        """Return texts in which the units of a class are shuffled between all rows."""
        class_of = {token: group for group in self.classes for token in group}
        pools: dict[Any, list[str]] = {}
        for unit in self._units(field):
            kind = NUMBERS if unit[0].isdigit() else class_of.get(unit)
            if kind is not None:
                pools.setdefault(kind, []).append(unit)
        orders = {kind: iter(rng.permutation(len(pool)).tolist()) for kind, pool in pools.items()}

        def other(unit: str) -> str:
            kind = NUMBERS if unit[0].isdigit() else class_of.get(unit)
            return unit if kind is None else pools[kind][next(orders[kind])]

        return self._changed(field, other)

    def _units(self, field: Field) -> Iterator[str]:
        """Yield all units of all rows."""
        views = field.views(_TEXT)
        for code in field.codes.tolist():
            view = views[code]
            if view is not None:
                yield from view.words if self.of_words else view.tokens

    def _changed(self, field: Field, change: Callable[[str], str]) -> Field:
        parts = with_words if self.of_words else with_tokens
        texts = [parts(v, change) if isinstance(v, str) else None for v in field.values]
        return field.with_values(texts)


def _counts(
    views: Sequence[tuple[Text, int]], units: Iterable[str], *, of_words: bool
) -> dict[str, NDArray[np.int64]]:
    """Return how often each unit comes in each of the different texts."""
    counts = {unit: np.zeros(len(views), dtype=np.int64) for unit in units}
    for row, (view, _) in enumerate(views):
        for unit in view.words if of_words else view.tokens:
            if unit in counts:
                counts[unit][row] += 1
    return counts


def _apart(
    classes: Sequence[tuple[str, ...]], slots: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """Return the classes without the units of slots, and the slots as classes."""
    in_slots = {unit for slot in slots for unit in slot}
    rest = [tuple(unit for unit in group if unit not in in_slots) for group in classes]
    return (*slots, *(group for group in rest if len(group) > 1))


def _in_rows(views: Sequence[tuple[Text, int]], *, of_words: bool) -> Counter[str]:
    """Return in how many rows each unit comes."""
    rows: Counter[str] = Counter()
    for view, weight in views:
        for unit in set(view.words if of_words else view.tokens):
            rows[unit] += weight
    for unit in [unit for unit in rows if _is_long_number(unit)]:
        del rows[unit]
    return rows


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
    views = [view for view in field.views(_TEXT)[:LOOK] if view is not None]
    long = any(_is_long_number(token) for view in views for token in view.tokens)
    names = [token for token in vocabulary.rows if not (long and token[0].isdigit())]
    counts = {token: _counted(field, (token,)) for token in names}
    done: set[str] = set()
    for slot in vocabulary.slots:
        yield from of_measure(field, "which", *slot)
        done.update(slot)
    for group in vocabulary.classes:
        left = [token for token in group if token not in done and token in counts]
        done.update(group)
        if len(left) < 2:
            continue
        yield from of_measure(field, "occurrences", *left, null="bell", least=0)
        of_group = _counted(field, left)
        for token in left:
            drawn = rng.binomial(of_group, 1 / len(left))
            yield from _token(field, token, counts[token], (as_coded(drawn),))
    for token in names:
        if token not in done:
            yield from _token(field, token, counts[token], ())
    for label in _labels(field):
        yield from of_measure(field, "depth_without", label, null="hill", least=0)


def _counted(field: Field, tokens: Sequence[str]) -> NDArray[np.int64]:
    measure = MEASURES["occurrences"].with_arguments(*tokens)
    return np.array([count or 0 for count in field.measured(measure).tolist()], dtype=np.int64)


def _slots(counts: Mapping[str, NDArray[np.int64]]) -> Iterator[tuple[str, ...]]:
    """Yield groups of tokens of which each row has exactly one: they fill one place."""
    single = [token for token, n in counts.items() if 0 < n.mean() < 1 and n.max() == 1]
    left = sorted(single, key=lambda token: -counts[token].sum())
    while left:
        slot = [left.pop(0)]
        filled = counts[slot[0]] > 0
        for token in list(left):
            here = counts[token] > 0
            if not (filled & here).any():
                slot.append(token)
                filled = filled | here
        if 1 < len(slot) <= MOST_IN_SLOT and filled.mean() >= FILLED:
            left = [token for token in left if token not in slot]
            yield tuple(sorted(slot))


def _token(
    field: Field, token: str, counts: NDArray[np.int64], chance: tuple[Coded, ...]
) -> Iterator[Made]:
    """Propose how often a token comes, or whether it does.

    A token that comes twice in hardly any row may be in few rows: most tokens are rare.
    """
    once = float((counts > 1).mean()) < TWICE
    null: Null = "chance" if chance else "hill"
    yield from of_measure(field, "occurrences", token, null=null, chance=chance, least=0)
    measure = MEASURES["contains"].with_arguments(token)
    values = field.measured(measure)
    if chance:
        if 0 not in chance[0].distinct and False not in values.distinct:
            return  # it comes in all rows, by chance too
        chance = tuple(c.change(lambda counts: [n != 0 for n in counts]) for c in chance)
    elif once and (counts > 0).mean() > 0.5:
        chance = ()
    else:
        chance = (values,)  # as it is; answers and failures may have to do with it
    yield from of_values(
        measure.of_path(field.path),
        sentence(measure, field.path),
        (field.path,),
        values,
        null="chance" if chance else "even",
        chance=chance,
    )


def _labels(field: Field) -> list[str]:
    """Return the words that stand before brackets, if there are a few of them."""
    before: Counter[str] = Counter()
    for view in field.views(_TEXT)[:LOOK]:
        if view is not None:
            tokens = view.tokens
            before.update(a for a, b in pairwise(tokens) if b in "([{")
    return [label for label in before if label[0].isalpha()][:MOST_LABELS]


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


def _classes(texts: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return groups of units that come before and after the same units."""
    total = Counter(unit for units in texts for unit in units)
    names = sorted(unit for unit, count in total.items() if count >= ENOUGH)
    names = [name for name in names if not _is_long_number(name)]
    size = len(names)
    if size < 2:
        return ()
    places = {name: place for place, name in enumerate(names)}
    other = size  # the edge of a text, and rare units
    follows = np.zeros((size + 1, size + 1))
    for units in texts:
        codes = [other, *(places.get(unit, other) for unit in units), other]
        np.add.at(follows, (codes[:-1], codes[1:]), 1)
    follows = np.log1p(follows)  # what can stand there counts more than how often it does
    around = [side[:size] / np.maximum(_norms(side[:size]), 1) for side in (follows, follows.T)]
    alike = np.minimum(*(side @ side.T for side in around)) >= ALIKE
    left, groups = set(range(size)), []
    while left:
        group, edge = set[int](), {min(left)}
        while edge:
            group |= edge
            edge = {b for a in edge for b in np.flatnonzero(alike[a]).tolist()} - group
        left -= group
        if len(group) > 1:
            groups.append(tuple(names[place] for place in sorted(group)))
    return tuple(groups)


def _norms(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    norms: NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    return norms
