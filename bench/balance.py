"""How close the rule for a price comes, beside the paper's rule and the bound; and how fast it is.

`python -m bench.balance -o results/balance.json` measures it again; docs/theory.md has the numbers.
"""

import time
import warnings
from typing import Any

import numpy as np

import unskew
from bench.results import options, save
from unskew.balance import theory
from unskew.balance.best.balancer import Balancer
from unskew.balance.best.capped import closest
from unskew.balance.best.cells import Cells, Shares, cells_of
from unskew.balance.best.goal import Goal, balance
from unskew.balance.best.price import cheapest, farthest
from unskew.balance.best.raking import rake
from unskew.balance.best.rule import Pilot, pilot_of
from unskew.core.errors import HealthWarning
from unskew.core.rng import generator
from unskew.io.lookup import find_source, resolve

FIVE = ("length", "operations", "parentheses", "mean_depth", "max_depth")
DRAWS, GYM_DRAWS, ROWS = 400_000, 20_000, 10_000_000
EPSILON = 0.025  # the paper's choice
CALCULATOR = {"length": 5.19, "parentheses": 10.67}  # draws for each kept example
CURVES = (0.5, 0.2, 0.1, 0.05, 0.025, 0.01, 0.005, 0.002, 0.001, 0.0005)
REPEATS = 5


def main() -> None:
    chosen = options(__doc__).parse_args()
    warnings.simplefilter("ignore", HealthWarning)
    pilot = sample("calculator/dcfg", FIVE, DRAWS)
    facts = {
        "one_variable": [one_variable(pilot, FIVE.index(n), d) for n, d in CALCULATOR.items()],
        "curve": curve(pilot, 0),
        "five_variables": [five_variables(pilot, draws) for draws in (10, 20)],
        "gcd": gcd(),
        "ten_variables": [ten_variables(together) for together in (0.3, 0.9)],
        "acceptance": [acceptance(name) for name in ("calculator/dcfg", "calculator/t2t")],
        "weights": weights(),
    }
    for name, rows in facts.items():
        print(name, rows)
    save(chosen.output, facts)


def sample(source: str, names: tuple[str, ...], n: int) -> Pilot:
    """Return the first draws of a source."""
    opened, rng = find_source(source), generator(0, "bench", source)
    batches = []
    while n > 0:
        batches.append(opened.draw(rng, min(n, 50_000))[0])
        n -= len(batches[-1])
    return pilot_of(resolve(list(names), opened.domain), batches)


def divergence(shares: Shares) -> float:
    """Return KL from uniform."""
    some = shares[shares > 0]
    return float(some @ np.log(some * len(shares)))


def removed(before: Shares, after: Shares) -> float:
    """Return the percentage of KL from uniform that is gone."""
    return 100 * (1 - divergence(after) / divergence(before))


def one_variable(pilot: Pilot, variable: int, draws: float) -> dict[str, Any]:
    """Return how much of the KL both rules remove for as many draws."""
    p = pilot.shares()[variable]
    paper, best = at_epsilon(p, draws), closest(p, uniform(p), draws)
    return {"variable": FIVE[variable], "draws": draws,
            "epsilon": removed(p, paper), "budget": removed(p, best)}  # fmt: skip


def at_epsilon(p: Shares, draws: float) -> Shares:
    """Return what the paper's rule gives with the ε that costs so many draws."""
    low, high = 1e-9, 10.0
    for _ in range(100):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if theory.expected_cost(p, middle) > draws else (low, middle)
    return theory.homogenized(p, high)


def uniform(p: Shares) -> Shares:
    return np.full(len(p), 1 / len(p))


def curve(pilot: Pilot, variable: int) -> dict[str, Any]:
    """Return the KL that both rules leave, at the costs of some ε."""
    p = pilot.shares()[variable]
    rows = [(theory.expected_cost(p, epsilon), epsilon) for epsilon in CURVES]
    points = [
        {"draws": draws, "epsilon": divergence(theory.homogenized(p, epsilon)),
         "budget": divergence(closest(p, uniform(p), draws))}
        for draws, epsilon in rows
    ]  # fmt: skip
    return {"variable": FIVE[variable], "points": points}


