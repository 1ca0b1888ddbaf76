"""The linear program behind CBP Lemmas 14 and 15: the most that a crowd-blending mechanism can leak after sampling.

Fix an event and a person with n others in the crowd. a[m] is the event's probability when the person and m others
were sampled, b[m] the same without the person. Blending bounds a[m] against b[m+1] (another member takes the
person's place) and, when the sampled crowd is below k, a[m] against b[m] (the person is removed), for the event and
its complement. Nothing else is known, so the optimum is what those facts allow.
"""

import math

import numpy as np
from scipy.optimize import linprog


def best_leak(n: int, k: int, rate: float, blend: float, growth: float) -> float:
    """The larger optimum of the two directions."""
    chances = np.array([math.comb(n, m) * rate**m * (1 - rate) ** (n - m) for m in range(n + 1)])
    with_person = np.concatenate([rate * chances, (1 - rate) * chances])
    without = np.concatenate([np.zeros(n + 1), chances])
    rows, bounds = _blending(n, k, blend)
    return max(
        _maximum(with_person - growth * without, rows, bounds), _maximum(without - growth * with_person, rows, bounds)
    )


def _blending(n: int, k: int, blend: float) -> tuple[np.ndarray, np.ndarray]:
    rows, bounds = [], []
    a, b = range(n + 1), range(n + 1, 2 * n + 2)
    close = [(a[m], b[m + 1]) for m in range(n)] + [(a[m], b[m]) for m in range(min(k - 1, n + 1))]
    for pair in close:
        for x, y in (pair, pair[::-1]):
            # x ≤ blend·y, and 1 − x ≤ blend·(1 − y).
            row = np.zeros(2 * n + 2)
            row[x], row[y] = 1, -blend
            rows += [row, -row]
            bounds += [0, blend - 1]
    return np.array(rows), np.array(bounds)


def _maximum(objective: np.ndarray, rows: np.ndarray, bounds: np.ndarray) -> float:
    constraints = {"A_ub": rows, "b_ub": bounds} if len(rows) else {}
    # The solver ignores what is below its tolerances, so those must be far below the precision asked for.
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(-objective, bounds=(0, 1), method="highs", options=tight, **constraints)
    return -found.fun
