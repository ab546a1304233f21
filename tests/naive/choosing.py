"""Choosing rows of each value by sorting all rows: slow and plain."""

from unskew.core.rng import generator


def choose(codes: list[int], allotted: list[int], seed: int) -> list[int]:
    """Return how often each row is taken: those with the lowest chance are taken once more."""
    chances = generator(seed, "x").random(len(codes)).tolist()
    times = [0] * len(codes)
    for code, n in enumerate(allotted):
        rows = sorted(
            (row for row in range(len(codes)) if codes[row] == code), key=chances.__getitem__
        )
        for turn in range(n):
            times[rows[turn % len(rows)]] += 1
    return times
