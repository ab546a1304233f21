"""Naive twin of the Karel language: parsing, worlds, runs, random draws for tests.

A program is a list of the dataset's tokens; `parse` turns it into the small dataclasses below.
Parsing and running recurse once or twice a nesting level, so they are for programs of at most a
few hundred levels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

ACTIONS = ("move", "turnLeft", "turnRight", "pickMarker", "putMarker")
CONDITIONS = (
    "markersPresent",
    "noMarkersPresent",
    "leftIsClear",
    "rightIsClear",
    "frontIsClear",
)
COUNTS = {f"R={n}": n for n in range(20)}
DIRECTIONS = ("north", "east", "south", "west")  # clockwise
STEPS = {"north": (1, 0), "east": (0, 1), "south": (-1, 0), "west": (0, -1)}
STATUSES = ("ok", "wall", "no_marker", "full", "ticks")
FULL = 9
SMALLEST, LARGEST = 2, 16


# Programs.


@dataclass(frozen=True)
class Sensor:
    """One of the five conditions."""

    name: str


@dataclass(frozen=True)
class Not:
    """A condition negated."""

    inner: "Condition"


Condition: TypeAlias = Sensor | Not


@dataclass(frozen=True)
class Action:
    """One of the five actions. `at`: the index of a statement's first token in the program."""

    at: int
    name: str


@dataclass(frozen=True)
class If:
    """IF. `test`: this test's number among the program's tests, in the order of the keywords."""

    at: int
    test: int
    condition: Condition
    body: "Block"


@dataclass(frozen=True)
class IfElse:
    """IFELSE."""

    at: int
    test: int
    condition: Condition
    body: "Block"
    otherwise: "Block"


@dataclass(frozen=True)
class While:
    """WHILE."""

    at: int
    test: int
    condition: Condition
    body: "Block"


@dataclass(frozen=True)
class Repeat:
    """REPEAT."""

    at: int
    times: int
    body: "Block"


Statement: TypeAlias = Action | If | IfElse | While | Repeat
Block: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True)
class Program:
    """A whole program."""

    body: Block


class _Parser:
    """Plain recursive descent: one method a rule of the grammar."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = list(tokens)
        self.at = 0
        self.tests = 0

    def peek(self) -> str:
        """The next token, not taken; at the end a string that is no token."""
        return self.tokens[self.at] if self.at < len(self.tokens) else "the end"

    def take(self, *expected: str) -> None:
        """Take these tokens, which must be next."""
        for token in expected:
            if self.peek() != token:
                raise ValueError(f"token {self.at}: {self.peek()!r} where {token!r} must stand")
            self.at += 1

    def next_test(self) -> int:
        """The number of the test whose keyword is being taken."""
        self.tests += 1
        return self.tests - 1

    def program(self) -> Program:
        """DEF run m( S+ m), and nothing after it."""
        self.take("DEF", "run")
        body = self.block("m")
        if self.at != len(self.tokens):
            raise ValueError(f"token {self.at}: {self.peek()!r} after the end of the program")
        return Program(body)

    def block(self, letter: str) -> Block:
        """S+ between letter( and letter)."""
        self.take(f"{letter}(")
        statements = [self.statement()]
        while self.peek() != f"{letter})":
            statements.append(self.statement())
        self.take(f"{letter})")
        return tuple(statements)

    def statement(self) -> Statement:
        """S: an action, IF, IFELSE, WHILE or REPEAT."""
        at = self.at
        word = self.peek()
        if word in ACTIONS:
            self.take(word)
            return Action(at, word)
        if word == "IF":
            self.take("IF")
            test = self.next_test()
            condition = self.condition_in_brackets()
            return If(at, test, condition, self.block("i"))
        if word == "IFELSE":
            self.take("IFELSE")
            test = self.next_test()
            condition = self.condition_in_brackets()
            body = self.block("i")
            self.take("ELSE")
            return IfElse(at, test, condition, body, self.block("e"))
        if word == "WHILE":
            self.take("WHILE")
            test = self.next_test()
            condition = self.condition_in_brackets()
            return While(at, test, condition, self.block("w"))
        if word == "REPEAT":
            self.take("REPEAT")
            count = self.peek()
            if count not in COUNTS:
                raise ValueError(f"token {self.at}: {count!r} where R=0 to R=19 must stand")
            self.take(count)
            return Repeat(at, COUNTS[count], self.block("r"))
        raise ValueError(f"token {at}: {word!r} where a statement must stand")

    def condition_in_brackets(self) -> Condition:
        """C between c( and c)."""
        self.take("c(")
        condition = self.condition()
        self.take("c)")
        return condition

    def condition(self) -> Condition:
        """C: a condition or not c( C c)."""
        word = self.peek()
        if word in CONDITIONS:
            self.take(word)
            return Sensor(word)
        if word == "not":
            self.take("not")
            return Not(self.condition_in_brackets())
        raise ValueError(f"token {self.at}: {word!r} where a condition must stand")


def parse(tokens: Sequence[str]) -> Program:
    """The program that the tokens spell; ValueError where they are not exactly one program."""
    return _Parser(tokens).program()


# Worlds.


@dataclass
class World:
    """A grid: row 0 is the bottom row, north increases the row; a cell is (row, column).

    `markers` holds only cells that have markers, so that equal worlds compare equal.
    """

    rows: int
    cols: int
    hero: tuple[int, int, str]
    walls: set[tuple[int, int]] = field(default_factory=set)
    markers: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what is not a world."""
        row, col, direction = self.hero
        if not (SMALLEST <= self.rows <= LARGEST and SMALLEST <= self.cols <= LARGEST):
            raise ValueError(f"a grid of {self.rows} by {self.cols}")
        if direction not in DIRECTIONS:
            raise ValueError(f"no direction: {direction!r}")
        if not all(self.inside(cell) for cell in [(row, col), *self.walls, *self.markers]):
            raise ValueError("something stands outside the grid")
        if (row, col) in self.walls:
            raise ValueError("the hero stands in a wall")
        if any(cell in self.walls for cell in self.markers):
            raise ValueError("a marker lies in a wall")
        if not all(1 <= count <= FULL for count in self.markers.values()):
            raise ValueError("a marker count is not 1 to 9")

    def inside(self, cell: tuple[int, int]) -> bool:
        """Whether the cell is inside the grid."""
        return 0 <= cell[0] < self.rows and 0 <= cell[1] < self.cols

    def clear(self, cell: tuple[int, int]) -> bool:
        """Whether the hero could stand in the cell."""
        return self.inside(cell) and cell not in self.walls

    def copy(self) -> "World":
        """A world of its own, equal to this one."""
        return World(self.rows, self.cols, self.hero, set(self.walls), dict(self.markers))


