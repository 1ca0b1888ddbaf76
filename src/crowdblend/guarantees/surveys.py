"""Divergence curves of surveys that ask a fixed number of people: what happens to a survey, and who comes into it."""

from __future__ import annotations

from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.guarantees.aggregates import Aggregate, RandomSamples
from crowdblend.guarantees.privacy import Relation
from crowdblend.guarantees.profiles import LossCurve, Order, Profile, Uses


@dataclass(frozen=True)
class SurveyCurve(LossCurve):
    """Releases of one survey of `samples` of `population` people, with one person's data replaced.

    With `strata` these are the numbers of the stratum of which the largest share is asked.
    """

    samples: int
    population: int
    strata: bool
    uses: tuple[Uses, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "uses", of_a_survey(self.uses))
        RandomSamples(self.samples, self.population)

    def aggregate(self) -> Aggregate | None:
        """Return the number of random people, the person concealed; None for strata."""
        return None if self.strata else RandomSamples(self.samples, self.population)

    def order(self) -> Order:
        """Return the sort key: the numbers of people, then the curves."""
        return (type(self).__name__, (self.samples, self.population, self.strata, order_of(self.uses)))


@dataclass(frozen=True)
class GroupSurveyCurve(LossCurve):
    """Releases of one survey whose people come in whole groups, `samples` of `population` groups."""

    samples: int
    population: int
    uses: tuple[Uses, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "uses", of_a_survey(self.uses))
        RandomSamples(self.samples, self.population)

    def order(self) -> Order:
        """Return the sort key: the numbers of groups, then the curves."""
        return (type(self).__name__, (self.samples, self.population, order_of(self.uses)))


def of_a_survey(uses: tuple[Uses, ...]) -> tuple[Uses, ...]:
    """Uses of curves in their one order; a survey of a survey is refused."""
    ordered = Profile(uses, Relation.REPLACE).uses
    if any(isinstance(use.curve, SurveyCurve | GroupSurveyCurve) for use in ordered):
        raise InvalidInput("A survey is drawn from people, not from a survey. Pass the curve of what is done with it.")
    return ordered


def order_of(uses: tuple[Uses, ...]) -> Order:
    """Return the sort key of uses."""
    return tuple((use.curve.order(), use.releases) for use in uses)
