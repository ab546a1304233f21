"""Readers with faults, which the tests of fuzzing hand to other processes."""

import os
import signal
from pathlib import Path

from fuzz.machinery import Reader, Rng
from unskew.errors import UnskewError


def numbered(_: Path) -> Reader:
    """Return a reader that fails at its inputs in as many ways as there are."""

    def make(rng: Rng) -> bytes:
        return bytes([int(rng.integers(6))])

    def read(data: bytes) -> None:
        if data == b"\x01":
            raise ValueError("no words for it")
        if data == b"\x02":
            os.kill(os.getpid(), signal.SIGSEGV)
        if data == b"\x03":
            raise UnskewError("refused; give another")
        if data == b"\x04":
            raise UnskewError
        if data == b"\x05":
            bytes(1 << 60)

    return Reader(make, read)


def endless(_: Path) -> Reader:
    def read(_: bytes) -> None:
        while True:
            pass

    return Reader(lambda _: b"forever", read)
