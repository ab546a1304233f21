"""Counting different hashes: exactly, in memory or in files, alone or merged."""

import os
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.core.distinct import Distinct
from unskew.core.errors import UnskewError

HASHES = st.integers(0, 20).map(lambda n: (n * 0x9E3779B97F4A7C15) % 2**64)
PARTS = st.lists(st.lists(HASHES, max_size=12), max_size=6)
MEMORY = st.sampled_from([4, 16, 1000])


def counted(parts, in_memory):
    distinct = Distinct(in_memory, counted=True)
    for part in parts:
        distinct.add(np.array(part, dtype=np.uint64))
    return distinct


def counted_once(parts, in_memory):
    distinct = Distinct(in_memory)
    for part in parts:
        distinct.add(np.array(part, dtype=np.uint64))
    return distinct.count()


def as_counter(distinct):
    groups = list(distinct.groups())
    hashes = [h for hashes, _ in groups for h in hashes.tolist()]
    assert all(one < two for one, two in pairwise(hashes))
    return dict(zip(hashes, (c for _, counts in groups for c in counts.tolist()), strict=True))


@given(PARTS, MEMORY)
def test_every_hash_is_counted_in_memory_and_in_files(parts, in_memory):
    expected = Counter(hash_ for part in parts for hash_ in part)
    distinct = counted(parts, in_memory)
    assert distinct.total == expected.total()
    assert distinct.count() == counted_once(parts, in_memory) == len(expected)
    assert as_counter(distinct) == expected


@given(PARTS, PARTS, MEMORY, MEMORY)
def test_merged_counts_are_the_counts_of_both(one, two, memory_of_one, memory_of_two):
    merged, other = counted(one, memory_of_one), counted(two, memory_of_two)
    for hashes, counts in other.groups():
        merged.add_counts(hashes, counts)
    merged.add(np.array([5], np.uint64))
    assert as_counter(merged) == as_counter(counted([*one, *two, [5]], 1000))
    assert as_counter(other) == as_counter(counted(two, 1000))


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Where temporary files are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def open_bytes(folder):
    """Return the bytes of the open files of this process that have no name in a folder any more."""
    opened = [path for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    inside = [path for path in opened if os.readlink(path).startswith(str(folder))]
    return [path.stat().st_size for path in inside]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not list files")
def test_memory_holds_no_more_than_it_may_and_no_file_has_a_name(folders):
    distinct = Distinct(in_memory=1000)
    random = np.random.default_rng(0)
    for _ in range(50):
        distinct.add(random.integers(0, 2**64, 300, dtype=np.uint64))
    assert list(folders.iterdir()) == []  # also where this process is killed now
    (size,) = open_bytes(folders)
    assert size >= 8 * (15_000 - 1000)
    assert distinct.count() == 15_000
    del distinct
    assert open_bytes(folders) == []


def test_repeats_need_no_files(folders):
    distinct = Distinct(in_memory=100)
    for _ in range(10):
        distinct.add(np.arange(30, dtype=np.uint64))
    assert (distinct.total, distinct.count()) == (300, 30)
    assert list(folders.iterdir()) == []


@given(PARTS, PARTS, MEMORY)
def test_different_hashes_of_others_are_added(one, two, in_memory):
    both, other = (Distinct(in_memory=in_memory) for _ in range(2))
    for hashes in one:
        both.add(np.array(hashes, np.uint64))
    for hashes in two:
        other.add(np.array(hashes, np.uint64))
    for hashes, _ in other.groups():
        both.add_different(hashes, 0)
    every = [hash_ for hashes in (*one, *two) for hash_ in hashes]
    assert both.count() == len(set(every))
    assert both.total == sum(map(len, one))
    both.add_different(np.array([5], np.uint64), 3)
    assert both.total == sum(map(len, one)) + 3


def test_a_temporary_folder_that_cannot_be_used_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    distinct = Distinct(in_memory=4)
    with pytest.raises(UnskewError, match=r"missing cannot be used \(No such .*\); free space"):
        distinct.add(np.arange(10, dtype=np.uint64))
