"""Which rows, or how many people of each class, are in the sample of a draw: the same for every engine.

Where every row is a person there is nothing to flip a coin for. All rows are counted and every class is thinned.

Theorem. Keeping each of n_c people of class c independently with probability `rate` and counting what is left gives
independent Binomial(n_c, rate) counts. So thinning the counts is the same draw. ∎
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.draw import Coin, Everybody, Part
from crowdblend.engines.packing import only_occurring
from crowdblend.engines.persons import Mask, Persons
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.policies.columns import Column
from crowdblend.randomness import KeyedSource, thin


def in_part(part: Part, persons: Persons) -> Mask:
    """Which rows are in this part."""
    drawn = persons.drawn(part.key, part.share)
    return drawn if part.choosing else ~drawn


def thinned(columns: Sequence[Column], classes: SampledClasses, draw: Everybody | Coin) -> SampledClasses:
    """The classes after a binomial draw from each, in the order of the codes."""
    counts = classes.counts
    if isinstance(draw, Everybody) and draw.part is None:
        return classes
    if isinstance(draw, Coin):
        counts = thin(counts, draw.rate, KeyedSource(draw.key, b"release, thinning of the finest classes"))
    if draw.part is not None:
        counts = _part_of(draw.part, counts)
    left = SampledClasses(classes.columns, classes.labels, classes.codes, counts).where(counts > 0)
    return only_occurring(left, [not column.recoding.closed for column in columns])


def _part_of(part: Part, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of each class are in this part."""
    chosen = thin(counts, part.share, KeyedSource(part.key, b"choosing part of the finest classes"))
    return chosen if part.choosing else counts - chosen
