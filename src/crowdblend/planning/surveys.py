"""The cost of thinning a survey in people of error, and of noise on all of it instead."""

from __future__ import annotations

import math
from functools import lru_cache

from crowdblend.designs import ThinnedSurvey
from crowdblend.guarantees.wording import three_digits
from crowdblend.planning.designs import PEOPLE, register_error, sampling_error
from crowdblend.planning.plan import answer
from crowdblend.planning.request import PlanRequest

THIN = (0.5, 0.8, 0.9)


@lru_cache(maxsize=64)
def survey_costs(people: int, of: int, epsilon: float, delta: float) -> tuple[str, ...]:
    """Compare rates of thinning, and noise, by the mean error of a cell of the population and by what is missing.

    >>> survey_costs(5_000, 500_000, 1.0, 1e-6)[0]
    'thin = 0.5: k = 14; 1,000 people are off by about 356, and cells below about 2,800 are mostly missing'
    """
    lines = []
    for thin in THIN:
        k = answer(PlanRequest(rate=thin, epsilon=epsilon, delta=delta, samples=people, population=of)).k
        share = people / of * thin
        off = f"{PEOPLE:,} people are off by about {three_digits(sampling_error(share))}"
        lines.append(f"thin = {thin}: k = {k}; {off}, and cells below about {k / share:,.0f} are mostly missing")
    asked = people / of
    noise = register_error(ThinnedSurvey(1.0, people, of).largest_loss(epsilon)) / asked
    both = math.hypot(sampling_error(asked), noise)
    lines.append(
        f"noise on everybody asked (thin = 1, statistics): off by about {three_digits(both)}, and nothing is missing"
    )
    return tuple(lines)
