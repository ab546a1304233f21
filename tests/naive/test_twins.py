"""Tests of the naive twins themselves."""

import math
import sys
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from tests.naive import calculator, homogenize
from tests.naive.calculator import Tree


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def digits_of(tree: Tree) -> int:
    if isinstance(tree, int):
        return 1
    return digits_of(tree[1]) + digits_of(tree[2])


def depth_of(tree: Tree) -> int:
    if isinstance(tree, int):
        return 0
    return 1 + max(depth_of(tree[1]), depth_of(tree[2]))


def operations_of(tree: Tree) -> list[str]:
    if isinstance(tree, int):
        return []
    return [tree[0], *operations_of(tree[1]), *operations_of(tree[2])]


def digit_list(tree: Tree) -> list[int]:
    if isinstance(tree, int):
        return [tree]
    return digit_list(tree[1]) + digit_list(tree[2])


def random_trees(seed: int, each: int = 150) -> list[Tree]:
    """Trees from all four samplers."""
    rng = rng_of(seed)
    trees: list[Tree] = []
    for _ in range(each):
        trees.append(calculator.dcfg(rng, 0.45, max_digits=100_000))
        trees.append(calculator.rcfg(rng, 0.3, max_digits=100_000))
        trees.append(calculator.t2t(rng, int(rng.integers(0, 7))))
        trees.append(calculator.bal(rng, int(rng.integers(0, 6))))
    return trees


def assert_frequency(hits: int, trials: int, p: float) -> None:
    """The observed frequency is within five standard deviations of p."""
    assert abs(hits / trials - p) < 5 * math.sqrt(p * (1 - p) / trials)


# Printing, evaluation, parsing.


@pytest.mark.parametrize(
    ("tree", "text", "result"),
    [
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
        (("+", 5, ("*", 4, ("+", 2, 3))), "5+4*(2+3)", 25),
        (("+", ("*", ("+", 1, 2), ("-", 3, 4)), 5), "(1+2)*(3-4)+5", 2),
        (("-", 9, ("-", 8, ("-", 7, 6))), "9-(8-(7-6))", 2),
    ],
)
def test_known_trees(tree: Tree, text: str, result: int) -> None:
    assert calculator.to_text(tree) == text
    assert calculator.value(tree) == result


def test_value_mod10_is_never_negative() -> None:
    assert calculator.value_mod10(("-", 0, 1)) == 9
    assert calculator.value_mod10(("-", 1, ("*", 3, 7))) == 0
    assert calculator.value_mod10(calculator.parse("5+4*(2+3)")) == 5  # the paper's example
    for tree in random_trees(1, each=50):
        assert 0 <= calculator.value_mod10(tree) <= 9
        assert (calculator.value(tree) - calculator.value_mod10(tree)) % 10 == 0


def test_value_is_exact_beyond_64_bits() -> None:
    tree: Tree = 9
    for _ in range(99):
        tree = ("*", tree, 9)
    assert calculator.value(tree) == 9**100


def test_unknown_operation() -> None:
    with pytest.raises(ValueError, match="/"):
        calculator.value(("/", 1, 2))


def test_text_agrees_with_python() -> None:
    for tree in random_trees(2):
        assert eval(calculator.to_text(tree)) == calculator.value(tree)


def test_parse_inverts_to_text_up_to_associativity() -> None:
    for tree in random_trees(3):
        text = calculator.to_text(tree)
        parsed = calculator.parse(text)
        assert calculator.value(parsed) == calculator.value(tree)
        assert calculator.to_text(parsed) == text
        assert digit_list(parsed) == digit_list(tree)


def closing(text: str, opening: int) -> int:
    """The position of the parenthesis that closes the one at `opening`."""
    depth = 0
    for position in range(opening, len(text)):
        if text[position] == "(":
            depth += 1
        if text[position] == ")":
            depth -= 1
        if depth == 0:
            return position
    raise AssertionError("unbalanced")


