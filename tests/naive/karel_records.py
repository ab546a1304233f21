"""Naive twin of the original dataset's records: a program and its worlds to a record."""

from collections.abc import Sequence
from typing import Any

from tests.naive import karel
from tests.naive.karel import Block, Condition, Statement, World, parse, run


def record(tokens: Sequence[str], worlds: Sequence[World], guid: str) -> dict[str, Any]:
    """The record of a program and its input worlds, keys in the original's order."""
    examples = []
    for index, before in enumerate(worlds):
        result = run(parse(tokens), before)
        examples.append(
            {
                "actions": result.actions,
                "example_index": index,
                "inpgrid_json": karel.to_json(before),
                "inpgrid_tensor": tensor_text(before),
                "outgrid_json": karel.to_json(result.world),
                "outgrid_tensor": tensor_text(result.world),
            }
        )
    return {
        "examples": examples,
        "guid": guid,
        "program_json": program_tree(tokens),
        "program_tokens": list(tokens),
    }


def tensor_text(world: World) -> str:
    """The tensor as text: Karel, markers, walls, then the frame's bottom, top, left and right."""
    row, col, direction = world.hero
    places = [(karel.DIRECTIONS.index(direction), row + 1, col + 1)]
    cells = [(r, c) for r in reversed(range(world.rows)) for c in range(world.cols)]
    places += [(5 + world.markers[r, c], r + 1, c + 1) for r, c in cells if (r, c) in world.markers]
    places += [(4, r + 1, c + 1) for r, c in cells if (r, c) in world.walls]
    places += [(5, r, c) for r in (0, world.rows + 1) for c in range(world.cols + 2)]
    places += [(5, r, c) for c in (0, world.cols + 1) for r in range(1, world.rows + 1)]
    return " ".join(f"{(channel * 18 + r) * 18 + c}:1.0" for channel, r, c in places)


def program_tree(tokens: Sequence[str]) -> dict[str, Any]:
    """The program as JSON."""
    return {"run": _block(parse(tokens).body)}


def _block(block: Block) -> list[dict[str, Any]]:
    return [_statement(statement) for statement in block]


def _statement(statement: Statement) -> dict[str, Any]:
    match statement:
        case karel.Action(name=name):
            return {"type": name}
        case karel.Repeat(times=times, body=body):
            return {"body": _block(body), "times": times, "type": "repeat"}
        case karel.IfElse(condition=condition, body=body, otherwise=otherwise):
            return {
                "condition": _condition(condition),
                "elseBody": _block(otherwise),
                "ifBody": _block(body),
                "type": "ifElse",
            }
        case karel.If(condition=condition, body=body):
            kind = "if"
        case karel.While(condition=condition, body=body):
            kind = "while"
    return {"body": _block(body), "condition": _condition(condition), "type": kind}


def _condition(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, karel.Not):
        return {"condition": _condition(condition.inner), "type": "not"}
    return {"type": condition.name}
