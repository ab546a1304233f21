"""The original dataset's JSONL records, read and written.

A record has a guid, six examples (index, executed actions, the grid before and after as JSON and
as a sparse tensor), and the program as JSON and as tokens. All fields that can be computed are
computed again, and a record that contradicts itself is refused.

``to_record(from_record(record), record["guid"])`` is the record, with every field and the same
order of keys. An example without a guid gets one that is made of its content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.domains.karel import world as w
from unskew.domains.karel.examples import (
    INPUTS,
    OUTPUTS,
    PROGRAM,
    all_worlds,
    check_pairs,
    example_pairs,
    program_rows,
    world_numbers,
)
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.language.syntax import Program, parse_tokens, to_tokens
from unskew.domains.karel.running.interpreter import Status
from unskew.domains.karel.running.trace import executed
from unskew.domains.karel.world import World

RECORD_KEYS = ("examples", "guid", "program_json", "program_tokens")
PAIR_KEYS = (
    *("actions", "example_index"),
    *("inpgrid_json", "inpgrid_tensor", "outgrid_json", "outgrid_tensor"),
)
_PART = 4096  # programs compiled at once: compiled programs are larger than their rows of tokens


def read_row(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read an example from any form it is stored in; return None if the row is something else.

    The forms: our columns, their JSON (see ``write_row``), the original's records, and a program
    alone, which can be given worlds. The example keeps all other columns of the row, but our
    columns win over columns of the same name.
    """
    program = row.get(PROGRAM)
    words = program.split(None, 3)[:3] if isinstance(program, str) else []
    if words != ["DEF", "run", "m("] or INPUTS not in row or OUTPUTS not in row:
        if "program_tokens" in row or "program_json" in row:
            return from_record(row) if len(set(RECORD_KEYS) & set(row)) > 1 else None
        if INPUTS in row or OUTPUTS in row or words[:2] != ["DEF", "run"]:
            return None
        return {**row, PROGRAM: to_tokens(parse_tokens(row[PROGRAM]))}
    worlds = {}
    for name in (INPUTS, OUTPUTS):
        value = row[name]
        if value is None:
            raise UnskewError(f"it has no {name}; leave it out")
        if isinstance(value, bytes):
            worlds[name] = w.from_bytes(value)
        elif isinstance(value, list) and value and all(map(_is_grid, value)):
            grids = enumerate(value, start=1)
            worlds[name] = np.stack([_grid(grid, f"{name} {number}") for number, grid in grids])
        else:
            return None
    check_pairs(worlds[INPUTS], worlds[OUTPUTS])
    columns = {name: packed.tobytes() for name, packed in worlds.items()}
    return {**row, PROGRAM: to_tokens(parse_tokens(row[PROGRAM])), **columns}


def _is_grid(value: Any) -> bool:
    return isinstance(value, Mapping) and "hero" in value


def are_examples(batch: Batch) -> bool:
    """Return whether every row of a table is an example in our columns.

    The table may have other columns. ``read_row`` finds the same, but takes forty times as long.
    """
    try:
        programs = program_rows(batch)
        pairs = np.array_equal(world_numbers(batch, INPUTS), world_numbers(batch, OUTPUTS))
        worlds = [all_worlds(batch, name) for name in (INPUTS, OUTPUTS)]
    except UnskewError:
        return False
    parts = (programs[start : start + _PART] for start in range(0, len(batch), _PART))
    return (
        pairs
        and not any(compile_programs(part).status.any() for part in parts)
        and all(w.are_worlds(packed).all() for packed in worlds)
    )


def write_row(example: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example as plain JSON: worlds become the original's JSON of grids."""
    row = dict(example)
    for name in (INPUTS, OUTPUTS):
        if name in row:
            row[name] = [w.to_json(world) for world in w.from_bytes(row[name])]
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
    pairs = []
    for number, (before, after) in enumerate(zip(*example_pairs(example), strict=True)):
        actions = _replayed(program, before, after, f"example {number}")
        grids = [form(world) for world in (before, after) for form in (w.to_json, tensor_text)]
        pairs.append(dict(zip(PAIR_KEYS, (actions, number, *grids), strict=True)))
    values = (pairs, guid, program_json(program), t.to_texts(program))
    return dict(zip(RECORD_KEYS, values, strict=True))


def numbered_record(example: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return an example as a record whose guid is a hash of it and of its number in the file."""
    parts = (str(number).encode(), example[PROGRAM].encode(), example[INPUTS], example[OUTPUTS])
    return to_record(example, hashlib.blake2b(b" ".join(parts), digest_size=8).hexdigest())


def tensor_text(world: World) -> str:
    """Write a world's tensor as the dataset does: `index:1.0` of each cell that is one."""
    return " ".join(f"{index}:1.0" for index in w.tensor_ones(world))


def program_json(program: Program) -> dict[str, Any]:
    """Return a program in the dataset's JSON."""
    return {"run": _block(t.to_texts(program), 3)[0]}


def _block(texts: Sequence[str], at: int) -> tuple[list[dict[str, Any]], int]:
    """Read statements up to the closing bracket; return them and the place after it."""
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
    """Read a condition after its bracket; return it and the place after the closing one."""
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
    """Read a grid that the record has twice."""
    world = _grid(grid, where)
    if tensor != tensor_text(world) and _read_tensor(tensor, where) != set(w.tensor_ones(world)):
        raise UnskewError(f"{where}: its JSON and its tensor are two worlds; keep one")
    return world


def _grid(grid: Any, where: str) -> World:
    if not isinstance(grid, Mapping):
        raise UnskewError(f"{where} is {type(grid).__name__}; give the JSON of a grid")
    _need(grid, ("crashed",), where)
    try:
        return w.from_json(grid)
    except UnskewError as error:
        raise UnskewError(f"{where}: {error}") from error


def _read_tensor(text: Any, where: str) -> set[int]:
    """Return the cells of a sparse tensor that are one, in any order."""
    try:
        entries = [entry.split(":") for entry in text.split()]
        values = {int(index): float(value) for index, value in entries}
    except (AttributeError, ValueError) as error:
        raise UnskewError(f"{where}: its tensor is no text of index:1.0 …; write it so") from error
    cells = range(int(np.prod(w.TENSOR_SHAPE)))
    if not set(values.values()) <= {0.0, 1.0} or not all(index in cells for index in values):
        raise UnskewError(
            f"{where}: its tensor holds more than zeros and ones of a {w.TENSOR_SHAPE} tensor"
        )
    return {index for index, value in values.items() if value}


def _replayed(program: Program, before: World, after: World, where: str) -> list[str]:
    """Return the actions that lead from one world to the other."""
    actions, world, status = executed(program, before)
    if status != Status.OK:
        raise UnskewError(
            f"{where}: the program does not end normally on its input ({status.name}); leave it out"
        )
    if not np.array_equal(world, after):
        raise UnskewError(f"{where}: the program does not make its output of its input")
    return actions


def _need(data: Mapping[str, Any], keys: Sequence[str], what: str) -> None:
    for key in keys:
        if key not in data:
            raise UnskewError(f"{what} has no {key!r}; it needs {', '.join(keys)}")