def with_numbers(text: str, numbers: list[int]) -> int:
    """The value with the i-th digit replaced by numbers[i]."""
    parts = []
    used = 0
    for character in text:
        if character in "0123456789":
            parts.append(str(numbers[used]))
            used += 1
        else:
            parts.append(character)
    return int(eval("".join(parts)))


def test_no_parentheses_are_redundant() -> None:
    # Without any one pair the text is another polynomial in its digits, so that it has another
    # value at almost every point.
    rng = rng_of(4)
    pairs = 0
    for tree in random_trees(4, each=100):
        text = calculator.to_text(tree)
        numbers = [int(n) for n in rng.integers(10**6, 10**9, size=len(text))]
        for opening in range(len(text)):
            if text[opening] != "(":
                continue
            end = closing(text, opening)
            without = text[:opening] + text[opening + 1 : end] + text[end + 1 :]
            assert with_numbers(without, numbers) != with_numbers(text, numbers), text
            pairs += 1
    assert pairs > 500


def test_parse_known() -> None:
    assert calculator.parse("7") == 7
    assert calculator.parse("((7))") == 7
    assert calculator.parse("1-2-3") == ("-", ("-", 1, 2), 3)
    assert calculator.parse("1-2+3") == ("+", ("-", 1, 2), 3)
    assert calculator.parse("1+2*3*4") == ("+", 1, ("*", ("*", 2, 3), 4))
    assert calculator.parse("(1+2)*3") == ("*", ("+", 1, 2), 3)
    assert calculator.parse("1-(2-3)") == ("-", 1, ("-", 2, 3))


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("12", 1),
        ("1+", 2),
        ("(1", 2),
        ("1)", 1),
        ("()", 1),
        ("1 +2", 1),
        (" 1", 0),
        ("1 ", 1),
        ("1+a", 2),
        ("x", 0),
        ("+1", 0),
        ("-1", 0),
        ("1--2", 2),
        ("1**2", 2),
        ("1(2)", 1),
        ("(1)(2)", 3),
        ("(1+2))", 5),
        ("((1+2)", 6),
        ("1/2", 1),
        ("1\n", 1),
        ("\u0661", 0),  # an Arabic-Indic digit one
        ("\u00b2", 0),  # a superscript two
    ],
)
def test_parse_malformed(text: str, position: int) -> None:
    with pytest.raises(ValueError, match=f"at position {position}$"):
        calculator.parse(text)


def test_deep_trees_and_texts() -> None:
    before = sys.getrecursionlimit()
    tree: Tree = 1
    for _ in range(1500):
        tree = ("-", 1, tree)
    text = calculator.to_text(tree)
    assert text.startswith("1-(1-(1-(")
    assert text.endswith("))))")
    assert calculator.value(tree) == 1
    assert calculator.to_text(calculator.parse(text)) == text
    assert calculator.measures(text)["max_depth"] == 1499
    assert sys.getrecursionlimit() == before


# Salient variables.


def test_measures_of_the_papers_example() -> None:
    text = "(1+2)*(3-4)+5"
    assert calculator.digit_depths(text) == [1, 1, 1, 1, 0]
    assert calculator.measures(text) == {
        "length": 13,
        "operations": 4,
        "parentheses": 2,
        "mean_depth": 0.8,
        "max_depth": 1,
    }


@pytest.mark.parametrize(
    ("text", "expected"),  # length, operations, parentheses, mean depth, max depth
    [
        ("4", [1, 0, 0, 0.0, 0]),
        ("1+2-3*4", [7, 3, 0, 0.0, 0]),
        ("1-(2-(3-4))", [11, 3, 2, 5 / 4, 2]),
        ("5+4*(2+3)", [9, 3, 1, 0.5, 1]),
        ("((7))", [5, 0, 2, 2.0, 2]),
    ],
)
def test_measures_by_hand(text: str, expected: list[float]) -> None:
    keys = ["length", "operations", "parentheses", "mean_depth", "max_depth"]
    assert calculator.measures(text) == dict(zip(keys, expected, strict=True))


