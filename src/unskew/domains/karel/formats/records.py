"""The original dataset's JSONL records, read and written.

A record has a guid, six examples (index, executed actions, the grid before and after as JSON and
as a sparse tensor), and the program as JSON and as tokens. Nothing in it is believed that can be
computed: a record that contradicts itself is refused.

``to_record(from_record(record), record["guid"])`` is the record, every field and the order of
keys included; a guid of an example that never had one is made of its content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch, binary_rows
from unskew.core.errors import UnskewError
from unskew.domains.karel.examples import INPUTS, OUTPUTS, PROGRAM, program_rows, world_numbers
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.language.syntax import Program, parse_tokens, to_tokens
from unskew.domains.karel.running.interpreter import Status
from unskew.domains.karel.running.trace import executed
from unskew.domains.karel.world import (
    BYTES,
    OUTLINE,
    SIDE,
    TENSOR_SHAPE,
    WALL,
    WALL_CHANNEL,
    World,
    are_worlds,
    from_bytes,
    from_json,
    grid_of,
    hero_of,
    to_json,
)

RECORD_KEYS = ("examples", "guid", "program_json", "program_tokens")
PAIR_KEYS = (
    "actions",
    "example_index",
    "inpgrid_json",
    "inpgrid_tensor",
    "outgrid_json",
    "outgrid_tensor",
)
_FRAME = SIDE + 2  # a side of the tensor
_AT_ONCE = 4096  # programs compiled at once: what they compile to is larger than they are


def read_row(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read an example from any form it is stored in; None where the row is something else.

    The forms: our columns, their JSON (see ``write_row``), the original's records, and a program
    alone, which can be given worlds. What else
    is in the row is carried along; where it has the name of one of our columns, ours wins.
    """
    if not _has_our_columns(row):
        said = "program_tokens" in row or "program_json" in row
        if not said and _is_program_alone(row):
            return {**row, PROGRAM: to_tokens(parse_tokens(row[PROGRAM]))}
        return from_record(row) if said and len(set(RECORD_KEYS) & set(row)) > 1 else None
    worlds = {}
    for name in (INPUTS, OUTPUTS):
        if row[name] is None:
            raise UnskewError(f"it has no {name}; leave it out")
        if isinstance(row[name], bytes):
            worlds[name] = from_bytes(row[name])
        elif _is_grids(row[name]):
            worlds[name] = _worlds(row[name], name)
        else:
            return None
    _need_pairs(worlds[INPUTS], worlds[OUTPUTS])
    columns = {name: packed.tobytes() for name, packed in worlds.items()}
    return {**row, PROGRAM: to_tokens(parse_tokens(row[PROGRAM])), **columns}


def _is_program_alone(row: Mapping[str, Any]) -> bool:
    """Whether a row has a program in the dataset's tokens, and no worlds."""
    program = row.get(PROGRAM)
    alone = INPUTS not in row and OUTPUTS not in row
    return alone and isinstance(program, str) and program.split()[:2] == ["DEF", "run"]


def are_examples(batch: Batch) -> bool:
    """Say whether every row of a table is an example in our columns, whatever else it holds.

    That is what ``read_row`` finds, forty times as fast.
    """
    try:
        programs = program_rows(batch)
        pairs = np.array_equal(world_numbers(batch, INPUTS), world_numbers(batch, OUTPUTS))
        columns = [binary_rows(batch.columns[name]) for name in (INPUTS, OUTPUTS)]
    except UnskewError:
        return False
    parts = (programs[start : start + _AT_ONCE] for start in range(0, len(batch), _AT_ONCE))
    worlds = (data[at[0] : at[-1]].reshape(-1, BYTES) for data, at in columns)
    return (
        pairs
        and not any(compile_programs(part).status.any() for part in parts)
        and all(are_worlds(packed).all() for packed in worlds)
    )


