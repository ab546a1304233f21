"""The Calculator worked out by hand: the package, its kernels and the slow twin agree.

Each case is data. Every implementation is given every case.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.naive import calculator as naive
from tests.statistics import fits
from unskew.core.batch import Batch, text_bytes
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.domains.calculator import DOMAIN, evaluate, kernels, parse, to_text


def kernel_value(text: str) -> int:
    values, malformed = kernels.evaluate_texts(*text_bytes(pa.array([text], pa.string())))
    assert malformed == -1
    return int(values[0])


# The language.

# A tree, how it is printed, and its value. Parentheses stand only where they change the value.
TREES = [
    (7, "7", 7),
    (("+", 1, 2), "1+2", 3),
    (("+", 1, ("+", 2, 3)), "1+2+3", 6),
    (("+", ("+", 1, 2), 3), "1+2+3", 6),
    (("+", 1, ("-", 2, 3)), "1+2-3", 0),
    (("+", ("-", 1, 2), 3), "1-2+3", 2),
    (("+", 1, ("*", 2, 3)), "1+2*3", 7),
    (("+", ("*", 1, 2), 3), "1*2+3", 5),
    (("-", 1, ("+", 2, 3)), "1-(2+3)", -4),
    (("-", 1, ("-", 2, 3)), "1-(2-3)", 2),
    (("-", 1, ("*", 2, 3)), "1-2*3", -5),
    (("-", ("+", 1, 2), 3), "1+2-3", 0),
    (("-", ("-", 1, 2), 3), "1-2-3", -4),
    (("-", ("*", 1, 2), 3), "1*2-3", -1),
    (("*", 1, ("+", 2, 3)), "1*(2+3)", 5),
    (("*", 1, ("-", 2, 3)), "1*(2-3)", -1),
    (("*", 2, ("*", 3, 4)), "2*3*4", 24),
    (("*", ("+", 1, 2), 3), "(1+2)*3", 9),
    (("*", ("-", 1, 2), 3), "(1-2)*3", -3),
    (("*", ("*", 2, 3), 4), "2*3*4", 24),
    (("-", 0, 1), "0-1", -1),
    (("-", 1, ("*", 3, 7)), "1-3*7", -20),
    (("+", 5, ("*", 4, ("+", 2, 3))), "5+4*(2+3)", 25),  # the paper's
    (("+", ("*", ("+", 1, 2), ("-", 3, 4)), 5), "(1+2)*(3-4)+5", 2),
    (("-", 9, ("-", 8, ("-", 7, 6))), "9-(8-(7-6))", 2),
]
DEEP: naive.Tree = 1
for _ in range(1500):
    DEEP = ("-", 1, DEEP)
TREES.append((DEEP, "1-(" * 1499 + "1-1" + ")" * 1499, 1))


@pytest.mark.parametrize("print_tree", [to_text, naive.to_text])
@pytest.mark.parametrize(("tree", "text", "_"), TREES, ids=range(len(TREES)))
def test_a_tree_is_printed(tree, text, _, print_tree):
    assert print_tree(tree) == text


@pytest.mark.parametrize(
    "value", [evaluate, kernel_value, lambda text: naive.value_mod10(naive.parse(text))]
)
@pytest.mark.parametrize(("_", "text", "result"), TREES, ids=range(len(TREES)))
def test_a_text_has_its_value_modulo_10(_, text, result, value):
    assert value(text) == result % 10


@pytest.mark.parametrize("read", [parse, naive.parse])
@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("7", 7),
        ("((7))", 7),
        ("1-2-3", ("-", ("-", 1, 2), 3)),
        ("1-2+3", ("+", ("-", 1, 2), 3)),
        ("1-2*3", ("-", 1, ("*", 2, 3))),
        ("1+2*3*4", ("+", 1, ("*", ("*", 2, 3), 4))),
        ("(1+2)*3", ("*", ("+", 1, 2), 3)),
        ("1-(2-3)", ("-", 1, ("-", 2, 3))),
    ],
)
def test_operators_of_one_precedence_associate_to_the_left(text, tree, read):
    assert read(text) == tree


def refused_by_package(text: str) -> int:
    with pytest.raises(UnskewError) as caught:
        parse(text)
    what, column, expected = re.search(
        r" has ('.*'|the end) at column (\d+); expected (.*)$", str(caught.value)
    ).groups()
    position = int(column) - 1
    assert what == (repr(text[position]) if position < len(text) else "the end")
    before = text[position - 1 : position]
    assert expected.startswith("an operator" if before and before in "0123456789)" else "a digit")
    return position


def refused_by_kernel(text: str) -> None:
    assert kernels.evaluate_texts(*text_bytes(pa.array(["1", text], pa.string())))[1] == 1


def refused_by_twin(text: str) -> int:
    with pytest.raises(ValueError, match=r"at position \d+$") as caught:
        naive.parse(text)
    return int(str(caught.value).rpartition(" ")[2])


# What is no expression, and where that is seen first.
MALFORMED = {
    "": 0, "12": 1, "1+": 2, "(1": 2, "1)": 1, "()": 1, "1 +2": 1, " 1": 0, "1 ": 1, "1+a": 2,
    "x": 0, "+1": 0, "-1": 0, "1--2": 2, "1**2": 2, "1(2)": 1, "(1)(2)": 3, "(1+2))": 5,
    "((1+2)": 6, "1/2": 1, "1\n": 1, "\u0661": 0, "\u00b2": 0,
}  # fmt: skip


@pytest.mark.parametrize("refusal", [refused_by_package, refused_by_kernel, refused_by_twin])
@pytest.mark.parametrize(("text", "position"), MALFORMED.items())
def test_what_is_no_expression_is_refused_at_its_place(text, position, refusal):
    assert refusal(text) in (position, None)


# The salient variables.

# A text: its length, operations, pairs of parentheses, those around each digit.
MEASURED = {
    "4": (1, 0, 0, [0]),
    "1+2-3*4": (7, 3, 0, [0, 0, 0, 0]),
    "1-(2-(3-4))": (11, 3, 2, [0, 1, 2, 2]),
    "5+4*(2+3)": (9, 3, 1, [0, 0, 1, 1]),
    "((7))": (5, 0, 2, [2]),
    "(1+2)*(3-4)+5": (13, 4, 2, [1, 1, 1, 1, 0]),  # the paper's
}
# The variables: lengths to the nearest even number, ties up; mean depths to the nearest quarter.
ROUNDED = {"4": (2, 0.0), "1+2-3*4": (8, 0.0), "1-(2-(3-4))": (12, 1.25), "5+4*(2+3)": (10, 0.5),
           "((7))": (6, 2.0), "(1+2)*(3-4)+5": (14, 0.75)}  # fmt: skip


def by_kernels(text: str) -> list[float]:
    texts = text_bytes(pa.array([text], pa.string()))
    length, operations, parentheses, most, total = (
        int(kernels.measure_texts(*texts, what)[0])
        for what in (
            *(kernels.LENGTH, kernels.OPERATIONS, kernels.PARENTHESES),
            *(kernels.MAX_DEPTH, kernels.DEPTH_SUM),
        )
    )
    return [length, operations, parentheses, total / (operations + 1), most]


def by_twin(text: str) -> list[float]:
    names = ("length", "operations", "parentheses", "mean_depth", "max_depth")
    return [naive.measures(text)[name] for name in names]


@pytest.mark.parametrize("measure", [by_kernels, by_twin])
@pytest.mark.parametrize("text", MEASURED)
def test_what_is_measured_of_a_text(text, measure):
    length, operations, parentheses, depths = MEASURED[text]
    mean = sum(depths) / len(depths)
    assert measure(text) == [length, operations, parentheses, mean, max(depths)]


@pytest.mark.parametrize("text", MEASURED)
def test_the_five_variables_of_a_text(text):
    batch = Batch.from_arrow(pa.table({"expression": pa.array([text], pa.string())}))
    values = {name: v.measure(batch).tolist()[0] for name, v in DOMAIN.variables.items()}
    _, operations, parentheses, depths = MEASURED[text]
    length, mean = ROUNDED[text]
    assert values == {
        "length": length,
        "operations": operations,
        "parentheses": parentheses,
        "mean_depth": mean,
        "max_depth": max(depths),
    }


# The laws of the sources.


def digits(text: str) -> int:
    return sum(character in "0123456789" for character in text)


def operators(text: str) -> str:
    return "".join(character for character in text if character in "+-*")


def of_digits(number: int, feature: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a feature of the texts of so many digits."""
    return lambda text: feature(text) if digits(text) == number else None


