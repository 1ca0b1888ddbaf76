"""How often the interval of a range of an ordered column holds, by draws of all cells of its tables.

Both ends of an interval rise with the published value. So the values whose intervals hold a number of people lie
between two, which are looked for with the function under test; how often they come is drawn.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from crowdblend.methods.estimates.range_intervals import range_interval
from crowdblend.reading.ranges import Level, Tree
from tests.methods.estimates.coverage import Row
from tests.methods.estimates.outputs import ASKED, OF, THIN

DRAWS = 8_000
WIDTHS, CLASSES = (1, 16, 256), 512
# Rates of the designs whose ranges can be published, and the loss of the noise at each width.
RATES = {"poisson": (0.02, 0.5), "coins": (0.001, 0.1), "survey": (ASKED / OF * THIN,), "everybody": (1.0,)}
LOSSES = (0.3, 5 / 3, 4.0)
RANGES = ((3, 4), (5, 300))
SAMPLED = (0.0, 0.15, 0.5, 1.0, 2.0, 3.5, 5.0, 10.0, 40.0)


def range_rows(designs: Sequence[str] = tuple(RATES), losses: Sequence[float] = LOSSES) -> Iterator[Row]:
    """Return the smallest coverage over losses of noise, ranges and numbers of people."""
    for design in designs:
        found = [
            range_coverage(design, rate, loss, *ends)
            for rate, loss, ends in itertools.product(RATES[design], losses, RANGES)
        ]
        yield Row("ranges", design, "ranges", f"{DRAWS:,} draws", min(found))


def range_coverage(
    design: str, rate: float, loss: float, start: int, stop: int, sizes: Sequence[float] = SAMPLED
) -> float:
    """Return the smallest coverage over numbers of people in one range."""
    rng = np.random.default_rng(7)
    noise, variance = noise_of(loss, start, stop)
    found = []
    for number in sizes:
        people = round(number / rate) if rate < 1 else round(number)
        if design == "survey" and people > OF:
            continue
        if design == "survey":
            sampled = rng.binomial(rng.hypergeometric(people, OF - people, ASKED, DRAWS), rate / (ASKED / OF))
        else:
            sampled = rng.binomial(people, rate, DRAWS)
        low, high = ends_of(people, variance, rate)
        value = sampled + noise
        found.append(float(((low <= value) & (value <= high)).mean()))
    return min(found)


@lru_cache
def noise_of(loss: float, start: int, stop: int) -> tuple[np.ndarray, float]:
    """Draw the noise of the best sum of a range, with the variance that its tree states."""
    rng = np.random.default_rng(11)
    sizes = [CLASSES // width for width in WIDTHS]
    variance = 2 * np.exp(-loss) / (1 - np.exp(-loss)) ** 2
    tree = Tree.of(
        [Level(width, np.zeros(size), np.full(size, variance)) for width, size in zip(WIDTHS, sizes, strict=True)]
    )
    drawn = np.zeros(DRAWS)
    p = 1 - np.exp(-loss)
    for level, size in enumerate(sizes):
        for cell in range(size):
            values = [np.zeros(other) for other in sizes]
            values[level][cell] = 1.0
            weight = float(tree.solve(values)[start:stop].sum())
            if abs(weight) > 1e-9:
                drawn += weight * (rng.geometric(p, DRAWS) - rng.geometric(p, DRAWS))
    return drawn, tree.sum(start, stop)[1]


def ends_of(people: int, variance: float, rate: float) -> tuple[float, float]:
    """Return the smallest and the largest value whose interval holds this number of people."""
    reach = 12 * np.sqrt(people * rate * (1 - rate) + variance) + 20
    middle = people * rate

    def holds(value: float) -> bool:
        low, high = range_interval(value, variance, rate, 0.95)
        return low <= people <= high

    assert holds(middle)
    return _edge(holds, middle, middle - reach), _edge(holds, middle, middle + reach)


def _edge(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    if holds(outside):
        return outside
    while abs(inside - outside) > 1e-2:
        between = (inside + outside) / 2
        inside, outside = (between, outside) if holds(between) else (inside, between)
    return inside
