"""Use of a limit when later parameters may depend on what earlier releases published.

Curves compose where all of them were fixed before the first output; a limit that is kept so in every branch can be
exceeded as a whole. Here are two ways to count that hold whatever depends on whatever, one of which every limit fixes
(docs/proofs.md#limits-when-people-react):

- **Sums.** Σε and Σδ over all units. A unit is a release, with its own (ε, δ), or a whole declared series, with the
  (ε, δ) that its curves have at the ε of its first entry. Parts of the limit that are used never come back.
- **Rényi divergence of one order a > 1.** Each release has a law of losses above its curve. Its largest losses, of
  mass l, are given up for lost; the rest has the moment M = Σ m·e^{(a−1)·loss}. With C = (1/a)(1 − 1/a)^{a−1}, releases
  with Σl ≤ δ/2 and Σ log M ≤ (a−1)ε + log(δ/2C) are (ε, δ)-differentially private together.

What is used is compared exactly, as fractions; logarithms are rounded outward.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from flint import arb

from crowdblend.ledger.budget import CUT, SpendingGroup, uses_of_one
from crowdblend.ledger.declarations import Limit
from crowdblend.trusted.calculus.loss_curves import delta_of, spread, together
from crowdblend.trusted.guarantees.privacy import Differential
from crowdblend.trusted.guarantees.profiles import Profile, Uses
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.numerics.balls import precision, round_down, round_up
from crowdblend.trusted.numerics.loss_law import BITS, LossLaw


@dataclass(frozen=True)
class Usage:
    """The use of a limit by releases: two sums, and the largest value of each."""

    limit: Limit
    used: tuple[Fraction, Fraction]
    allowed: tuple[Fraction, Fraction]
    series: int
    """How many declared series are counted, each as one."""
    others: int
    """How many other releases are counted."""
    stated: int = 0
    """How many of these other tools made."""

    @property
    def fits(self) -> bool:
        """True if the limit is kept."""
        return all(used <= allowed for used, allowed in zip(self.used, self.allowed, strict=True))

    @property
    def share(self) -> Fraction:
        """The share of the limit that is used: the larger one of both sums."""
        pairs = zip(self.used, self.allowed, strict=True)
        return max(used / allowed if allowed > 0 else Fraction(used > 0) for used, allowed in pairs)

    def words(self) -> str:
        """Return what is used for a message."""
        if self.limit.order is None:
            epsilon, delta = (at_most(_float_above(used)) for used in self.used)
            return f"epsilon {epsilon}, delta {delta}"
        return f"{at_most(_float_above(100 * self.share))} % of the limit"

    def reason(self) -> str:
        """Return the reason for the result: how releases were counted."""
        made = self.others - self.stated
        plural = "" if made == 1 else "s"
        counted = [f"{made} release{plural}"] if made or not (self.series or self.stated) else []
        counted += [f"{self.stated} of other tools, stated and not derived"] if self.stated else []
        counted += [f"{self.series} declared series, each as a whole by its curve"] if self.series else []
        order = self.limit.order
        way = "the sum of" if order is None else f"Rényi divergence of order {order:g} of"
        return f"{way} {', and '.join(counted)}; it holds also where a release reacts to earlier ones"

    def to_dict(self) -> dict[str, object]:
        """Return the usage as JSON-ready data; sums of ε and δ only where these are added up."""
        names = ("epsilon", "delta") if self.limit.order is None else ("moment", "lost")
        used = {name: _float_above(value) for name, value in zip(names, self.used, strict=True)}
        return {
            **used,
            "filter": self.limit.filter,
            "series": self.series,
            "others": self.others,
            "stated": self.stated,
            "fits": self.fits,
        }


def usage_of(limit: Limit, groups: Iterable[SpendingGroup]) -> Usage | None:
    """Return what some groups of releases use of a limit; None where one has no guarantee that the limit is about."""
    allowed = (Fraction(limit.epsilon), Fraction(limit.delta))
    if limit.order is not None:
        allowed = _allowed_moment(limit.order, limit.epsilon, limit.delta), Fraction(limit.delta) / 2
    first, second, series, others, stated = Fraction(0), Fraction(0), 0, 0, 0
    for group in groups:
        count = group.count if limit.order is not None else -(-group.count // group.series)
        cost = _cost(group, limit)
        if cost is None:
            return None
        first, second = first + count * Fraction(cost[0]), second + count * Fraction(cost[1])
        if group.series > 1 and limit.order is None:
            series += count
        else:
            others += count
        stated += count if group.stated else 0
    return Usage(limit, (first, second), allowed, series, others, stated)


def _cost(group: SpendingGroup, limit: Limit) -> tuple[float, float] | None:
    uses = uses_of_one(group, limit.relation)
    if limit.order is not None:
        return None if uses is None else _moment_and_lost(uses, limit.order, limit.epsilon, limit.delta)
    unit = group.loss_under(limit.relation)
    if unit is None or uses is None:
        return None
    if group.series == 1:
        return unit.epsilon, unit.delta
    together = _series_delta(uses, unit, group.series)
    if unit.delta or together <= limit.delta:
        return unit.epsilon, together
    # Noise without a delta loses its epsilon in every release: the series has the sum, and no delta.
    return _float_above(group.series * Fraction(unit.epsilon)), 0.0


@lru_cache(maxsize=256)
def _series_delta(uses: tuple[Uses, ...], unit: Differential, releases: int) -> float:
    """Return the δ of a whole series at the ε that every entry of it states."""
    every = tuple(Uses(use.curve, use.releases * releases) for use in uses)
    return delta_of(Profile(every, unit.relation), unit.epsilon)


def order_for(epsilon: float, delta: float) -> float:
    """Return an order that suits a limit: the best for Gaussian losses, to one place; any order above 1 is sound.

    Without ε or δ there is none.

    >>> order_for(3.0, 1e-5)
    9.6
    """
    if not epsilon or not delta:
        return math.inf
    length = math.log(2 / delta)
    return max(1.1, round(1 + (length + math.sqrt(length * (length + epsilon))) / epsilon, 1))


@lru_cache(maxsize=256)
def _allowed_moment(order: float, epsilon: float, delta: float) -> Fraction:
    with precision(BITS):
        a = arb(order)
        largest = ((a - 1) * (1 - 1 / a).log()).exp() / a
        return Fraction(round_down((a - 1) * arb(epsilon) + (arb(delta) / 2 / largest).log()))


@lru_cache(maxsize=256)
def _moment_and_lost(uses: tuple[Uses, ...], order: float, epsilon: float, delta: float) -> tuple[float, float]:
    """Return log M and l of a release, the larger ones of both directions; log M is not below 0."""
    pair = together(uses, spread(uses).spacing, CUT)
    allowed = float(_allowed_moment(order, epsilon, delta)), delta / 2
    both = [_cut(law, order, allowed) for law in (pair.up, pair.down)]
    return max(0.0, *(moment for moment, _ in both)), max(lost for _, lost in both)


def _cut(law: LossLaw, order: float, limits: tuple[float, float]) -> tuple[float, float]:
    """Return log M and l of one direction, cut where both use about the same share of what is allowed.

    Where it is cut may depend on anything, since every cut gives a law above the curve.
    """
    with precision(BITS):
        step = ((arb(order) - 1) * arb(law.spacing)).exp()
        lowest = ((arb(order) - 1) * arb(law.first) * arb(law.spacing)).exp()
        growths = accumulate([lowest, *([step] * (len(law.masses) - 1))], lambda one, other: one * other)
        moments = list(accumulate(mass * growth for mass, growth in zip(law.masses, growths, strict=True)))
        lost = list(accumulate(reversed(law.masses), initial=law.infinite))[::-1][1:]

        def ends(place: int) -> tuple[float, float]:
            return round_up(moments[place].log()), round_up(lost[place])

        def shares(place: int) -> tuple[float, float]:
            moment, gone = ends(place)
            return moment / limits[0], gone / limits[1]

        balanced = bisect_left(range(len(moments) - 1), True, key=lambda at: shares(at)[0] >= shares(at)[1])
        return ends(min(max(balanced - 1, 0), balanced, key=lambda at: max(shares(at))))


def _float_above(value: Fraction) -> float:
    """Return the smallest double that is not below a fraction."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
