"""Calculator: expressions per second on one core, beside the plain-Python twin, in one run."""

from typing import Any

from bench.clock import rate
from tests.naive import calculator as naive
from unskew.core.rng import generator
from unskew.domains import load_domain

ROWS, NAIVE_ROWS = 1 << 17, 1 << 12


def main() -> dict[str, Any]:
    domain, figures = load_domain("calculator"), {}
    print("Calculator, one core, expressions/s (median of 7, slowest to fastest)")
    print(f"{'source':8}{'drawn':>32}{'drawn and measured':>32}{'plain Python':>14}{'ratio':>8}")
    for name in domain.sources:
        source = domain.source(name)
        rng, slow_rng = generator(0, name), generator(0, name, "naive")

        def draw(source=source, rng=rng) -> int:
            return len(source.draw(rng, ROWS)[0])

        def measured(source=source, rng=rng) -> int:
            batch, _ = source.draw(rng, ROWS)
            for variable in domain.variables.values():
                variable.measure(batch)
            return len(batch)

        def slow(name=name, source=source, rng=slow_rng) -> int:
            for _ in range(NAIVE_ROWS):
                text, value = naive.draw(rng, name, **source.parameters)
                naive.measures(text)
                _ = value % 10
            return NAIVE_ROWS

        drawn, both, twin = rate(draw), rate(measured), rate(slow, repeats=3)
        print(f"{name:8}{_spread(drawn):>32}{_spread(both):>32}{twin[0]:>14,.0f}", end="")
        print(f"{both[0] / twin[0]:>7.0f}x")
        figures[name] = {"drawn": drawn, "measured": both, "plain": twin}
    print("drawn: sampled, printed as text, evaluated; measured: all five variables;")
    print("plain Python: the twin in tests/naive, drawn and measured; ratio: measured over it")
    return figures


def _spread(rates: tuple[float, float, float]) -> str:
    middle, low, high = (value / 1e6 for value in rates)
    return f"{middle:.2f} M ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
