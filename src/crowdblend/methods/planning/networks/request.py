"""Requests about a network: its public bounds, a statistic with a guarantee or an error, and their derivations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from crowdblend.errors import InvalidInput
from crowdblend.trusted.calculus import Derivation, Rule
from crowdblend.trusted.calculus.rules import graph_releases, graphs
from crowdblend.trusted.guarantees.parameters import PARAMETERS, check

PEOPLE_S_DATA = ("average", "histogram")
SHARES = ("degrees", "histogram")
NAMES = ("connectivity", "cycle-freeness", "eulerian", "average-degree", "degrees", *PEOPLE_S_DATA)


def bands(breaks: Sequence[int]) -> tuple[str, ...]:
    """Return the names of bands of degrees: from 0 to below the first break, and so on.

    >>> bands([1, 2, 5])
    ('0', '1', '2–4', '5 and more')
    """
    named = [str(low) if low == high - 1 else f"{low}–{high - 1}" for low, high in pairwise((0, *breaks))]
    return (*named, f"{breaks[-1]} and more")


@dataclass(frozen=True)
class Bounds:
    """Public bounds of a network: the number of people, and bounds on their links."""

    people: int
    degree_bound: int
    average_bound: float

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check(name, value)
        if self.average_bound > self.degree_bound:
            message = f"`average_bound = {self.average_bound:g}` is above `degree_bound = {self.degree_bound}`."
            remedy = "Lower it, or leave it out."
            raise InvalidInput(message, remedy=remedy, where="average_bound", code="plan.average-bound")


@dataclass(frozen=True)
class NetworkRequest:
    """One statistic; of epsilon, samples and error two are given.

    `width` is the length of the interval of an average, `classes` the number of classes of a histogram or of bands of
    degrees.
    """

    name: str
    bounds: Bounds
    epsilon: float | None = None
    samples: int | None = None
    error: float | None = None
    resolution: float | None = None
    width: float | None = None
    classes: int | None = None

    def __post_init__(self) -> None:
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


class AskedStatistic(Protocol):
    """A statistic of a network, as it is asked for or as it was published."""

    @property
    def name(self) -> str:
        """The name of the statistic."""

    @property
    def width(self) -> float | None:
        """The length of the interval of an average."""

    @property
    def classes(self) -> int | None:
        """The number of classes of a histogram, or of bands of degrees."""


@dataclass(frozen=True)
class SimulatorView:
    """The simulator's view: a number of random people, and of people reached from each."""

    samples: int
    explored: int = 1


# The estimator of every statistic; of several the one that says most.
_ESTIMATORS: dict[str, tuple[Rule, ...]] = {
    "connectivity": (graphs.estimator_connected,),
    "cycle-freeness": (graphs.estimator_cycle_free,),
    "eulerian": (graphs.estimator_eulerian,),
    "average-degree": (graphs.estimator_average_degree, graphs.estimator_light_ends),
    "degrees": (graphs.estimator_degrees,),
    "average": (graphs.estimator_average,),
    "histogram": (graphs.estimator_histogram,),
}


def _apply(rule: Rule, statistic: AskedStatistic, bounds: Bounds, *premises: Derivation, **more: float) -> Derivation:
    """Return a rule with those of the public bounds and of the other numbers that it takes."""
    known = {
        "degree_bound": bounds.degree_bound,
        "average_bound": bounds.average_bound,
        "population": bounds.people,
        "width": statistic.width,
        "dimension": statistic.classes,
        **more,
    }
    return rule(*premises, **{name: known[name] for name in rule.parameters})


def estimator(statistic: AskedStatistic, bounds: Bounds, view: SimulatorView) -> Derivation:
    """Return the accuracy of the statistic's sampler, on average over its luck."""
    found = [_apply(rule, statistic, bounds, **vars(view)) for rule in _ESTIMATORS[statistic.name]]
    return min(found, key=lambda made: float(made.conclusion.reach))


def derive_release(
    statistic: AskedStatistic, bounds: Bounds, estimate: Derivation, scale: float, resolution: float
) -> Derivation:
    """Return the guarantee of the statistic with noise of that scale on that grid."""
    rules = {
        "average": graph_releases.sharp_average,
        "histogram": graph_releases.sharp_histogram,
        "degrees": graph_releases.sharp_degrees,
        "average-degree": graph_releases.sharp_degree,
    }
    rule = rules.get(statistic.name, graph_releases.sharp_distance)
    return _apply(rule, statistic, bounds, estimate, scale=scale, resolution=resolution)


def differential(statistic: AskedStatistic, bounds: Bounds, scale: float, resolution: float) -> Derivation:
    """Return the guarantee of the noise alone, against an adversary who knows everybody else."""
    rules = {
        "average": graph_releases.differential_average,
        "histogram": graph_releases.differential_histogram,
        "degrees": graph_releases.differential_degrees,
        "average-degree": graph_releases.differential_degree,
    }
    rule = rules.get(statistic.name, graph_releases.differential_distance)
    return _apply(rule, statistic, bounds, scale=scale, resolution=resolution)


def sensitivity(statistic: AskedStatistic, bounds: Bounds) -> float:
    """Return how far concealing a person moves the statistic; only to start a search from."""
    if statistic.name == "average":
        return (statistic.width or 0.0) / bounds.people
    if statistic.name == "histogram":
        return 1 / bounds.people
    moved = {"average-degree": 2 * bounds.degree_bound, "degrees": 2 * (bounds.degree_bound + 1)}
    return moved.get(statistic.name, 2) / bounds.people
