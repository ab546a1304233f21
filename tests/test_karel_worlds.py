"""The distributions of worlds against the paper's steps, read off many draws with fixed seeds.

Each claim is a chi-square test; together they raise a false alarm once in 10,000 runs, and each
has a planted fault that the same check flags.
"""

import numpy as np
import pytest
import scipy.stats

from tests.karel_kernels import draw_worlds
from unskew.core.rng import generator
from unskew.domains.karel import world
from unskew.domains.karel.running.hidden import EVEN, GEOMETRIC, REVERSED, VARIED
from unskew.domains.karel.sampling.programs import original_examples
from unskew.domains.karel.sampling.worlds import (
    NARROW_WORLDS,
    ORIGINAL,
    ORIGINAL_WORLDS,
    UNIFORM_WORLDS,
)
from unskew.domains.karel.world import FACING, HEIGHT, POSITION, SIDE, WALL, WIDTH, grid_of

ALARM = 1e-6
N = 20_000


def draw(kind, r_wall=0.0, r_marker=0.0, counts=EVEN, n=N, seed=0):
    return draw_worlds(generator(seed, "worlds"), n, kind, r_wall, r_marker, counts)


def fits(values, probabilities) -> bool:
    """Whether counts of 0, 1, … could come from these probabilities."""
    counts = np.bincount(values, minlength=len(probabilities))
    assert len(counts) == len(probabilities)
    expected = np.asarray(probabilities) * counts.sum()
    return scipy.stats.chisquare(counts, expected).pvalue > ALARM


def marker_counts(worlds):
    cells = worlds[:, : SIDE * SIDE]
    return cells[(cells > 0) & (cells != WALL)].astype(int)


@pytest.mark.parametrize(("kind", "smallest"), [(UNIFORM_WORLDS, 2), (NARROW_WORLDS, 10)])
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
        above_one = marker_counts(draw(NARROW_WORLDS, 0.05, 0.85, counts, n=300)) - 1
        assert fits(above_one, expected)
        assert not fits(above_one, expected[::-1]) or counts == EVEN


@pytest.mark.parametrize("kind", [UNIFORM_WORLDS, NARROW_WORLDS])
def test_worlds_that_vary_count_each_in_one_of_three_ways(kind):
    """Of a world with many markers the mean count tells which: 2, 5 or 8."""
    means = mean_counts(draw(kind, 0.05, 0.85, VARIED, n=3_000))
    assert fits(np.digitize(means, [3.5, 6.5]), [1 / 3] * 3)
    assert (np.abs(means[:, None] - [2, 5, 8]).min(axis=1) < 1.2).all()
    alike = mean_counts(draw(kind, 0.05, 0.85, EVEN, n=3_000))
    assert not fits(np.digitize(alike, [3.5, 6.5]), [1 / 3] * 3)


def mean_counts(worlds):
    by_world = [marker_counts(world[None]) for world in worlds]
    return np.array([counts.mean() for counts in by_world if len(counts) > 80])


