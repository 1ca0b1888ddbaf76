"""A fresh sample of everybody for each of several tables (rule composition.profiles).

Theorem. Keeping each of n_c people of a class with probability β, independently, leaves Bin(n_c, β) of them,
independently between classes. So thinning the counts of the finest classes is the same as a coin for every person, and
thinning them again with randomness of its own is a sample that is independent of every other. ∎
"""

from __future__ import annotations

from fractions import Fraction

from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.randomness import ReleaseKey, thin


def draw_each(everybody: SampledClasses, rate: float, samples: int, key: ReleaseKey) -> list[SampledClasses]:
    """So many samples of the counted people at exactly this rate, each from a label of its own of the key."""
    drawn = []
    for number in range(samples):
        taken = thin(everybody.counts, Fraction(rate), key.source(b"people of sample %d" % number))
        drawn.append(SampledClasses(everybody.columns, everybody.labels, everybody.codes, taken).where(taken > 0))
    return drawn
