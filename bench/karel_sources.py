"""Karel's sources: examples a second and worlds drawn for each, beside plain rejection."""

from typing import Any

import numpy as np

from bench.clock import rate
from tests.naive.karel_worlds import draw_worlds
from unskew.core.rng import generator
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.running.hidden import EVEN, REVERSED
from unskew.domains.karel.running.interpreter import run
from unskew.domains.karel.sampling.pairs import MADE, draw_pairs
from unskew.domains.karel.sampling.programs import original_examples, original_programs
from unskew.domains.karel.sampling.worlds import NARROW_WORLDS, ORIGINAL, UNIFORM_WORLDS
from unskew.domains.karel.sources import ANY, action_programs, nesting_bit, on_originals

N, PLAIN_N, TRIES = 4_000, 60, 20_000
UNIFORM = (UNIFORM_WORLDS, 0.0, 0.0, EVEN)
SOURCES = {
    "karel/msr": ("msr", {}, ORIGINAL),
    "karel/uniform": ("uniform", {}, UNIFORM),
    "karel/narrow .25 .65 U": ("narrow", {}, (NARROW_WORLDS, 0.25, 0.65, EVEN)),
    "karel/narrow .85 .05 A": (
        "narrow",
        {"r_wall": 0.85, "r_marker": 0.05, "counts": "A"},
        (NARROW_WORLDS, 0.85, 0.05, REVERSED),
    ),
    "karel/msr while-in-while": ("msr", {"nested": "while-in-while"}, ORIGINAL),
    "karel/actions": ("actions", {}, None),
}


def main() -> dict[str, Any]:
    figures = {}
    print("Karel's sources, one core (median of 5, slowest to fastest); plain: worlds drawn")
    print("whole, the five of a set drawn again together, as the paper says")
    for name, (source, settings, worlds) in SOURCES.items():
        made = DOMAIN.source(source, settings)
        middle, low, high = rate(lambda made=made: len(made.draw(generator(0, "b"), N)[0]), 5)
        line = f"{name:26}{middle:>9,.0f} examples/s ({low:,.0f} to {high:,.0f})"
        figures[name] = {"rate": (middle, low, high), **_tries(settings, worlds)}
        line += f"   {figures[name]['worlds']:>6.0f} worlds each"
        if "dropped" in figures[name]:
            line += f", {100 * figures[name]['dropped']:.2f} % dropped"
        if worlds is not None and "nested" not in settings:
            figures[name]["plain"] = _plain_rate(worlds)
            line += f"   plain {figures[name]['plain']:>7,.0f}/s"
        print(line)
    middle, low, high = rate(lambda: len(original_programs(generator(0, "p"), N)[0]), 5)
    print(f"{'programs like the msr':26}{middle:>9,.0f} programs/s ({low:,.0f} to {high:,.0f})")
    return figures


def _tries(
    settings: dict[str, Any], worlds: tuple[int, float, float, int] | None
) -> dict[str, float]:
    """Worlds drawn for an example of six, and the programs that are dropped."""
    if worlds is ORIGINAL:
        inside = nesting_bit(settings.get("nested", ANY))
        made = original_examples(generator(1, "b"), N, 6, inside=inside)
        return {"worlds": made.tries.mean()}
    if worlds is None:
        rows = action_programs(generator(1, "b"), 1 + np.arange(N) % 20)
        made = on_originals(generator(2, "b"), compile_programs(rows), 6)
    else:
        rows, _ = original_programs(generator(1, "b"), N)
        made = draw_pairs(generator(2, "b"), compile_programs(rows), worlds, 6, 5, TRIES)
    worlds_each, dropped = (
        made.tries.sum() / (made.status == MADE).sum(),
        (made.status != MADE).mean(),
    )
    return {"worlds": worlds_each, "dropped": dropped}


def _plain_rate(worlds: tuple[int, float, float, int]) -> float:
    rows, _ = original_programs(generator(3, "b"), PLAIN_N)
    rows = rows[:PLAIN_N]
    return rate(lambda: sum(_plain(row, worlds) for row in rows), 1)[0]


def _plain(row: np.ndarray, worlds: tuple[int, float, float, int]) -> int:
    """One program's five worlds the plain way; 1 if they were found in 20,000 draws."""
    code = compile_programs(row[None])
    full = 2 ** (2 * int(code.tests[0])) - 1
    rng = generator(4, "b")
    for _ in range(TRIES // 1_000):
        drawn = draw_worlds(rng, 1_000, *worlds)
        ran = run(code, drawn, np.zeros(1_000, np.int64))
        fine = ran.status == 0
        if worlds is ORIGINAL:
            fine &= (ran.actions[:, 0] > 0) & (ran.actions[:, 3:].sum(axis=1) > 0)
        sets = fine.reshape(-1, 5).all(axis=1)
        if worlds is not ORIGINAL:
            sets &= np.bitwise_or.reduce(ran.coverage[:, 0].reshape(-1, 5), axis=1) == full
        if sets.any():
            return 1
    return 0


if __name__ == "__main__":
    main()
