"""The distributions of worlds against the paper's steps, read off many draws with fixed seeds.

Each claim is a chi-square test; together they raise a false alarm once in 10,000 runs, and each
has a planted fault that the same check flags.
"""

import numpy as np
import pytest
import scipy.stats

from unskew.domains.karel import world
from unskew.domains.karel.hidden import EVEN, GEOMETRIC, REVERSED
from unskew.domains.karel.world import FACING, HEIGHT, POSITION, SIDE, WALL, WIDTH, grid_of
from unskew.domains.karel.worlds import (
    NARROW_WORLDS,
    ORIGINAL_WORLDS,
    UNIFORM_WORLDS,
    draw_worlds,
)
from unskew.streams import stream

ALARM = 1e-6
N = 20_000


def draw(kind, r_wall=0.0, r_marker=0.0, counts=EVEN, n=N, seed=0):
    return draw_worlds(stream(seed, "worlds"), n, kind, r_wall, r_marker, counts)


def fits(values, probabilities) -> bool:
    """Whether counts of 0, 1, … could come from these probabilities."""
    counts = np.bincount(values, minlength=len(probabilities))
    assert len(counts) == len(probabilities)
    expected = np.asarray(probabilities) * counts.sum()
    return scipy.stats.chisquare(counts, expected).pvalue > ALARM


def marker_counts(worlds):
    cells = worlds[:, : SIDE * SIDE]
    return cells[(cells > 0) & (cells != WALL)].astype(int)


@pytest.mark.parametrize(
    ("kind", "smallest"), [(UNIFORM_WORLDS, 2), (NARROW_WORLDS, 10), (ORIGINAL_WORLDS, 2)]
)
def test_sizes_and_directions_are_uniform(kind, smallest):
    worlds = draw(kind, 0.25, 0.65)
    even = [1 / (17 - smallest)] * (17 - smallest)
    if kind != UNIFORM_WORLDS:  # there, small worlds full of walls are drawn again
        assert fits(worlds[:, HEIGHT].astype(int) - smallest, even)
        assert fits(worlds[:, WIDTH].astype(int) - smallest, even)
        planted = np.concatenate([worlds[:, WIDTH], np.full(N // 20, smallest)]).astype(int)
        assert not fits(planted - smallest, even)
    assert fits(worlds[:, FACING].astype(int), [0.25] * 4)


@pytest.mark.parametrize("kind", [UNIFORM_WORLDS, NARROW_WORLDS, ORIGINAL_WORLDS])
def test_every_world_is_valid(kind):
    for packed in draw(kind, 0.85, 0.05, n=500):
        assert np.array_equal(world.from_json(world.to_json(packed)), packed)


def test_uniform_worlds_have_uniform_ratios():
    """In large worlds the shares of walls and of markers among free cells are U(0, 1)."""
    worlds = draw(UNIFORM_WORLDS, n=60_000)
    large = worlds[(worlds[:, HEIGHT] >= 14) & (worlds[:, WIDTH] >= 14)]
    walls = np.array([(grid_of(w) == WALL).mean() for w in large])
    free = walls < 0.9
    marked = [(grid_of(w)[grid_of(w) != WALL] > 0).mean() for w in large[free]]
    assert fits((walls * 4).astype(int).clip(0, 3), [0.25] * 4)
    assert fits((np.array(marked) * 4).astype(int).clip(0, 3), [0.25] * 4)
    assert fits(marker_counts(worlds) - 1, [1 / 9] * 9)


@pytest.mark.parametrize(("r_wall", "r_marker"), [(0.05, 0.85), (0.25, 0.65), (0.85, 0.05)])
def test_narrow_worlds_hold_exactly_their_share(r_wall, r_marker):
    for packed in draw(NARROW_WORLDS, r_wall, r_marker, n=300):
        grid = grid_of(packed)
        assert (grid == WALL).sum() == int(grid.size * r_wall + 0.5)
        assert ((grid > 0) & (grid != WALL)).sum() == int(grid.size * r_marker + 0.5)


def test_narrow_worlds_count_markers_as_they_should():
    geometric = [0.5**k for k in range(1, 9)] + [0.5**8]
    for counts, expected in (
        (GEOMETRIC, geometric),
        (EVEN, [1 / 9] * 9),
        (REVERSED, geometric[::-1]),
    ):
        found = marker_counts(draw(NARROW_WORLDS, 0.05, 0.85, counts, n=300)) - 1
        assert fits(found, expected)
        assert not fits(found, expected[::-1]) or counts == EVEN


def test_walls_fall_anywhere_and_karel_stands_on_any_free_cell():
    """Of 10 × 10 worlds: each cell is a wall equally often, and is Karel's equally often."""
    worlds = draw(NARROW_WORLDS, 0.25, 0.65, n=300_000)
    square = worlds[(worlds[:, HEIGHT] == 10) & (worlds[:, WIDTH] == 10)]
    places = square[:, POSITION].astype(int)
    assert fits(places // SIDE * 10 + places % SIDE, [0.01] * 100)
    walls = np.argwhere(square[:, : SIDE * SIDE].reshape(-1, SIDE, SIDE)[:, :10, :10] == WALL)
    assert fits(walls[:, 1] * 10 + walls[:, 2], [0.01] * 100)


def test_original_worlds_are_often_without_walls_and_start_in_the_corner():
    """A third has no walls, a tenth no markers; small grids round more of them to none."""
    worlds = draw(ORIGINAL_WORLDS)
    large = worlds[(worlds[:, HEIGHT] >= 10) & (worlds[:, WIDTH] >= 10)]
    bare = np.mean([not (grid_of(w) == WALL).any() for w in large])
    empty = np.mean([not ((grid_of(w) > 0) & (grid_of(w) != WALL)).any() for w in large])
    corner = np.mean(large[:, POSITION] == 0)
    assert bare == pytest.approx(1 / 3, abs=0.03)
    assert empty == pytest.approx(0.1, abs=0.02)
    assert corner == pytest.approx(0.2, abs=0.03)
    mixture = [0.57 + 0.16 / 5 + 0.27 / 9] + [0.16 / 5 + 0.27 / 9] * 4 + [0.27 / 9] * 4
    assert fits(marker_counts(worlds) - 1, mixture)


def test_the_same_seed_gives_the_same_worlds():
    assert np.array_equal(draw(UNIFORM_WORLDS, n=50), draw(UNIFORM_WORLDS, n=50))
    assert not np.array_equal(draw(UNIFORM_WORLDS, n=50), draw(UNIFORM_WORLDS, n=50, seed=1))
