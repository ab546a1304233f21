"""Fits the grammar of the original programs to what was measured of them.

`python -m bench.fit_msr VAL_PROGRAMS -o src/unskew/domains/karel/msr.json`: the choices are
counted in a list of original programs, weighted so that long ones, which the list lacks, count
as they should; then whole programs are weighted until the published histograms are met.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np

from unskew.domains.karel import programs as p
from unskew.domains.karel.programs import Grammar, original_programs
from unskew.streams import stream

# The 2,500 original test programs.
LENGTHS = "6:167 7:197 8:162 9:85 10:74 11:67 12:108 13:128 14:132 15:101 16:68 17:91 18:81 19:71"
LENGTHS += " 20:83 21:69 22:64 23:71 24:73 25:62 26:52 27:47 28:45 29:40 30:39 31:31 32:18 33:26"
LENGTHS += " 34:29 35:23 36:30 37:10 38:21 39:10 40:14 41:15 42:12 43:5 44:12 45:10"
WIDE = {(46, 50): 25, (51, 55): 20, (56, 65): 12}
ACTIONS = "2:265 3:464 4:543 5:415 6:262 7:167 8:109 9:92 10:77 11:42 12:30 13:14 14:8 15:3 16:7"
ACTIONS += " 17:2"
CONSTRUCTS = "0:659 1:803 2:558 3:289 4:117 5:56 6:16 7:2"
NESTING = "0:659 1:978 2:601 3:214 4:40 5:8"
STATEMENTS = "1:135 2:482 3:645 4:550 5:366 6:189 7:61 8:38 9:22 10:9 11:2 12:1"
ACTION_SHARES = {
    "move": 35.8,
    "putMarker": 22.5,
    "turnLeft": 14.7,
    "pickMarker": 14.7,
    "turnRight": 12.4,
}
CONDITION_SHARES = [15.7, 14.8, 19.6, 19.5, 15.6, 4.6, 5.9, 4.4]
COUNTS = [200, 172, 194, 232, 94, 93, 54, 47, 20]
TURNS = 7
CONSTRUCT_TOTALS = [1106, 954, 849, 735]  # REPEAT WHILE IFELSE IF


def histogram(text: str, size: int) -> np.ndarray:
    found = np.zeros(size)
    for pair in text.split():
        value, count = pair.split(":")
        found[int(value)] = int(count)
    return found / found.sum()


def lengths() -> np.ndarray:
    found = np.zeros(p.MAX_LENGTH + 1)
    for pair in LENGTHS.split():
        value, count = pair.split(":")
        found[int(value)] = int(count)
    for (low, high), count in WIDE.items():
        found[low : high + 1] = count / (high - low + 1)
    return found / found.sum()


TARGETS = {
    "by_length": lengths(),
    "by_actions": histogram(ACTIONS, 18),
    "by_constructs": histogram(CONSTRUCTS, 8),
    "by_nesting": histogram(NESTING, 6),
    "by_statements": histogram(STATEMENTS, 13),
}
BLOCK = {"m(": 0, "w(": 1, "r(": 2, "i(": 3, "e(": 5}
ACTION_NAMES = ("move", "turnLeft", "turnRight", "pickMarker", "putMarker")
PLAIN = ("markersPresent", "noMarkersPresent", "leftIsClear", "rightIsClear", "frontIsClear")


class Tables:
    """Counts of the grammar's choices, with a little of everything to begin with."""

    def __init__(self) -> None:
        self.sizes = np.zeros((6, 6, 12))
        self.control = np.zeros((6, 6, 2))
        self.constructs = np.full((6, 4), 0.5)
        self.conditions = np.full((4, 8), 0.5)
        self.actions = np.zeros((7, 5))

    def add(self, tokens: list[str], weight: float) -> None:
        """Count one program; a stack of blocks of [kind, depth, statements, before]."""
        stack: list[list] = []
        at = 0
        pending = None
        while at < len(tokens):
            word = tokens[at]
            if word in BLOCK:
                kind = BLOCK[word]
                if kind == 3 and pending == p.IFELSE:
                    kind = 4
                stack.append([kind, len(stack), 0, p.START])
            elif word.endswith(")") and word != "c)":
                kind, depth, size, _ = stack.pop()
                self.sizes[kind, depth, min(size, 12) - 1] += weight
            elif word in ACTION_NAMES:
                block = stack[-1]
                action = ACTION_NAMES.index(word)
                self.actions[block[3], action] += weight
                self.control[block[0], block[1], 0] += weight
                block[2], block[3] = block[2] + 1, action
            elif word in ("REPEAT", "WHILE", "IFELSE", "IF"):
                block = stack[-1]
                pending = ("REPEAT", "WHILE", "IFELSE", "IF").index(word)
                self.control[block[0], block[1], 1] += weight
                self.constructs[block[0], pending] += weight
                block[2], block[3] = block[2] + 1, p.AFTER
                if pending != p.REPEAT:
                    negated = tokens[at + 2] == "not"
                    name = tokens[at + 4] if negated else tokens[at + 2]
                    number = PLAIN.index(name) + (3 if negated else 0)
                    self.conditions[pending, number] += weight
            at += 1


