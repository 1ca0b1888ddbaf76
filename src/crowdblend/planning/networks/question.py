"""What is asked about a network: the public bounds, and one statistic with its guarantee or its error."""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import PARAMETERS, check

PEOPLE_S_DATA = ("average", "histogram")
NAMES = ("connectivity", "cycle-freeness", "eulerian", "average-degree", *PEOPLE_S_DATA)
# The paper's theorem about the average degree is for less than this; more is no accuracy for any of them.
LEAST_ACCURATE = 0.5


@dataclass(frozen=True)
class Bounds:
    """What everybody may know of the network: how many people, and bounds on their links."""

    people: int
    degree_bound: int
    average_bound: float

    def __post_init__(self) -> None:
        check("people", self.people)
        check("degree_bound", self.degree_bound)
        check("average_bound", self.average_bound)
        if self.average_bound > self.degree_bound:
            raise InvalidInput(
                f"average_bound must be at most degree_bound = {self.degree_bound}, got {self.average_bound:g}. "
                "Leave it out."
            )


@dataclass(frozen=True)
class NetworkQuestion:
    """One statistic; of epsilon, samples and error two are given. With accuracy and failure_exponent, the paper's form.

    `width` is the length of the interval of an average, `classes` the number of classes of a histogram.
    """

    name: str
    bounds: Bounds
    epsilon: float | None = None
    samples: int | None = None
    error: float | None = None
    explored: int | None = None
    accuracy: float | None = None
    failure_exponent: float | None = None
    resolution: float | None = None
    width: float | None = None
    classes: int | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise InvalidInput(f"name must be one of {', '.join(NAMES)}, got {self.name!r}. Correct it.")
        for name, value in vars(self).items():
            if name in PARAMETERS and value is not None:
                check(name, value)
        if self.epsilon == 0:
            raise InvalidInput(f"epsilon of {self.name} must be above 0, got 0. Noise without end shows nothing.")
        if self.published:
            self._check_published()
        elif sum(given is not None for given in (self.epsilon, self.samples, self.error)) != 2:
            raise InvalidInput(
                f"{self.name} must have two of epsilon, samples and error, and the third is planned. "
                "Give samples, the people that the guarantee is relative to, or error, the one to keep to."
            )
        if self.error is not None and not self.error > 0:
            raise InvalidInput(f"error of {self.name} must be above 0, got {self.error:g}. Pass the one to keep to.")

    @property
    def published(self) -> bool:
        """Whether the question is put in the paper's terms, δ and K."""
        return self.accuracy is not None or self.failure_exponent is not None

    @property
    def explores(self) -> bool:
        """Whether the sampler walks along links."""
        return self.name in NAMES[:3]

    def _check_published(self) -> None:
        if self.name in PEOPLE_S_DATA:
            raise InvalidInput(
                f"accuracy and failure_exponent are for networks, not for the {self.name}. Give samples."
            )
        if self.accuracy is None or self.failure_exponent is None or self.epsilon is None:
            raise InvalidInput(
                f"{self.name} must have accuracy, failure_exponent and epsilon together. Add what is missing."
            )
        if self.samples is not None or self.error is not None or self.explored is not None:
            raise InvalidInput(
                f"samples, explored and error of {self.name} follow from accuracy and failure_exponent. Leave them out."
            )
        if self.accuracy >= LEAST_ACCURATE:
            raise InvalidInput(
                f"accuracy of {self.name} must be below {LEAST_ACCURATE:g}, got {self.accuracy:g}. "
                "Ask for a sampler that errs by less."
            )
