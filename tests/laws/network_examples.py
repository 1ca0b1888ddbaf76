"""Applications of the rules about statistics of networks."""

from crowdblend.trusted.guarantees.aggregates import Exploration, Neighbourhood, RandomSamples, Together
from crowdblend.trusted.guarantees.privacy import Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.utility import (
    AVERAGE,
    AVERAGE_DEGREE,
    CONNECTED,
    CYCLE_FREE,
    DEGREES,
    EULERIAN,
    HISTOGRAM,
    Estimator,
    Sampler,
)

from .example import Example

HIDE = Relation.CONCEAL
_MORE = {("samples", "reach"): -1, ("samples", "least_scale"): -1}
_FARTHER = {**_MORE, ("explored", "reach"): -1}
_DENSER = {**_MORE, ("average_bound", "reach"): 1}
_HIDDEN = {("population", "epsilon"): -1, ("scale", "epsilon"): -1, ("resolution", "epsilon"): 1}
_NOISE = {"population": 1000, "scale": 0.2, "resolution": 0.001}
# The population is the one that the estimator draws from, so it cannot be varied by itself.
_OF_SAMPLES = {what: sign for what, sign in _HIDDEN.items() if what[0] != "population"}


def _sampled(statistic: str) -> Sampler:
    return Sampler(statistic, 0.05, 1e-4, 1.0, Exploration(400, 20))


def _estimated(statistic: str) -> Estimator:
    return Estimator(statistic, 0.05, 0.03, 1.0, Exploration(400, 20))


def _about(aggregate: Exploration | Neighbourhood | RandomSamples | Together, epsilon: float) -> ZeroKnowledge:
    return ZeroKnowledge(epsilon, 0.0, aggregate, HIDE)


NETWORK_EXAMPLES: dict[str, list[Example]] = {
    "graph.sampler.light-ends": [
        Example(
            (),
            {"degree_bound": 500, "average_bound": 8.0, "population": 10_000, "accuracy": 2.0, "samples": 4000},
            {
                ("samples", "failure"): -1,
                ("accuracy", "failure"): -1,
                ("degree_bound", "failure"): 1,
                ("average_bound", "failure"): 1,
                ("population", "failure"): 1,
            },
        ),
        Example((), {"degree_bound": 3, "average_bound": 8.0, "population": 10_000, "accuracy": 0.5, "samples": 4000}),
    ],
    "graph.estimator.connected": [Example((), {"degree_bound": 5, "samples": 400, "explored": 20}, _FARTHER)],
    "graph.estimator.eulerian": [Example((), {"degree_bound": 5, "samples": 400, "explored": 20}, _FARTHER)],
    "graph.estimator.cycle-free": [
        Example(
            (), {"degree_bound": 200, "average_bound": 8.0, "samples": 400, "explored": 20}, {**_FARTHER, **_DENSER}
        ),
        Example((), {"degree_bound": 5, "average_bound": 5.0, "samples": 400, "explored": 20}, _FARTHER),
    ],
    "graph.estimator.average-degree": [
        Example((), {"degree_bound": 200, "average_bound": 8.0, "samples": 400}, _DENSER),
        Example((), {"degree_bound": 5, "average_bound": 7.0, "samples": 400}, _MORE),
    ],
    "graph.estimator.light-ends": [
        Example((), {"degree_bound": 2000, "average_bound": 8.0, "population": 10_000, "samples": 400}, _DENSER),
        Example((), {"degree_bound": 200, "average_bound": 8.0, "population": 10_000, "samples": 400}, _DENSER),
    ],
    "graph.estimator.average": [
        Example((), {"samples": 400, "population": 9000, "width": 1.5}, {**_MORE, ("width", "reach"): 1})
    ],
    "graph.estimator.histogram": [
        Example((), {"samples": 400, "population": 9000, "dimension": 6}, {**_MORE, ("dimension", "reach"): 1})
    ],
    "graph.estimator.degrees": [
        Example((), {"degree_bound": 9, "samples": 400, "dimension": 6}, {**_MORE, ("dimension", "reach"): 1})
    ],
    "graph.published.distance": [Example((_sampled(s),), _NOISE, _HIDDEN) for s in (CONNECTED, CYCLE_FREE, EULERIAN)],
    "graph.published.degree": [
        Example(
            (Sampler(AVERAGE_DEGREE, 0.3, 1e-4, 6.0, Neighbourhood(400, 2)),),
            {**_NOISE, "degree_bound": 9, "scale": 0.9},
            {**_HIDDEN, ("degree_bound", "epsilon"): 1},
        )
    ],
    "graph.sharp.distance": [Example((_estimated(s),), _NOISE, _HIDDEN) for s in (CONNECTED, CYCLE_FREE, EULERIAN)],
    "graph.sharp.degree": [
        Example(
            (Estimator(AVERAGE_DEGREE, 0.3, 0.2, 6.0, Neighbourhood(400, 2)),),
            {**_NOISE, "degree_bound": 9, "scale": 0.9},
            {**_HIDDEN, ("degree_bound", "epsilon"): 1},
        )
    ],
    "graph.sharp.average": [
        Example((Estimator(AVERAGE, 0.05, 0.03, 2.0, RandomSamples(400, 1000)),), _NOISE, _OF_SAMPLES)
    ],
    "graph.sharp.histogram": [
        Example(
            (Estimator(HISTOGRAM, 0.1, 0.05, 2.0, RandomSamples(400, 1000)),),
            {**_NOISE, "dimension": 4},
            {**_OF_SAMPLES, ("dimension", "epsilon"): 1},
        )
    ],
    "graph.sharp.degrees": [
        Example(
            (Estimator(DEGREES, 0.1, 0.05, 2.0, Neighbourhood(400, 1)),),
            {**_NOISE, "dimension": 4, "degree_bound": 9},
            {**_HIDDEN, ("dimension", "epsilon"): 1, ("degree_bound", "epsilon"): 1},
        )
    ],
    "graph.differential.degrees": [
        Example(
            (),
            {**_NOISE, "dimension": 4, "degree_bound": 9},
            {**_HIDDEN, ("dimension", "epsilon"): 1, ("degree_bound", "epsilon"): 1},
        )
    ],
    **{
        f"graph.differential.{name}": [Example((), {**_NOISE, "degree_bound": 9}, _HIDDEN)]
        for name in ("distance", "degree")
    },
    "graph.differential.average": [Example((), {**_NOISE, "width": 3.0}, {**_HIDDEN, ("width", "epsilon"): 1})],
    "graph.differential.histogram": [Example((), _NOISE, _HIDDEN)],
    "composition.networks": [
        Example((_about(Exploration(400, 20), 0.3), _about(Exploration(100, 60), 0.5))),
        Example((_about(Exploration(400, 20), 0.3), _about(Neighbourhood(50, 2), 0.5))),
        Example(
            (
                _about(Together((Exploration(400, 20), RandomSamples(70, 9000))), 0.3),
                _about(RandomSamples(40, 9000), 0.1),
                _about(Neighbourhood(50, 1), 0.5),
            )
        ),
    ],
}
