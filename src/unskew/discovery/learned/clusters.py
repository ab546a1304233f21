"""Clusters of the texts or vectors of a field: learned here, kept in a file, measured elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError, brief, check_whole
from unskew.core.rng import generator
from unskew.core.values.json_text import json_text, parse_json
from unskew.core.variables.coded import Coded
from unskew.core.variables.packed import coded
from unskew.core.variables.reader import Reader
from unskew.core.variables.variable import SalientVariable
from unskew.discovery.learned.means import k_means, nearest
from unskew.discovery.learned.tokens import PLACES, place_weights, text_vectors
from unskew.io.files import write_text

_ROWS = 5_000  # of a sample, from which clusters are learned
_USUAL, _EACH = 12, 20  # clusters, if nobody says how many, and rows of each on average
_MOST = 1_000  # clusters
_DIGITS = 6  # of the numbers that are kept: a file gives the same clusters
_FORMAT = "unskew clusters 1"

Floats = NDArray[np.float32]
Kind = Literal["texts", "vectors"]


@dataclass(frozen=True)
class Clusters:
    """Clusters of one field. Each text or vector belongs to the cluster with the nearest middle.

    Args:
        path: the field whose texts or vectors are measured.
        kind: what the field has.
        centroids: the middle of each cluster, the most frequent cluster first.
        weights: of texts, the weight of each place of their vectors.
    """

    path: str
    kind: Kind
    centroids: Floats
    weights: Floats

    def of(self, values: Sequence[Any]) -> Coded:
        """Return the cluster of each text or vector, counted from 0; None for a missing one."""
        there, places = _there(values, self.kind)
        codes = np.full(len(values), len(self.centroids))
        codes[places] = nearest(self.vectors(there), self.centroids)[0]
        return coded([*range(len(self.centroids)), None], codes)

    def vectors(self, values: Sequence[Any]) -> Floats:
        """Return the vector of each text or vector."""
        if self.kind == "texts":
            return text_vectors(values, self.weights)
        vectors = _as_vectors(values)
        if len(values) and vectors.shape[1] != self.centroids.shape[1]:
            raise UnskewError(
                f"the vectors of {self.path} have {vectors.shape[1]} numbers, those of the "
                f"clusters have {self.centroids.shape[1]}; measure them as they were measured then"
            )
        return vectors.reshape(len(values), self.centroids.shape[1])

    def variable(self, name: str = "") -> SalientVariable:
        """Return the variable that measures the cluster of each example."""
        reader = Reader(self.path, known=False)
        return SalientVariable(
            name or f"clusters of {self.path}",
            lambda batch: self.of(reader.leaves(batch)),
            doc=f"which of {len(self.centroids)} learned clusters {self.path} is in",
        )


def learn_clusters(
    path: str, values: Sequence[Any], *, clusters: int | None = None, seed: int = 0
) -> Clusters:
    """Return clusters of the texts or vectors of a field.

    Texts are compared by their tokens and pairs of neighbouring tokens.

    Args:
        path: the field, as a name of data: ``messages[-1].content``.
        values: the text or the vector of each row; None where there is none. Of more than 5,000
            rows, 5,000 random ones are used.
        clusters: how many; by default 12, or fewer where there are fewer than 240 rows.
        seed: decides the first centroids.
    """
    kind: Kind = (
        "vectors" if _is_vector(next((v for v in values if v is not None), "")) else "texts"
    )
    there, _ = _there(values, kind)
    if clusters is None:
        clusters = min(_USUAL, max(2, len(there) // _EACH))
    check_whole("clusters", clusters, 2)
    if clusters > _MOST or len(there) < clusters:
        raise UnskewError(
            f"clusters is {clusters}, and {len(there):,} rows have a value of {path}; allowed are "
            f"at most {_MOST:,} clusters, and no more than there are rows"
        )
    rng = generator(seed, "clusters")
    some = [there[row] for row in np.sort(rng.permutation(len(there))[:_ROWS]).tolist()]
    weights = np.round(place_weights(some), _DIGITS) if kind == "texts" else np.zeros(0, np.float32)
    vectors = text_vectors(some, weights) if kind == "texts" else _as_vectors(some)
    centroids = np.round(k_means(vectors, clusters, rng), _DIGITS)
    return Clusters(path, kind, centroids, weights)


def save_clusters(clusters: Clusters, path: str | Path) -> None:
    """Write clusters to a file of plain JSON."""
    data = {
        "format": _FORMAT,
        "path": clusters.path,
        "kind": clusters.kind,
        "weights": [_number(weight) for weight in clusters.weights],
        "centroids": [[_number(x) for x in centroid] for centroid in clusters.centroids],
    }
    write_text(Path(path), json_text(data) + "\n")


def load_clusters(path: str | Path) -> Clusters:
    """Return clusters that were saved to a file.

    To name them in a command or a recipe, give their variable a name in a module of your own,
    ``topics = load_clusters("topics.json").variable()``, and write ``my_module:topics``. A file is
    never opened because data names it.
    """
    try:
        data = parse_json(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise UnskewError(f"{path} cannot be read as clusters: {error}") from error
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise UnskewError(f"{path} has no clusters; give a file that save_clusters wrote")
    name, kind = data.get("path"), data.get("kind")
    centroids, weights = _table(data.get("centroids"), 2), _table(data.get("weights"), 1)
    places = PLACES if kind == "texts" else 0
    if (
        not isinstance(name, str)
        or kind not in ("texts", "vectors")
        or centroids is None
        or weights is None
        or len(weights) != places
        or (kind == "texts" and centroids.shape[1] != places)
        or len(centroids) > _MOST
    ):
        raise UnskewError(f"the clusters of {path} are damaged; save them again")
    return Clusters(name, kind, centroids, weights)


def _number(number: np.float32) -> float:
    return round(float(number), _DIGITS)


def _table(data: object, dimensions: int) -> Floats | None:
    """Return numbers of a file as an array; None if they are not finite numbers of this shape."""
    try:
        table = np.array(data, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    is_whole = table.ndim == dimensions and (dimensions == 1 or min(table.shape) > 0)
    return table.astype(np.float32) if is_whole and np.isfinite(table).all() else None


def _is_vector(value: object) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


def _there(values: Sequence[Any], kind: Kind) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the values that are texts, or vectors, and their rows; refuse what is neither."""
    rows = [row for row, value in enumerate(values) if value is not None]
    there = [values[row] for row in rows]
    for value in there:
        if not (_is_vector(value) if kind == "vectors" else isinstance(value, str)):
            raise UnskewError(
                f"a value to cluster is {brief(value)}; give {kind} alone, or None where there is "
                "none"
            )
    return there, np.array(rows, np.int64)


def _as_vectors(values: Sequence[Any]) -> Floats:
    try:
        vectors = np.array([np.ravel(value) for value in values], dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise UnskewError("vectors to cluster need equally many numbers each") from error
    if not np.isfinite(vectors).all() or (vectors.size and np.abs(vectors).max() > math.sqrt(1e30)):
        raise UnskewError("vectors to cluster have numbers that are not finite, or above 1e15")
    return vectors.astype(np.float32)