@dataclass(frozen=True)
class Law:
    """What a feature of a source's texts is, and how likely; what is left out has the rest."""

    source: str
    parameters: Mapping[str, float]
    feature: Callable[[str], Any]
    shares: Mapping[Any, float]


def catalan(p: float) -> dict[int, float]:
    """How many digits a direct sample has: as many trees have n as Catalan's numbers say."""
    return {n: ways * p ** (n - 1) * (1 - p) ** n for n, ways in ((1, 1), (2, 1), (3, 2), (4, 5))}


def runs(p: float) -> dict[int, float]:
    """How many digits a sample has whose + and * join two, three or four parts alike."""
    two, three, four = p / 3 + 2 * p / 9, 2 * p / 9, 2 * p / 9
    one = 1 - p
    has_two = two * one**2
    has_three = three * one**3 + 2 * two * one * has_two
    has_four = (
        four * one**4 + 3 * three * one**2 * has_two + two * (2 * one * has_three + has_two**2)
    )
    return {1: one, 2: has_two, 3: has_three, 4: has_four}


LONG = {"max_length": 400}
DCFG, RCFG = {"p": 0.4, **LONG}, {"p": 0.2, **LONG}
T2T, BAL = ({"min_depth": depth, "max_depth": depth, **LONG} for depth in (2, 3))
EACH_DIGIT = {str(digit): 0.06 for digit in range(10)}
LAWS = {
    "dcfg: digits": Law("dcfg", DCFG, digits, catalan(0.4)),
    "dcfg: one digit": Law("dcfg", DCFG, of_digits(1, str), EACH_DIGIT),
    "dcfg: one operator": Law(
        "dcfg", DCFG, of_digits(2, operators), dict.fromkeys("+-*", 0.4 * 0.6**2 / 3)
    ),
    "dcfg: either side": Law(
        "dcfg",
        DCFG,
        lambda text: "(" in text if operators(text) == "--" else None,
        dict.fromkeys((True, False), 0.4**2 * 0.6**3 / 9),
    ),
    # Of 1 digit or 2, which is all that 3 characters hold.
    "dcfg: what fits": Law(
        "dcfg", {"p": 0.5, "max_length": 3}, digits, {1: 0.5 / 0.625, 2: 0.125 / 0.625}
    ),
    "rcfg: digits": Law("rcfg", RCFG, digits, runs(0.2)),
    "rcfg: one operator": Law(
        "rcfg",
        RCFG,
        of_digits(2, operators),
        {"-": 0.2 / 3 * 0.8**2, "+": 0.2 / 9 * 0.8**2, "*": 0.2 / 9 * 0.8**2},
    ),
    # "1-2-3" is two joins of two; "1+2+3" may also be one of three.
    "rcfg: runs": Law(
        "rcfg",
        RCFG,
        of_digits(3, operators),
        {
            "--": 2 * (0.2 / 3) ** 2 * 0.8**3,
            "++": (0.2 / 9 + 2 * (0.2 / 9) ** 2) * 0.8**3,
            "**": (0.2 / 9 + 2 * (0.2 / 9) ** 2) * 0.8**3,
        },
    ),
    # One side has depth 1, the other has depth 0 or 1.
    "t2t: digits": Law("t2t", T2T, digits, {3: 0.5, 4: 0.5}),
    "t2t: either side": Law(
        "t2t",
        T2T,
        lambda text: "(" in text if operators(text) == "--" else None,
        dict.fromkeys((True, False), 0.25 / 9),
    ),
    "t2t: depths": Law(
        "t2t", {**T2T, "min_depth": 0}, digits, {1: 1 / 3, 2: 1 / 3, 3: 1 / 6, 4: 1 / 6}
    ),
    "bal: digits": Law("bal", BAL, digits, {8: 1.0}),
    "bal: depths": Law("bal", {**BAL, "min_depth": 0}, digits, dict.fromkeys((1, 2, 4, 8), 0.25)),
    "bal: minus signs": Law(
        "bal",
        BAL,
        lambda text: text.count("-"),
        {k: math.comb(7, k) * 2 ** (7 - k) / 3**7 for k in range(8)},
    ),
}
# One false alarm in a million runs of all laws together, of both implementations.
ALARM = 1e-6 / (2 * len(LAWS))


