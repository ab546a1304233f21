"""Judging proposals against the slow twin's interpreter, and intervals against scipy's."""

import numpy as np
import pytest
from scipy import stats

from tests.naive import karel as naive
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.domains.karel import world
from unskew.domains.karel.language import tokens
from unskew.domains.karel.running.judge import RUNS_AT_ONCE, Share, judge
from unskew.domains.karel.sampling.programs import original_examples

K, SHOWN = 6, 5


@pytest.fixture(scope="module")
def tasks():
    return original_examples(generator(0, "judging"), 40, K)


def proposals_for(tasks, item=4):
    """Its own program first for every third task; others' programs, and what is no program."""
    rng = generator(1, "proposals")
    rows = tasks.programs[rng.integers(len(tasks.programs), size=(len(tasks.programs), item))]
    rows[::3, 0] = tasks.programs[::3]
    rows[1::3, 1] = 0
    rows[2::5, 2, 3] = tokens.NOT
    return rows


def makes(row, before, after):
    """What the slow twin says of one proposal on one pair."""
    try:
        program = naive.parse(tokens.to_texts(row))
    except ValueError:
        return None
    ended = naive.run(program, naive.from_json(world.to_json(before)))
    return ended.status == "ok" and ended.world == naive.from_json(world.to_json(after))


def test_judgements_are_the_slow_twins(tasks):
    rows = proposals_for(tasks)
    judged = judge(rows, tasks.programs, tasks.inputs, tasks.outputs, SHOWN)
    for i, item in enumerate(rows):
        for j, row in enumerate(item):
            pairs = [
                makes(row, *pair) for pair in zip(tasks.inputs[i], tasks.outputs[i], strict=True)
            ]
            valid = None not in pairs
            assert judged.valid[i, j] == valid
            assert judged.consistent[i, j] == (valid and all(pairs[:SHOWN]))
            assert judged.generalizes[i, j] == (valid and all(pairs))
            assert judged.exact[i, j] == np.array_equal(row, tasks.programs[i])
    assert 0 < judged.generalizes.sum() < judged.valid.sum() < judged.valid.size


def test_more_proposals_than_are_run_at_once_are_judged_alike(tasks):
    rows = proposals_for(tasks)
    few = judge(rows, tasks.programs, tasks.inputs, tasks.outputs, SHOWN)
    times = RUNS_AT_ONCE // (K * int(few.valid.sum())) + 2
    many = judge(np.tile(rows, (1, times, 1)), tasks.programs, tasks.inputs, tasks.outputs, SHOWN)
    for name in ("valid", "exact", "consistent", "generalizes"):
        assert np.array_equal(np.tile(getattr(few, name), (1, times)), getattr(many, name))


def test_what_is_held_out_counts_only_for_generalizing(tasks):
    wrong = tasks.outputs.copy()
    wrong[:, SHOWN:] = tasks.inputs[:, SHOWN:]
    judged = judge(tasks.programs[:, None], tasks.programs, tasks.inputs, wrong, SHOWN)
    assert judged.consistent.all()
    assert judged.exact.all()
    assert not judged.generalizes.any()


def test_the_first_consistent_proposal_is_taken(tasks):
    rows = np.stack([np.zeros_like(tasks.programs), tasks.programs], axis=1)
    judged = judge(rows, tasks.programs, tasks.inputs, tasks.outputs, SHOWN)
    shares = {name: solved.mean() for name, solved in judged.shares().items()}
    assert (judged.first_consistent() == 1).all()
    assert shares == {
        "valid": 0,
        "exact": 0,
        "consistent": 0,
        "generalizes": 0,
        "exact, any": 1,
        "consistent, any": 1,
        "generalizes, any": 1,
        "generalizes, first consistent": 1,
    }


def test_programs_may_be_padded_further_than_proposals(tasks):
    wide = np.pad(tasks.programs, ((0, 0), (0, 9)))[:, None]
    assert judge(wide, tasks.programs, tasks.inputs, tasks.outputs, SHOWN).exact.all()
    longer = wide.copy()
    longer[:, 0, -1] = tokens.CLOSE_RUN
    assert not judge(longer, tasks.programs, tasks.inputs, tasks.outputs, SHOWN).exact.any()


@pytest.mark.parametrize("shown", [0, 7])
def test_more_than_there_is_cannot_be_shown(tasks, shown):
    with pytest.raises(UnskewError, match="show 1 to 6"):
        judge(tasks.programs[:, None], tasks.programs, tasks.inputs, tasks.outputs, shown)


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (7, 10), (10, 10), (1838, 2500)])
def test_intervals_are_wilsons(hits, n):
    low, high = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert Share(hits, n).interval == pytest.approx((low, high))


def test_of_nothing_nothing_is_known():
    assert Share(0, 0).interval == (0.0, 1.0)
    assert Share.of(np.array([True, False])) == Share(1, 2)
