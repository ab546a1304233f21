"""The same problems as ``unskew.balance`` solves, stated as they are and given to SciPy.

A distribution is a vector over the combinations of values. Nothing here is fast or clever.
"""

from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog, minimize


def incidence(codes: Any, size: int) -> Any:
    """Return the matrix that adds up a distribution to the shares of one variable's values."""
    matrix = np.zeros((size, len(codes)))
    for column, code in enumerate(codes):
        matrix[code, column] = 1.0
    return matrix


def divergence(shares: Any, target: Any) -> float:
    """Return KL(shares‖target), term by term."""
    total = 0.0
    for share, wanted in zip(shares, target, strict=True):
        if share > 0:
            total += share * np.log(share / wanted)
    return total


def nearest(p: Any, codes: Any, targets: Any, draws: float) -> float:
    """Return the least Σ KL(r_j‖t_j) over all r with 0 ≤ r ≤ draws·p that sum to one."""
    matrices = [incidence(codes[:, j], len(t)) for j, t in enumerate(targets)]

    def objective(r: Any) -> float:
        return sum(
            divergence(np.maximum(m @ r, 1e-15), t) for m, t in zip(matrices, targets, strict=True)
        )

    def slope(r: Any) -> Any:
        return sum(
            m.T @ (np.log(np.maximum(m @ r, 1e-15) / t) + 1)
            for m, t in zip(matrices, targets, strict=True)
        )

    best = np.inf
    for start in (p, np.minimum(draws * p, 1 / len(p))):
        solved = minimize(
            objective,
            start / start.sum(),
            jac=slope,
            bounds=[(0, min(1.0, draws * share)) for share in p],
            constraints=[{"type": "eq", "fun": lambda r: r.sum() - 1, "jac": np.ones_like}],
            method="SLSQP",
            options={"maxiter": 2000, "ftol": 1e-13},
        )
        if abs(solved.x.sum() - 1) < 1e-8:
            best = min(best, objective(np.clip(solved.x, 0, draws * p)))
    return best


def least_draws(p: Any, codes: Any, targets: Any, closeness: float) -> float:
    """Return the fewest draws that bring every margin within a total variation of its target.

    With w = r/draws the problem is linear: the largest Σ w with w ≤ p and
    Σ|w_j − t_j·Σw| ≤ 2·closeness·Σw for each variable. Returns infinity if there is none.
    """
    n = len(p)
    sizes = [len(t) for t in targets]
    slack = sum(sizes)
    rows, offset = [], 0
    for j, target in enumerate(targets):
        matrix = incidence(codes[:, j], sizes[j]) - np.outer(target, np.ones(n))
        for value in range(sizes[j]):
            for sign in (1, -1):  # ±(w_j − t_j·Σw) ≤ e
                row = np.zeros(n + slack)
                row[:n] = sign * matrix[value]
                row[n + offset + value] = -1
                rows.append(row)
        row = np.zeros(n + slack)
        row[:n] = -2 * closeness
        row[n + offset : n + offset + sizes[j]] = 1
        rows.append(row)
        offset += sizes[j]
    goal = np.concatenate([-np.ones(n), np.zeros(slack)])
    bounds = [(0, share) for share in p] + [(0, None)] * slack
    solved = linprog(goal, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=bounds)
    kept = -solved.fun
    return 1 / kept if kept > 1e-9 else np.inf


def near(shares: Any, target: Any, closeness: float) -> float:
    """Return the least KL(shares‖q) over all q within a total variation of the target."""
    n = len(shares)

    def objective(x: Any) -> float:
        return divergence(shares, np.maximum(x[:n], 1e-15))

    solved = minimize(
        objective,
        np.concatenate([target, np.zeros(n)]),
        bounds=[(1e-12, 1)] * n + [(0, 1)] * n,
        constraints=[
            {"type": "eq", "fun": lambda x: x[:n].sum() - 1},
            {"type": "ineq", "fun": lambda x: x[n:] - (x[:n] - target)},
            {"type": "ineq", "fun": lambda x: x[n:] + (x[:n] - target)},
            {"type": "ineq", "fun": lambda x: 2 * closeness - x[n:].sum()},
        ],
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return objective(solved.x)


def raked(joint: Any, targets: Any, rounds: int = 2000) -> Any:
    """Return a joint table whose margins are the targets: scale one margin after the other."""
    table = np.array(joint, dtype=float)
    axes = range(table.ndim)
    for _, axis in product(range(rounds), axes):
        others = tuple(other for other in axes if other != axis)
        margin = table.sum(axis=others)
        factor = np.where(margin > 0, targets[axis] / np.where(margin > 0, margin, 1), 0)
        table = table * np.expand_dims(factor, others)
    return table
