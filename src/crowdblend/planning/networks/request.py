"""Requests about a network: its public bounds, and a statistic with a guarantee or an error."""

from __future__ import annotations

from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.guarantees.parameters import PARAMETERS, check

PEOPLE_S_DATA = ("average", "histogram")
NAMES = ("connectivity", "cycle-freeness", "eulerian", "average-degree", *PEOPLE_S_DATA)


@dataclass(frozen=True)
class Bounds:
    """Public bounds of a network: the number of people, and bounds on their links."""

    people: int
    degree_bound: int
    average_bound: float

    def __post_init__(self) -> None:
        check("people", self.people)
        check("degree_bound", self.degree_bound)
        check("average_bound", self.average_bound)
        if self.average_bound > self.degree_bound:
            message = f"average_bound = {self.average_bound:g} is above degree_bound = {self.degree_bound}."
            remedy = "Lower it, or leave it out."
            raise InvalidInput(message, remedy=remedy, where="average_bound", code="plan.average-bound")


@dataclass(frozen=True)
class NetworkRequest:
    """One statistic; of epsilon, samples and error two are given.

    `width` is the length of the interval of an average, `classes` the number of classes of a histogram.
    """

    name: str
    bounds: Bounds
    epsilon: float | None = None
    samples: int | None = None
    error: float | None = None
    explored: int | None = None
    resolution: float | None = None
    width: float | None = None
    classes: int | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            message = f"There is no network statistic {self.name!r}."
            raise InvalidInput(message, remedy=f"Use one of {', '.join(NAMES)}.", where="name", code="plan.statistic")
        for name, value in vars(self).items():
            if name in PARAMETERS and value is not None:
                check(name, value)
        if self.epsilon == 0:
            raise self._refusal("epsilon", "is 0, which takes infinite noise.", "Raise it.")
        if sum(given is not None for given in (self.epsilon, self.samples, self.error)) != 2:
            message = f"{self.name} needs two of epsilon, samples and error; the third is planned."
            remedy = "Give samples, the people that the guarantee is relative to, or error, the largest allowed."
            raise InvalidInput(message, remedy=remedy, where=f"{self.name}: samples", code="plan.unknown-of-statistic")
        if self.error is not None and not self.error > 0:
            raise self._refusal("error", f"is {self.error:g}.", "Give the largest error allowed, above 0.")

    @property
    def explores(self) -> bool:
        """True if the sampler walks along links."""
        return self.name in NAMES[:3]

    def _refusal(self, parameter: str, message: str, remedy: str) -> InvalidInput:
        return InvalidInput(
            f"{parameter} of {self.name} {message}",
            remedy=remedy,
            where=f"{self.name}: {parameter}",
            code=f"plan.{parameter.replace('_', '-')}",
        )
