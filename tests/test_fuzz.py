"""Fuzzing: each reader on a few hundred inputs, and what the machinery makes of bad readers."""

import sys
from pathlib import Path

import pytest

from fuzz.__main__ import ENOUGH, TimeLeft, main, shared_inputs
from fuzz.machinery import Fault, Target, fuzz, made_input, outcome, save
from fuzz.targets import TARGETS
from tests.planted_readers import endless, numbered
from tests.waiting import HANG
from unskew.core.errors import UnskewError

SEED = 35
INPUTS = 200  # of a target that reads fast


@pytest.mark.parametrize("name", TARGETS)
def test_a_reader_refuses_damaged_inputs_in_one_line(name, tmp_path):
    target = TARGETS[name]
    reader = target.prepare(tmp_path)
    inputs = [made_input(target, reader, SEED, i) for i in range(min(INPUTS, target.speed // 5))]
    outcomes = [outcome(reader, data) for data in inputs]
    assert [fault for fault in outcomes if isinstance(fault, Fault)] == []
    assert any(outcomes) or name == "dataset-note"  # a note that was altered is a fault, no refusal


def test_an_input_follows_from_the_seed_and_its_number(tmp_path):
    target = TARGETS["karel-tokens"]
    reader = target.prepare(tmp_path)
    again = TARGETS["karel-tokens"].prepare(tmp_path)
    first = [made_input(target, reader, 1, number) for number in range(20)]
    assert first == [made_input(target, again, 1, number) for number in range(20)]
    assert first != [made_input(target, again, 2, number) for number in range(20)]


def test_faults_and_ends_of_the_process_are_reported_with_their_inputs():
    target = Target("numbered", numbered, 1)
    result = fuzz(target, 30, SEED)
    by_name = {fault.kind: fault.data for fault in result.faults.values()}
    assert by_name == {
        "ValueError": b"\x01",
        "ended by SIGSEGV": b"\x02",
        "error of no words": b"\x04",
        "MemoryError": b"\x05",
    }
    made = [made_input(target, numbered(Path()), SEED, number) for number in range(30)]
    assert sum(result.times.values()) == sum(data in by_name.values() for data in made)
    assert result.refused == made.count(b"\x03")


def test_an_input_that_takes_too_long_is_reported():
    result = fuzz(Target("endless", endless, 1), 1, SEED, hang_seconds=0.1)
    (fault,) = result.faults.values()
    assert (fault.kind, fault.data) == ("takes too long", b"forever")


def test_no_target_is_left_thin():
    targets = list(TARGETS.values())
    shares = shared_inputs(targets, 1_500_000)
    assert min(shares.values()) == ENOUGH
    assert 1_500_000 <= sum(shares.values()) < 1_600_000
    assert min(shared_inputs(targets, 10).values()) == 1


def test_time_that_a_target_leaves_over_goes_to_the_next_ones():
    left = TimeLeft({"fast": 10.0, "slow": 30.0, "last": 60.0}, 100.0, 1)
    assert left.share("fast", 0.0) == 10.0
    left.done("fast")
    assert left.share("slow", 1.0) == 99.0 / 3  # it began nine seconds early
    left.done("slow")
    assert left.share("last", 90.0) == 10.0


def test_targets_that_run_at_the_same_time_leave_time_for_the_others():
    left = TimeLeft({"one": 50.0, "other": 50.0, "late": 100.0}, 100.0, 2)
    assert left.share("one", 0.0) == 50.0
    assert left.share("other", 0.0) == 50.0
    left.done("one")
    assert left.share("late", 50.0) == 50.0
    long = TimeLeft({"long": 90.0, "short": 10.0}, 100.0, 2)
    assert [long.share("long", 0.0), long.share("short", 0.0)] == [100.0, 100.0]
    assert TimeLeft({"late": 1.0}, 100.0, 2).share("late", 101.0) == 0.0


def test_a_target_has_its_time_after_it_is_prepared():
    """Preparing may take longer than reading: kernels are compiled, models are made."""
    target = Target("numbered", numbered, 1)
    assert fuzz(target, 3, SEED, seconds=0.0).inputs == 0
    assert fuzz(target, 3, SEED, seconds=1e-9).inputs == 1
    assert fuzz(target, 3, SEED, seconds=HANG).inputs == 3


def test_a_saved_input_is_read_again(tmp_path, monkeypatch):
    path = save("expressions", b"1+", tmp_path)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--again", str(path)])
    with pytest.raises(UnskewError, match=r"'1\+' has the end at column 3"):
        main()