def write_row(example: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example as plain JSON: worlds become the original's JSON of grids."""
    row = dict(example)
    for name in (INPUTS, OUTPUTS):
        if name in row:
            row[name] = [to_json(world) for world in from_bytes(row[name])]
    return row


def from_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the example of a record of the original dataset.

    A record that contradicts itself is refused. Keys that the original does not have are kept.
    """
    _need(record, RECORD_KEYS, "the record")
    program = _program(record)
    pairs = record["examples"]
    if not isinstance(pairs, list) or not pairs:
        raise UnskewError("the record has no examples; give at least one")
    inputs, outputs = [], []
    for number, pair in enumerate(pairs):
        where = f"example {number}"
        if not isinstance(pair, Mapping):
            raise UnskewError(f"{where} is {type(pair).__name__}; give an object")
        _need(pair, PAIR_KEYS, where)
        if pair["example_index"] != number:
            raise UnskewError(f"{where} has the example_index {pair['example_index']!r}; renumber")
        before = _world(pair["inpgrid_json"], pair["inpgrid_tensor"], f"{where}, inpgrid")
        after = _world(pair["outgrid_json"], pair["outgrid_tensor"], f"{where}, outgrid")
        actions = _replayed(program, before, after, where)
        if pair["actions"] != actions:
            raise UnskewError(f"{where}: its actions are not those that the program executes")
        inputs.append(before)
        outputs.append(after)
    return {
        **{key: value for key, value in record.items() if key not in RECORD_KEYS},
        PROGRAM: " ".join(record["program_tokens"]),
        INPUTS: np.stack(inputs).tobytes(),
        OUTPUTS: np.stack(outputs).tobytes(),
    }


def to_record(example: Mapping[str, Any], guid: str) -> dict[str, Any]:
    """Return an example as a record of the original dataset, with this ``guid``."""
    program = parse_tokens(example[PROGRAM])
    befores, afters = from_bytes(example[INPUTS]), from_bytes(example[OUTPUTS])
    _need_pairs(befores, afters)
    pairs = [
        {
            "actions": _replayed(program, before, after, f"example {number}"),
            "example_index": number,
            "inpgrid_json": to_json(before),
            "inpgrid_tensor": tensor_text(before),
            "outgrid_json": to_json(after),
            "outgrid_tensor": tensor_text(after),
        }
        for number, (before, after) in enumerate(zip(befores, afters, strict=True))
    ]
    texts = t.to_texts(program)
    return {
        "examples": pairs,
        "guid": guid,
        "program_json": program_json(program),
        "program_tokens": texts,
    }


def numbered_record(example: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return an example as a record whose guid is a hash of it and of its number in the file."""
    parts = (str(number).encode(), example[PROGRAM].encode(), example[INPUTS], example[OUTPUTS])
    return to_record(example, hashlib.blake2b(b" ".join(parts), digest_size=8).hexdigest())


def tensor_text(world: World) -> str:
    """Write a world's tensor as the dataset does: `index:1.0` of each cell that is one.

    Karel comes first, then markers and walls from the top row down, then the frame: bottom,
    top, left, right.
    """
    return " ".join(f"{index}:1.0" for index in _tensor_indices(world))


def _tensor_indices(world: World) -> list[int]:
    row, column, facing = hero_of(world)
    grid = grid_of(world)
    height, width = grid.shape
    found = [_index(facing, row + 1, column + 1)]
    walls = []
    for r in range(height - 1, -1, -1):
        for c, value in enumerate(grid[r].tolist()):
            if value == WALL:
                walls.append(_index(WALL_CHANNEL, r + 1, c + 1))
            elif value:
                found.append(_index(OUTLINE + value, r + 1, c + 1))
    found += walls
    for r in (0, height + 1):
        found += [_index(OUTLINE, r, c) for c in range(width + 2)]
    for c in (0, width + 1):
        found += [_index(OUTLINE, r, c) for r in range(1, height + 1)]
    return found


def _index(channel: int, row: int, column: int) -> int:
    return (channel * _FRAME + row) * _FRAME + column


def program_json(program: Program) -> dict[str, Any]:
    """Return a program in the dataset's JSON."""
    texts = t.to_texts(program)
    return {"run": _block(texts, 3)[0]}


def _block(texts: Sequence[str], at: int) -> tuple[list[dict[str, Any]], int]:
    """Read statements up to the closing bracket; return them and what follows it."""
    statements: list[dict[str, Any]] = []
    while not texts[at].endswith(")"):
        word = texts[at]
        if word in t.ACTIONS:
            statements.append({"type": word})
            at += 1
        elif word == "REPEAT":
            times = int(texts[at + 1][2:])
            body, at = _block(texts, at + 3)
            statements.append({"body": body, "times": times, "type": "repeat"})
        else:
            condition, at = _condition(texts, at + 2)
            body, at = _block(texts, at + 1)
            if word == "IFELSE":
                other, at = _block(texts, at + 2)
                parts: dict[str, Any] = {"elseBody": other, "ifBody": body, "type": "ifElse"}
            else:
                parts = {"body": body, "type": word.lower()}
            statements.append(dict(sorted({**parts, "condition": condition}.items())))
    return statements, at + 1


def _condition(texts: Sequence[str], at: int) -> tuple[dict[str, Any], int]:
    """Read a condition after its bracket; return it and what follows the closing one."""
    if texts[at] == "not":
        inner, at = _condition(texts, at + 2)
        return {"condition": inner, "type": "not"}, at + 1
    return {"type": texts[at]}, at + 2


def _program(record: Mapping[str, Any]) -> Program:
    texts = record["program_tokens"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UnskewError("program_tokens are no list of texts; give the tokens one by one")
    program = parse_tokens(" ".join(texts))
    if t.to_texts(program) != texts:
        raise UnskewError("program_tokens has two tokens in one text; give them one by one")
    if record["program_json"] != program_json(program):
        raise UnskewError("program_json and program_tokens are two programs; keep one")
    return program


def _world(grid: Any, tensor: Any, where: str) -> World:
    """Read a grid that is there twice."""
    world = _grid(grid, where)
    if tensor != tensor_text(world) and _read_tensor(tensor, where) != set(_tensor_indices(world)):
        raise UnskewError(f"{where}: its JSON and its tensor are two worlds; keep one")
    return world


def _grid(grid: Any, where: str) -> World:
    if not isinstance(grid, Mapping):
        raise UnskewError(f"{where} is {type(grid).__name__}; give the JSON of a grid")
    _need(grid, ("crashed",), where)
    try:
        return from_json(grid)
    except UnskewError as error:
        raise UnskewError(f"{where}: {error}") from error


def _read_tensor(text: Any, where: str) -> set[int]:
    """Return the cells of a sparse tensor that are one, in whatever order they stand."""
    try:
        entries = [entry.split(":") for entry in text.split()]
        values = {int(index): float(value) for index, value in entries}
    except (AttributeError, ValueError) as error:
        raise UnskewError(f"{where}: its tensor is no text of index:1.0 …; write it so") from error
    if not set(values.values()) <= {0.0, 1.0} or not set(values) <= set(
        range(int(np.prod(TENSOR_SHAPE)))
    ):
        raise UnskewError(
            f"{where}: its tensor holds more than zeros and ones of a {TENSOR_SHAPE} tensor"
        )
    return {index for index, value in values.items() if value}


def _replayed(program: Program, before: World, after: World, where: str) -> list[str]:
    """Return the actions that lead from one world to the other."""
    actions, found, status = executed(program, before)
    if status != Status.OK:
        raise UnskewError(
            f"{where}: the program does not end well on its input ({status.name}); leave it out"
        )
    if not np.array_equal(found, after):
        raise UnskewError(f"{where}: the program does not make its output of its input")
    return actions


def _has_our_columns(row: Mapping[str, Any]) -> bool:
    program = row.get(PROGRAM)
    begins = isinstance(program, str) and program.split(None, 3)[:3] == ["DEF", "run", "m("]
    return begins and INPUTS in row and OUTPUTS in row


def _is_grids(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(grid, Mapping) and "hero" in grid for grid in value)
    )


def _worlds(grids: Sequence[Any], where: str) -> NDArray[np.uint8]:
    return np.stack([_grid(grid, f"{where} {i + 1}") for i, grid in enumerate(grids)])


def _need_pairs(befores: NDArray[np.uint8], afters: NDArray[np.uint8]) -> None:
    if len(befores) != len(afters):
        raise UnskewError(
            f"the example has {len(befores)} inputs and {len(afters)} outputs; give pairs"
        )


def _need(found: Mapping[str, Any], keys: Sequence[str], what: str) -> None:
    for key in keys:
        if key not in found:
            raise UnskewError(f"{what} has no {key!r}; it needs {', '.join(keys)}")
