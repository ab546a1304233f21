"""Proposals: their values are those of their names, and they say what a domain's variables say."""

import json
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from unskew.core.batch import Batch
from unskew.core.rng import generator
from unskew.core.variables.coded import Coded, as_coded
from unskew.core.variables.column import column_variable
from unskew.core.variables.combine import as_variable
from unskew.discovery.proposals import propose
from unskew.domains import load_domain
from unskew.domains.karel.examples import world_rows
from unskew.domains.karel.world import to_picture
from unskew.io.lookup import find_variable

N = 400
WORDS = [
    "please",
    "tell",
    "me",
    "the",
    "name",
    "of",
    "a",
    "big",
    "red",
    "or",
    "blue",
    "fish",
    "and",
    "why",
    "it",
    "swims",
    "so",
    "fast",
    "today",
]
RNG = random.Random(7)  # noqa: S311


def prompt() -> str:
    ends = RNG.choice([".", "?", "!"])
    return " ".join(RNG.choices(WORDS, k=RNG.randint(3, 12))).capitalize() + ends


def chats() -> list[dict]:
    return [
        {
            "id": f"x{row}",
            "messages": [
                *[{"role": "system", "content": "be kind"}][: RNG.randint(0, 1)],
                *(
                    {"role": ("user", "assistant")[turn % 2], "content": prompt()}
                    for turn in range(RNG.randint(1, 4))
                ),
            ],
            "meta": {"lang": RNG.choice(["en", "de", None]), "score": RNG.random()},
            "info": json.dumps({"level": RNG.randint(1, 5)}),
        }
        for row in range(N)
    ]


def tables() -> list[dict]:
    return [
        {
            "a": RNG.randint(-50, 1000),
            "b": RNG.choice([1, 2, 3, None]),
            "price": round(RNG.uniform(0, 100), 2),
            "fine": RNG.random() < 0.3,
            "day": f"2024-{RNG.randint(1, 12):02d}-{RNG.randint(1, 28):02d}",
            "answer": str(RNG.randint(0, 300)),
            "q(1)": RNG.randint(1, 3),
            "c, d": RNG.choice(["x", "y"]),
            "bins(a, 5)": RNG.choice(["odd", "name"]),
        }
        for _ in range(N)
    ]


def lists() -> list[dict]:
    rows = []
    for _ in range(N):
        items = [RNG.randint(-9, 40) for _ in range(RNG.randint(0, 7))]
        tags = RNG.sample(["a", "b", "c, d", '"e"'], RNG.randint(0, 3))
        rows.append(
            {"input": items, "output": sorted(items), "tags": tags, "at": [1, RNG.random()]}
        )
    return rows