def test_measures_against_the_tree() -> None:
    for tree in random_trees(5):
        text = calculator.to_text(tree)
        found = calculator.measures(text)
        operations = len(operations_of(tree))
        assert found["operations"] == operations
        # n operations, n+1 digits and the pairs: a printed expression's length is always odd.
        assert found["length"] == 2 * operations + 1 + 2 * found["parentheses"]
        assert len(calculator.digit_depths(text)) == operations + 1
        assert 0 <= found["mean_depth"] <= found["max_depth"] <= found["parentheses"]


def test_measures_need_a_digit() -> None:
    with pytest.raises(ValueError, match="no digits"):
        calculator.measures("")


def test_rounded_length() -> None:
    lengths = [calculator.rounded_length(n, "up") for n in range(8)]
    assert lengths == [0, 2, 2, 4, 4, 6, 6, 8]
    with pytest.raises(ValueError, match="sideways"):
        calculator.rounded_length(3, "sideways")


# Samplers.


def test_dcfg_sizes_and_operations() -> None:
    rng = rng_of(6)
    p = 0.4
    trials = 20_000
    sizes: Counter[int] = Counter()
    roots: Counter[str] = Counter()
    leaves: Counter[int] = Counter()
    shapes: Counter[bool] = Counter()
    for _ in range(trials):
        tree = calculator.dcfg(rng, p, max_digits=100_000)
        size = digits_of(tree)
        sizes[size] += 1
        if isinstance(tree, int):
            leaves[tree] += 1
        else:
            roots[tree[0]] += 1
            if size == 3:
                shapes[isinstance(tree[1], int)] += 1
    assert_frequency(sizes[1], trials, 1 - p)
    assert_frequency(sizes[2], trials, p * (1 - p) ** 2)
    assert_frequency(sizes[3], trials, 2 * p**2 * (1 - p) ** 3)
    assert_frequency(sizes[4], trials, 5 * p**3 * (1 - p) ** 4)
    for op in "+-*":
        assert_frequency(roots[op], trials, p / 3)
    for digit in range(10):
        assert_frequency(leaves[digit], trials, (1 - p) / 10)
    assert_frequency(shapes[True], sizes[3], 0.5)


def test_rcfg_sizes_and_runs() -> None:
    rng = rng_of(7)
    p = 0.2
    trials = 20_000
    sizes: Counter[int] = Counter()
    roots: Counter[str] = Counter()
    runs: Counter[str] = Counter()
    for _ in range(trials):
        tree = calculator.rcfg(rng, p, max_digits=100_000)
        sizes[digits_of(tree)] += 1
        if isinstance(tree, tuple):
            roots[tree[0]] += 1
        operations = operations_of(tree)
        if len(operations) == 3 and len(set(operations)) == 1 and depth_of(tree) == 3:
            # A left chain of one operation: a run of 4, or shorter runs within runs.
            runs[operations[0]] += 1
    two = p / 3 + 2 * p / 3 / 3  # a join of exactly two
    three = 2 * p / 3 / 3
    digit = 1 - p
    assert_frequency(sizes[1], trials, digit)
    assert_frequency(sizes[2], trials, two * digit**2)
    assert_frequency(sizes[3], trials, three * digit**3 + 2 * two * digit * two * digit**2)
    for op in "+-*":
        assert_frequency(roots[op], trials, p / 3)
    assert runs["+"] > 10 * runs["-"]
    assert runs["*"] > 10 * runs["-"]


class Scripted:
    """Stands in for a Generator: gives the listed numbers in turn."""

    def __init__(self, numbers: list[float]) -> None:
        self.numbers = list(numbers)

    def random(self) -> float:
        return float(self.numbers.pop(0))

    def integers(self, low: int, high: int) -> int:
        number = int(self.numbers.pop(0))
        assert low <= number < high
        return number


