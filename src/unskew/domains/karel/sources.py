"""Karel's sources: programs of one distribution, worlds of another (sections 4.2, 4.3, 5).

A source is named by its worlds: like the original dataset's, uniform, narrow. Its programs are
like the original's: all, or those with one construct directly inside another. A source can also
draw new worlds for given programs. ``karel/actions`` has programs without control flow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, TypeAlias

import numpy as np

from unskew.core.arrays import Bytes, Ints
from unskew.core.batch import Batch
from unskew.core.domain import Choice, Range
from unskew.core.errors import RowError, UnskewError
from unskew.core.source import Source
from unskew.core.tally import Reason
from unskew.domains.karel import measures
from unskew.domains.karel.examples import make_batch, program_rows
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.language.compiler import Code, compile_programs
from unskew.domains.karel.running.hidden import EVEN, GEOMETRIC, REVERSED, VARIED
from unskew.domains.karel.sampling import pairs as p
from unskew.domains.karel.sampling import programs as drafts
from unskew.domains.karel.sampling import worlds as w
from unskew.domains.karel.sampling.pairs import Pairs, draw_pairs, pick_pairs
from unskew.domains.karel.sampling.programs import original_examples, original_programs
from unskew.domains.karel.sampling.worlds import ORIGINAL, Worlds
from unskew.domains.karel.world import BYTES

ANY, ALL = "any", "all"
COUNTS = {"G": GEOMETRIC, "U": EVEN, "A": REVERSED, ANY: VARIED}
CHUNK = 4096  # examples drawn at once: 13 MB of worlds
# How many original examples offer their inputs to programs of actions: two for each program, but
# not fewer and not more than this.
FEWEST, MOST = 1024, 8192
TRIES = 20_000  # worlds drawn for a program before it is given up, by default
POOL_TRIES = 20_000  # worlds offered to a program of actions, or to a given one
PATIENCE = 2048  # programs in a row without worlds before it is given up

Nested: TypeAlias = Annotated[
    str,
    Choice(
        (ANY, *(f"{inner}-in-{outer}" for inner in measures.KINDS for outer in measures.KINDS)),
        "which construct must stand directly inside which",
        "any, or x-in-y with repeat, while, ifelse, if for x and y",
    ),
]
Branches: TypeAlias = Annotated[
    str, Choice((ANY, ALL), "whether the shown worlds must take every branch of the program")
]
Pairs_: TypeAlias = Annotated[int, Range(1, 64, "worlds an example; the last one is held out")]
Tries: TypeAlias = Annotated[
    int, Range(1, 10_000_000, "worlds drawn for a program before it is dropped")
]
Counts: TypeAlias = Annotated[
    str,
    Choice(tuple(COUNTS), "markers of a cell: Geom(0.5), U{1..9}, 10 − Geom(0.5), or any by world"),
]
Ratio: TypeAlias = Annotated[float, Range(0.0, 1.0, "share of the cells")]
LONGEST_ACTIONS = 64
Length: TypeAlias = Annotated[
    int, Range(1, LONGEST_ACTIONS, "actions of a program; as many of each length")
]


def msr(nested: Nested = ANY, pairs: Pairs_ = 6, branches: Branches = ANY) -> Source:
    """Programs and worlds like the original dataset's: each run moves and handles a marker."""
    if branches == ALL:
        return _covered(ORIGINAL, nested, pairs, POOL_TRIES)

    def draw(rng: np.random.Generator, n: int) -> tuple[Batch, Counter[str]]:
        examples = original_examples(rng, n, pairs, inside=nesting_bit(nested))
        batch = make_batch(examples.programs, examples.inputs, examples.outputs)
        return batch, _dropped_originals(examples.dropped)

    def find(rng: np.random.Generator, code: Code) -> Pairs:
        return draw_pairs(rng, code, ORIGINAL, pairs, 0, POOL_TRIES)

    return Source("karel", draw, chunk=CHUNK, derive=partial(_derive, find=find, tries=POOL_TRIES))