def grammar_of(programs: list[list[str]]) -> Grammar:
    have = Counter(len(program) for program in programs)
    total = sum(have.values())
    tables = Tables()
    for program in programs:
        size = len(program)
        if size <= p.MAX_LENGTH:
            share = have[size] / total
            tables.add(program, min(4.0, TARGETS["by_length"][size] / share))
    sizes = tables.sizes.copy()
    for kind in range(6):
        pooled = sizes[kind].sum(axis=0) + 1e-3
        for depth in range(6):
            sizes[kind, depth] += 10 * pooled / pooled.sum()
    sizes /= sizes.sum(axis=2, keepdims=True)
    by_depth = tables.control.sum(axis=0)
    control = np.empty((6, 6))
    for kind in range(6):
        for depth in range(6):
            counts = tables.control[kind, depth] + 20 * by_depth[depth] / max(
                by_depth[depth].sum(), 1
            )
            control[kind, depth] = counts[1] / max(counts.sum(), 1)
    ones = {name: np.ones(len(target)) for name, target in TARGETS.items()}
    return Grammar(
        sizes, control, tables.constructs, tables.conditions, tables.actions,
        np.array(COUNTS, float), **ones, largest=1.0,
    )  # fmt: skip


def facts_of(rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return what the weights look at, for each program."""
    from unskew.domains.karel import tokens as t

    length = (rows > 0).sum(axis=1)
    acts = ((rows >= t.FIRST_ACTION) & (rows < t.FIRST_ACTION + 5)).sum(axis=1)
    control = np.isin(rows, (t.REPEAT, t.WHILE, t.IF, t.IFELSE))
    opens = np.isin(rows, (t.OPEN_RUN, t.OPEN_WHILE, t.OPEN_REPEAT, t.OPEN_IF, t.OPEN_ELSE))
    closes = np.isin(rows, (t.CLOSE_RUN, t.CLOSE_WHILE, t.CLOSE_REPEAT, t.CLOSE_IF, t.CLOSE_ELSE))
    depth = np.cumsum(opens.astype(int) - closes.astype(int), axis=1)
    is_action = (rows >= t.FIRST_ACTION) & (rows < t.FIRST_ACTION + 5)
    return {
        "by_length": length,
        "by_actions": acts,
        "by_constructs": control.sum(axis=1),
        "by_nesting": depth.max(axis=1) - 1,
        "by_statements": ((is_action | control) & (depth == 1)).sum(axis=1),
    }


def shares(rows: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    from unskew.domains.karel import tokens as t

    def counted(ids: list[int]) -> np.ndarray:
        found = np.array([(weights[:, None] * (rows == i)).sum() for i in ids])
        return found / found.sum()

    negated = np.zeros_like(rows, dtype=bool)
    negated[:, 2:] = rows[:, :-2] == t.NOT
    conditions = []
    for i in range(5):
        here = rows == t.FIRST_CONDITION + i
        conditions.append((weights[:, None] * (here & ~negated)).sum())
    for i in (2, 3, 4):
        here = rows == t.FIRST_CONDITION + i
        conditions.append((weights[:, None] * (here & negated)).sum())
    return {
        "actions": counted([t.FIRST_ACTION + i for i in range(5)]),
        "conditions": np.array(conditions) / sum(conditions),
        "constructs": counted([t.REPEAT, t.WHILE, t.IFELSE, t.IF]),
        "counts": counted([t.FIRST_COUNT + 2 + i for i in range(9)]),
    }


def rake(facts: dict[str, np.ndarray], rounds: int = 60) -> dict[str, np.ndarray]:
    """Find weights by bin under which every histogram is its target."""
    tables = {name: np.ones(len(target)) for name, target in TARGETS.items()}
    weights = np.ones(len(facts["by_length"]))
    for _ in range(rounds):
        for name, target in TARGETS.items():
            bins = facts[name]
            have = np.bincount(bins, weights, minlength=len(target))[: len(target)]
            have = have / have.sum()
            factor = np.divide(target, have, out=np.zeros(len(target)), where=have > 0)
            tables[name] *= factor
            weights *= factor[bins]
    return tables


def fit(programs: list[list[str]], drawn: int) -> Grammar:
    grammar = grammar_of(programs)
    goal = {
        "actions": np.array([ACTION_SHARES[name] for name in ACTION_NAMES]) / 100.1,
        "conditions": np.array(CONDITION_SHARES) / sum(CONDITION_SHARES),
        "constructs": np.array(CONSTRUCT_TOTALS) / sum(CONSTRUCT_TOTALS),
        "counts": np.array(COUNTS) / sum(COUNTS),
    }
    for turn in range(TURNS):
        rows, _ = original_programs(stream(turn, "fit"), drawn, flat(grammar))
        facts = facts_of(rows)
        tables = rake(facts)
        weights = np.ones(len(rows))
        for name, table in tables.items():
            weights *= table[facts[name]]
        found = shares(rows, weights)
        for name, target in goal.items():
            print(
                turn, name, "total variation", round(float(abs(found[name] - target).sum() / 2), 4)
            )
        last = turn == TURNS - 1  # the weights are those of the choices they were fitted with
        factor = {name: 1.0 if last else goal[name] / found[name] for name in goal}
        limit = np.quantile(weights, 0.9995)
        print(turn, "kept", round(float((weights / limit).clip(max=1).mean()), 4))
        grammar = Grammar(
            grammar.sizes, grammar.control,
            grammar.constructs * factor["constructs"],
            grammar.conditions * factor["conditions"],
            grammar.actions * factor["actions"],
            grammar.counts * factor["counts"],
            **tables, largest=float(limit),
        )  # fmt: skip
    return grammar


def flat(grammar: Grammar) -> Grammar:
    """Return the grammar alone, every program kept."""
    ones = {name: np.ones(len(target)) for name, target in TARGETS.items()}
    choices = [getattr(grammar, name) for name in list(Grammar.__dataclass_fields__)[:6]]
    return Grammar(*choices, **ones, largest=1.0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=Path)
    parser.add_argument("-o", type=Path, required=True)
    parser.add_argument("-n", type=int, default=1_000_000)
    options = parser.parse_args()
    lines = options.programs.read_text().splitlines()
    grammar = fit([line.split() for line in lines], options.n)
    options.o.write_text(json.dumps(grammar.to_dict(), indent=None) + "\n")


if __name__ == "__main__":
    main()
