"""Slow checks of Karel programs against the dataset: its rules, its histograms, their distance.

The rules and the numbers are those of the facts file's section on the 2,500 test programs.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from tests.naive.karel import (
    Action,
    Block,
    Condition,
    If,
    IfElse,
    Not,
    Program,
    Repeat,
    Sensor,
    Statement,
    While,
    parse,
)

Construct: TypeAlias = If | IfElse | While | Repeat
Test: TypeAlias = If | IfElse | While

KEYWORDS: dict[type, str] = {If: "IF", IfElse: "IFELSE", While: "WHILE", Repeat: "REPEAT"}


# Walking a program.


def _parts(statement: Statement) -> list[tuple[str, Block]]:
    """The blocks of a statement, each with the name of its kind."""
    match statement:
        case If():
            return [("if", statement.body)]
        case IfElse():
            return [("then", statement.body), ("else", statement.otherwise)]
        case While():
            return [("while", statement.body)]
        case Repeat():
            return [("repeat", statement.body)]
    return []


def _blocks(program: Program) -> Iterator[tuple[int, str, Block]]:
    """Every block: its depth (0 for the outermost), the name of its kind, its statements."""
    waiting = [(0, "run", program.body)]
    while waiting:
        depth, kind, block = waiting.pop()
        yield depth, kind, block
        for statement in block:
            waiting += [(depth + 1, *part) for part in _parts(statement)]


def _statements(program: Program) -> Iterator[Statement]:
    """Every statement, at whatever depth."""
    for _, _, block in _blocks(program):
        yield from block


def _is(statement: Statement, *names: str) -> bool:
    """Whether a statement is one of these actions."""
    return isinstance(statement, Action) and statement.name in names


def _literal(condition: Condition) -> tuple[str, bool]:
    """A condition as a plain sensor and the value that it must have."""
    if isinstance(condition, Not):
        sensor, value = _literal(condition.inner)
        return sensor, not value
    if condition.name == "noMarkersPresent":
        return "markersPresent", False
    return condition.name, True


def _sensor(statement: Statement) -> str | None:
    """The sensor that a test asks, negated or not; None for an action or REPEAT."""
    return _literal(statement.condition)[0] if isinstance(statement, Test) else None


# What is known at a place of a program, whatever the world.

# Whether front, left, back, right are clear and a marker is there; None: not known.
State: TypeAlias = tuple[bool | None, ...]
PLACES = {"frontIsClear": 0, "leftIsClear": 1, "rightIsClear": 3, "markersPresent": 4}
NOTHING: State = (None,) * 5


def _after(state: State, action: str) -> State:
    """The state after an action that did not crash."""
    front, left, back, right, marker = state
    match action:
        case "move":
            return (None, None, True, None, None)
        case "turnLeft":
            return (left, back, right, front, marker)
        case "turnRight":
            return (right, front, left, back, marker)
        case "putMarker":
            return (front, left, back, right, True)
    return (front, left, back, right, None)


def _value(condition: Condition, state: State) -> bool | None:
    """The value of a condition in a state, None where the state does not say."""
    sensor, wanted = _literal(condition)
    known = state[PLACES[sensor]]
    return None if known is None else known == wanted


def _assume(condition: Condition, outcome: bool, states: set[State]) -> set[State]:
    """The states in which a test has this outcome, or can have, with what it then tells.

    Where it can in none, all of them: a branch that is never taken is read as if it were.
    """
    sensor, wanted = _literal(condition)
    place = PLACES[sensor]
    told = wanted == outcome
    open_to_it = {state for state in states if state[place] in (None, told)} or states
    return {(*state[:place], told, *state[place + 1 :]) for state in open_to_it}


class _Knowledge:
    """What is known of the world at every statement, on all the ways that lead to it.

    found: for the token index of a statement and a question, the answers on those ways (True,
    False, or None for not known):
        "safe": at a move or pickMarker, the front is clear or a marker is there
        "first n": at one that begins the REPEAT at token n, the same in the first round
        "way n": the same after the nth way out of an IF or IFELSE before it
        "test": the outcome of an IF or IFELSE
        "enter", "again": the outcome of a WHILE when it is reached, and after its body
    """

    def __init__(self, program: Program) -> None:
        self.found: dict[tuple[int, str], set[bool | None]] = {}
        self.block(program.body, {NOTHING})

    def note(self, at: int, question: str, answers: Iterable[bool | None]) -> None:
        """Add answers to those found."""
        self.found.setdefault((at, question), set()).update(answers)

    def where(self, word: str, answer: bool) -> list[int]:
        """The tokens at which this is the one answer to a question that begins with the word."""
        tokens = {
            at
            for (at, question), answers in self.found.items()
            if question.startswith(word) and answers == {answer}
        }
        return sorted(tokens)

    def block(self, block: Block, states: set[State]) -> set[State]:
        """The states after a block."""
        ways: list[set[State]] = []
        for statement in block:
            if isinstance(statement, Action):
                for number, way in enumerate(ways):
                    self.ask(statement, f"way {number}", way)
                ways = [] if statement.name == "move" else [_act(statement, way) for way in ways]
                self.ask(statement, "safe", states)
                states = _act(statement, states)
            else:
                outs = self.construct(statement, states)
                ways = outs if isinstance(statement, If | IfElse) else []
                states = set().union(*outs)
        return states

    def ask(self, action: Action, question: str, states: set[State]) -> None:
        """Note whether an action is safe."""
        if action.name in ("move", "pickMarker"):
            self.note(action.at, question, (_safe(action, state) for state in states))

    def construct(self, statement: Construct, states: set[State]) -> list[set[State]]:
        """The states after a construct, one set for each way out."""
        if isinstance(statement, Repeat):
            self.first_of_repeat(statement, states)
            if statement.times == 0:
                self.block(statement.body, states)
                return [states]
            reached = states
            while True:
                ends = self.block(statement.body, reached)
                if ends <= reached:
                    return [ends]
                reached = reached | ends
        condition = statement.condition
        if isinstance(statement, While):
            self.note(statement.at, "enter", (_value(condition, state) for state in states))
            reached = states
            while True:
                ends = self.block(statement.body, _assume(condition, True, reached))
                self.note(statement.at, "again", (_value(condition, state) for state in ends))
                if ends <= reached:
                    return [_assume(condition, False, reached)]
                reached = reached | ends
        self.note(statement.at, "test", (_value(condition, state) for state in states))
        then = self.block(statement.body, _assume(condition, True, states))
        skipped = _assume(condition, False, states)
        if isinstance(statement, If):
            return [then, skipped]
        return [then, self.block(statement.otherwise, skipped)]

    def first_of_repeat(self, statement: Repeat, states: set[State]) -> None:
        """Ask an action that begins a REPEAT in its first round, too."""
        first: Statement = statement
        while isinstance(first, Repeat):
            first = first.body[0]
        if isinstance(first, Action):
            self.ask(first, f"first {statement.at}", states)


def _safe(action: Action, state: State) -> bool | None:
    """Whether a move or pickMarker does not crash."""
    return state[PLACES["frontIsClear" if action.name == "move" else "markersPresent"]]


def _act(action: Action, states: set[State]) -> set[State]:
    """The states after an action; those in which it crashes go, unless no other is left."""
    if action.name in ("move", "pickMarker"):
        states = {state for state in states if _safe(action, state) is not False} or states
    return {_after(state, action.name) for state in states}


# The rules.

NEVER_ADJACENT = {
    ("turnLeft", "turnRight"),
    ("turnRight", "turnLeft"),
    ("turnRight", "turnRight"),
    ("pickMarker", "putMarker"),
    ("putMarker", "pickMarker"),
    ("turnLeft", "pickMarker"),
    ("turnLeft", "putMarker"),
    ("turnRight", "pickMarker"),
    ("turnRight", "putMarker"),
}


def broken_rules(tokens: Sequence[str]) -> list[str]:
    """What breaks rules 1 to 8 of the facts file, each text with the rule's number before it.

    9 stands for the rest: `not` and REPEAT counts out of place, an empty block (nothing else is
    looked for in a program that has one). ValueError where the tokens are no program otherwise.
    """
    empty = [
        f"9: an empty block at token {at}"
        for at, (here, after) in enumerate(pairwise(tokens))
        if here in ("m(", "i(", "e(", "w(", "r(") and after == f"{here[0]})"
    ]
    if empty:
        return empty
    program = parse(tokens)
    rules = (_rule_1, _rule_2, _rule_3, _rule_4, _rule_5, _rule_6, _rule_7, _rule_8, _rule_9)
    broken = []
    for number, rule in enumerate(rules, 1):
        broken += [f"{number}: {text}" for text in rule(tokens, program)]
    return broken


def _rule_1(tokens: Sequence[str], program: Program) -> Iterator[str]:
    if "move" not in tokens:
        yield "no move"
    if "pickMarker" not in tokens and "putMarker" not in tokens:
        yield "no pickMarker or putMarker"


def _rule_2(tokens: Sequence[str], program: Program) -> Iterator[str]:
    for _, _, block in _blocks(program):
        for one, two in pairwise(block):
            if not isinstance(one, Action) or not isinstance(two, Action):
                continue
            if (one.name, two.name) in NEVER_ADJACENT:
                yield f"{one.name} {two.name} at token {one.at}"


def _rule_3(tokens: Sequence[str], program: Program) -> Iterator[str]:
    for _, _, block in _blocks(program):
        for one, two, three in zip(block, block[1:], block[2:], strict=False):
            if isinstance(one, Action) and _is(two, one.name) and _is(three, one.name):
                yield f"{one.name} three times at token {one.at}"


def _rule_4(tokens: Sequence[str], program: Program) -> Iterator[str]:
    knowledge = _Knowledge(program)
    for at in sorted({*knowledge.where("safe", False), *knowledge.where("first", False)}):
        if tokens[at] == "move":
            yield f"move where the front is known to be blocked, at token {at}"
        else:
            yield f"pickMarker where no marker is known to be, at token {at}"


def _rule_5(tokens: Sequence[str], program: Program) -> Iterator[str]:
    for _, _, block in _blocks(program):
        for one, two in pairwise(block):
            if not _is(one, "putMarker") or _sensor(two) != "markersPresent":
                continue
            if isinstance(two, If | IfElse):
                yield f"putMarker, then {KEYWORDS[type(two)]} on markers at token {two.at}"
            elif isinstance(two, While) and not _literal(two.condition)[1]:
                yield f"putMarker, then WHILE no markers at token {two.at}"


def _rule_6(tokens: Sequence[str], program: Program) -> Iterator[str]:
    for statement in _statements(program):
        if not isinstance(statement, Test):
            continue
        for kind, block in _parts(statement):
            first = block[0]
            if isinstance(first, If | IfElse) and _sensor(first) == _sensor(statement):
                yield f"the {kind} block begins with its own condition at token {first.at}"
    for _, _, block in _blocks(program):
        for one, two in pairwise(block):
            if not isinstance(one, While) or not isinstance(two, If | IfElse):
                continue
            if _sensor(one) == _sensor(two):
                yield f"WHILE, then {KEYWORDS[type(two)]} on its condition at token {two.at}"


def _rule_7(tokens: Sequence[str], program: Program) -> Iterator[str]:
    for statement in _statements(program):
        if not isinstance(statement, While):
            continue
        if len(statement.body) == 1 and isinstance(statement.body[0], If):
            yield f"the body of WHILE at token {statement.at} is a single IF"


def _rule_8(tokens: Sequence[str], program: Program) -> Iterator[str]:
    for statement in _statements(program):
        if not isinstance(statement, While):
            continue
        on_markers = _literal(statement.condition) == ("markersPresent", True)
        if on_markers and _ends_in_put(statement.body):
            yield f"the body of WHILE markersPresent at token {statement.at} ends in putMarker"


def _ends_in_put(block: Block) -> bool:
    """Whether putMarker is the last thing done: also as the end of a REPEAT or of both branches."""
    last = block[-1]
    if isinstance(last, Repeat | IfElse):
        return all(_ends_in_put(part) for _, part in _parts(last))
    return _is(last, "putMarker")


def _rule_9(tokens: Sequence[str], program: Program) -> Iterator[str]:
    for statement in _statements(program):
        if isinstance(statement, Repeat) and not 2 <= statement.times <= 10:
            yield f"R={statement.times} at token {statement.at + 1}"
        if isinstance(statement, Test) and isinstance(statement.condition, Not):
            inner = statement.condition.inner
            if isinstance(inner, Not):
                yield f"not not at token {statement.at + 2}"
            elif inner.name not in ("frontIsClear", "leftIsClear", "rightIsClear"):
                yield f"not {inner.name} at token {statement.at + 2}"


def foregone(tokens: Sequence[str]) -> list[str]:
    """What the rules' text does not forbid, but no surviving program has, as texts with a letter.

    A: an IF or IFELSE whose outcome is known; B: a WHILE that is known never to be entered; C: a
    WHILE whose condition is known to hold after every round; D: a move or pickMarker after an IF
    or IFELSE, known to crash if one way through that was taken. Known: on all ways to the place,
    from the tests and actions on them (after putMarker there is a marker, after move the back is
    clear, turns turn what is known).
    """
    knowledge = _Knowledge(parse(tokens))
    some = sorted({*knowledge.where("way", False)} - {*knowledge.where("safe", False)})
    return [
        *(f"A: {tokens[at]} always true at token {at}" for at in knowledge.where("test", True)),
        *(f"A: {tokens[at]} always false at token {at}" for at in knowledge.where("test", False)),
        *(f"B: WHILE never entered at token {at}" for at in knowledge.where("enter", False)),
        *(f"C: WHILE never left at token {at}" for at in knowledge.where("again", True)),
        *(f"D: {tokens[at]} that crashes on one way there, at token {at}" for at in some),
    ]


# Statistics.

HISTOGRAMS = (
    "length",
    "actions_per_program",
    "constructs_per_program",
    "nesting",
    "action",
    "condition",
    "construct",
    "repeat_count",
    "run_statements",
    "while_statements",
    "repeat_statements",
    "if_statements",
    "then_statements",
    "else_statements",
    "control_at_depth",
    "nested",
)


def statistics(programs: Iterable[Sequence[str]]) -> dict[str, Counter[Any]]:
    """Histograms of programs, by the names of HISTOGRAMS.

    length, actions_per_program, constructs_per_program, nesting: one entry a program. action,
    condition, construct, repeat_count: one for each that occurs. *_statements: block sizes.
    control_at_depth: (depth, whether a construct), one entry a statement. nested: pairs like
    WHILE>IF, one entry for each program that has the second directly in the first.
    """
    counts: dict[str, Counter[Any]] = {name: Counter() for name in HISTOGRAMS}
    for tokens in programs:
        program = parse(tokens)
        actions = [s for s in _statements(program) if isinstance(s, Action)]
        constructs = [s for s in _statements(program) if isinstance(s, Construct)]
        counts["length"][len(tokens)] += 1
        counts["actions_per_program"][len(actions)] += 1
        counts["constructs_per_program"][len(constructs)] += 1
        counts["nesting"][max(depth for depth, _, _ in _blocks(program))] += 1
        counts["action"].update(action.name for action in actions)
        pairs = set()
        for construct in constructs:
            keyword = KEYWORDS[type(construct)]
            counts["construct"][keyword] += 1
            if isinstance(construct, Repeat):
                counts["repeat_count"][construct.times] += 1
            else:
                counts["condition"][_condition_name(construct.condition)] += 1
            for _, block in _parts(construct):
                for inner in block:
                    if isinstance(inner, Construct):
                        pairs.add(f"{keyword}>{KEYWORDS[type(inner)]}")
        counts["nested"].update(pairs)
        for depth, kind, block in _blocks(program):
            counts[f"{kind}_statements"][len(block)] += 1
            for statement in block:
                counts["control_at_depth"][depth, isinstance(statement, Construct)] += 1
    return counts


def _condition_name(condition: Condition) -> str:
    """One of the five names, or "not left" and the like."""
    if isinstance(condition, Sensor):
        return condition.name
    return f"not {_condition_name(condition.inner).removesuffix('IsClear')}"


def mean(counter: Mapping[int, float]) -> float:
    """The mean of a histogram of numbers."""
    return sum(value * count for value, count in counter.items()) / sum(counter.values())


def control_shares(result: Mapping[str, Counter[Any]]) -> dict[int, float]:
    """For each depth the share of constructs among the statements."""
    at_depth = result["control_at_depth"]
    return {
        depth: at_depth[depth, True] / (at_depth[depth, True] + at_depth[depth, False])
        for depth in sorted({depth for depth, _ in at_depth})
    }


def nested_percentages(result: Mapping[str, Counter[Any]]) -> dict[str, float]:
    """For each pair directly nested the percentage of the programs that have it."""
    programs = sum(result["length"].values())
    return {pair: 100 * count / programs for pair, count in result["nested"].items()}


LENGTH_RANGES = ((46, 50), (51, 55), (56, 65))


def pooled_lengths(counter: Mapping[int, int]) -> Counter[str]:
    """A histogram of lengths in the bins of FACTS["length"]; a length beyond 65 keeps its own."""
    pooled: Counter[str] = Counter()
    for length, count in counter.items():
        names = [f"{low}-{high}" for low, high in LENGTH_RANGES if low <= length <= high]
        pooled[names[0] if names else str(length)] += count
    return pooled


def total_variation(result: Mapping[Any, float], facts: Mapping[Any, float]) -> float:
    """Half the L1 distance of two histograms, each normalised."""
    total, total_of_facts = sum(result.values()), sum(facts.values())
    return (
        sum(
            abs(result.get(key, 0) / total - facts.get(key, 0) / total_of_facts)
            for key in set(result) | set(facts)
        )
        / 2
    )


# The facts.


def _numbered(first: int, counts: str) -> dict[Any, float]:
    """Counts of consecutive numbers from the first on."""
    return {first + n: int(count) for n, count in enumerate(counts.split())}


# Histograms by the names of HISTOGRAMS ("length" in the bins of pooled_lengths; "action" and
# "condition" in percent), and in other keys what the facts file gives no histogram of.
FACTS: dict[str, dict[Any, float]] = {
    "length": {
        **{
            str(length): count
            for length, count in _numbered(
                6,
                "167 197 162 85 74 67 108 128 132 101 68 91 81 71 83 69 64 71 73 62 52 47 45 40"
                " 39 31 18 26 29 23 30 10 21 10 14 15 12 5 12 10",
            ).items()
        },
        "46-50": 25,
        "51-55": 20,
        "56-65": 12,
    },
    "actions_per_program": _numbered(2, "265 464 543 415 262 167 109 92 77 42 30 14 8 3 7 2"),
    "constructs_per_program": _numbered(0, "659 803 558 289 117 56 16 2"),
    "construct": {"REPEAT": 1106, "WHILE": 954, "IFELSE": 849, "IF": 735},
    "nesting": _numbered(0, "659 978 601 214 40 8"),
    "action": {
        "move": 35.8,
        "putMarker": 22.5,
        "turnLeft": 14.7,
        "pickMarker": 14.7,
        "turnRight": 12.4,
    },
    "condition": {
        "leftIsClear": 19.6,
        "rightIsClear": 19.5,
        "markersPresent": 15.7,
        "frontIsClear": 15.6,
        "noMarkersPresent": 14.8,
        "not right": 5.9,
        "not left": 4.6,
        "not front": 4.4,
    },
    "repeat_count": _numbered(2, "200 172 194 232 94 93 54 47 20"),
    "run_statements": _numbered(1, "135 482 645 550 366 189 61 38 22 9 2 1"),
    # Means of histograms, by their names.
    "mean": {
        "run_statements": 3.70,
        "while_statements": 1.91,
        "repeat_statements": 1.75,
        "if_statements": 1.51,
        "then_statements": 1.33,
        "else_statements": 1.28,
    },
    # By depth: the share of constructs among the statements.
    "control_share_at_depth": {0: 0.247, 1: 0.209, 2: 0.170, 3: 0.114, 4: 0.11},
    # The percentage of the programs that have the second directly in the first.
    "nested_percent": {
        "WHILE>WHILE": 2.52,
        "WHILE>IF": 2.72,
        "WHILE>IFELSE": 3.64,
        "WHILE>REPEAT": 4.36,
        "REPEAT>REPEAT": 2.28,
        "REPEAT>WHILE": 3.40,
        "REPEAT>IF": 4.92,
        "REPEAT>IFELSE": 7.12,
        "IF>IF": 1.64,
        "IF>IFELSE": 1.92,
        "IF>REPEAT": 2.48,
        "IF>WHILE": 1.60,
        "IFELSE>IF": 3.48,
        "IFELSE>IFELSE": 2.68,
        "IFELSE>REPEAT": 4.12,
        "IFELSE>WHILE": 3.20,
    },
}
