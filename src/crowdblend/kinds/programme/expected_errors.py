"""Expectations of a publication from its facts alone: errors of cells, and small groups."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crowdblend.kinds.shared.facts import DATA, ReleaseFacts
from crowdblend.methods.estimates.acceptance import hidden_with
from crowdblend.methods.estimates.laws import Law
from crowdblend.trusted.guarantees.wording import three_digits
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import numpy as np
    from scipy import special

SMALL, CELLS = 50, (100, 10_000)
ROUND_SIZES = tuple(digit * 10**power for power in range(2, 10) for digit in (1, 2, 5))
SIZES = (10, 30, 100, 300, 1_000, 10_000)


@dataclass(frozen=True)
class ExpectedErrors:
    """The expected errors of cells of some sizes in people, and the chance that a small one is shown.

    With strata these are those of the worst one. There are none where one more person does not make a cell larger by
    one.
    """

    errors: tuple[tuple[int, float], ...] = ()
    shown: float | None = None
    # Up to about how many people cells are mostly missing.
    missing: float = 0.0
    # The errors of a round size that is mostly shown, and of a hundred times as many.
    visible: tuple[tuple[int, float], ...] = ()

    def sentences(self) -> list[str]:
        """Return the sentences for the steward."""
        if not self.errors:
            return []
        off = " and ".join(f"one of {people:,} people by about {three_digits(error)}" for people, error in self.visible)
        said = [f"estimates of cells are off: {off}"] if off else []
        if self.shown is not None and self.shown < 0.0005:
            said.append(f"cells of fewer than about {three_digits(self.missing)} people are mostly missing")
        elif self.shown is not None:
            how = f"with probability {self.shown:.3g}" if self.shown <= 0.9995 else "nearly always"
            said.append(f"one of {SMALL} is shown {how}")
        return ["; ".join(said)]

    def to_dict(self) -> dict[str, float]:
        """Return the numbers as JSON-ready data."""
        errors = {f"error_of_{people}": error for people, error in self.errors}
        return errors | ({} if self.shown is None else {f"shown_of_{SMALL}": self.shown})


def expected_of(facts: ReleaseFacts) -> ExpectedErrors:
    """Return the expected errors of a publication; none where its cells have no law."""
    table, sample = facts.tables.get(DATA), facts.sample
    if table is None or sample is None:
        return ExpectedErrors()
    strata = table.laws.strata.values() if sample.strata else (table.laws.estimator,)
    each = [(one.law, one.stratum.rate) for one in strata if one is not None and one.stratum.rate is not None]
    if not each:
        return ExpectedErrors()

    def errors(*sizes: int) -> tuple[tuple[int, float], ...]:
        return tuple((people, max(_error(people, rate, law) for law, rate in each)) for people in sizes)

    cut = [(law, rate) for law, rate in each if law.shown_from is not None and law.least_people > 0]
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
    return ExpectedErrors(errors(*CELLS), shown, missing, () if least is None else errors(least, 100 * least))


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

    def words(self) -> str:
        """Return the expectation as a sentence."""
        group = f"A group of {self.people:,} people"
        if self.shown < 0.0005:
            return f"{group} will not be shown."
        chance = "" if self.shown > 0.9995 else f" with a probability of {100 * self.shown:.3g} %"
        if self.off is None:
            return f"{group} will be shown{chance}."
        return f"{group} will be shown{chance}, as {self.people:,} ± {self.off:,}."


def group_expectations(facts: ReleaseFacts, sizes: tuple[int, ...] = SIZES) -> tuple[GroupExpectation, ...]:
    """Return what readers will see of groups of these sizes; nothing without counts by class."""
    table = facts.tables.get(DATA)
    if table is None or table.laws.stratum is not None or table.laws.blocks != 1:
        return ()  # it depends on the stratum, or on the block
    law, rate = table.shown_by[0], facts.rate
    missing, k = law.shown_from is not None and law.least_people > 0, law.shown_from or 0
    rate = 1.0 if rate is None and not law.noiseless else rate
    if missing and rate is None:
        return ()
    estimator = table.laws.estimator if facts.rows_are_counted else None
    found = []
    for people in sizes:
        shown = _chance(people, rate, law) if missing and rate is not None else 1.0
        low = high = None
        usual = round(people * rate) if rate is not None else people
        if estimator is not None and (not missing or usual >= k):
            ends = estimator.cells(np.array([usual], dtype=np.int64))
            low, high = (None if end < 0 else int(end) for end in (ends.low[0], ends.high[0]))
        found.append(GroupExpectation(people, shown, low, high))
    return tuple(found)
