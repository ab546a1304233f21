"""Programs like the original's: every rule without exception, every histogram within 0.03.

Draws have fixed seeds. With 20,000 programs the total variation that chance alone makes is
below 0.012 for every histogram here (45 bins at most), so 0.03 catches a shift of about 0.02.
"""

import numpy as np
import pytest

from tests.naive import karel as naive
from tests.naive import karel_programs as facts
from unskew.domains.karel import tokens
from unskew.domains.karel.analysis import foregone
from unskew.domains.karel.compiler import compile_programs
from unskew.domains.karel.programs import original_programs
from unskew.streams import stream

N = 20_000
CLOSE = 0.03
HISTOGRAMS = (
    *("length", "actions_per_program", "constructs_per_program", "nesting"),
    *("action", "condition", "construct", "repeat_count", "run_statements"),
)


@pytest.fixture(scope="module")
def programs():
    rows, drawn = original_programs(stream(0, "programs"), N)
    assert drawn > N
    return [tokens.to_texts(row) for row in rows]


@pytest.fixture(scope="module")
def statistics(programs):
    return facts.statistics(programs)


def distance(statistics, name) -> float:
    found = statistics[name]
    return facts.total_variation(
        facts.pooled_lengths(found) if name == "length" else found, facts.FACTS[name]
    )


def test_no_rule_is_ever_broken(programs):
    for program in programs:
        assert facts.broken_rules(program) == [], program


def test_nothing_is_foregone(programs):
    """What no surviving program does: test what is known, loop for ever, never enter a loop."""
    for program in programs:
        assert [text for text in facts.foregone(program) if text[0] in "ABC"] == [], program


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histograms_are_the_originals(statistics, name):
    assert distance(statistics, name) < CLOSE


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_a_planted_shift_is_caught(programs, name):
    """Programs of random tokens in place of a quarter: every histogram notices."""
    rng = stream(1, "planted")
    wrong = [naive.random_program(rng, 60) for _ in range(N // 4)]
    assert distance(facts.statistics([*programs[: 3 * N // 4], *wrong]), name) > CLOSE


def test_block_sizes_and_control_flow_are_the_originals(statistics):
    """Means by kind of block within 0.12 statements, shares of constructs within 0.02."""
    published = facts.FACTS["mean"]
    for name in ("run", "while", "repeat", "if", "then", "else"):
        found = facts.mean(statistics[f"{name}_statements"])
        assert found == pytest.approx(published[f"{name}_statements"], abs=0.12), name
    for depth, share in facts.FACTS["control_share_at_depth"].items():
        if depth <= 3:  # deeper blocks are too few to tell, there and here
            assert facts.control_shares(statistics)[depth] == pytest.approx(share, abs=0.025)


def test_direct_nesting_is_near_the_originals(statistics):
    """Each of the sixteen pairs within 2 percentage points; one σ of the original is 0.3 to 0.5."""
    found = facts.nested_percentages(statistics)
    for pair, percent in facts.FACTS["nested_percent"].items():
        assert found[pair] == pytest.approx(percent, abs=2.0), pair


def test_the_commonest_programs_are_the_originals(programs):
    """Each of the four stands in 1.3 to 1.9 % of the original; here within 1 point."""
    share = dict.fromkeys(("pickMarker move", "move putMarker", "putMarker move"), 0)
    for program in programs:
        text = " ".join(program[3:-1])
        if text in share:
            share[text] += 100 / N
    for text, count in (("pickMarker move", 47), ("move putMarker", 47), ("putMarker move", 40)):
        assert share[text] == pytest.approx(count / 25, abs=1.0)


def test_the_compiled_analysis_agrees_with_the_twin():
    """On 3,000 random programs; REPEAT 0, which the original does not have, left aside."""
    rng = stream(2, "analysis")
    drawn = [list(naive.random_program(rng, 40)) for _ in range(3_000)]
    drawn = [program for program in drawn if "R=0" not in program]
    rows = tokens.stacked([tokens.to_ids(program) for program in drawn])
    fast = foregone(compile_programs(rows))
    slow = []
    for program in drawn:
        letters = {text[0] for text in facts.foregone(program)}
        slow.append(bool(letters & set("ABC")) or any(
            text[0] == "4" for text in facts.broken_rules(program)
        ))  # fmt: skip
    assert np.array_equal(fast, slow)
    assert 0.05 < fast.mean() < 0.95


def test_the_same_seed_gives_the_same_programs():
    first, again = (original_programs(stream(3, "x"), 50)[0] for _ in range(2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, original_programs(stream(4, "x"), 50)[0])
