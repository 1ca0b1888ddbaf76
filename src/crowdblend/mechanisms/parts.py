"""A sample divided into parts that share nobody, each for a table of its own (rule composition.parts).

Theorem. Sending each sampled person to part i with probability s_i, independently, and counting the classes of every
part gives multinomial counts, independent between classes; part 1 has Bin(n_c, s_1) of n_c people, part 2
Bin(what is left, s_2/(1−s_1)), and so on. So dividing the counts is the same as a coin for every person. ∎

The quotients are exact fractions of the doubles that the policy has for shares; where those add up to a little more
than 1, each is divided by their sum, as the rule does.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.randomness import ReleaseKey, thin


def divide(sample: SampledClasses, shares: Sequence[float], key: ReleaseKey) -> list[SampledClasses]:
    """The part of the sample for every share; who is in none of them is left out."""
    total = max(sum(map(Fraction, shares)), Fraction(1))
    left, unassigned = sample.counts, Fraction(1)
    parts = []
    for number, share in enumerate(Fraction(share) / total for share in shares):
        taken = thin(left, share / unassigned, key.source(b"people of part %d" % number))
        left, unassigned = left - taken, unassigned - share
        parts.append(SampledClasses(sample.columns, sample.labels, sample.codes, taken).where(taken > 0))
    return parts