def test_rcfg_folds_runs_to_the_left() -> None:
    leaf = 0.9
    join = 0.1
    script = Scripted([join, 2, 4, leaf, 1, leaf, 2, leaf, 3, leaf, 4])
    tree = calculator.rcfg(script, 0.5)  # type: ignore[arg-type]
    assert tree == ("+", ("+", ("+", 1, 2), 3), 4)
    assert script.numbers == []
    script = Scripted([join, 1, 3, leaf, 1, leaf, 2, leaf, 3])
    tree = calculator.rcfg(script, 0.5)  # type: ignore[arg-type]
    assert tree == ("*", ("*", 1, 2), 3)
    assert script.numbers == []
    script = Scripted([join, 0, leaf, 1, leaf, 2])  # - asks for no number of parts
    tree = calculator.rcfg(script, 0.5)  # type: ignore[arg-type]
    assert tree == ("-", 1, 2)
    assert script.numbers == []


def test_t2t_shapes() -> None:
    rng = rng_of(8)
    trials = 10_000
    shapes: Counter[tuple[int, int]] = Counter()
    operations: Counter[str] = Counter()
    for _ in range(trials):
        tree = calculator.t2t(rng, 2)
        assert isinstance(tree, tuple)
        shapes[depth_of(tree[1]), depth_of(tree[2])] += 1
        operations[tree[0]] += 1
    assert set(shapes) == {(1, 0), (0, 1), (1, 1)}
    assert_frequency(shapes[1, 0], trials, 0.25)
    assert_frequency(shapes[0, 1], trials, 0.25)
    assert_frequency(shapes[1, 1], trials, 0.5)
    for op in "+-*":
        assert_frequency(operations[op], trials, 1 / 3)


def test_t2t_and_bal_depths() -> None:
    rng = rng_of(9)
    for depth in range(8):
        for _ in range(20):
            assert depth_of(calculator.t2t(rng, depth)) == depth
            tree = calculator.bal(rng, depth)
            assert depth_of(tree) == depth
            assert digits_of(tree) == 2**depth


def test_bal_operations_are_uniform() -> None:
    rng = rng_of(10)
    operations = Counter(operations_of(calculator.bal(rng, 13)))
    for op in "+-*":
        assert_frequency(operations[op], 2**13 - 1, 1 / 3)


@pytest.mark.parametrize("sampler", [calculator.dcfg, calculator.rcfg])
def test_overrun(sampler: Callable[..., Tree]) -> None:
    rng = rng_of(11)
    before = sys.getrecursionlimit()
    with pytest.raises(calculator.Overrun):
        sampler(rng, 1.0)  # never a digit: 1000 levels of recursion in dcfg
    assert sys.getrecursionlimit() == before
    with pytest.raises(calculator.Overrun):
        sampler(rng, 0.0, max_digits=0)
    assert isinstance(sampler(rng, 0.0, max_digits=1), int)
    sizes = set()
    overruns = 0
    for _ in range(2000):
        try:
            sizes.add(digits_of(sampler(rng, 0.6, max_digits=5)))
        except calculator.Overrun:
            overruns += 1
    assert sizes == {1, 2, 3, 4, 5}
    assert overruns > 0


def test_limit_on_digits_only_removes_the_larger_trees() -> None:
    for seed in range(300):
        free = calculator.dcfg(rng_of(seed), 0.45, max_digits=100_000)
        limited = rng_of(seed)
        if digits_of(free) <= 6:
            assert calculator.dcfg(limited, 0.45, max_digits=6) == free
        else:
            with pytest.raises(calculator.Overrun):
                calculator.dcfg(limited, 0.45, max_digits=6)


@pytest.mark.parametrize(
    ("source", "params"),
    [
        ("dcfg", {"p": 0.6, "max_length": 15}),
        ("rcfg", {"p": 0.4, "max_length": 15}),
        ("t2t", {"min_depth": 1, "max_depth": 4, "max_length": 15}),
        ("bal", {"min_depth": 0, "max_depth": 3, "max_length": 17}),
    ],
)
def test_draw(source: str, params: dict[str, float]) -> None:
    rng = rng_of(13)
    lengths = set()
    for _ in range(1000):
        text, result = calculator.draw(rng, source, **params)
        lengths.add(len(text))
        assert eval(text) == result
        assert calculator.to_text(calculator.parse(text)) == text
    assert max(lengths) == params["max_length"]