def from_json(grid: dict[str, Any]) -> World:
    """The world of a grid in the dataset's JSON; a crashed grid is refused."""
    if grid["crashed"]:
        raise ValueError("the grid is one of a crash")
    row, col, direction = grid["hero"].split(":")
    walls = set()
    for entry in grid["blocked"].split():
        wall_row, wall_col = entry.split(":")
        walls.add((int(wall_row), int(wall_col)))
    markers = {}
    for entry in grid["markers"].split():
        marker_row, marker_col, count = entry.split(":")
        markers[int(marker_row), int(marker_col)] = int(count)
    return World(grid["rows"], grid["cols"], (int(row), int(col), direction), walls, markers)


def to_json(world: World) -> dict[str, Any]:
    """The grid in the dataset's JSON: cells from the top row down, each row from the left."""
    walls = sorted(world.walls, key=_reading_order)
    marked = sorted(world.markers, key=_reading_order)
    row, col, direction = world.hero
    return {
        "blocked": " ".join(f"{r}:{c}" for r, c in walls),
        "cols": world.cols,
        "crashed": False,
        "hero": f"{row}:{col}:{direction}",
        "markers": " ".join(f"{r}:{c}:{world.markers[r, c]}" for r, c in marked),
        "rows": world.rows,
    }


def _reading_order(cell: tuple[int, int]) -> tuple[int, int]:
    return (-cell[0], cell[1])


def to_tensor(world: World) -> np.ndarray:
    """The (16, 18, 18) tensor of zeros and ones, a cell (r, c) at [:, r + 1, c + 1].

    Channels 0-3: the hero facing north, east, south, west; 4: walls; 5: the outline of the frame
    around the grid; 5 + n: n markers.
    """
    tensor = np.zeros((16, 18, 18), dtype=np.uint8)
    row, col, direction = world.hero
    tensor[DIRECTIONS.index(direction), row + 1, col + 1] = 1
    for r, c in world.walls:
        tensor[4, r + 1, c + 1] = 1
    for r in range(world.rows + 2):
        for c in range(world.cols + 2):
            if r in (0, world.rows + 1) or c in (0, world.cols + 1):
                tensor[5, r, c] = 1
    for (r, c), count in world.markers.items():
        tensor[5 + count, r + 1, c + 1] = 1
    return tensor


# Runs.


