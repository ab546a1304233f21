"""Karel for tests: examples, and programs and worlds as the package and as the twin has them."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from tests.naive import karel as naive
from unskew.core.errors import UnskewError
from unskew.domains.karel import Status, from_picture, run, world
from unskew.domains.karel.formats.records import numbered_record
from unskew.domains.karel.language import tokens
from unskew.domains.karel.language.compiler import FINE, compile_programs
from unskew.domains.karel.language.syntax import parse_tokens

STATUS = dict(zip(naive.STATUSES, Status, strict=True))


def packed(*worlds: naive.World) -> np.ndarray:
    """Return worlds of the twin as packed worlds (n, 260)."""
    return np.stack([world.from_json(naive.to_json(one)) for one in worlds])


def unpacked(one: np.ndarray) -> naive.World:
    """Return a packed world as a world of the twin."""
    return naive.from_json(world.to_json(one))


def rows_of(programs: Iterable[Sequence[str]]) -> np.ndarray:
    """Return programs as rows of token ids."""
    return tokens.stacked([tokens.to_ids(list(program)) for program in programs])


def branches(coverage: np.ndarray) -> set[tuple[int, bool]]:
    """Return the coverage of one run as the twin has it: pairs of a test and its outcome."""
    bits = int(coverage[0]) | int(coverage[1]) << 64
    return {(bit // 2, bool(bit % 2)) for bit in range(128) if bits >> bit & 1}


def places_of_tests(texts: Sequence[str]) -> list[int]:
    """Return where each test of a program stands, in the order of their numbers."""
    return [at for at, text in enumerate(texts) if text in ("IF", "IFELSE", "WHILE")]


EXAMPLE = {
    "program": "DEF run m( WHILE c( frontIsClear c) w( move w) putMarker m)",
    "inputs": b"".join(from_picture(p).tobytes() for p in (">. . 2\n. # .", ". >.\n. #")),
    "outputs": b"".join(from_picture(p).tobytes() for p in (". . >3\n. # .", ". >1\n. #")),
}


def write_records(path, examples) -> None:
    """Write examples as records of the original dataset, one on each line."""
    lines = [json.dumps(numbered_record(example, i)) for i, example in enumerate(examples)]
    Path(path).write_text("\n".join(lines) + "\n")


def random_examples(n: int, seed: int = 0, worlds: int = 3) -> list[dict[str, object]]:
    """Return examples of random programs that end well on random worlds."""
    rng = np.random.default_rng(seed)
    examples: list[dict[str, object]] = []
    while len(examples) < n:
        program = naive.random_program(rng)
        before = packed(*(naive.random_world(rng) for _ in range(60)))
        ran = run(rows_of([program]), before)
        fine = np.flatnonzero(ran.status == 0)[:worlds]
        if len(fine) == worlds:
            inputs, outputs = before[fine].tobytes(), ran.worlds[fine].tobytes()
            examples.append({"program": " ".join(program), "inputs": inputs, "outputs": outputs})
    return examples


def compiles(texts: list[str]) -> bool:
    """Whether the compiler takes the tokens for a program."""
    ids = [tokens.IDS.get(text, 255) for text in texts]  # 255 is no token
    return bool(compile_programs(np.array([ids], np.uint8)).status[0] == FINE)


def parses(texts: list[str]) -> bool:
    """Whether the parser of the package does."""
    try:
        return len(parse_tokens(" ".join(texts))) == len(texts)
    except UnskewError:
        return False


def twin_parses(texts: list[str]) -> bool:
    """Whether the parser of the twin does."""
    try:
        naive.parse(texts)
    except ValueError:
        return False
    return True
