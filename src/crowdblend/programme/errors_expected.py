"""What to expect of a publication of a programme, from its facts alone: errors of cells, and what is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crowdblend.estimates import Law
from crowdblend.kinds.facts import DATA, ReleaseFacts

SMALL, CELLS = 50, (100, 10_000)


@dataclass(frozen=True)
class Expected:
    """The expected errors of cells of some sizes in people, and the chance that a small one is shown.

    None where the publication has no cells that one person more or less makes larger by one.
    """

    errors: tuple[tuple[int, float], ...] = ()
    shown: float | None = None

    def sentences(self) -> list[str]:
        """What the steward is told."""
        if not self.errors:
            return []
        off = " and ".join(f"one of {people:,} people by about {error:,.3g}" for people, error in self.errors)
        chance = "" if self.shown is None else f"; one of {SMALL} is shown with probability {self.shown:.3g}"
        return [f"estimates of cells are off: {off}{chance}"]

    def to_dict(self) -> dict[str, float]:
        """The numbers as JSON-ready data."""
        errors = {f"error_of_{people}": error for people, error in self.errors}
        return errors | ({} if self.shown is None else {f"shown_of_{SMALL}": self.shown})


def expected_of(facts: ReleaseFacts) -> Expected:
    """What to expect of a publication; nothing where its cells have no law."""
    table = facts.tables.get(DATA)
    inclusion = None if facts.sample is None else facts.sample.inclusion
    if table is None or table.laws.estimator is None or inclusion is None or inclusion.rate is None:
        return Expected()
    law, rate = table.laws.estimator.law, inclusion.rate
    errors = tuple((people, _error(people, rate, law)) for people in CELLS)
    k = facts.crowds.get(DATA)
    return Expected(errors, _chance(SMALL, rate, k) if k is not None and law.noiseless else None)


def _error(people: int, rate: float, law: Law) -> float:
    """The standard error of an estimate of so many people: that of the sample, and that of the noise."""
    exact = law.noiseless or (law.exact_from is not None and people * rate >= law.exact_from)
    many = people * rate >= law.settled and not exact
    variance = 0.0 if exact else law.noise[0] if many else 2 / law.widest_loss**2
    return math.sqrt(people * (1 - rate) / rate + variance / rate**2)


def _chance(people: int, rate: float, k: int) -> float:
    """The probability that at least k of so many people are sampled."""
    return math.fsum(math.comb(people, n) * rate**n * (1 - rate) ** (people - n) for n in range(k, people + 1))
