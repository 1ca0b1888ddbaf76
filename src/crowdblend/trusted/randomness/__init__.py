"""Secure random bits, keyed coins and exact noise. Nothing here knows of data, files or policies.

Everything is decided in integer arithmetic on fair bits: what is drawn has exactly the stated law, or the law up to
breaking AES when the bits come from a key.
"""

from crowdblend.trusted.randomness.binomial import thin
from crowdblend.trusted.randomness.choice import distinct, permutation, uniform
from crowdblend.trusted.randomness.coin import below_rate, coins, marks
from crowdblend.trusted.randomness.gaussian import discrete_gaussian
from crowdblend.trusted.randomness.noise import LaplaceStream, discrete_laplace
from crowdblend.trusted.randomness.probability import rational
from crowdblend.trusted.randomness.rare import successes
from crowdblend.trusted.randomness.release_key import DrawKey, ReleaseKey
from crowdblend.trusted.randomness.source import KeyedSource, SeededSource, Source, SystemSource, new_key

__all__ = [
    "DrawKey",
    "KeyedSource",
    "LaplaceStream",
    "ReleaseKey",
    "SeededSource",
    "Source",
    "SystemSource",
    "below_rate",
    "coins",
    "discrete_gaussian",
    "discrete_laplace",
    "distinct",
    "marks",
    "new_key",
    "permutation",
    "rational",
    "successes",
    "thin",
    "uniform",
]
