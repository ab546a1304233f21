"""Karel on a CUDA device: ticks per second and agreement with the CPU, in one run.

`python -m bench.karel_cuda -o FILE` writes the figures with what they were measured on.
"""

import os
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from bench.clock import rate
from bench.karel import LONG
from bench.results import options, save
from tests.naive import karel as naive
from unskew.core.rng import generator
from unskew.domains.karel import world
from unskew.domains.karel.language import tokens
from unskew.domains.karel.language.compiler import Code, compile_programs
from unskew.domains.karel.language.syntax import parse
from unskew.domains.karel.running.cuda import (
    DeviceRuns,
    device_room,
    has_cuda,
    run_cuda,
    run_on_device,
)
from unskew.domains.karel.running.interpreter import MAX_TICKS, Runs, Status, run

PAIRS, POOL, LONG_TICKS, SEED, REPEATS, CPU_REPEATS = 1_000_000, 6_000, 150, 0, 7, 3
NONE = "no CUDA device: the figures on one are left out"


class Case(NamedTuple):
    """Programs, the worlds they run on, and which runs on which."""

    code: Code
    worlds: np.ndarray
    which: np.ndarray


class Pool:
    """Random programs and random worlds of the twin, of which any may be paired."""

    def __init__(self, rng: np.random.Generator, size: int) -> None:
        texts = [naive.random_program(rng, int(rng.integers(5, 90))) for _ in range(size)]
        self.rows = tokens.stacked([tokens.to_ids(list(text)) for text in texts])
        self.code = compile_programs(self.rows)
        drawn = [naive.to_json(naive.random_world(rng)) for _ in range(size)]
        self.worlds = np.stack([world.from_json(one) for one in drawn])
        self.order = rng.permutation(size * size)  # every pair comes once
        self.next = 0

    def pairs(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The next ``n`` pairs: which program, which world."""
        chosen = self.order[self.next : self.next + n]
        self.next += n
        return chosen // len(self.worlds), chosen % len(self.worlds)

    def long_pairs(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The next ``n`` pairs whose runs take long; some twice where there are too few."""
        seen = []
        while sum(map(len, seen)) < n and self.next < len(self.order):
            which, where = self.pairs(n)
            ran = run(self.code, self.worlds[where], which, threads=os.cpu_count() or 1)
            seen.append(np.stack([which, where])[:, ran.ticks >= LONG_TICKS].T)
        which, where = np.resize(np.concatenate(seen), (n, 2)).T.copy()
        return which, where


def cases(pairs: int, pool_size: int) -> dict[str, Callable[[], Case]]:
    """What is measured; each is made when its turn comes, since together they are large."""
    pool = Pool(generator(SEED, "bench", "cuda"), pool_size)

    def one_loop() -> Case:
        start = world.from_picture(". . .\n. . .\n>. . .")
        worlds = np.repeat(start[None], pairs, axis=0)
        return Case(compile_programs(parse(LONG)[None]), worlds, np.zeros(pairs, np.int64))

    def paired(draw: Callable[[int], tuple[np.ndarray, np.ndarray]]) -> Case:
        which, where = draw(pairs)
        return Case(pool.code, pool.worlds[where], which)

    def own_programs() -> Case:
        which, where = pool.pairs(pairs)
        code = compile_programs(pool.rows[which])
        return Case(code, pool.worlds[where], np.arange(pairs))

    return {
        "one loop of 200 ticks": one_loop,
        "random pairs": lambda: paired(pool.pairs),
        "random pairs, a program each": own_programs,
        f"random pairs of {LONG_TICKS} ticks or more": lambda: paired(pool.long_pairs),
    }


def measure(case: Case, repeats: int) -> dict[str, Any]:
    """Ticks per second on the device, with transfers, on the CPU; and how many runs differ."""
    cores = os.cpu_count() or 1
    expected = run(*case, threads=cores)
    figures = {}
    figures["on_device"], differ = _on_device(case, expected, repeats)
    again = run_cuda(*case)
    differ |= _differences(expected, *(getattr(again, f.name) for f in fields(DeviceRuns)))
    jobs = {
        "with_transfers": (lambda: _ticks(run_cuda(*case)), repeats),
        "cpu_one_core": (lambda: _ticks(run(*case)), CPU_REPEATS),
        "cpu_all_cores": (lambda: _ticks(run(*case, threads=cores)), CPU_REPEATS),
    }
    figures |= {name: _spread(rate(*job)) for name, job in jobs.items()}
    ends = np.bincount(expected.status, minlength=len(Status)).tolist()
    return {
        "pairs": len(case.worlds),
        "ticks": _ticks(expected),
        "ends": {status.name: ends[status] for status in Status},
        "mismatches": int(differ.sum()),
        "ticks_per_second": figures,
        "times_one_core": {
            name: round(figures[name]["median"] / figures["cpu_one_core"]["median"], 1)
            for name in ("on_device", "with_transfers")
        },
    }


def _on_device(case: Case, expected: Runs, repeats: int) -> tuple[dict[str, float], np.ndarray]:
    """Measure where everything is and stays on the device; say which runs differ."""
    from numba import cuda

    total = _ticks(expected)
    instructions, worlds, which = map(
        cuda.to_device, (case.code.instructions, case.worlds, case.which)
    )
    out = _poisoned(device_room(len(case.worlds)))

    def job() -> int:
        run_on_device(instructions, worlds, which, out=out)
        cuda.synchronize()
        return total

    figures = _spread(rate(job, repeats))
    return figures, _differences(
        expected, *(getattr(out, field.name).copy_to_host() for field in fields(out))
    )


def _ticks(ran: Runs) -> int:
    return int(ran.ticks.sum())


def _poisoned(room: DeviceRuns) -> DeviceRuns:
    """Fill room with what no run leaves, so that what is not written shows."""
    for field in fields(room):
        array = getattr(room, field.name)
        array.copy_to_device(np.full(array.shape, 171, array.dtype))
    return room


def _differences(expected: Runs, *arrays: np.ndarray) -> np.ndarray:
    """Which runs differ in anything at all."""
    differ = np.zeros(len(expected.status), np.bool_)
    for field, array in zip(fields(DeviceRuns), arrays, strict=True):
        other = getattr(expected, field.name)
        if other.dtype != array.dtype:
            raise TypeError(f"{field.name} is {array.dtype}, on the CPU {other.dtype}")
        differ |= (other != array).reshape(len(differ), -1).any(axis=1)
    return differ


def _spread(figures: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("median", "min", "max"), (float(f"{f:.4g}") for f in figures), strict=True))