def pictures() -> list[dict]:
    rng = np.random.default_rng(1)
    return [
        {
            "grid": rng.integers(0, 4, (5, 6)).tolist(),
            "drawing": "\n".join("".join(RNG.choices(".#", k=5)) for _ in range(4)),
            "photo": rng.random((4, 4, 3)).tolist(),
        }
        for _ in range(N // 4)
    ]


def programs() -> list[dict]:
    return [
        {
            "code": " ".join(
                f"{RNG.choice('fg')}( {RNG.choice('xyz')} {RNG.randint(1, 3)} )"
                for _ in range(RNG.randint(1, 4))
            )
        }
        for _ in range(N)
    ]


def prompts() -> list[dict]:
    return [{"prompt": f"{prompt()} w{RNG.randint(1, 300)}"} for _ in range(N)]


@pytest.mark.parametrize("rows", [chats, tables, lists, pictures, programs, prompts])
def test_every_proposal_has_the_values_of_its_name(rows):
    data = rows()
    for batch in (Batch.of(data), Batch.from_arrow(pa.Table.from_pylist(data))):
        proposed = propose(batch)
        assert len(proposed.proposals) >= 40
        for proposal in proposed.proposals:
            measured = column_variable(proposal.name).measure(batch)
            assert measured.tolist() == proposal.values.tolist(), proposal.name
            assert len(proposal.values) == len(data)
            assert proposal.doc
            assert proposal.chance or proposal.null != "chance"


def information(values: Coded, target: Coded) -> float:
    """Return the share of the entropy of the target that the values determine."""
    values, target = as_coded(values), as_coded(target)
    both = values.codes * len(target.distinct) + target.codes
    return 1 - (entropy(both) - entropy(values.codes)) / max(entropy(target.codes), 1e-12)


def entropy(codes) -> float:
    shares = np.unique(codes, return_counts=True)[1] / len(codes)
    return float(-(shares * np.log(shares)).sum())


def test_information_of_equal_and_of_independent_values():
    values = Coded(["a", "b"], np.arange(1000) % 2)
    assert information(values, values) == pytest.approx(1)
    assert information(values, Coded([1, 2], np.arange(1000) // 2 % 2)) < 0.01


def drawn(source: str, n: int) -> Batch:
    domain, _, name = source.partition("/")
    return load_domain(domain).source(name).draw(generator(3, "test"), n)[0]


def test_calculator_from_its_text_alone():
    batch = drawn("calculator/dcfg", 3000)
    text = Batch({"expression": batch.columns["expression"]})
    proposals = propose(text).proposals
    for name, variable in load_domain("calculator").variables.items():
        target = as_coded(variable.measure(batch))
        assert max(information(p.values, target) for p in proposals) >= 0.9, name


def test_karel_from_programs_and_pictures_alone():
    batch = drawn("karel/msr", 1500)
    rows = pa.table(
        {
            "program": batch.columns["program"],
            "input": [to_picture(worlds[0]) for worlds in world_rows(batch, "inputs")],
        }
    )
    proposals = {p.name: p for p in propose(Batch.from_arrow(rows)).proposals}
    known = load_domain("karel").variables
    for name in ("size", "moves", "actions", "nesting", "height", "wall_ratio", "marker_count"):
        target = as_coded(known[name].measure(batch))
        best = max(proposals.values(), key=lambda p: information(p.values, target))
        assert information(best.values, target) >= 0.9, (name, best.name)
    # The finding of the paper's authors: no program without a move, none of one action.
    moves = proposals["occurrences(program, move)"]
    assert moves.least == 0
    assert min(moves.values.distinct) == 1
    actions = "occurrences(program, move, pickMarker, putMarker, turnLeft, turnRight)"
    assert proposals[actions].least == 0
    assert min(proposals[actions].values.distinct) == 2


def test_chance_is_what_the_parts_would_give():
    rng = np.random.default_rng(2)
    rows = [{"x": int(x)} for x in rng.integers(0, 1000, 5000)]
    digits = next(p for p in propose(Batch.of(rows)).proposals if p.name == "digits(x)")
    shares = Counter(digits.chance[0].tolist())
    assert shares[1] / 5000 == pytest.approx(0.01, abs=0.007)  # 10 of 1,000 numbers
    assert shares[3] / 5000 == pytest.approx(0.9, abs=0.02)
    even = propose(Batch.of([{"x": 2 * int(x)} for x in rng.integers(0, 500, 500)])).proposals
    parity = next(p for p in even if p.name == "parity(x)")
    assert parity.values.distinct == ["even"]  # the same in all rows, and not so by chance
    assert Counter(parity.chance[0].tolist())["odd"] > 150


def test_lists_by_chance_keep_what_holds_in_all_rows():
    rng = np.random.default_rng(3)
    rows = [{"l": sorted(rng.permutation(9)[:4].tolist())} for _ in range(300)]
    proposed = propose(Batch.of(rows))
    names = {p.name for p in proposed.proposals}
    assert not names & {"order(l)", "distinct(l)", "repeats(l)"}  # nothing to be skewed
    largest = next(p for p in proposed.proposals if p.name == "largest(l)")
    assert {8, 3} <= set(largest.chance[1].distinct)


def test_expressions_by_chance_have_other_operators():
    rows = [{"e": f"{RNG.randint(0, 9)}{op}{RNG.randint(0, 9)}"} for op in "+++++-*" * 200]
    proposals = {p.name: p for p in propose(Batch.of(rows)).proposals}
    which = proposals["which(e, *, +, -)"]  # one operator in each: one choice of three
    assert Counter(which.values.tolist())["+"] == 1000
    assert (which.null, which.chance) == ("even", ())
    main = Counter(proposals["main_operator(e)"].chance[0].tolist())
    assert main["*"] / 1400 == pytest.approx(1 / 3, abs=0.06)


def vowels(text: str) -> int:
    """Number of vowels."""
    return sum(character in "aeiou" for character in text)


def test_own_functions_are_proposed_for_the_values_they_take():
    rows = [{"t": prompt(), "n": row} for row in range(N)]

    def broken(number: int) -> int:
        return 1 // (number % 5)

    proposed = propose(Batch.of(rows), own=[vowels, broken, lambda value: len(str(value))])
    by_name = {p.name: p for p in proposed.proposals}
    own = by_name["tests.test_proposals:vowels(t)"]
    assert own.values.tolist() == [vowels(row["t"]) for row in rows]
    assert own.doc == "t: Number of vowels"
    assert own.variable.measure(Batch.of(rows[:3])).tolist() == own.values.tolist()[:3]
    again = find_variable(own.name, None).measure(Batch.of(rows))
    assert again.tolist() == own.values.tolist()
    assert "tests.test_proposals:vowels(n)" not in by_name
    assert any("ZeroDivisionError" in reason for reason in proposed.left_out)
    assert {"lambda(t)", "lambda(n)"} <= set(by_name)


def test_bins_of_an_own_function_are_read_by_name():
    batch = Batch.of([{"t": "aeiou x"}, {"t": "sky"}, {"t": None}])
    name = "bins(tests.test_proposals:vowels(t), 2, 4)"
    assert find_variable(name, None).measure(batch).tolist() == ["≥ 4", "< 2", None]
    assert as_variable('contains(t, "a:b")').measure(batch).tolist() == [False, False, None]


def test_the_variables_of_a_domain_are_proposed():
    batch = drawn("calculator/dcfg", 300)
    domain = load_domain("calculator")
    proposals = {p.name: p for p in propose(batch, domain=domain).proposals}
    for name, variable in domain.variables.items():
        assert proposals[name].values.tolist() == as_coded(variable.measure(batch)).tolist()


def test_what_is_left_out_is_counted():
    rows = [
        {"t": " ".join(f"w{RNG.randint(0, 10**6)}" for _ in range(20)), "same": 1} for _ in range(N)
    ]
    left_out = propose(Batch.of(rows)).left_out
    assert left_out["words beyond the 80 most frequent"] > 1000
    assert left_out["features that are the same in all rows"] > 0
    wide = propose(Batch.of([{f"k{key}": key for key in range(200)}] * 3))
    assert wide.left_out["paths beyond the first 120"] == 80


@pytest.mark.parametrize(
    "rows",
    [
        [{"x": 1}],
        [{"x": "a"}] * 50,
        [{"x": None}] * 3,
        [{}] * 3,
        [{"x": {}}] * 3,
        [{"x": []}] * 3,
        ["a", "b"],
        [1, "b", None, [1], {"a": 2}],
        [(1, "a"), (2, "b")],
        [{"x": "(" * 20_000}, {"x": "[" * 300 + "]" * 300}],
        [{"x": "{" * 5000}, {"x": json.dumps([[[[[[1]]]]]])}],
        [{"x": 10**300}, {"x": -(10**300)}],
        [{"x": float("inf")}, {"x": float("nan")}, {"x": 1.0}],
        [{"x": "\x00"}, {"x": "\ud800"}, {"x": ""}],
        [{" odd ": 1, '"q"': 2, "a.b": 3, "[": 4, "": 5}, {" odd ": 2, '"q"': 1, "": 6}],
        [{"x": {"a b": 1, "c.d": 2, "e[": 3, " f": 4}}, {"x": {"a b": 2}}],
        [{"x": True}, {"x": 1}, {"x": 1.0}, {"x": "1"}],
        [{"x": b"abc"}, {"x": b""}],
        [{"x": object()}, {"x": None}],
    ],
)
def test_odd_data_is_proposed_or_counted(rows):
    batch = Batch.of(rows)
    proposed = propose(batch)
    for proposal in proposed.proposals:
        measured = column_variable(proposal.name).measure(batch)
        assert measured.tolist() == proposal.values.tolist(), proposal.name
    assert not any("raised" in reason for reason in proposed.left_out), proposed.left_out
    assert proposed.proposals or proposed.left_out


def test_the_same_seed_proposes_the_same():
    rows = lists()
    first, second = (propose(Batch.of(rows), seed=4).proposals for _ in range(2))
    assert [p.name for p in first] == [p.name for p in second]
    for one, other in zip(first, second, strict=True):
        assert [c.tolist() for c in one.chance] == [c.tolist() for c in other.chance]