def test_draw_is_the_conditional_distribution() -> None:
    # By p alone: 1 digit has 1-p, 2 digits p(1-p)^2; no more fit into 3 characters.
    rng = rng_of(14)
    trials = 10_000
    singles = 0
    for _ in range(trials):
        text, _ = calculator.draw(rng, "dcfg", p=0.5, max_length=3)
        singles += len(text) == 1
    assert_frequency(singles, trials, 0.5 / (0.5 + 0.5 * 0.25))


def test_draw_depths_are_uniform() -> None:
    rng = rng_of(15)
    trials = 6000
    operations: Counter[float] = Counter()
    for _ in range(trials):
        text, _ = calculator.draw(rng, "bal", min_depth=0, max_depth=2, max_length=100)
        operations[calculator.measures(text)["operations"]] += 1
    assert set(operations) == {0, 1, 3}
    for count in operations.values():
        assert_frequency(count, trials, 1 / 3)


def test_draw_refuses_what_would_never_end() -> None:
    rng = rng_of(16)
    with pytest.raises(ValueError, match="p must be"):
        calculator.draw(rng, "dcfg", p=1.0, max_length=9)
    with pytest.raises(ValueError, match="fits into 0"):
        calculator.draw(rng, "rcfg", p=0.3, max_length=0)
    with pytest.raises(ValueError, match="fits into 6"):
        calculator.draw(rng, "t2t", min_depth=3, max_depth=5, max_length=6)
    with pytest.raises(ValueError, match="fits into 14"):
        calculator.draw(rng, "bal", min_depth=3, max_depth=5, max_length=14)
    with pytest.raises(ValueError, match="range of depths"):
        calculator.draw(rng, "t2t", min_depth=3, max_depth=2, max_length=100)
    with pytest.raises(ValueError, match="unknown source"):
        calculator.draw(rng, "cfg", p=0.3, max_length=9)
    with pytest.raises(TypeError):
        calculator.draw(rng, "dcfg", max_depth=3, max_length=9)


# Homogenization.

BOTH = pytest.mark.parametrize(
    "sampled", [homogenize.sampled_homogenize, homogenize.sampled_homogenize_exact]
)


def itself(s: str) -> str:
    return s


@BOTH
def test_fixed_support_by_hand(sampled: Callable[..., tuple[list[bool], dict[str, int]]]) -> None:
    # draw  counts a,b  p_min  p_curr  g = (p_min + 1/2) / (p_curr + 1/2)
    #  a       1,0       0      1      (1/2) / (3/2) = 1/3
    #  b       1,1       1/2    1/2    1
    #  a       2,1       1/3    2/3    (5/6) / (7/6) = 5/7 = 0.714..
    #  a       3,1       1/4    3/4    (3/4) / (5/4) = 3/5
    #  a       4,1       1/5    4/5    (7/10) / (13/10) = 7/13 = 0.538..
    #  b       4,2       1/3    1/3    1
    draws = ["a", "b", "a", "a", "a", "b"]
    below = [0.33, 0.999, 0.71, 0.59, 0.53, 0.0]
    above = [0.34, 0.999, 0.72, 0.61, 0.54, 0.0]
    keep, counts = sampled(draws, itself, ["a", "b"], 0.5, below)
    assert keep == [True] * 6
    assert counts == {"a": 4, "b": 2}
    keep, counts = sampled(draws, itself, ["a", "b"], 0.5, above)
    assert keep == [False, True, False, False, False, True]
    assert counts == {"a": 4, "b": 2}


@BOTH
def test_grown_support_by_hand(sampled: Callable[..., tuple[list[bool], dict[str, int]]]) -> None:
    # epsilon = 0: g = min C / C[x] over the values seen so far.
    # a: 1/1; a: 2/2; b: 1/1; a: 1/3; b: 2/2; b: 3/3; c: 1/1; b: 1/4
    draws = ["a", "a", "b", "a", "b", "b", "c", "b"]
    uniforms = [0.99, 0.99, 0.99, 0.34, 0.99, 0.99, 0.99, 0.24]
    keep, counts = sampled(draws, itself, None, 0.0, uniforms)
    assert keep == [True, True, True, False, True, True, True, True]
    assert counts == {"a": 3, "b": 4, "c": 1}
    assert list(counts) == ["a", "b", "c"]
    keep, _ = sampled(draws, itself, None, 0.0, [0.0, 0.5, 0.5, 0.33, 0.0, 0.9, 0.2, 0.26])
    assert keep == [True, True, True, True, True, True, True, False]