def measured(pairs: int, pool: int, repeats: int) -> dict[str, Any]:
    """Measure every case and print it on the way."""
    print(f"Karel on a CUDA device, {pairs:,} pairs, G ticks/s (median of {repeats})")
    print(f"{'':36}{'device':>9}{'transfers':>11}{'one core':>10}{'cores':>8}{'differ':>8}")
    result = {}
    for name, make in cases(pairs, pool).items():
        result[name] = measure(make(), repeats)
        figures = result[name]["ticks_per_second"].values()
        device, transfers, core, cores = (figure["median"] / 1e9 for figure in figures)
        print(
            f"{name:36}{device:>9.2f}{transfers:>11.3f}{core:>10.3f}{cores:>8.2f}"
            f"{result[name]['mismatches']:>8}",
            flush=True,
        )
    return result


def with_settings(result: dict[str, Any], pairs: int, pool: int, repeats: int) -> dict[str, Any]:
    """Add how the figures were measured."""
    return {
        "bench": "karel_cuda",
        "settings": {
            "pairs": pairs,
            "programs_and_worlds": pool,
            "max_ticks": MAX_TICKS,
            "repeats": repeats,
            "cpu_repeats": CPU_REPEATS,
            "seed": SEED,
            "numba-cuda": version("numba-cuda"),
        },
        "cases": result,
    }


def section() -> None:
    """Print the figures where there is a device."""
    if has_cuda():
        measured(PAIRS, POOL, REPEATS)
    else:
        print(NONE)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("-n", "--pairs", type=int, default=PAIRS)
    parser.add_argument("--pool", type=int, default=POOL, help="programs, and worlds")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    chosen = parser.parse_args()
    if not has_cuda():
        raise SystemExit(NONE)
    settings = (chosen.pairs, chosen.pool, chosen.repeats)
    result = measured(*settings)
    save(chosen.output, with_settings(result, *settings))


if __name__ == "__main__":
    main()
