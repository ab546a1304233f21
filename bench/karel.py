"""Karel: ticks and runs per second through the batch API, beside the slow twin, in one run."""

from typing import Any

import numpy as np

from bench.clock import rate
from tests.naive import karel as naive
from unskew.core.rng import generator
from unskew.domains.karel import world
from unskew.domains.karel.language import tokens
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.language.syntax import parse
from unskew.domains.karel.running.interpreter import run
from unskew.domains.karel.sampling.programs import original_examples

LONG = """
def main():
    while(frontIsClear()):
        turnLeft()
        turnRight()
        putMarker()
        pickMarker()
"""
RUNS, SLOW_RUNS, EXAMPLES = 200_000, 300, 20_000


def main() -> dict[str, Any]:
    print("Karel, one core unless said otherwise (median of 7, slowest to fastest)")
    start = world.from_picture(". . .\n. . .\n>. . .")
    program = parse(LONG)
    worlds = np.repeat(start[None], RUNS, axis=0)
    code = compile_programs(program[None])
    slow_program = naive.parse(tokens.to_texts(program))
    slow_world = naive.from_json(world.to_json(start))

    def slow_ticks() -> int:
        return sum(naive.run(slow_program, slow_world).ticks for _ in range(SLOW_RUNS))

    fast = rate(lambda: int(run(code, worlds).ticks.sum()))
    both = rate(lambda: int(run(code, worlds, threads=2).ticks.sum()))
    twin = rate(slow_ticks, 3)
    _print("ticks/s, a run of 200 ticks", fast, twin)
    _print("ticks/s, two threads", both)

    made = original_examples(generator(0, "bench"), EXAMPLES, 6)
    rows, many = made.programs, made.inputs.reshape(-1, world.BYTES)
    parsed = [naive.parse(tokens.to_texts(row)) for row in rows[:SLOW_RUNS]]
    slow_worlds = [naive.from_json(world.to_json(w)) for w in made.inputs[:SLOW_RUNS, 0]]

    def slow_runs() -> int:
        for one, slow in zip(parsed, slow_worlds, strict=True):
            naive.run(one, slow)
        return SLOW_RUNS

    compiled = compile_programs(rows)
    runs, slow = rate(lambda: len(run(compiled, many).status)), rate(slow_runs, 3)
    _print("runs/s, examples of karel/msr", runs, slow)
    programs = rate(lambda: len(compile_programs(rows)))
    _print("programs compiled/s", programs)

    from bench.karel_cuda import section

    section()
    return {"ticks": fast, "ticks_plain": twin, "ticks_two_threads": both, "runs": runs,
            "runs_plain": slow, "compiled": programs}  # fmt: skip


def _print(
    what: str, fast: tuple[float, float, float], slow: tuple[float, float, float] | None = None
) -> None:
    middle, low, high = (value / 1e6 for value in fast)
    line = f"{what:32}{middle:>9.2f} M ({low:.2f} to {high:.2f})"
    if slow is not None:
        line += f"   twin {slow[0]:>10,.0f}   {fast[0] / slow[0]:,.0f}x"
    print(line)


if __name__ == "__main__":
    main()
