"""Texts of languages: Karel programs, pictures, tensors and problems, expressions, addresses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuzz.machinery import Reader, Rng, Target
from fuzz.mutate import BINARY, TEXTUAL, often, pick, words
from unskew.domains.calculator import syntax as calculator
from unskew.domains.karel.formats.problems import problems, read_text, write_problem
from unskew.domains.karel.formats.show import show
from unskew.domains.karel.language import tokens
from unskew.domains.karel.language.syntax import parse, to_readable, to_tokens
from unskew.domains.karel.sampling.programs import original_examples, original_programs
from unskew.domains.karel.world import (
    BYTES,
    TENSOR_SHAPE,
    World,
    from_picture,
    from_tensor,
    to_picture,
    to_tensor,
)
from unskew.io import object_store as addresses

READABLE = (
    *("def", "main", "(", ")", ":", ";", "if", "else", "while", "repeat", "not", "\n", "\n    "),
    *("#", "\t", "19", "20", "007", "\r", "\u2028", "\x0b", "\x00", "é"),
    *tokens.ACTIONS,
    *tokens.CONDITIONS,
)
PICTURE = (*".#123456789^>v<0", "\n", ">.", "^9", "v#", " ", ">>.", "10", "\u2028", "\x0c")
PROBLEM = (
    *("==", "== before\n", "== after\n", "== program\n", "#", "\n", ".", "\n>.", "DEF", "\n==\n"),
    *READABLE,
)
NUMBER_KINDS = ("u1", "i1", "b1", "<u2", "<i8", "<f4", "<f8", "<f2", ">i4", "<c8", "S1", "<M8[s]")
SLOWEST_TREE = 2000  # digits and operators of an expression whose tree is drawn


def _programs() -> list[str]:
    rows, _ = original_programs(np.random.default_rng(0), 200)
    return [to_tokens(row[row != tokens.PAD]) for row in rows]


def _worlds() -> list[World]:
    examples = original_examples(np.random.default_rng(0), 10, 6)
    return list(examples.inputs.reshape(-1, BYTES))


def _token_programs(_: Path) -> Reader:
    programs = [text.encode() for text in _programs()]
    vocabulary = [*tokens.VOCABULARY, "R=20", "\n", "DEF run m(", "\u00a0", "\x00"]

    def make(rng: Rng) -> bytes:
        data: bytes = pick(rng, programs)
        if rng.random() < 0.7:
            return words(rng, data, vocabulary)
        return often(rng, data, TEXTUAL)

    return Reader(make, _read_program)


def _readable_programs(_: Path) -> Reader:
    programs = [to_readable(parse(text)).encode() for text in _programs()]

    def make(rng: Rng) -> bytes:
        data: bytes = pick(rng, programs)
        if rng.random() < 0.5:
            return words(rng, data, READABLE)
        return often(rng, data, TEXTUAL)

    return Reader(make, _read_program)


def _read_program(data: bytes) -> None:
    program = parse(data.decode("utf-8", "replace"))
    for text in (to_tokens(program), to_readable(program)):
        if not np.array_equal(parse(text), program):
            raise ValueError(f"the program comes back as another one from {text!r}")


def _pictures(_: Path) -> Reader:
    pictures = [to_picture(world).encode() for world in _worlds()]

    def make(rng: Rng) -> bytes:
        data: bytes = pick(rng, pictures)
        if rng.random() < 0.5:
            return words(rng, data, PICTURE)
        return often(rng, data, TEXTUAL)

    def read(data: bytes) -> None:
        world = from_picture(data.decode("utf-8", "replace"))
        if not np.array_equal(from_picture(to_picture(world)), world):
            raise ValueError("the world comes back as another one")

    return Reader(make, read)


def _tensors(_: Path) -> Reader:
    """Tensors as bytes; the first says of which kind their numbers are."""
    tensors = [to_tensor(world) for world in _worlds()]

    def make(rng: Rng) -> bytes:
        kind = int(rng.integers(len(NUMBER_KINDS))) if rng.random() < 0.3 else 0
        data = pick(rng, tensors).astype(NUMBER_KINDS[kind]).tobytes()
        return bytes([kind]) + often(rng, data, BINARY)

    def read(data: bytes) -> None:
        kind = np.dtype(NUMBER_KINDS[data[0]])
        flat = np.frombuffer(data[1 : len(data) - (len(data) - 1) % kind.itemsize], kind)
        fits = flat.size == np.prod(TENSOR_SHAPE)
        tensor = flat.reshape(TENSOR_SHAPE) if fits else flat
        if not np.array_equal(to_tensor(from_tensor(tensor)), tensor):
            raise ValueError("the tensor comes back as another one")

    return Reader(make, read)


def _problems(_: Path) -> Reader:
    texts = [write_problem(problem).encode() for problem in problems().values()]
    texts += ["\n".join(_programs()[:3]).encode()]

    def make(rng: Rng) -> bytes:
        data: bytes = pick(rng, texts)
        if rng.random() < 0.5:
            return words(rng, data, PROBLEM)
        return often(rng, data, TEXTUAL)

    def read(data: bytes) -> None:
        for row in read_text(data.decode("utf-8-sig", "replace"), "problem.txt"):
            show(row, 80)

    return Reader(make, read)


def _expressions(_: Path) -> Reader:
    seeds = [b"1+2*(3-4)", b"7", b"((1))*(2-(3-(4-5)))-6*0+8", b"(1+2)*(3+4)*(5-6)-(7-8)"]

    def make(rng: Rng) -> bytes:
        depth = pick(rng, (0, 0, 0, 0, 0, 0, 0, 0, 0, 3000))
        data = often(rng, pick(rng, seeds), TEXTUAL)
        if rng.random() < 0.7:
            data = words(
                rng, b" ".join(data[i : i + 1] for i in range(len(data))), "0123456789+-*()"
            )
            data = data.replace(b" ", b"")
        return b"(" * depth + data + b")" * depth if rng.random() < 0.5 else b"1-(" * depth + data

    def read(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        tree = calculator.parse(text)
        printed = calculator.to_text(tree)
        if calculator.evaluate(printed) != calculator.evaluate(tree):
            raise ValueError("the expression comes back with another value")
        if len(text) < SLOWEST_TREE:
            calculator.print_tree(text)

    return Reader(make, read)


def _addresses(_: Path) -> Reader:
    """Addresses are only read here: nothing connects."""
    seeds = [
        b"s3://bucket/a/b",
        b"gs://bucket/prefix",
        b"s3://bucket/a?endpoint_override=http://localhost:9000&region=eu",
        b"S3://b?scheme=http",
        b"s3:/bucket/a",
    ]

    def read(data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        if addresses.is_address(text):
            addresses.read_address(text)

    return Reader(lambda rng: often(rng, pick(rng, seeds), TEXTUAL), read)


TARGETS = (
    Target("karel-tokens", _token_programs, 20_000),
    Target("karel-readable", _readable_programs, 8000),
    Target("karel-pictures", _pictures, 10_000),
    Target("karel-tensors", _tensors, 14_000),
    Target("karel-problems", _problems, 4000),
    Target("expressions", _expressions, 7000),
    Target("addresses", _addresses, 60_000),
)
