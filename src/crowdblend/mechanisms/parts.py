"""Several samples of one count of people: parts that share nobody, and fresh samples of everybody.

Theorem. Keeping each of n_c people of a class with probability β, independently, leaves Bin(n_c, β) of them,
independently between classes. So thinning the counts of the finest classes is the same as a coin for every person, and
thinning them again with randomness of its own is a sample that is independent of every other. ∎ (composition.profiles)

Theorem. Sending each sampled person to part i with probability s_i, independently, and counting the classes of every
part gives multinomial counts, independent between classes; part 1 has Bin(n_c, s_1) of n_c people, part 2
Bin(what is left, s_2/(1−s_1)), and so on. So dividing the counts is the same as a coin for every person. ∎
(programme.parts) The quotients are exact fractions of the doubles that the policy has for shares; where those add up
to a little more than 1, each is divided by their sum, as the rule does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.randomness import ReleaseKey, thin


def draw_each(everybody: SampledClasses, rate: float, samples: int, key: ReleaseKey) -> list[SampledClasses]:
    """So many samples of the counted people at exactly this rate, each from a label of its own of the key."""
    drawn = []
    for number in range(samples):
        taken = thin(everybody.counts, Fraction(rate), key.source(b"people of sample %d" % number))
        drawn.append(replace(everybody, counts=taken).where(taken > 0))
    return drawn


def divide(sample: SampledClasses, shares: Sequence[float], key: ReleaseKey) -> list[SampledClasses]:
    """The part of the sample for every share; who is in none of them is left out."""
    total = max(sum(map(Fraction, shares)), Fraction(1))
    left, unassigned = sample.counts, Fraction(1)
    parts = []
    for number, share in enumerate(Fraction(share) / total for share in shares):
        taken = thin(left, share / unassigned, key.source(b"people of part %d" % number))
        left, unassigned = left - taken, unassigned - share
        parts.append(replace(sample, counts=taken).where(taken > 0))
    return parts
