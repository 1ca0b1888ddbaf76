"""The derivations of a statistic's guarantee, in the sharp form and in the paper's."""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.calculus import Derivation, Rule
from crowdblend.calculus.rules import graph_releases, graphs
from crowdblend.planning.networks.request import NetworkRequest


@dataclass(frozen=True)
class Seen:
    """What the simulator looks at: so many random people, and so many reached from each."""

    samples: int
    explored: int = 1


# The estimator and the sampler of every statistic; of several the one that says most.
_ESTIMATORS: dict[str, tuple[Rule, ...]] = {
    "connectivity": (graphs.estimator_connected,),
    "cycle-freeness": (graphs.estimator_cycle_free,),
    "eulerian": (graphs.estimator_eulerian,),
    "average-degree": (graphs.estimator_average_degree, graphs.estimator_light_ends),
    "average": (graphs.estimator_average,),
    "histogram": (graphs.estimator_histogram,),
}
_SAMPLERS: dict[str, tuple[Rule, ...]] = {
    "connectivity": (graphs.sampler_connected,),
    "cycle-freeness": (graphs.sampler_cycle_free,),
    "eulerian": (graphs.sampler_eulerian,),
    "average-degree": (graphs.sampler_light_ends, graphs.sampler_average_degree),
}


def _apply(rule: Rule, request: NetworkRequest, *premises: Derivation, **more: float) -> Derivation:
    """A rule with those of the public bounds and of the other numbers that it takes."""
    bounds = request.bounds
    known = {
        "degree_bound": bounds.degree_bound,
        "average_bound": bounds.average_bound,
        "population": bounds.people,
        "width": request.width,
        "dimension": request.classes,
        **more,
    }
    return rule(*premises, **{name: known[name] for name in rule.parameters})


def estimator(request: NetworkRequest, seen: Seen) -> Derivation:
    """How well the sampler of the statistic estimates it, on average over its luck."""
    found = [_apply(rule, request, **vars(seen)) for rule in _ESTIMATORS[request.name]]
    return min(found, key=lambda made: float(made.conclusion.reach))


def sampler(request: NetworkRequest, seen: Seen) -> Derivation:
    """How often the sampler of the statistic misses its accuracy; that of the average degree is a share of L."""
    assert request.accuracy is not None
    scale = request.bounds.average_bound if request.name == "average-degree" else 1
    more = {**vars(seen), "accuracy": request.accuracy * scale}
    found = [_apply(rule, request, **more) for rule in _SAMPLERS[request.name]]
    return min(found, key=lambda made: float(made.conclusion.failure))


def released(request: NetworkRequest, estimated: Derivation, scale: float, resolution: float) -> Derivation:
    """The guarantee of the statistic with noise of that scale on that grid."""
    rules = {
        "average": graph_releases.sharp_average,
        "histogram": graph_releases.sharp_histogram,
        "average-degree": graph_releases.published_degree if request.published else graph_releases.sharp_degree,
    }
    distance = graph_releases.published_distance if request.published else graph_releases.sharp_distance
    return _apply(rules.get(request.name, distance), request, estimated, scale=scale, resolution=resolution)


def differential(request: NetworkRequest, scale: float, resolution: float) -> Derivation:
    """What the noise alone guarantees against somebody who knows everybody else."""
    rules = {
        "average": graph_releases.differential_average,
        "histogram": graph_releases.differential_histogram,
        "average-degree": graph_releases.differential_degree,
    }
    rule = rules.get(request.name, graph_releases.differential_distance)
    return _apply(rule, request, scale=scale, resolution=resolution)


def sensitivity(request: NetworkRequest) -> float:
    """How far concealing a person moves the statistic; only to start a search from."""
    bounds = request.bounds
    if request.name == "average":
        return (request.width or 0.0) / bounds.people
    if request.name == "histogram":
        return 1 / bounds.people
    return (2 * bounds.degree_bound if request.name == "average-degree" else 2) / bounds.people
