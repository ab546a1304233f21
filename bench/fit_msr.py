"""Fits the grammar of the original programs to what was measured of them.

`python -m bench.fit_msr VAL_PROGRAMS -o src/unskew/domains/karel/sampling/msr.json`.
The choices are
counted in a list of original programs, weighted so that long ones, which the list lacks, count
as they should; then whole programs are weighted until the published histograms are met, and the
choices corrected until they come out as often as they should.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np

from unskew.core.rng import generator
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.sampling import grammar as p
from unskew.domains.karel.sampling.grammar import Grammar
from unskew.domains.karel.sampling.programs import original_programs

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
TURNS, ROUNDS, STEP, RESAMPLED = 9, 100, 0.7, 30_000
CONTROL = (0.247, 0.209, 0.17, 0.114, 0.11)  # a statement is a construct, by depth
CUT = 0.03  # the share of programs whose weight is cut to the largest that counts
CONSTRUCT_TOTALS = [1106, 954, 849, 735]  # REPEAT WHILE IFELSE IF


def histogram(text: str, size: int) -> np.ndarray:
    counted = np.zeros(size)
    for pair in text.split():
        value, count = pair.split(":")
        counted[int(value)] = int(count)
    return counted / counted.sum()


def lengths() -> np.ndarray:
    counted = np.zeros(p.MAX_LENGTH + 1)
    for pair in LENGTHS.split():
        value, count = pair.split(":")
        counted[int(value)] = int(count)
    for (low, high), count in WIDE.items():
        counted[low : high + 1] = count / (high - low + 1)
    return counted / counted.sum()


TARGETS = {
    "by_length": lengths(),
    "by_actions": histogram(ACTIONS, 18),
    "by_constructs": histogram(CONSTRUCTS, 8),
    "by_nesting": histogram(NESTING, 6),
    "by_statements": histogram(STATEMENTS, 13),
}
# Programs in which REPEAT, WHILE, IFELSE, IF stand directly inside each of them.
NESTED = np.array([[2.28, 3.4, 7.12, 4.92], [4.36, 2.52, 3.64, 2.72],
                   [4.12, 3.2, 2.68, 3.48], [2.48, 1.6, 1.92, 1.64]]) / 100  # fmt: skip
PARENTS = {p.IN_REPEAT: 0, p.IN_WHILE: 1, p.IN_THEN: 2, p.IN_ELSE: 2, p.IN_IF: 3}
KINDS = {t.REPEAT: p.REPEAT, t.WHILE: p.WHILE, t.IFELSE: p.IFELSE, t.IF: p.IF}
BLOCK = {"m(": 0, "w(": 1, "r(": 2, "i(": 3, "e(": 5}
ACTION_NAMES = ("move", "turnLeft", "turnRight", "pickMarker", "putMarker")
PLAIN = ("markersPresent", "noMarkersPresent", "leftIsClear", "rightIsClear", "frontIsClear")


class Tables:
    """Counts of the grammar's choices, with a little of everything to begin with."""

    def __init__(self) -> None:
        self.sizes = np.zeros((6, 6, 12))
        self.control = np.zeros((6, 6, p.SIZES, 2))
        self.constructs = np.full((6, 4), 0.5)
        self.conditions = np.full((4, 8), 0.5)
        self.actions = np.zeros((7, 5))

    def add(self, tokens: list[str], weight: float) -> None:
        """Count one program; a stack of blocks of [kind, depth, statements,
        before, constructs]."""
        stack: list[list] = []
        at = 0
        pending = None
        while at < len(tokens):
            word = tokens[at]
            if word in BLOCK:
                kind = BLOCK[word]
                if kind == 3 and pending == p.IFELSE:
                    kind = 4
                stack.append([kind, len(stack), 0, p.START, 0])
            elif word.endswith(")") and word != "c)":
                kind, depth, size, _, constructs = stack.pop()
                self.sizes[kind, depth, min(size, 12) - 1] += weight
                self.control[kind, depth, min(size, p.SIZES) - 1, 0] += weight * (size - constructs)
                self.control[kind, depth, min(size, p.SIZES) - 1, 1] += weight * constructs
            elif word in ACTION_NAMES:
                block = stack[-1]
                action = ACTION_NAMES.index(word)
                self.actions[block[3], action] += weight
                block[2], block[3] = block[2] + 1, action
            elif word in ("REPEAT", "WHILE", "IFELSE", "IF"):
                block = stack[-1]
                pending = ("REPEAT", "WHILE", "IFELSE", "IF").index(word)
                block[4] += 1
                self.constructs[block[0], pending] += weight
                block[2], block[3] = block[2] + 1, p.AFTER
                if pending != p.REPEAT:
                    negated = tokens[at + 2] == "not"
                    name = tokens[at + 4] if negated else tokens[at + 2]
                    number = PLAIN.index(name) + (3 if negated else 0)
                    self.conditions[pending, number] += weight
            at += 1


