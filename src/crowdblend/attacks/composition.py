"""Two tables that are each safe: a person can be alone where two crowds overlap (CBP Proposition 7)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from crowdblend.attacks.attack import Attack, Finding
from crowdblend.attacks.chances import Chance, computed
from crowdblend.attacks.figure import chances_chart
from crowdblend.attacks.laws import laplace_is, published_law
from crowdblend.attacks.ours import Counts, our_table, repeated
from crowdblend.attacks.trial import Bound, Pair, Trial, in_runs
from crowdblend.guarantees import Relation
from crowdblend.randomness import SystemSource, discrete_laplace

WORLDS = ("the person's value is 2", "is 1 or 3, whichever fits better")
# The noise of the small counts: each is 0, or one up, or one down, with chances 1/3, 1/6 and 1/6.
NOISE = math.log(2)
FIRST, SECOND = "{1, 2}", "{2, 3}"


def launch(runs: int) -> Finding:
    """The database of the proof: k − 1 people with value 1, as many with value 3, and the person."""
    k = our_table().k
    alone = Bound(NOISE, 0.0, f"({k}, ln 2)-crowd-blending")
    both = Bound(2 * NOISE, 0.0, "the sum of both, which is not true")
    trials = (
        Trial(f"table of {FIRST} and {{3}} alone", False, alone, _first_alone()),
        Trial(f"table of {{1}} and {SECOND} alone", False, alone, _first_alone()),
        Trial(
            "both tables, of the same people", False, both, _together(), in_runs(runs, lambda two: _seen(two, k, runs))
        ),
        _ours(runs),
    )
    guarantee = our_table().bound(Relation.REPLACE)
    chart = chances_chart(trials, guarantee, worlds=WORLDS, title=f"How often do the published counts show k = {k}?")
    remark = (
        "Each table alone cannot tell value 2 from one of the other two, and together they can. Ours thresholds the "
        "common refinement once and adds up its cells; a second release from one sample is refused."
    )
    return Finding(trials, guarantee, chart, remark)


def _first_alone() -> Pair:
    """With value 1 the person is in {1, 2} just as with value 2: the crowd of the person."""
    return Pair(computed(1.0), computed(1.0))


def _together() -> Pair:
    """With value 2 both counts are k and exact. Otherwise one of them is k − 1, and shows k by noise only."""
    return Pair(computed(1.0), computed(laplace_is(1, NOISE)))


def _seen(two: bool, k: int, runs: int) -> int:
    """How often both counts show k."""
    people = np.array([k, k if two else k - 1])
    return int((noisy_below(repeated(runs, *people.tolist()), k) == k).all(axis=1).sum())


def noisy_below(counts: Counts, k: int) -> Counts:
    """The histogram of the proposition: exact from k on, noisy below."""
    noise = discrete_laplace(counts.size, NOISE, SystemSource()).reshape(counts.shape)
    return np.where(counts < k, counts + noise, counts)


def _ours(runs: int) -> Trial:
    """Both tables are sums of the shown cells of {1}, {2} and {3}."""
    ours = our_table()
    k = ours.k

    def both_show(two: bool) -> int:
        cells = ours.publish(repeated(runs, k - 1, 1, k - 1) if two else repeated(runs, k, 0, k - 1))
        return int(((cells[:, 0] + cells[:, 1] == k) & (cells[:, 1] + cells[:, 2] == k)).sum())

    exact = Pair(_ours_exact((k - 1, 1, k - 1)), _ours_exact((k, 0, k - 1)))
    return Trial(ours.name, True, ours.bound(Relation.REPLACE), exact, in_runs(runs, both_show))


def _ours_exact(people: tuple[int, int, int]) -> Chance:
    ours = our_table()
    ones, twos, threes = (published_law(size, Fraction(ours.rate), ours.k) for size in people)
    total = Fraction(0)
    for two, chance in twos.items():
        rest = ours.k - two
        total += chance * ones.get(rest, Fraction(0)) * threes.get(rest, Fraction(0))
    return computed(total)


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
    worlds=WORLDS,
    launch=launch,
)
