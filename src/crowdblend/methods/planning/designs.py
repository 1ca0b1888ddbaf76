"""Cost of sampling in people of error, and of a register instead: the error that holds 95 times in 100.

A sampled count estimates n people with a standard deviation of √(n(1−β)/β), which no mechanism can undo; noise on every
cell of a register is off by the same few people whatever n is.
"""

from __future__ import annotations

import math
from functools import lru_cache

from crowdblend.methods.designs import ThinnedSurvey
from crowdblend.methods.planning.plan import answer
from crowdblend.methods.planning.request import PlanRequest
from crowdblend.trusted.guarantees.wording import three_digits
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.methods.estimates import cells, laws

# The cell that errors are told for.
PEOPLE = 1_000
# The cells of a margin of a sparse table, where sums are compared.
SUMMED = 100


# Of a normal error, in standard deviations.
_SURE = 1.96


def register_error(epsilon: float) -> int:
    """Return the error of a cell of a register under discrete Laplace noise: that of the interval which readers get.

    >>> register_error(1.0)
    4
    """
    found = cells.noise_error(laws.NoiseOnEveryCell(epsilon))
    assert found is not None, "noise has a law"
    return found


def sampling_error(rate: float) -> float:
    """Return the error, in people, of a cell of the population that is estimated from a sample.

    >>> round(sampling_error(0.5)), round(sampling_error(0.1))
    (62, 186)
    """
    return _SURE * math.sqrt(PEOPLE * (1 - rate) / rate)


def costs(rate: float, k: int, epsilon: float) -> str:
    """Return the cost of sampling and suppression, and of a register at the same epsilon."""
    sampled, noisy = three_digits(sampling_error(rate)), f"{register_error(epsilon):,}"
    return (
        f"A cell of {PEOPLE:,} people is off by up to {sampled} people (95 %) because of the sampling, and "
        f"cells of fewer than about {k / rate:,.0f} people are mostly missing. If everybody is in your table, noise on "
        f'every cell (`sampling.design = "everybody"`) is off by up to {noisy} people, and nothing is missing.'
    )


@lru_cache(maxsize=64)
def noise_costs(rate: float, k: int, epsilon: float, delta: float) -> str:
    """Compare suppression with noise below k, by the error of a sum of cells that suppression does not show.

    >>> noise_costs(0.5, 35, 1.0, 1e-6)[33:]
    'a sum of 100 cells of 35 people is off by up to 121 of 3,500 (95 %); here all are missing'
    """
    loss = answer(PlanRequest(rate=rate, epsilon=epsilon, delta=delta, below_k="noise")).noise_epsilon
    assert loss is not None, "noise has a loss"
    small = max(1, round(k / rate / 2))
    a = math.exp(-loss)
    noise, people = 2 * a / (1 - a) ** 2, SUMMED * small
    off = _SURE * math.sqrt(people * (1 - rate) / rate + SUMMED * noise / rate**2)
    return (
        f'with `publish.below_k = "noise"` a sum of {SUMMED} cells of {small:,} people is off by up to '
        f"{three_digits(off)} of {people:,} (95 %); here all are missing"
    )


def register_costs(rate: float, epsilon: float) -> str:
    """Compare a sample that is drawn here with noise on everybody in the table.

    >>> register_costs(0.5, 1.0)[37:]
    'every cell is off by up to 4 people (95 %); here one of 1,000 is off by up to 62'
    """
    return (
        f'with `sampling.design = "everybody"` every cell is off by up to {register_error(epsilon):,} people (95 %); '
        f"here one of {PEOPLE:,} is off by up to {three_digits(sampling_error(rate))}"
    )


THIN = (0.5, 0.8, 0.9)


@lru_cache(maxsize=64)
def survey_costs(people: int, of: int, epsilon: float, delta: float, releases: int = 1) -> tuple[str, ...]:
    """Compare rates of thinning, and noise, by the error of a cell of the population and by what is missing.

    In a series, epsilon and delta are those of all releases.

    >>> survey_costs(5_000, 500_000, 1.0, 1e-6)[0]
    'thin = 0.5: k = 14; 1,000 people are off by up to 874 (95 %), and cells below about 2,800 are mostly missing'
    """
    lines = []
    for thin in THIN:
        asked = PlanRequest(rate=thin, epsilon=epsilon, delta=delta, samples=people, population=of, releases=releases)
        k = answer(asked).k
        share = people / of * thin
        off = f"{PEOPLE:,} people are off by up to {three_digits(sampling_error(share))} (95 %)"
        lines.append(f"thin = {thin}: k = {k}; {off}, and cells below about {k / share:,.0f} are mostly missing")
    noise = register_error(ThinnedSurvey(1.0, people, of).largest_loss(epsilon / releases)) * of / people
    both = math.hypot(sampling_error(people / of), noise)
    off = f"off by up to {three_digits(both)} (95 %)"
    lines.append(f"noise on everybody asked (thin = 1, statistics): {off}, and nothing is missing")
    return tuple(lines)
