"""Clusters of vectors by k-means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_TRIES = 4  # with other first centroids; the best one counts
_ROUNDS = 50
_ROWS = 8_192  # vectors that are compared with the centroids at a time

Floats = NDArray[np.float32]
Codes = NDArray[np.int64]


def k_means(vectors: Floats, clusters: int, rng: np.random.Generator) -> Floats:
    """Return the centroids of at most so many clusters, the one of most vectors first.

    There are fewer where there are fewer different vectors.
    """
    best, least = vectors[:0], np.inf
    for _ in range(_TRIES):
        centroids = _settled(vectors, _first(vectors, clusters, rng))
        distance = float(nearest(vectors, centroids)[1].sum())
        if distance < least * (1 - 1e-9):
            best, least = centroids, distance
    sizes = np.bincount(nearest(vectors, best)[0], minlength=len(best))
    ordered = best[np.argsort(-sizes, kind="stable")]
    return ordered[: int((sizes > 0).sum())]


def nearest(vectors: Floats, centroids: Floats) -> tuple[Codes, Floats]:
    """Return the number of the nearest centroid of each vector, and its squared distance."""
    codes = np.zeros(len(vectors), np.int64)
    distances = np.zeros(len(vectors), np.float32)
    norms = (centroids**2).sum(axis=1) / 2
    for at in range(0, len(vectors), _ROWS):
        some = vectors[at : at + _ROWS]
        closeness = some @ centroids.T - norms
        codes[at : at + _ROWS] = closeness.argmax(axis=1)
        far = np.einsum("ij,ij->i", some, some) - 2 * closeness.max(axis=1)
        distances[at : at + _ROWS] = np.maximum(0, far)
    return codes, distances


def _first(vectors: Floats, clusters: int, rng: np.random.Generator) -> Floats:
    """Return vectors that are far from each other (k-means++)."""
    chosen = [int(rng.integers(len(vectors)))]
    left = nearest(vectors, vectors[chosen])[1].astype(np.float64)
    while len(chosen) < clusters and left.sum() > 1e-6 * len(vectors):
        chosen.append(int(rng.choice(len(vectors), p=left / left.sum())))
        left = np.minimum(left, nearest(vectors, vectors[chosen[-1:]])[1])
    return vectors[chosen]


def _settled(vectors: Floats, centroids: Floats) -> Floats:
    """Return the centroids after moving each to the middle of its vectors until none moves."""
    before = np.full(len(vectors), -1)
    for _ in range(_ROUNDS):
        codes = nearest(vectors, centroids)[0]
        if (codes == before).all():
            break
        before = codes
        member = (codes[:, None] == np.arange(len(centroids))).astype(np.float32)
        sizes = member.sum(axis=0)[:, None]
        centroids = np.where(sizes > 0, member.T @ vectors / np.maximum(1, sizes), centroids)
    return centroids
