"""Two tables that are each safe: a person can be alone where two crowds overlap (CBP Proposition 7)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from crowdblend.lab.attacks.ours import Counts, our_table, published_law, repeat_sizes
from crowdblend.lab.attacks.trial import Attack, Bound, Trial, exactly, in_runs, unsafe
from crowdblend.trusted.guarantees.privacy import Relation
from crowdblend.trusted.randomness import SystemSource, discrete_laplace

# The discrete Laplace noise of the small counts: each is 0, or one up, or one down, with chances 1/3, 1/6 and 1/6.
NOISE, ONE_UP = math.log(2), Fraction(1, 6)
K = our_table().k


def trials(runs: int) -> tuple[Trial, ...]:
    """Return the database of the proof: k − 1 people with value 1, as many with value 3, and the person.

    With value 1 the person is in {1, 2} just as with value 2: the crowd of the person. With value 2 both counts are k
    and exact. Otherwise one of them is k − 1, and shows k by noise only.
    """
    ours = our_table()
    alone = Bound(NOISE, 0.0, f"({K}, ln 2)-crowd-blending")

    def noisy_below(two: bool) -> int:
        """Return the histogram of the proposition: exact from k on, noisy below."""
        counts = repeat_sizes(runs, K, K if two else K - 1)
        noise = discrete_laplace(counts.size, NOISE, SystemSource()).reshape(counts.shape)
        return _both_show(*np.where(counts < K, counts + noise, counts).T)

    def our_sums(two: bool) -> int:
        """Return the attack's count where both tables are sums of the shown cells of {1}, {2} and {3}."""
        cells = ours.publish(repeat_sizes(runs, K - 1, 1, K - 1) if two else repeat_sizes(runs, K, 0, K - 1))
        return _both_show(cells[:, 0] + cells[:, 1], cells[:, 1] + cells[:, 2])

    return (
        unsafe("table of {1, 2} and {3} alone", exactly(1.0, 1.0), bound=alone),
        unsafe("table of {1} and {2, 3} alone", exactly(1.0, 1.0), bound=alone),
        unsafe(
            "both tables, of the same people",
            exactly(1.0, ONE_UP),
            in_runs(runs, noisy_below),
            alone.twice("the sum of both, which is not true"),
        ),
        Trial(
            ours.name,
            True,
            ours.bound(Relation.REPLACE),
            exactly(_sums_show((K - 1, 1, K - 1)), _sums_show((K, 0, K - 1))),
            in_runs(runs, our_sums),
        ),
    )


def _both_show(first: Counts, second: Counts) -> int:
    return int(((first == K) & (second == K)).sum())


def _sums_show(people: tuple[int, int, int]) -> Fraction:
    ours = our_table()
    ones, twos, threes = (published_law(size, Fraction(ours.rate), K) for size in people)
    nothing = Fraction(0)
    return sum(
        (chance * ones.get(K - two, nothing) * threes.get(K - two, nothing) for two, chance in twos.items()), nothing
    )


ATTACK = Attack(
    name="composition",
    title="Two tables that are each safe",
    source="CBP 3.2, Proposition 7",
    story="Everybody has the value 1, 2 or 3. One table counts the people with 1 or 2 together, another those with "
    "2 or 3. Counts below k get some noise, larger ones are exact. In each table you blend into a crowd of k: your "
    "value could be that of k − 1 others and the table would look the same. But the two crowds are different "
    "people. If you are the one with value 2, both counts are exactly k because of you, and nobody else could take "
    "your place. Blending into crowds does not add up over releases; no pair of numbers (k, ε) makes it true.",
    event="both {1, 2} and {2, 3} show exactly k",
    question=f"How often do the published counts show k = {K}?",
    worlds=("the person's value is 2", "is 1 or 3, whichever fits better"),
    trials=trials,
    guarantee=lambda: our_table().bound(Relation.REPLACE),
    remark="Each table alone cannot tell value 2 from one of the other two, and together they can. Ours is one table "
    "of the finest classes, which anybody can add up; a second release from one sample is refused.",
)
