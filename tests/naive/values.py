"""Values of rows counted one row at a time, for tests of what counts distinct values."""

import math
from collections import Counter


def first_named(values, most):
    """The counts of the first values, and how often each other value occurs."""
    named, others = {}, Counter()
    for value in values:
        if value in named or len(named) < most:
            named[value] = named.get(value, 0) + 1
        else:
            others[value] += 1
    return named, others


def distances(values):
    """Entropy, KL and TV from uniform over the values seen, in the slowest way."""
    counts = Counter(values)
    shares = [count / len(values) for count in counts.values()]
    entropy = -sum(p * math.log(p) for p in shares)
    kl = sum(p * math.log(p * len(shares)) for p in shares)
    return entropy, kl, sum(abs(p - 1 / len(shares)) for p in shares) / 2