def drawn_by_package(law: Law) -> list[str]:
    source = DOMAIN.source(law.source, dict(law.parameters))
    return source.draw(generator(1, law.source), 50_000)[0].columns["expression"].to_pylist()


def drawn_by_twin(law: Law) -> list[str]:
    rng = np.random.default_rng(2)
    return [naive.draw(rng, law.source, **law.parameters)[0] for _ in range(10_000)]


def fit(law: Law, texts: list[str], shares: Mapping[Any, float]) -> float:
    counts = Counter(map(law.feature, texts))
    rest = max(0.0, 1 - sum(shares.values()))
    others = len(texts) - sum(counts[value] for value in shares)
    if rest < 1e-9:
        assert others == 0
        return fits([counts[value] for value in shares], list(shares.values()))
    return fits([*(counts[value] for value in shares), others], [*shares.values(), rest])


@pytest.mark.parametrize("draw", [drawn_by_package, drawn_by_twin])
@pytest.mark.parametrize("name", LAWS)
def test_a_source_follows_its_law(name, draw):
    """Chi-square tests of fit. False alarms: 1e-6 over all laws and both implementations."""
    law = LAWS[name]
    assert fit(law, draw(law), law.shares) > ALARM


@pytest.mark.parametrize("draw", [drawn_by_package, drawn_by_twin])
def test_a_slightly_different_law_is_flagged(draw):
    """Planted: p off by 0.03; runs of + and * as rare as those of -; sides that are not even."""
    for name, shares in (
        ("dcfg: digits", catalan(0.43)),
        ("rcfg: digits", runs(0.23)),
        ("rcfg: runs", dict.fromkeys(("--", "++", "**"), LAWS["rcfg: runs"].shares["--"])),
        ("t2t: digits", {3: 0.46, 4: 0.54}),
        ("t2t: depths", {1: 0.3, 2: 0.3, 3: 0.2, 4: 0.2}),
    ):
        law = LAWS[name]
        assert fit(law, draw(law), shares) < ALARM, name