def five_variables(pilot: Pilot, draws: float) -> dict[str, Any]:
    """Return how much of the KL is gone, for each of five variables at once."""
    targets = [uniform(p) for p in pilot.shares()]
    fit = rake(pilot.cells(), targets, draws)
    gone = [removed(p, r) for p, r in zip(pilot.shares(), fit.margins, strict=True)]
    return {"draws": fit.draws, "removed": dict(zip(FIVE, gone, strict=True)),
            "mean": float(np.mean(gone)), "left": fit.distance, "bound": fit.bound}  # fmt: skip


def gcd() -> dict[str, Any]:
    """Return the draws that the rule needs for the KL that ε = 0.025 leaves."""
    p = sample("reasoning-gym/gcd", ("answer",), GYM_DRAWS).shares()[0]
    goal = divergence(theory.homogenized(p, EPSILON))
    low, high = 1.0, theory.expected_cost(p, EPSILON)
    for _ in range(60):
        middle = (low + high) / 2
        reached = divergence(closest(p, uniform(p), middle))
        low, high = (low, middle) if reached <= goal else (middle, high)
    return {"kl": goal, "epsilon": theory.expected_cost(p, EPSILON), "budget": high}


def ten_variables(together: float) -> dict[str, Any]:
    """Return the cost of a closeness of 0.02 of ten variables of 20 values, or that there is none.

    ``together`` says how much of each variable follows from a number that all of them share.
    """
    rng = generator(0, "bench", "ten", together)
    shared = rng.random(DRAWS // 10)
    parts = [together * shared + (1 - together) * rng.random(len(shared)) for _ in range(10)]
    codes = np.stack([np.minimum(19, (20 * part**2).astype(int)) for part in parts], axis=1)
    cells: Cells = cells_of(codes, [20] * 10)
    targets = [np.full(20, 1 / 20)] * 10
    begin = time.process_time()
    answer = cheapest(cells, targets, 0.02)
    return {"together": together, "possible": answer.possible, "draws": answer.fit.draws,
            "farthest": farthest(answer.fit, targets), "certainly_too_few": answer.least,
            "bound": answer.fit.bound, "seconds": time.process_time() - begin}  # fmt: skip


def acceptance(name: str) -> dict[str, Any]:
    """Return the nanoseconds of drawing, of measuring and coding, and of deciding, a draw."""
    source, n = find_source(name), 1 << 16
    variables = resolve(list(FIVE), source.domain)
    rng = generator(0, "bench", "acceptance")
    fit = balance(pilot_of(variables, [source.draw(rng, n)[0]]), Goal(budget=10))
    balancer = Balancer(fit.rule, rng)
    times = np.empty((REPEATS, 3))
    for row in times:
        begin = time.process_time()
        batch = source.draw(rng, n)[0]
        drawn = time.process_time()
        fit.rule.codes(batch)
        coded = time.process_time()
        balancer.keep(batch, n)
        row[:] = drawn - begin, coded - drawn, time.process_time() - coded - (coded - drawn)
    drawing, measuring, deciding = (1e9 * np.median(times, axis=0) / n).tolist()
    return {"source": name, "drawing": drawing, "measuring": measuring, "deciding": deciding}


def weights() -> dict[str, Any]:
    """Return the seconds that weights of many rows with five variables take."""
    rng = np.random.default_rng(0)
    shared = rng.random(ROWS)
    columns = {
        name: np.minimum(9, (10 * (0.5 * shared + 0.5 * rng.random(ROWS)) ** 2).astype(np.int64))
        for name in "abcde"
    }
    begin = time.process_time()
    made = unskew.weights(columns, list("abcde"), budget=5)
    return {"rows": ROWS, "seconds": time.process_time() - begin,
            "left": {name: after for name, (_, after) in made.apart.items()}}  # fmt: skip


if __name__ == "__main__":
    main()
