"""Cost of sampling in people of error, and of a register instead.

A sampled count estimates n people with a standard deviation of √(n(1−β)/β), which no mechanism can undo; noise on every
cell of a register is off by the same few people whatever n is.
"""

from __future__ import annotations

import math

from crowdblend.guarantees.wording import three_digits

# The cell that errors are told for.
PEOPLE = 1_000


def register_error(epsilon: float) -> float:
    """Return the mean absolute error of a cell of a register under discrete Laplace noise, whatever its size.

    >>> round(register_error(1.0), 3)
    0.851
    """
    a = math.exp(-epsilon)
    return 2 * a / (1 - a * a)


def sampling_error(rate: float, people: int = PEOPLE) -> float:
    """The mean absolute error, in people, of a cell of the population that is estimated from a sample.

    >>> round(sampling_error(0.5)), round(sampling_error(0.1))
    (25, 76)
    """
    return math.sqrt(2 / math.pi * people * (1 - rate) / rate)


def costs(rate: float, k: int, epsilon: float) -> str:
    """Return the cost of sampling and suppression, and of a register at the same epsilon."""
    sampled, noisy = three_digits(sampling_error(rate)), three_digits(register_error(epsilon))
    return (
        f"A cell of {PEOPLE:,} people is off by about {sampled} people because of the sampling, and "
        f"cells of fewer than about {k / rate:,.0f} people are mostly missing. If everybody is in your table, noise on "
        f'every cell (design = "everybody") is off by {noisy} people, and nothing is missing.'
    )