def test_walls_fall_anywhere_and_karel_stands_on_any_free_cell():
    """Of 10 × 10 worlds: each cell is a wall equally often, and is Karel's equally often."""
    worlds = draw(NARROW_WORLDS, 0.25, 0.65, n=300_000)
    square = worlds[(worlds[:, HEIGHT] == 10) & (worlds[:, WIDTH] == 10)]
    places = square[:, POSITION].astype(int)
    assert fits(places // SIDE * 10 + places % SIDE, [0.01] * 100)
    walls = np.argwhere(square[:, : SIDE * SIDE].reshape(-1, SIDE, SIDE)[:, :10, :10] == WALL)
    assert fits(walls[:, 1] * 10 + walls[:, 2], [0.01] * 100)


def test_markers_of_original_worlds_are_counted_as_was_inferred():
    mixture = [0.57 + 0.16 / 5 + 0.27 / 9] + [0.16 / 5 + 0.27 / 9] * 4 + [0.27 / 9] * 4
    assert fits(marker_counts(draw(ORIGINAL_WORLDS)) - 1, mixture)


def test_the_same_seed_gives_the_same_worlds():
    assert np.array_equal(draw(UNIFORM_WORLDS, n=50), draw(UNIFORM_WORLDS, n=50))
    assert not np.array_equal(draw(UNIFORM_WORLDS, n=50), draw(UNIFORM_WORLDS, n=50, seed=1))


# Worlds like the original's, those that valid examples have: the figures of 307 real ones.


@pytest.fixture(scope="module")
def originals():
    worlds = original_examples(generator(0, "originals"), 5_000, 6).inputs.reshape(-1, world.BYTES)
    cells = worlds[:, : SIDE * SIDE].astype(int)
    size = worlds[:, HEIGHT].astype(int) * worlds[:, WIDTH]
    markers = np.where(cells == WALL, 0, cells)
    return {
        "height": worlds[:, HEIGHT],
        "width": worlds[:, WIDTH],
        "walls": ((cells == WALL).sum(axis=1) - SIDE * SIDE + size) / size,
        "marked": (markers > 0).sum(axis=1) / size,
        "large": size >= 100,
        "counts": np.bincount(markers[markers > 0], minlength=10)[1:],
        "corner": worlds[:, POSITION] == 0,
        "on a marker": markers[np.arange(len(worlds)), worlds[:, POSITION]] > 0,
    }


def test_sizes_of_valid_worlds_are_uniform(originals):
    """Within a total variation of 0.02; chance alone makes 0.01 with 30,000 worlds."""
    for name in ("height", "width"):
        shares = np.bincount(originals[name], minlength=17)[2:] / len(originals[name])
        assert abs(shares - 1 / 15).sum() / 2 < 0.02, name


@pytest.mark.parametrize(
    ("name", "none", "quantiles", "most"),
    [
        ("walls", 1 / 3, {0.1: 0.05, 0.5: 0.10, 0.9: 0.19}, 0.65),
        ("marked", 0.10, {0.25: 0.071, 0.5: 0.10, 0.75: 0.143, 0.9: 0.27}, 1.0),
    ],
)
def test_walls_and_markers_of_valid_worlds_are_the_originals(
    originals, name, none, quantiles, most
):
    """How many have none within 0.03; of the others the quantiles within 0.015, 0.04 at 90 %."""
    share = originals[name]
    assert (share == 0).mean() == pytest.approx(none, abs=0.03)
    some = share[share > 0]
    for chance, value in quantiles.items():
        near = 0.04 if chance == 0.9 else 0.015
        assert np.quantile(some, chance) == pytest.approx(value, abs=near), chance
    assert some.max() <= most


def test_the_rest_of_valid_worlds_is_the_originals(originals):
    known = np.array([63.5, 6.0, 7.4, 5.7, 5.7, 2.5, 3.3, 3.1, 2.9])
    counts = originals["counts"] / originals["counts"].sum()
    assert abs(counts - known / known.sum()).sum() / 2 < 0.03
    assert originals["corner"].mean() == pytest.approx(0.20, abs=0.02)
    assert 0.26 < originals["on a marker"].mean() < 0.36
    dense = originals["marked"][originals["large"]] >= 0.25
    assert dense.mean() == pytest.approx(0.09, abs=0.03)
    some = originals["walls"][originals["walls"] > 0]
    assert (some > 0.3).mean() == pytest.approx(0.03, abs=0.015)


def test_worlds_before_the_run_filter_are_not_the_originals():
    """The check notices: without valid runs, fewer have markers and fewer start in the corner."""
    worlds = draw_worlds(generator(1, "unfiltered"), 20_000, *ORIGINAL)
    cells = worlds[:, : SIDE * SIDE]
    unmarked = ~((cells > 0) & (cells < WALL)).any(axis=1)
    assert unmarked.mean() > 0.13