def uniform(
    nested: Nested = ANY, pairs: Pairs_ = 6, tries: Tries = TRIES, counts: Counts = "U"
) -> Source:
    """Original-like programs on uniform worlds, every branch taken: the paper's six steps."""
    return _covered((w.UNIFORM_WORLDS, 0.0, 0.0, COUNTS[counts]), nested, pairs, tries)


def narrow(
    r_wall: Annotated[float, Range(0.0, 0.99, "share of the cells")] = 0.25,
    r_marker: Ratio = 0.65,
    counts: Counts = "U",
    nested: Nested = ANY,
    pairs: Pairs_ = 6,
    tries: Tries = TRIES,
) -> Source:
    """Original-like programs on worlds of fixed shares: four steps; every branch taken (ours)."""
    if r_wall + r_marker > 1:
        raise UnskewError(
            f"karel/narrow r_wall + r_marker is {r_wall + r_marker:g}; walls and markers take "
            "different cells, so give at most 1 together"
        )
    return _covered((w.NARROW_WORLDS, r_wall, r_marker, COUNTS[counts]), nested, pairs, tries)


def actions(min_length: Length = 1, max_length: Length = 20, pairs: Pairs_ = 6) -> Source:
    """Programs of actions alone, each drawn evenly, on inputs of original-like examples."""
    if min_length > max_length:
        raise UnskewError(
            f"karel/actions min_length {min_length} is above max_length {max_length}; swap them"
        )

    span = max_length - min_length + 1

    def programs(rng: np.random.Generator, rows: Ints) -> Bytes:
        return action_programs(rng, min_length + rows % span)

    source = _source(programs, lambda rng, code: on_originals(rng, code, pairs), POOL_TRIES)
    return replace(source, chunk=CHUNK // span * span)  # as many of each length


SOURCES = (msr, uniform, narrow, actions)


def _covered(worlds: Worlds, nested: str, pairs: int, tries: int) -> Source:
    """Make the source of original-like programs on worlds that take every branch."""

    def programs(rng: np.random.Generator, rows: Ints) -> Bytes:
        return original_programs(rng, len(rows), inside=nesting_bit(nested))[0]

    # The last world is held out. A single world is shown.
    shown = max(pairs - 1, 1)
    return _source(
        programs, lambda rng, code: draw_pairs(rng, code, worlds, pairs, shown, tries), tries
    )


# Draws a program for each of these row numbers.
Programs: TypeAlias = Callable[[np.random.Generator, Ints], Bytes]
FindWorlds: TypeAlias = Callable[[np.random.Generator, Code], Pairs]


def _source(programs: Programs, find: FindWorlds, tries: int) -> Source:
    """Make the source that finds worlds for programs, drawn or given."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Batch, Counter[str]]:
        wanted = np.arange(n)
        columns: list[Bytes] = []
        dropped: Counter[str] = Counter()
        in_vain = 0
        while len(wanted):
            rows = programs(rng, wanted)
            pairs = find(rng, compile_programs(rows))
            drawn = [rows, pairs.inputs, pairs.outputs]
            columns = columns or drawn
            for column, values in zip(columns, drawn, strict=True):
                column[wanted] = values
            missing = pairs.status != p.MADE
            dropped += _reasons(rows[missing], pairs.status[missing], tries)
            in_vain = in_vain + len(wanted) if missing.all() else 0
            if in_vain >= PATIENCE:
                raise UnskewError(
                    f"no world was found for {in_vain} programs in a row, {tries} draws each; "
                    "raise tries, or leave more cells free"
                )
            wanted = wanted[missing]
        if not columns:
            raise UnskewError("n is 0; draw at least one example")
        return make_batch(*columns), dropped

    return Source("karel", draw, chunk=CHUNK, derive=partial(_derive, find=find, tries=tries))


def _derive(
    rng: np.random.Generator, batch: Batch, find: FindWorlds, tries: int
) -> tuple[Batch, Counter[str]]:
    """Find new worlds for given programs; leave out and count the programs without any."""
    rows = program_rows(batch)
    code = compile_programs(rows)
    if code.status.any():
        bad = int(np.flatnonzero(code.status)[0])
        raise RowError(bad, "this is no program; leave it out")
    pairs = find(rng, code)
    good = pairs.status == p.MADE
    dropped = _reasons(rows[~good], pairs.status[~good], tries)
    return make_batch(rows[good], pairs.inputs[good], pairs.outputs[good]), dropped


def action_programs(rng: np.random.Generator, lengths: Ints) -> Bytes:
    """Draw programs of a number of actions; all five actions are equally likely."""
    first, last = t.FIRST_ACTION, t.FIRST_ACTION + len(t.ACTIONS)
    rows = np.zeros((len(lengths), LONGEST_ACTIONS + 4), dtype=np.uint8)
    rows[:, :3] = t.DEF, t.RUN, t.OPEN_RUN
    rows[:, 3:-1] = rng.integers(first, last, (len(rows), LONGEST_ACTIONS), dtype=np.uint8)
    rows[np.arange(rows.shape[1]) >= 3 + lengths[:, None]] = t.PAD
    rows[np.arange(len(rows)), 3 + lengths] = t.CLOSE_RUN
    return rows


def on_originals(rng: np.random.Generator, code: Code, pairs: int) -> Pairs:
    """Find inputs of original-like examples on which programs do not crash (section 4.3)."""
    examples = min(MOST, max(FEWEST, 2 * len(code)))
    inputs = original_examples(rng, examples, 6).inputs.reshape(-1, BYTES)
    return pick_pairs(rng, code, inputs, pairs, POOL_TRIES)


def nesting_bit(nested: str) -> int:
    """Return the bits of the pairs of constructs that a program must have; 0 for any."""
    if nested == ANY:
        return 0
    inner, outer = nested.split("-in-")
    return 1 << measures.pair_bit(inner, outer)


def _dropped_originals(dropped: Ints) -> Counter[str]:
    """Count the programs that were not valid; leave out those that the grammar's weights drop."""
    texts = {
        drafts.NOT_COVERABLE: "no valid run was found that takes some branch",
        drafts.NO_WORLD: f"no valid world in {p.ORIGINAL_FIRST:,} draws",
        drafts.FEW_WORLDS: f"fewer than six valid worlds in {p.ORIGINAL_BUDGET:,} draws",
    }
    return _counted(texts, dropped)


def _reasons(programs: Bytes, status: Bytes, tries: int) -> Counter[str]:
    """Count dropped programs by reason, and each reason by two variables of the program."""
    texts = {
        p.CRASHES: "crashes in every world there is",
        p.NONE: f"no valid world in {tries:,} draws",
        p.FEW: f"too few valid worlds in {tries:,} draws",
        p.UNCOVERED: f"no worlds that take every branch in {tries:,} draws",
    }
    facts = measures.program_facts(programs)
    nesting, tens = facts[:, measures.NESTING], facts[:, measures.SIZE] // 10
    shape = (len(texts) + 1, nesting.max(initial=0) + 1, tens.max(initial=0) + 1)
    dropped = np.zeros(shape, dtype=np.int64)
    np.add.at(dropped, (status, nesting, tens), 1)
    return _counted(texts, dropped)


def _counted(texts: Mapping[int, str], dropped: Ints) -> Counter[str]:
    """Turn counts (code, nesting, tens of tokens) into counts by reason, details included."""
    by_reason: Counter[str] = Counter()
    for code, text in texts.items():
        by_reason[text] += int(dropped[code].sum())
        for nesting, count in enumerate(dropped[code].sum(axis=1).tolist()):
            by_reason[str(Reason(text, "nesting", str(nesting)))] += count
        for tens, count in enumerate(dropped[code].sum(axis=0).tolist()):
            by_reason[str(Reason(text, "size", f"{10 * tens} to {10 * tens + 9}"))] += count
    return +by_reason
