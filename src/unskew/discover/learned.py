"""Learned variables: clusters of texts or of vectors, for what no proposal names."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import Coded
from unskew.core.variables.variable import SalientVariable


@dataclass(frozen=True)
class Clusters:
    """Clusters of one field, which can be kept in a file and measured again elsewhere.

    Args:
        path: the field whose texts or vectors are measured.
        kind: "texts" or "vectors".
        centroids: the middle of each cluster.
    """

    path: str
    kind: str
    centroids: NDArray[np.float32]

    def of(self, values: Sequence[Any]) -> Coded:
        """Return the cluster of each text or vector, counted from 0; None for a missing one."""
        raise NotImplementedError

    def variable(self) -> SalientVariable:
        """Return the variable that measures the cluster of each example."""
        raise NotImplementedError


@dataclass(frozen=True)
class Trait:
    """A value of a feature that sets a cluster apart: its share in it, and in all other rows."""

    name: str
    value: Hashable
    share: float
    elsewhere: float


@dataclass(frozen=True)
class Description:
    """One cluster: how many rows it has, its traits, and its most typical rows."""

    cluster: int
    rows: int
    traits: tuple[Trait, ...]
    examples: tuple[int, ...]


def learn_clusters(
    path: str, values: Sequence[Any], *, clusters: int | None = None, seed: int = 0
) -> Clusters:
    """Return clusters of the texts or vectors of a field.

    Args:
        path: the field, as a name of data: ``messages[-1].content``.
        values: the text or the vector of each row of a sample; None where there is none.
        clusters: how many; by default it depends on the number of rows.
        seed: the seed of the first centroids.
    """
    raise NotImplementedError


def describe_clusters(
    clusters: Clusters, values: Sequence[Any], features: Mapping[str, Coded]
) -> tuple[Description, ...]:
    """Return what sets each cluster apart: the features with the largest lift, and examples."""
    raise NotImplementedError


def save_clusters(clusters: Clusters, path: str) -> None:
    """Write clusters to a file of plain JSON."""
    raise NotImplementedError


def load_clusters(path: str) -> SalientVariable:
    """Return the variable of clusters that were saved to a file."""
    raise NotImplementedError