@dataclass
class Run:
    """What a run did.

    world: the final world; after a crash or time-out, the world before the thing that failed.
    status: "ok", "wall", "no_marker", "full" or "ticks".
    ticks: the ticks used; a crashing action's tick is among them.
    actions: the executed actions, without the crashing one.
    branches: pairs (number of the test, value of its whole condition).
    ran: token indices of the statements that ran: executed actions, control statements reached
        with a tick to spare, and REPEAT R=0 reached at all. Not the crashing action.
    failed_at: the token index of the statement that crashed or found no tick left, else None.
    """

    world: World
    status: str
    ticks: int
    actions: list[str]
    branches: set[tuple[int, bool]]
    ran: set[int]
    failed_at: int | None

    def started(self) -> set[int]:
        """Token indices of the statements that ran, the crashing one included."""
        crashed = self.status in ("wall", "no_marker", "full")
        return self.ran | {self.failed_at} if crashed else set(self.ran)


class _Stop(Exception):  # noqa: N818
    """The run ends before the end of the program."""

    def __init__(self, status: str, at: int) -> None:
        super().__init__(status, at)
        self.status = status
        self.at = at


class _Runner:
    """A run under way."""

    def __init__(self, world: World, max_ticks: int) -> None:
        self.world = world.copy()
        self.max_ticks = max_ticks
        self.ticks = 0
        self.actions: list[str] = []
        self.branches: set[tuple[int, bool]] = set()
        self.ran: set[int] = set()

    def tick(self, at: int) -> None:
        """Pay one tick for the statement at this token, or end the run."""
        if self.ticks >= self.max_ticks:
            raise _Stop("ticks", at)
        self.ticks += 1

    def block(self, block: Block) -> None:
        """Run the statements one after another."""
        for statement in block:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """Run one statement."""
        match statement:
            case Action():
                self.tick(statement.at)
                self.act(statement)
                self.actions.append(statement.name)
                self.ran.add(statement.at)
            case If():
                if self.test(statement):
                    self.block(statement.body)
            case IfElse():
                if self.test(statement):
                    self.block(statement.body)
                else:
                    self.block(statement.otherwise)
            case While():
                while self.test(statement):
                    self.block(statement.body)
            case Repeat():
                if statement.times == 0:
                    self.ran.add(statement.at)
                for _ in range(statement.times):
                    self.tick(statement.at)
                    self.ran.add(statement.at)
                    self.block(statement.body)

    def test(self, statement: If | IfElse | While) -> bool:
        """Test the condition of a statement once: a tick, and a branch taken."""
        self.tick(statement.at)
        self.ran.add(statement.at)
        outcome = self.value(statement.condition)
        self.branches.add((statement.test, outcome))
        return outcome

    def value(self, condition: Condition) -> bool:
        """The value of a condition here and now."""
        if isinstance(condition, Not):
            return not self.value(condition.inner)
        row, col, _ = self.world.hero
        match condition.name:
            case "markersPresent":
                return self.world.markers.get((row, col), 0) > 0
            case "noMarkersPresent":
                return self.world.markers.get((row, col), 0) == 0
            case "frontIsClear":
                return self.world.clear(self.neighbour(0))
            case "rightIsClear":
                return self.world.clear(self.neighbour(1))
            case "leftIsClear":
                return self.world.clear(self.neighbour(-1))
        raise ValueError(f"no condition: {condition.name!r}")

    def turned(self, quarters: int) -> str:
        """The hero's direction after so many quarter turns to the right."""
        return DIRECTIONS[(DIRECTIONS.index(self.world.hero[2]) + quarters) % 4]

    def neighbour(self, quarters: int) -> tuple[int, int]:
        """The cell next to the hero, so many quarter turns to the right of the front."""
        row, col, _ = self.world.hero
        up, right = STEPS[self.turned(quarters)]
        return (row + up, col + right)

    def act(self, action: Action) -> None:
        """Do the action, or end the run with the world untouched."""
        row, col, direction = self.world.hero
        markers = self.world.markers
        count = markers.get((row, col), 0)
        match action.name:
            case "move":
                front = self.neighbour(0)
                if not self.world.clear(front):
                    raise _Stop("wall", action.at)
                self.world.hero = (*front, direction)
            case "turnLeft":
                self.world.hero = (row, col, self.turned(-1))
            case "turnRight":
                self.world.hero = (row, col, self.turned(1))
            case "pickMarker":
                if count == 0:
                    raise _Stop("no_marker", action.at)
                if count == 1:
                    del markers[row, col]
                else:
                    markers[row, col] = count - 1
            case "putMarker":
                if count >= FULL:
                    raise _Stop("full", action.at)
                markers[row, col] = count + 1
            case _:
                raise ValueError(f"no action: {action.name!r}")


