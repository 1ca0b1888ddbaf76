"""The derivations of a statistic's guarantee."""

from __future__ import annotations

from typing import Protocol

from crowdblend.calculus import Derivation, Rule
from crowdblend.calculus.rules import graph_releases, graphs
from crowdblend.frozen import dataclass
from crowdblend.planning.networks.request import Bounds


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
        """The number of classes of a histogram."""


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
        "average-degree": graph_releases.sharp_degree,
    }
    rule = rules.get(statistic.name, graph_releases.sharp_distance)
    return _apply(rule, statistic, bounds, estimate, scale=scale, resolution=resolution)


def claim_of(
    statistic: AskedStatistic, bounds: Bounds, view: SimulatorView, scale: float, resolution: float
) -> Derivation:
    """Return the guarantee of a statistic relative to what its simulator looks at."""
    return derive_release(statistic, bounds, estimator(statistic, bounds, view), scale, resolution)


def differential(statistic: AskedStatistic, bounds: Bounds, scale: float, resolution: float) -> Derivation:
    """Return the guarantee of the noise alone, against an adversary who knows everybody else."""
    rules = {
        "average": graph_releases.differential_average,
        "histogram": graph_releases.differential_histogram,
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
    return (2 * bounds.degree_bound if statistic.name == "average-degree" else 2) / bounds.people
