"""What a table is, and what that costs in people of error: a sample that was taken, one that is drawn, or a register.

A sampled count estimates n people with a standard deviation of √(n(1−β)/β), which no mechanism can undo; noise on every
cell of a register is off by the same few people whatever n is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import check

DESIGNS = {
    "sample": "a sample that was taken before; you know or assume its rate",
    "draw": "everybody, and a sample is to be drawn from them on purpose",
    "everybody": "everybody: a register, no sample is drawn, every cell is noisy",
}
# The cell that errors are told for.
PEOPLE = 1_000


@dataclass(frozen=True)
class RegisterTable:
    """A table of everybody: discrete Laplace noise of loss epsilon on every cell."""

    epsilon: float

    def __post_init__(self) -> None:
        check("noise_epsilon", self.epsilon)

    @property
    def error(self) -> float:
        """The mean absolute error of a cell, whatever its size."""
        a = math.exp(-self.epsilon)
        return 2 * a / (1 - a * a)

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON-ready data."""
        return {
            "design": "everybody",
            "epsilon": self.epsilon,
            "delta": 0.0,
            "rule": "histogram.laplace",
            "error": self.error,
        }


def plan_register(given: dict[str, Any]) -> RegisterTable:
    """The table of a register: all that there is to plan is epsilon."""
    unused = [name for name in ("rate", "k", "delta", "low", "high", "max_rate", "noise_epsilon") if given.get(name)]
    if given.get("epsilon") is None or unused:
        raise InvalidInput(
            "A table of everybody is planned from epsilon alone.",
            remedy=f"Leave {', '.join(unused)} out." if unused else "Pass epsilon.",
            where="--design",
            code="plan.design",
        )
    return RegisterTable(given["epsilon"])


def sampling_error(rate: float, people: int = PEOPLE) -> float:
    """The mean absolute error, in people, of a cell of the population that is estimated from a sample.

    >>> round(sampling_error(0.5)), round(sampling_error(0.1))
    (25, 76)
    """
    return math.sqrt(2 / math.pi * people * (1 - rate) / rate)


def costs(rate: float, k: int, epsilon: float) -> str:
    """What sampling and suppression cost, and what a register's table would cost at the same epsilon."""
    noise = RegisterTable(epsilon).error
    return (
        f"A cell of {PEOPLE:,} people is off by about {sampling_error(rate):.3g} people because of the sampling, and "
        f"cells of fewer than about {k / rate:,.0f} people are mostly missing. If everybody is in your table, noise on "
        f"every cell (everybody = true) is off by {noise:.3g} people, and nothing is missing."
    )
