"""The only maker of random generators. Seeds are spawned, never added to indices."""

import hashlib
import json

import numpy as np

from unskew.core.errors import check_whole


def generator(seed: int, *labels: str | int) -> np.random.Generator:
    """Return the generator of one purpose, named by its labels.

    Streams of different seeds or labels are independent: the labels are hashed into the
    spawn key of a ``SeedSequence``, so ``generator(0, "draw", 1)`` and ``generator(1, "draw", 0)``
    share nothing, which ``seed + index`` does not give.
    """
    check_whole("seed", seed, 0)
    text = json.dumps(labels, ensure_ascii=True, separators=(",", ":"))
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    key = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int(seed), spawn_key=key)))