@BOTH
def test_zero_epsilon_keeps_nothing_while_a_value_is_missing(
    sampled: Callable[..., tuple[list[bool], dict[str, int]]],
) -> None:
    keep, counts = sampled(["a", "b", "a", "c"], itself, ["c", "b", "a"], 0.0, [0.0] * 4)
    assert keep == [False, False, False, True]
    assert counts == {"a": 2, "b": 1, "c": 1}
    assert list(counts) == ["c", "b", "a"]


@BOTH
def test_comparison_is_strict(sampled: Callable[..., tuple[list[bool], dict[str, int]]]) -> None:
    # a, b, a with epsilon 0: the third g is exactly 1/2.
    draws = ["a", "b", "a"]
    keep, _ = sampled(draws, itself, None, 0.0, [0.0, 0.0, 0.5])
    assert keep == [True, True, False]
    keep, _ = sampled(draws, itself, None, 0.0, [0.0, 0.0, math.nextafter(0.5, 0.0)])
    assert keep == [True, True, True]


@BOTH
def test_homogenize_edges(sampled: Callable[..., tuple[list[bool], dict[str, int]]]) -> None:
    assert sampled([], itself, None, 0.1, []) == ([], {})
    assert sampled([], itself, ["a"], 0.1, []) == ([], {"a": 0})
    with pytest.raises(ValueError, match="not in the support"):
        sampled(["z"], itself, ["a"], 0.1, [0.5])
    with pytest.raises(ValueError, match="shorter"):
        sampled(["a", "a"], itself, ["a"], 0.1, [0.5])


@BOTH
def test_nu_is_applied(sampled: Callable[..., tuple[list[bool], dict[int, int]]]) -> None:
    keep, counts = sampled(["xx", "y", "zz"], len, [1, 2], 0.0, [0.0, 0.0, 0.6])
    assert keep == [False, True, False]
    assert counts == {1: 1, 2: 2}


