"""Homogenizing: what the acceptance step costs beside the drawing, and that memory stays put."""

import itertools
from typing import Any

import numpy as np

import unskew
from bench.clock import peak, rate, seconds
from unskew.balance.acceptance import accept
from unskew.balance.codebook import Codebook
from unskew.balance.homogenizer import Homogenizer
from unskew.balance.kept import KeptBatches
from unskew.core.rng import generator
from unskew.domains import load_domain

ROWS = 1 << 17


def main() -> dict[str, Any]:
    domain = load_domain("calculator")
    memory = _memory(domain)  # first: the most that there was is what is told
    print(f"\nAcceptance beside drawing, ns a draw (batches of {ROWS:,})")
    head = ("source", "variable", "drawing", "measuring", "coding", "acceptance", "of drawing")
    print("".join(f"{title:>13}" for title in head))
    pairs = [(domain.source(n), v) for n in ("dcfg", "t2t") for v in domain.variables.values()]
    return {
        "acceptance": [_acceptance(*pair) for pair in pairs],
        "memory": memory,
        "plain": _plain(),
    }


def _acceptance(source: unskew.Source, variable: unskew.SalientVariable) -> dict[str, Any]:
    rng = generator(0, "bench")
    batch, _ = source.draw(rng, ROWS)
    values = variable.measure(batch)
    codebook = Codebook(variable)
    codes = codebook.encode(values)
    counts, keep = np.zeros(len(codebook.values), np.int64), np.empty(ROWS, np.bool_)
    state = np.zeros(3, np.int64)

    def accepted() -> None:
        accept(codes, rng.random(ROWS), 0.025, True, counts, state, keep, 2**62)

    times = [
        seconds(lambda: source.draw(rng, ROWS)),
        seconds(lambda: variable.measure(batch)),
        seconds(lambda: codebook.encode(values)),
        seconds(accepted),
    ]
    cells = "".join(f"{1e9 * t / ROWS:>13.1f}" for t in times)
    print(f"{source.name.split('/')[1]:>13}{variable.name:>13}{cells}", end="")
    print(f"{100 * times[3] / times[0]:>12.1f}%")
    nanoseconds = [1e9 * t / ROWS for t in times]
    parts = dict(zip(("drawing", "measuring", "coding", "acceptance"), nanoseconds, strict=True))
    return {"source": source.name, "variable": variable.name, "nanoseconds": parts}


def _memory(domain: unskew.Domain) -> dict[str, float]:
    source, variable = domain.source("dcfg"), domain.variable("length")
    homogenizer = Homogenizer(variable, 0.025, generator(0, "accept"))
    kept = KeptBatches(source, generator(0, "draw"), homogenizer)
    print("Peak memory of this process against examples kept")
    total, peaks = 0, {}
    for more in (100_000, 900_000, 4_000_000):
        total += sum(len(batch) for batch in kept.take(more))
        peaks[str(total)] = peak()
        print(f"{total:>12,} kept of {kept.tally.drawn:>12,} drawn: {peaks[str(total)]:,.0f} MiB")
    return peaks


def _plain() -> tuple[float, float, float]:
    examples = unskew.homogenize(lambda rng: int(rng.geometric(0.5)), by=lambda x: min(x, 8))
    middle, low, high = rate(lambda: len(list(itertools.islice(examples, 20_000))), 3)
    print("\nA plain Python sampler and variable, through unskew.homogenize:")
    print(f"{middle:,.0f} kept/s ({low:,.0f} to {high:,.0f}), {examples.tally.cost:.2f} draws each")
    return middle, low, high


if __name__ == "__main__":
    main()
