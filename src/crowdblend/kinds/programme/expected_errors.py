"""Expectations of a publication from its facts alone: errors of cells, and small groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from crowdblend.kinds.shared.facts import DATA, ReleaseFacts
from crowdblend.methods.estimates.acceptance import hidden_with
from crowdblend.methods.estimates.estimator import Estimator
from crowdblend.methods.estimates.laws import Law
from crowdblend.methods.estimates.nouns import PEOPLE, Noun
from crowdblend.trusted.guarantees.wording import three_digits
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import numpy as np
    from scipy import special

SMALL, CELLS = 50, (100, 10_000)
ROUND_SIZES = tuple(digit * 10**power for power in range(2, 10) for digit in (1, 2, 5))
# A smaller chance is called none.
HARDLY_EVER = 0.0005
SIZES = (10, 30, 100, 300, 1_000, 10_000)


@dataclass(frozen=True)
class GroupExpectation:
    """A group of this many people: how likely it is shown, and as what where its sample is the usual one.

    `low` and `high` are the ends of the 95 % interval that readers get; None where they get none.
    """

    people: int
    shown: float
    low: int | None
    high: int | None

    @property
    def off(self) -> int | None:
        """The largest distance between the truth and the ends of the interval."""
        if self.low is None or self.high is None:
            return None
        return max(self.people - self.low, self.high - self.people)

    @property
    def error(self) -> str:
        """The error as text; nothing where readers get no interval, or hardly ever see the group."""
        return "" if self.off is None or self.shown < HARDLY_EVER else f"± {self.off:,}"

    def words(self, noun: Noun = PEOPLE) -> str:
        """Return the expectation as a sentence."""
        group = f"A group of {self.people:,} {noun.of(self.people)}"
        if self.shown < HARDLY_EVER:
            return f"{group} will not be shown."
        chance = "" if self.shown > 1 - HARDLY_EVER else f" with a probability of {100 * self.shown:.3g} %"
        return f"{group} will be shown{chance}{f', as {self.people:,} {self.error}' if self.error else ''}."


@dataclass(frozen=True)
class ExpectedErrors:
    """The errors that a publication is expected to have, and the chance that a small cell is shown.

    With strata these are those of the worst one. There are none where one more person does not make a cell larger by
    one. `mean` errors, of cells of some sizes, are what plans are compared by; people are told those of `groups`.
    """

    mean: tuple[tuple[int, float], ...] = ()
    shown: float | None = None
    # Up to about how many people cells are mostly missing.
    missing: float = 0.0
    groups: tuple[GroupExpectation, ...] = ()
    """The smallest round cell that is mostly shown, and one a hundred times as large."""

    def sentences(self, noun: Noun = PEOPLE) -> list[str]:
        """Return the sentences for the steward."""
        if not self.mean:
            return []
        off = " and ".join(f"{one.people:,} {noun.many} {one.error}" for one in self.groups if one.error)
        said = [f"cells as readers see them, 95 times in 100: {off}"] if off else []
        if self.shown is not None and self.shown < HARDLY_EVER:
            said.append(f"cells of fewer than about {three_digits(self.missing)} {noun.many} are mostly missing")
        elif self.shown is not None:
            how = f"with probability {self.shown:.3g}" if self.shown <= 1 - HARDLY_EVER else "nearly always"
            said.append(f"one of {SMALL} is shown {how}")
        return ["; ".join(said)]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON-ready data: of cells their size, and the error that holds 95 times in 100."""
        cells = [{"size": one.people, "error": one.off} for one in self.groups if one.off is not None]
        found: dict[str, Any] = {"cells": cells} if cells else {}
        found |= {f"mean_error_of_{people}": error for people, error in self.mean}
        return found | ({} if self.shown is None else {f"shown_of_{SMALL}": self.shown})


def expected_of(facts: ReleaseFacts) -> ExpectedErrors:
    """Return the expected errors of a publication; none where its cells have no law."""
    table, sample = facts.tables.get(DATA), facts.sample
    if table is None or sample is None:
        return ExpectedErrors()
    strata = table.laws.strata.values() if sample.strata else (table.laws.estimator,)
    each = [(one, one.stratum.rate) for one in strata if one is not None and one.stratum.rate is not None]
    if not each:
        return ExpectedErrors()
    mean = tuple((people, max(_error(people, rate, one.law) for one, rate in each)) for people in CELLS)
    cut = [(one.law, rate) for one, rate in each if _leaves_out(one.law)]
    shown = min((_chance(SMALL, rate, law) for law, rate in cut), default=None)
    missing = max(((law.shown_from or 0) / rate for law, rate in cut), default=0.0)
    # A round size of which cells are shown nine times in ten, by every law that leaves cells out.
    least = next(
        (
            size
            for size in ROUND_SIZES
            if all(size * rate >= (law.shown_from or 0) and _chance(size, rate, law) >= 0.9 for law, rate in cut)
        ),
        None,
    )

    def worst(size: int) -> GroupExpectation:
        found = (_expectation(size, one.law, rate, one) for one, rate in each)
        return max(found, key=lambda one: math.inf if one.off is None else one.off)

    return ExpectedErrors(mean, shown, missing, () if least is None else (worst(least), worst(100 * least)))


def _error(people: int, rate: float, law: Law) -> float:
    """The mean absolute error of an estimate of this many people, of the sample about normal, and of the noise.

    A normal error is on average √(2/π), and that of Laplace noise √(1/2), of its standard deviation.
    """
    exact = law.noiseless or (law.exact_from is not None and people * rate >= law.exact_from)
    many = people * rate >= law.settled_from and not exact
    variance = 0.0 if exact else law.noise[0] if many else 2 / law.widest_loss**2
    return math.sqrt(2 / math.pi * people * (1 - rate) / rate + law.mean_share * variance / rate**2)


def _chance(people: int, rate: float, law: Law) -> float:
    """Return the probability that a cell of this many people is shown."""
    k = law.shown_from or 0
    if not law.noiseless:
        return 1 - hidden_with(law, rate, people)
    return float(special.bdtrc(k - 1, people, rate)) if people >= k else 0.0


def group_expectations(facts: ReleaseFacts, sizes: tuple[int, ...] = SIZES) -> tuple[GroupExpectation, ...]:
    """Return what readers will see of groups of these sizes; nothing without counts by class."""
    table = facts.tables.get(DATA)
    if table is None or table.laws.stratum is not None or table.laws.blocks != 1:
        return ()  # it depends on the stratum, or on the block
    law, rate = table.shown_by[0], facts.rate
    rate = 1.0 if rate is None and not law.noiseless else rate
    if _leaves_out(law) and rate is None:
        return ()
    estimator = table.laws.estimator if facts.rows_are_counted else None
    return tuple(_expectation(people, law, rate, estimator) for people in sizes)


def _leaves_out(law: Law) -> bool:
    """Return whether cells may be missing."""
    return law.shown_from is not None and law.least_people > 0


def _expectation(people: int, law: Law, rate: float | None, estimator: Estimator | None) -> GroupExpectation:
    """Return what readers will see of a group of this size, by one law and rate."""
    cut, k = _leaves_out(law), law.shown_from or 0
    shown = _chance(people, rate, law) if cut and rate is not None else 1.0
    low = high = None
    usual = round(people * rate) if rate is not None else people
    if estimator is not None and (not cut or usual >= k):
        ends = estimator.cells(np.array([usual], dtype=np.int64))
        low, high = (None if end < 0 else int(end) for end in (ends.low[0], ends.high[0]))
    return GroupExpectation(people, shown, low, high)