def grammar_of(programs: list[list[str]]) -> Grammar:
    """Count the choices in programs, weighted to the known lengths."""
    have = Counter(len(program) for program in programs)
    total = sum(have.values())
    tables = Tables()
    for program in programs:
        size = len(program)
        if size <= p.MAX_LENGTH:
            wanted = TARGETS["by_length"][size] * total / have[size]
            tables.add(program, min(4.0, wanted))
    sizes = tables.sizes.copy()
    for kind in range(6):
        pooled = sizes[kind].sum(axis=0) + 1e-3
        for depth in range(6):
            sizes[kind, depth] += 10 * pooled / pooled.sum()
    sizes /= sizes.sum(axis=2, keepdims=True)
    by_size = tables.control.sum(axis=0)  # what little is known of one kind is eked out by all
    counts = tables.control + 20 * by_size / by_size.sum(axis=2, keepdims=True).clip(min=1)
    control = counts[..., 1] / counts.sum(axis=3).clip(min=1)
    ones = {name: np.ones(len(target)) for name, target in TARGETS.items()}
    return Grammar(
        sizes, control, tables.constructs, tables.conditions, tables.actions,
        np.array(COUNTS, float), **ones, largest=1.0,
    )  # fmt: skip


def structure(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each token the depth of its block, and whether it is an action or a construct."""
    opens = np.isin(rows, (t.OPEN_RUN, t.OPEN_WHILE, t.OPEN_REPEAT, t.OPEN_IF, t.OPEN_ELSE))
    closes = np.isin(rows, (t.CLOSE_RUN, t.CLOSE_WHILE, t.CLOSE_REPEAT, t.CLOSE_IF, t.CLOSE_ELSE))
    depth = np.cumsum(opens.astype(np.int8) - closes.astype(np.int8), axis=1)
    is_action = (rows >= t.FIRST_ACTION) & (rows < t.FIRST_ACTION + 5)
    return depth, is_action, np.isin(rows, (t.REPEAT, t.WHILE, t.IF, t.IFELSE))


def facts_of(rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return what the weights look at, for each program."""
    depth, is_action, control = structure(rows)
    return {
        "by_length": (rows > 0).sum(axis=1),
        "by_actions": is_action.sum(axis=1),
        "by_constructs": control.sum(axis=1),
        "by_nesting": depth.max(axis=1) - 1,
        "by_statements": ((is_action | control) & (depth == 1)).sum(axis=1),
    }


def shares(rows: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    def counted(ids: list[int]) -> np.ndarray:
        totals = np.array([(weights[:, None] * (rows == i)).sum() for i in ids])
        return totals / totals.sum()

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


def rake(facts: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], float, np.ndarray]:
    """Find weights by bin under which every histogram is its target, and the largest that counts.

    A program is kept with probability weight / largest, at most 1: what is above is fitted as it
    is cut, since a few very large weights would have most programs thrown away.
    """
    tables = {name: np.ones(len(target)) for name, target in TARGETS.items()}
    for turn in range(ROUNDS):
        for name, target in TARGETS.items():
            raw = weigh(tables, facts)
            largest = float(np.quantile(raw, 1 - CUT))
            bins = facts[name]
            have = np.bincount(bins, raw.clip(max=largest), minlength=len(target))[: len(target)]
            have = have / have.sum()
            factor = np.divide(target, have, out=np.zeros(len(target)), where=have > 0)
            # A bin that cannot be filled any more must not run away.
            tables[name] *= factor.clip(max=2) ** (1.0 if turn < ROUNDS // 2 else 0.7)
    raw = weigh(tables, facts)
    largest = float(np.quantile(raw, 1 - CUT))
    return tables, largest, raw.clip(max=largest)


def weigh(tables: dict[str, np.ndarray], facts: dict[str, np.ndarray]) -> np.ndarray:
    """Return the weight of each program."""
    weights = np.ones(len(facts["by_length"]))
    for name, table in tables.items():
        weights *= table[facts[name]]
    return weights


def fit(programs: list[list[str]], drawn: int) -> Grammar:
    grammar = grammar_of(programs)
    goal = {
        "actions": np.array([ACTION_SHARES[name] for name in ACTION_NAMES]) / 100.1,
        "conditions": np.array(CONDITION_SHARES) / sum(CONDITION_SHARES),
        "constructs": np.array(CONSTRUCT_TOTALS) / sum(CONSTRUCT_TOTALS),
        "counts": np.array(COUNTS) / sum(COUNTS),
    }
    for turn in range(TURNS):
        rows, _ = original_programs(generator(turn, "fit"), drawn, flat(grammar))
        facts = facts_of(rows)
        tables, limit, weights = rake(facts)
        counted = shares(rows, weights)
        for name, target in goal.items():
            print(
                turn,
                name,
                "total variation",
                round(float(abs(counted[name] - target).sum() / 2), 4),
            )
        # The weights are those of the choices they were fitted with, so these stay at the end.
        step = STEP if turn < TURNS - 1 else 0.0
        factor = {name: (goal[name] / counted[name]) ** step for name in goal}
        at_depth = control_shares(rows, weights)
        print(turn, "constructs by depth", at_depth.round(3))
        odds = grammar.control / (1 - grammar.control).clip(min=1e-3)
        for depth, share in enumerate(CONTROL):
            wrong = at_depth[depth] / (1 - at_depth[depth])
            odds[:, depth] *= np.clip(share / (1 - share) / wrong, 0.5, 2) ** step
        chosen = generator(turn, "nested").choice(len(rows), RESAMPLED, p=weights / weights.sum())
        have = nested(rows[chosen])
        print(turn, "direct nesting off by", round(float(100 * abs(have - NESTED).max()), 2))
        inside = (NESTED / have.clip(1e-3)).clip(0.5, 2) ** step  # (parent, construct)
        constructs = grammar.constructs * factor["constructs"]
        for block, parent in PARENTS.items():
            constructs[block] *= inside[parent]
        for name, target in TARGETS.items():
            have = np.bincount(facts[name], weights, minlength=len(target))[: len(target)]
            far = float(abs(have / have.sum() - target).sum() / 2)
            print(turn, name, "total variation", round(far, 4))
        print(turn, "kept", round(float(weights.mean() / limit), 4))
        grammar = Grammar(
            grammar.sizes, odds / (1 + odds),
            constructs,
            grammar.conditions * factor["conditions"],
            grammar.actions * factor["actions"],
            grammar.counts * factor["counts"],
            **tables, largest=limit,
        )  # fmt: skip
    return grammar


def nested(rows: np.ndarray) -> np.ndarray:
    """Return the share of programs in which a construct stands directly inside another."""
    counted = np.zeros((4, 4))
    for row in rows:
        pairs, inside = set(), []
        for token in row[row > 0]:
            if token in KINDS:
                if inside:
                    pairs.add((inside[-1], KINDS[token]))
                inside.append(KINDS[token])
            elif token in (t.CLOSE_WHILE, t.CLOSE_REPEAT, t.CLOSE_ELSE) or (
                token == t.CLOSE_IF and inside[-1] == p.IF
            ):
                inside.pop()
        for pair in pairs:
            counted[pair] += 1 / len(rows)
    return counted


def control_shares(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return how often a statement is a construct, by the depth of its block."""
    depth, is_action, control = structure(rows)
    shares = []
    for level in range(1, len(CONTROL) + 1):
        here = weights @ ((depth == level) & control)
        shares.append(
            here.sum() / max((weights @ ((depth == level) & (is_action | control))).sum(), 1e-9)
        )
    return np.array(shares).clip(1e-3, 0.999)


def flat(grammar: Grammar) -> Grammar:
    """Return the grammar alone, every program kept."""
    ones = {name: np.ones(len(target)) for name, target in TARGETS.items()}
    choices = [getattr(grammar, name) for name in Grammar._fields[:6]]
    return Grammar(*choices, **ones, largest=1.0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=Path)
    parser.add_argument("-o", type=Path, required=True)
    parser.add_argument("-n", type=int, default=1_000_000)
    options = parser.parse_args()
    lines = options.programs.read_text().splitlines()
    grammar = fit([line.split() for line in lines], options.n)
    facts = {name: np.asarray(value).round(5).tolist() for name, value in grammar._asdict().items()}
    options.o.write_text(json.dumps(facts, indent=None) + "\n")


if __name__ == "__main__":
    main()
