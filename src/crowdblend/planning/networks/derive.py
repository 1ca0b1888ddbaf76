"""The derivations of a statistic's guarantee, in the sharp form and in the paper's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import graph_releases, graphs
from crowdblend.planning.networks.request import NetworkRequest


@dataclass(frozen=True)
class Seen:
    """What the simulator looks at: so many random people, and so many reached from each."""

    samples: int
    explored: int = 1


def estimator(request: NetworkRequest, seen: Seen) -> Derivation:
    """How well the sampler of the statistic estimates it, on average over its luck."""
    bounds = request.bounds
    degree, average, population = bounds.degree_bound, bounds.average_bound, bounds.people
    walked = {"degree_bound": degree, "samples": seen.samples, "explored": seen.explored}
    if request.name == "connectivity":
        return graphs.estimator_connected(**walked)
    if request.name == "eulerian":
        return graphs.estimator_eulerian(**walked)
    if request.name == "cycle-freeness":
        return graphs.estimator_cycle_free(**walked, average_bound=average)
    if request.name == "average":
        return graphs.estimator_average(samples=seen.samples, population=population, width=request.width)
    if request.name == "histogram":
        return graphs.estimator_histogram(samples=seen.samples, population=population, dimension=request.classes)
    counted = {"degree_bound": degree, "average_bound": average, "samples": seen.samples}
    plain = graphs.estimator_average_degree(**counted)
    light = graphs.estimator_light_ends(**counted, population=population)
    return plain if plain.conclusion.reach <= light.conclusion.reach else light


def sampler(request: NetworkRequest, seen: Seen) -> Derivation:
    """How often the sampler of the statistic misses its accuracy; that of the average degree is a share of L."""
    bounds, accuracy = request.bounds, request.accuracy
    assert accuracy is not None
    walked = {
        "degree_bound": bounds.degree_bound,
        "accuracy": accuracy,
        "samples": seen.samples,
        "explored": seen.explored,
    }
    rules: dict[str, Callable[..., Derivation]] = {
        "connectivity": graphs.sampler_connected,
        "cycle-freeness": graphs.sampler_cycle_free,
        "eulerian": graphs.sampler_eulerian,
    }
    if request.name in rules:
        return rules[request.name](**walked)
    counted = {
        "degree_bound": bounds.degree_bound,
        "accuracy": accuracy * bounds.average_bound,
        "samples": seen.samples,
    }
    light = graphs.sampler_light_ends(**counted, average_bound=bounds.average_bound, population=bounds.people)
    plain = graphs.sampler_average_degree(**counted)
    return plain if plain.conclusion.failure < light.conclusion.failure else light


def released(request: NetworkRequest, estimated: Derivation, scale: float, resolution: float) -> Derivation:
    """The guarantee of the statistic with noise of that scale on that grid."""
    bounds = request.bounds
    noise = {"population": bounds.people, "scale": scale, "resolution": resolution}
    if request.name == "average":
        return graph_releases.sharp_average(estimated, **noise)
    if request.name == "histogram":
        return graph_releases.sharp_histogram(estimated, **noise, dimension=request.classes)
    if request.name == "average-degree":
        rule = graph_releases.published_degree if request.published else graph_releases.sharp_degree
        return rule(estimated, **noise, degree_bound=bounds.degree_bound)
    return (graph_releases.published_distance if request.published else graph_releases.sharp_distance)(
        estimated, **noise
    )


def differential(request: NetworkRequest, scale: float, resolution: float) -> Derivation:
    """What the noise alone guarantees against somebody who knows everybody else."""
    bounds = request.bounds
    noise = {"population": bounds.people, "scale": scale, "resolution": resolution}
    if request.name == "average":
        return graph_releases.differential_average(**noise, width=request.width)
    if request.name == "histogram":
        return graph_releases.differential_histogram(**noise)
    counted = request.name == "average-degree"
    rule = graph_releases.differential_degree if counted else graph_releases.differential_distance
    return rule(**noise, degree_bound=bounds.degree_bound)


def sensitivity(request: NetworkRequest) -> float:
    """How far concealing a person moves the statistic; only to start a search from."""
    bounds = request.bounds
    if request.name == "average":
        return (request.width or 0.0) / bounds.people
    if request.name == "histogram":
        return 1 / bounds.people
    return (2 * bounds.degree_bound if request.name == "average-degree" else 2) / bounds.people
