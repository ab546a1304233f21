"""What sets each cluster apart: features, tokens, and its most typical rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import Coded
from unskew.discovery.learned.clusters import Clusters
from unskew.discovery.learned.means import nearest
from unskew.discovery.learned.tokens import tokens_of

_TRAITS, _TOKENS, _EXAMPLES = 5, 8, 3  # of each cluster
_LIFT, _SHARE = 1.5, 0.1  # a trait is so much more frequent inside, and in so many of the rows

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Trait:
    """A value of a feature that sets a cluster apart: its share in it, and in all other rows."""

    name: str
    value: Hashable
    share: float
    elsewhere: float


@dataclass(frozen=True)
class Description:
    """One cluster.

    Args:
        cluster: its number.
        rows: how many rows it has.
        traits: values of features that are more frequent in it, the most telling one first.
        tokens: tokens that are, of texts.
        examples: the numbers of the most typical rows.
    """

    cluster: int
    rows: int
    traits: tuple[Trait, ...]
    tokens: tuple[str, ...]
    examples: tuple[int, ...]


def describe_clusters(
    clusters: Clusters, values: Sequence[Any], features: Mapping[str, Coded]
) -> tuple[Description, ...]:
    """Return what sets each cluster apart from all other rows.

    Args:
        clusters: the clusters.
        values: the text or vector of each row.
        features: features of the same rows, by name.
    """
    rows = np.array([row for row, value in enumerate(values) if value is not None], np.int64)
    there = [values[row] for row in rows.tolist()]
    codes, distances = nearest(clusters.vectors(there), clusters.centroids)
    many = len(clusters.centroids)
    sizes = np.bincount(codes, minlength=many)
    traits: list[list[tuple[float, Trait]]] = [[] for _ in range(many)]
    for name, feature in features.items():
        table = _table(codes, feature.codes[rows], (many, len(feature.distinct)))
        telling, inside, outside = _telling(table, sizes)
        for cluster, value in enumerate(telling.argmax(axis=1).tolist()):
            if telling[cluster, value] > 0:
                shares = float(inside[cluster, value]), float(outside[cluster, value])
                trait = Trait(name, feature.distinct[value], *shares)
                traits[cluster].append((float(telling[cluster, value]), trait))
    tokens = _tokens(there, codes, sizes) if clusters.kind == "texts" else [()] * many
    order = np.lexsort((np.arange(len(codes)), distances))
    return tuple(
        Description(
            cluster,
            int(sizes[cluster]),
            tuple(t for _, t in sorted(traits[cluster], key=lambda pair: -pair[0])[:_TRAITS]),
            tokens[cluster],
            tuple(rows[order[codes[order] == cluster][:_EXAMPLES]].tolist()),
        )
        for cluster in range(many)
    )


def _table(codes: Codes, values: Codes, shape: tuple[int, int]) -> Codes:
    return np.bincount(codes * shape[1] + values, minlength=shape[0] * shape[1]).reshape(shape)


def _telling(table: Codes, sizes: Codes) -> tuple[Floats, Floats, Floats]:
    """Return how telling each value is of each cluster, and its shares inside and outside.

    It is the information that the rows of the cluster have about the value; 0 where the value is
    not much more frequent there, or rare.
    """
    others = np.maximum(1, sizes.sum() - sizes)[:, None]
    inside = table / np.maximum(1, sizes)[:, None]
    outside = (table.sum(axis=0) - table) / others
    smooth = (table.sum(axis=0) - table + 0.5) / (others + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = np.where(inside < 1, (1 - inside) * np.log((1 - inside) / (1 - smooth)), 0.0)
        telling = np.where(inside > 0, inside * np.log(inside / smooth), 0.0) + lost
    shown = (inside >= _SHARE) & (inside >= _LIFT * smooth)
    return np.where(shown, telling * sizes[:, None], 0.0), inside, outside


def _tokens(texts: Sequence[str], codes: Codes, sizes: Codes) -> list[tuple[str, ...]]:
    """Return the tokens that come in many more texts of each cluster than of the others."""
    tokens = tokens_of(texts)
    kinds = len(tokens.distinct)
    once = np.unique(tokens.owner * max(1, kinds) + tokens.codes)  # each token once a text
    owner, token = np.divmod(once, max(1, kinds))
    frequent = np.flatnonzero(np.bincount(token, minlength=kinds) * 100 >= len(texts))
    place = np.full(kinds, -1)
    place[frequent] = np.arange(len(frequent))
    kept = place[token] >= 0
    shape = (len(sizes), len(frequent))
    telling = _telling(_table(codes[owner[kept]], place[token[kept]], shape), sizes)[0]
    order = np.argsort(-telling, axis=1, kind="stable")[:, :_TOKENS]
    return [
        tuple(tokens.distinct[frequent[at]] for at in order[cluster] if telling[cluster, at] > 0)
        for cluster in range(len(sizes))
    ]
