"""Naive twin of Karel's salient variables: a program's tokens and its input worlds to a value.

Programs are parsed by the twin of the language and walked; nothing here is shared with the source.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from tests.naive.karel import Action, Block, If, IfElse, Repeat, Statement, While, World, parse

Value: TypeAlias = int | float | str
Function: TypeAlias = Callable[[Sequence[str], Sequence[World]], Value]

# The names of the constructs, in the order in which they are listed.
CONSTRUCTS: dict[str, type] = {"repeat": Repeat, "while": While, "ifelse": IfElse, "if": If}
PAIRS = [f"{inner}-in-{outer}" for outer in CONSTRUCTS for inner in CONSTRUCTS]


# Walking a program.


def _inner(statement: Statement) -> Block:
    """The statements directly inside a statement, in either branch."""
    match statement:
        case Action():
            return ()
        case IfElse(body=body, otherwise=otherwise):
            return body + otherwise
    return statement.body


def _all(block: Block) -> Iterator[Statement]:
    """Every statement of a block, at whatever depth."""
    for statement in block:
        yield statement
        yield from _all(_inner(statement))


def _statements(tokens: Sequence[str]) -> list[Statement]:
    """Every statement of a program."""
    return list(_all(parse(tokens).body))


def _constructs(tokens: Sequence[str]) -> list[Any]:
    """Every statement of a program that is no action."""
    return [statement for statement in _statements(tokens) if not isinstance(statement, Action)]


def _depth(block: Block) -> int:
    """How many constructs stand around the innermost statement."""
    return max(
        (1 + _depth(_inner(statement)) for statement in block if not isinstance(statement, Action)),
        default=0,
    )


def _name(construct: Statement) -> str:
    """The name of a construct."""
    return next(name for name, kind in CONSTRUCTS.items() if type(construct) is kind)


def _pairs(tokens: Sequence[str]) -> set[str]:
    """What stands directly inside what, as "inner-in-outer"."""
    return {
        f"{_name(inner)}-in-{_name(outer)}"
        for outer in _constructs(tokens)
        for inner in _inner(outer)
        if not isinstance(inner, Action)
    }


# Counts and shares, before a count is cut off at its limit.


def tenths(part: int, whole: int) -> float:
    """The least of 0, 0.1, …, 1 that is not below part / whole, found in whole numbers."""
    return next(n / 10 for n in range(11) if 10 * part <= n * whole)


def count_actions(tokens: Sequence[str], *names: str) -> int:
    """How many actions a program has, of these names or of any."""
    actions = [s for s in _statements(tokens) if isinstance(s, Action)]
    return sum(1 for action in actions if not names or action.name in names)


# By the names of the variables: the number as it is, and the largest that is told apart.
COUNTS: dict[str, tuple[Callable[[Sequence[str]], int], int]] = {
    "size": (len, 65),
    "actions": (count_actions, 20),
    "moves": (lambda tokens: count_actions(tokens, "move"), 10),
    "marker_actions": (lambda tokens: count_actions(tokens, "pickMarker", "putMarker"), 10),
    "control_flow": (lambda tokens: len(_constructs(tokens)), 7),
    "nesting": (lambda tokens: _depth(parse(tokens).body), 5),
}


# The variables.


def _at_most(count: Callable[[Sequence[str]], int], most: int) -> Function:
    """A count of a program, cut off."""
    return lambda tokens, worlds: min(count(tokens), most)


def _has(pair: str) -> Function:
    """Whether a program has a pair of constructs, 0 or 1."""
    return lambda tokens, worlds: int(pair in _pairs(tokens))


def _of_first(measure: Callable[[World], Value]) -> Function:
    """A measure of the first world."""
    return lambda tokens, worlds: measure(worlds[0])


def _control_share(tokens: Sequence[str], worlds: Sequence[World]) -> float:
    """The share of constructs among all statements."""
    return tenths(len(_constructs(tokens)), len(_statements(tokens)))


def _inside(tokens: Sequence[str], worlds: Sequence[World]) -> str:
    """The pairs that a program has, in their order."""
    pairs = _pairs(tokens)
    return " ".join(pair for pair in PAIRS if pair in pairs) or "none"


def _marker_count(world: World) -> int:
    """The markers of the first cell that has any: bottom row first, each row from the left."""
    for row in range(world.rows):
        for col in range(world.cols):
            if (row, col) in world.markers:
                return world.markers[row, col]
    return 0


def _cells(worlds: Sequence[World]) -> int:
    """The cells of all worlds."""
    return sum(world.rows * world.cols for world in worlds)


def _mean_size(tokens: Sequence[str], worlds: Sequence[World]) -> int:
    """The least of 16, 32, …, 256 that is not below the mean number of cells."""
    return next(n for n in range(16, 257, 16) if _cells(worlds) <= n * len(worlds))


def _mean_count(tokens: Sequence[str], worlds: Sequence[World]) -> int:
    """The mean number of markers of the cells that have any, a half rounded up."""
    counts = [count for world in worlds for count in world.markers.values()]
    return (
        next(n for n in range(10) if 2 * sum(counts) < (2 * n + 1) * len(counts)) if counts else 0
    )


VARIABLES: dict[str, Function] = {
    **{name: _at_most(count, most) for name, (count, most) in COUNTS.items()},
    "control_share": _control_share,
    "inside": _inside,
    **{pair: _has(pair) for pair in PAIRS},
    "height": _of_first(lambda world: world.rows),
    "width": _of_first(lambda world: world.cols),
    "grid_size": _of_first(lambda world: world.rows * world.cols),
    "marker_ratio": _of_first(lambda world: tenths(len(world.markers), world.rows * world.cols)),
    "wall_ratio": _of_first(lambda world: tenths(len(world.walls), world.rows * world.cols)),
    "marker_count": _of_first(_marker_count),
    "all_grid_size": _mean_size,
    "all_marker_ratio": lambda tokens, worlds: tenths(
        sum(len(world.markers) for world in worlds), _cells(worlds)
    ),
    "all_wall_ratio": lambda tokens, worlds: tenths(
        sum(len(world.walls) for world in worlds), _cells(worlds)
    ),
    "all_marker_count": _mean_count,
    "grids": lambda tokens, worlds: len(worlds),
}