def run(program: Program, world: World, max_ticks: int = 200) -> Run:
    """Run a program on a world, which stays as it is."""
    runner = _Runner(world, max_ticks)
    status, failed_at = "ok", None
    try:
        runner.block(program.body)
    except _Stop as stop:
        status, failed_at = stop.status, stop.at
    return Run(
        runner.world,
        status,
        runner.ticks,
        runner.actions,
        runner.branches,
        runner.ran,
        failed_at,
    )


# Random draws for tests. Any program and any world can come up; nothing is said about how often.


def random_program(rng: np.random.Generator, max_tokens: int = 60) -> list[str]:
    """The tokens of a random program of at most max_tokens tokens (at least 5)."""
    limit = int(rng.integers(5, max_tokens + 1))
    return ["DEF", "run", "m(", *_Draw(rng).block(limit - 4), "m)"]


class _Draw:
    """Draws the parts of one program; every part has at most as many tokens as it is given."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        # Each program likes some actions better, so that not every one crashes at once.
        self.weights = 0.9 * rng.dirichlet([0.6] * len(ACTIONS)) + 0.1 / len(ACTIONS)
        self.control = rng.uniform(0.1, 0.9)

    def block(self, room: int) -> list[str]:
        """S+ in 1 to room tokens."""
        more = self.rng.choice([0.5, 0.8, 0.97])
        tokens = self.statement(room)
        while len(tokens) < room and self.rng.random() < more:
            tokens += self.statement(room - len(tokens))
        return tokens

    def statement(self, room: int) -> list[str]:
        """S in 1 to room tokens."""
        # The fewest tokens that each kind needs.
        needs = {"REPEAT": 5, "IF": 7, "WHILE": 7, "IFELSE": 11}
        kinds = [kind for kind, need in needs.items() if need <= room]
        if not kinds or self.rng.random() > self.control:
            return [ACTIONS[int(self.rng.choice(len(ACTIONS), p=self.weights))]]
        kind = kinds[int(self.rng.integers(len(kinds)))]
        if kind == "REPEAT":
            count = f"R={int(self.rng.integers(20))}"
            return ["REPEAT", count, "r(", *self.block(self.part(room - 4)), "r)"]
        spare = room - needs[kind]
        condition = self.condition(spare)
        spare -= len(condition) - 1
        head = [kind, "c(", *condition, "c)"]
        if kind == "WHILE":
            return [*head, "w(", *self.block(self.part(1 + spare)), "w)"]
        if kind == "IF":
            return [*head, "i(", *self.block(self.part(1 + spare)), "i)"]
        then = self.block(self.part(1 + spare))
        spare -= len(then) - 1
        otherwise = self.block(self.part(1 + spare))
        return [*head, "i(", *then, "i)", "ELSE", "e(", *otherwise, "e)"]

    def part(self, room: int) -> int:
        """All of the room, or some of it."""
        return room if self.rng.random() < 0.5 else int(self.rng.integers(1, room + 1))

    def condition(self, spare: int) -> list[str]:
        """C in 1 to 1 + spare tokens."""
        if spare >= 3 and self.rng.random() < 0.35:
            return ["not", "c(", *self.condition(spare - 3), "c)"]
        return [CONDITIONS[int(self.rng.integers(len(CONDITIONS)))]]


def random_world(rng: np.random.Generator) -> World:
    """A random world, from no walls and no markers to full of them, with many nines."""
    rows, cols = int(rng.integers(2, 17)), int(rng.integers(2, 17))
    hero_cell = (int(rng.integers(rows)), int(rng.integers(cols)))
    direction = DIRECTIONS[int(rng.integers(4))]
    wall_ratio = float(rng.choice([0.0, 0.1, rng.random()]))
    marker_ratio = float(rng.choice([0.0, 0.1, rng.random(), 1.0], p=[0.1, 0.2, 0.5, 0.2]))
    nine_ratio = float(rng.choice([0.0, 0.5, 1.0], p=[0.5, 0.3, 0.2]))
    walls: set[tuple[int, int]] = set()
    markers: dict[tuple[int, int], int] = {}
    for row in range(rows):
        for col in range(cols):
            if (row, col) != hero_cell and rng.random() < wall_ratio:
                walls.add((row, col))
            elif rng.random() < marker_ratio:
                nine = rng.random() < nine_ratio
                markers[row, col] = FULL if nine else int(rng.integers(1, FULL + 1))
    return World(rows, cols, (*hero_cell, direction), walls, markers)