@pytest.mark.parametrize("support", [None, [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("epsilon", [0.0, 0.025, 0.2])
def test_floats_agree_with_fractions(support: list[int] | None, epsilon: float) -> None:
    rng = rng_of(17)
    draws = [int(x) for x in rng.binomial(4, 0.3, size=3000)]
    uniforms = [float(u) for u in rng.random(3000)]
    plain = homogenize.sampled_homogenize(draws, int, support, epsilon, uniforms)
    exact = homogenize.sampled_homogenize_exact(draws, int, support, epsilon, uniforms)
    assert plain == exact
    assert plain[1] == Counter(draws)
    assert 0 < sum(plain[0]) < 3000


@pytest.mark.parametrize("epsilon", [0.0, 0.025, 0.2])
def test_homogenize_converges_to_the_limit(epsilon: float) -> None:
    rng = rng_of(18)
    p = {"a": 0.6, "b": 0.3, "c": 0.1}
    n = 60_000
    draws = [str(x) for x in rng.choice(list(p), p=list(p.values()), size=n)]
    uniforms = [float(u) for u in rng.random(n)]
    keep, _ = homogenize.sampled_homogenize(draws, itself, list(p), epsilon, uniforms)
    kept = Counter(s for s, k in zip(draws, keep, strict=True) if k)
    r = homogenize.limit_distribution(p, epsilon)
    for x in p:
        assert abs(kept[x] / kept.total() - r[x]) < 0.02
    assert abs(n / kept.total() - homogenize.expected_draws(p, epsilon)) < 0.1


def test_limit_by_hand() -> None:
    p = {"a": 0.75, "b": 0.25}
    # epsilon 0: g = 1/3, 1, so that p g = 1/4, 1/4.
    assert homogenize.limit_distribution(p, 0.0) == pytest.approx({"a": 0.5, "b": 0.5})
    assert homogenize.expected_draws(p, 0.0) == pytest.approx(2.0)
    # epsilon 1/4: g = 1/2, 1, so that p g = 3/8, 2/8.
    assert homogenize.limit_distribution(p, 0.25) == pytest.approx({"a": 0.6, "b": 0.4})
    assert homogenize.expected_draws(p, 0.25) == pytest.approx(1.6)
    # A large epsilon keeps nearly all.
    assert homogenize.limit_distribution(p, 1e9) == pytest.approx(p)
    assert homogenize.expected_draws(p, 1e9) == pytest.approx(1.0)


def test_limit_with_an_impossible_value() -> None:
    p = {"a": 1.0, "b": 0.0}
    with pytest.raises(ValueError, match="nothing is ever kept"):
        homogenize.limit_distribution(p, 0.0)
    assert homogenize.expected_draws(p, 0.0) == math.inf
    assert homogenize.limit_distribution(p, 0.025) == {"a": 1.0, "b": 0.0}
    # The paper's bound 1 + 1/epsilon is reached.
    assert homogenize.expected_draws(p, 0.025) == pytest.approx(41.0)
    with pytest.raises(ValueError, match="sum to 1"):
        homogenize.limit_distribution({"a": 0.7, "b": 0.7}, 0.1)


def test_expected_draws_are_within_the_papers_bound() -> None:
    rng = rng_of(19)
    for epsilon in [0.01, 0.025, 0.2, 1.0]:
        for _ in range(20):
            p = dict(enumerate(float(x) for x in rng.dirichlet([0.3] * 6)))
            assert 1.0 - 1e-9 <= homogenize.expected_draws(p, epsilon) <= 1 + 1 / epsilon


def test_histogram_statistics_by_hand() -> None:
    found = homogenize.histogram_statistics({"a": 3, "b": 1}, ["a", "b"])
    assert found["kl"] == pytest.approx(0.75 * math.log(1.5) + 0.25 * math.log(0.5))
    assert found["total_variation"] == 0.25
    assert found["entropy"] == pytest.approx(0.75 * math.log(4 / 3) + 0.25 * math.log(4))
    assert found["missing"] == []


def test_histogram_statistics_extremes() -> None:
    uniform = homogenize.histogram_statistics({1: 5, 2: 5, 3: 5, 4: 5}, [1, 2, 3, 4])
    assert uniform["kl"] == 0
    assert uniform["total_variation"] == 0
    assert uniform["entropy"] == pytest.approx(math.log(4))
    point = homogenize.histogram_statistics({3: 7, 2: 0}, [4, 3, 2, 1])
    assert point["kl"] == pytest.approx(math.log(4))
    assert point["total_variation"] == 0.75
    assert point["entropy"] == 0
    assert point["missing"] == [4, 2, 1]


def test_kl_is_the_entropy_lacking() -> None:
    rng = rng_of(20)
    for _ in range(50):
        counts = {x: int(rng.integers(0, 20)) for x in range(8)}
        found = homogenize.histogram_statistics(counts, range(8))
        assert found["kl"] == pytest.approx(math.log(8) - found["entropy"], abs=1e-12)
        # Pinsker's inequality
        assert found["total_variation"] <= math.sqrt(found["kl"] / 2) + 1e-12


def test_histogram_statistics_refuses() -> None:
    with pytest.raises(ValueError, match="nothing was counted"):
        homogenize.histogram_statistics({}, ["a"])
    with pytest.raises(ValueError, match="not in the support"):
        homogenize.histogram_statistics({"a": 1}, [])
    with pytest.raises(ValueError, match="not in the support"):
        homogenize.histogram_statistics({"a": 1, "z": 1}, ["a", "b"])
    with pytest.raises(ValueError, match="twice"):
        homogenize.histogram_statistics({"a": 1}, ["a", "a"])
