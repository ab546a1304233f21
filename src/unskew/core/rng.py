"""The only maker of random generators. Seeds are spawned, never added to indices."""

from __future__ import annotations

import hashlib
import json
import re

import numpy as np

from unskew.core.errors import UnskewError, brief, check_whole

_STATE = re.compile(r"([0-9a-f]{1,32})-([0-9a-f]{1,32})-([01])-([0-9a-f]{1,8})-([0-9]{1,9})")
_ODD = 1  # the increment of a PCG64 is odd


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


def child(rng: np.random.Generator) -> np.random.Generator:
    """Return a new generator that 128 random bits of ``rng`` decide."""
    words = rng.integers(0, 1 << 32, size=4).tolist()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))


def state_of(rng: np.random.Generator) -> str:
    """Return where a generator stands, as a text: the same text, the same numbers to come."""
    state = rng.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise UnskewError(
            f"the state of a {state['bit_generator']} generator cannot be kept; draw from "
            "numpy.random.default_rng(seed)"
        )
    numbers = state["state"]
    return (
        f"{numbers['state']:x}-{numbers['inc']:x}-{state['has_uint32']}-{state['uinteger']:x}-"
        f"{_children(rng)}"
    )


def move(rng: np.random.Generator, state: object) -> None:
    """Set a generator to a state that is not before its own, so that it goes on from there."""
    match = _STATE.fullmatch(state) if isinstance(state, str) else None
    if match is None or not int(match[2], 16) & _ODD:
        raise UnskewError(f"{brief(state)} is not the state of a generator; give it unchanged")
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(match[1], 16), "inc": int(match[2], 16)},
        "has_uint32": int(match[3]),
        "uinteger": int(match[4], 16),
    }
    more = int(match[5]) - _children(rng)
    if more > 0:  # generators that rng.spawn made; the state of the numbers does not count them
        rng.bit_generator.seed_seq.spawn(more)  # type: ignore[attr-defined]


def at_state(rng: np.random.Generator, state: object) -> np.random.Generator:
    """Return a new generator with the seed of ``rng`` that stands at any state."""
    seed: np.random.SeedSequence = rng.bit_generator.seed_seq  # type: ignore[assignment]
    fresh = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    moved = np.random.Generator(np.random.PCG64(fresh))
    move(moved, state)
    return moved


def _children(rng: np.random.Generator) -> int:
    """Return how many generators ``rng.spawn`` made."""
    return int(getattr(rng.bit_generator.seed_seq, "n_children_spawned", 0))
