"""What the theorems about statistics of networks say, written again in 60 decimal digits."""

from collections.abc import Callable
from typing import Any

from mpmath import mp, mpf

from crowdblend.trusted.guarantees.aggregates import Exploration, Neighbourhood, RandomSamples, Together
from crowdblend.trusted.guarantees.privacy import Relation

mp.dps = 60
Fields = dict[str, Any]


def _hidden_at(theta: Any, v: Any, c: Any) -> Any:
    """(ln 2 + ψ(θ))/θ with ψ(θ) = vθ²/(2(1 − cθ)): what Hölder's inequality gives for one θ."""
    return (mp.log(2) + v * theta**2 / (2 * (1 - c * theta))) / theta


def _reach(v: Any, c: Any = 0) -> tuple[Any, Any]:
    """The best θ by hand, checked to be one, and the scale from which on it may be used."""
    scale = mp.sqrt(v / (2 * mp.log(2))) + c
    best = _hidden_at(1 / scale, v, c)
    assert all(best < _hidden_at(factor / scale, v, c) for factor in (mpf("0.999"), mpf("1.001")))
    return best, scale


def _estimator(statistic: str, reach: Any, least: Any, width: Any, aggregate: Any) -> Fields:
    return {"statistic": statistic, "reach": reach, "least_scale": least, "width": width, "aggregate": aggregate}


def _explorer(statistic: str, worth: Callable[[int], Any]) -> Callable[..., Fields]:
    def reference(degree_bound: int, samples: int, explored: int) -> Fields:
        length = worth(degree_bound)
        reach, least = _reach(length**2 / (4 * samples))
        missed = mpf(2) / (explored * degree_bound)
        return _estimator(statistic, reach + missed, least, length, Exploration(samples, explored))

    return reference


def _cycle_free(degree_bound: int, average_bound: float, samples: int, explored: int) -> Fields:
    d, t = mpf(degree_bound), mpf(samples)
    share = min(mpf(average_bound), d) / d
    links, parts = _reach(share / t, 1 / (3 * t)), _reach((2 / d) ** 2 / (4 * t))
    reach, least = min(_reach(1 / (4 * t)), (links[0] + parts[0], links[1] + parts[1]))
    aggregate = Exploration(samples, explored)
    return _estimator("distance to cycle-freeness", reach + 2 / (explored * d), least, share, aggregate)


def _average_degree(degree_bound: int, average_bound: float, samples: int) -> Fields:
    d, t = mpf(degree_bound), mpf(samples)
    average = min(mpf(average_bound), d)
    reach, least = min(_reach(d**2 / (4 * t)), _reach(d * average / t, d / (3 * t)))
    return _estimator("average degree", reach, least, average, Neighbourhood(samples, 1))


def _largest(degree_bound: int, average: Any, population: int) -> Any:
    return 2 * min(mpf(degree_bound), mp.sqrt(population * average))


def _light_ends(degree_bound: int, average_bound: float, population: int, samples: int) -> Fields:
    average = min(mpf(average_bound), mpf(degree_bound))
    most = _largest(degree_bound, average, population)
    reach, least = _reach(most * average / samples, most / (3 * samples))
    return _estimator("average degree", reach, least, average, Neighbourhood(samples, 2))


def _light_ends_sampler(
    degree_bound: int, average_bound: float, population: int, accuracy: float, samples: int
) -> Fields:
    average, delta = min(mpf(average_bound), mpf(degree_bound)), mpf(accuracy)
    most = _largest(degree_bound, average, population)
    # Bernstein: exp(−x²/(2(v + cx))) with v = most·average/t and c = most/(3t).
    exponent = delta**2 / (2 * (most * average / samples + most / (3 * mpf(samples)) * delta))
    failure = min(mpf(1), 2 * mp.exp(-exponent))
    return {
        "statistic": "average degree",
        "accuracy": accuracy,
        "failure": failure,
        "width": average,
        "aggregate": Neighbourhood(samples, 2),
    }


def _average(samples: int, population: int, width: float) -> Fields:
    reach, least = _reach(mpf(width) ** 2 / (4 * samples))
    return _estimator("average", reach, least, width, RandomSamples(samples, population))


def _histogram(samples: int, population: int, dimension: int) -> Fields:
    # √(m/k)/λ + 1/(2kλ²) is at most (√(m/k) + 1/(2√k))/λ from λ = 1/√k on.
    root = 1 / mp.sqrt(mpf(samples))
    reach = mp.sqrt(mpf(dimension) / samples) + root / 2
    return _estimator("histogram", reach, root, 2, RandomSamples(samples, population))


def _degrees(degree_bound: int, samples: int, dimension: int) -> Fields:
    del degree_bound
    root = 1 / mp.sqrt(mpf(samples))
    reach = mp.sqrt(mpf(dimension) / samples) + root / 2
    return _estimator("degree distribution", reach, root, 2, Neighbourhood(samples, 1))


def _knowledge(epsilon: Any, aggregate: Any) -> Fields:
    return {"epsilon": epsilon, "delta": 0.0, "aggregate": aggregate, "relation": Relation.CONCEAL, "people": 1}


def _published(a: Any, moved: Any, scale: float, resolution: float) -> Fields:
    far = (mpf(a.width) + mpf(resolution)) / mpf(scale)
    near = min((moved + mpf(a.accuracy) + mpf(resolution)) / mpf(scale), far)
    failure = mpf(a.failure)
    return _knowledge(mp.log((1 - failure) * mp.exp(near) + failure * mp.exp(far)), a.aggregate)


def _sharp(a: Any, moved: Any, scale: float, rounding: Any) -> Fields:
    return _knowledge((min(moved + mpf(a.reach), mpf(a.width)) + rounding) / mpf(scale), a.aggregate)


def _differential(moved: Any, scale: float) -> Fields:
    return {"epsilon": moved / mpf(scale), "delta": 0.0, "relation": Relation.REPLACE, "people": 1, "samplings": 0}


def _sum(*premises: Any) -> Fields:
    parts = [
        p for a in premises for p in (a.aggregate.aggregates if isinstance(a.aggregate, Together) else (a.aggregate,))
    ]
    made: list[Any] = []
    for kind, field in ((Exploration, "explored"), (Neighbourhood, "radius"), (RandomSamples, "population")):
        same = [part for part in parts if isinstance(part, kind)]
        if same:
            made.append(kind(sum(part.samples for part in same), max(getattr(part, field) for part in same)))
    aggregate = made[0] if len(made) == 1 else Together(tuple(made))
    return _knowledge(sum(mpf(a.epsilon) for a in premises), aggregate)


NETWORK_REFERENCES: dict[str, Callable[..., Fields]] = {
    "graph.sampler.light-ends": _light_ends_sampler,
    "graph.estimator.connected": _explorer("distance to connectedness", lambda d: mpf(2) / d),
    "graph.estimator.eulerian": _explorer("distance to an Euler path", lambda d: mpf(1) / d),
    "graph.estimator.cycle-free": _cycle_free,
    "graph.estimator.average-degree": _average_degree,
    "graph.estimator.light-ends": _light_ends,
    "graph.estimator.average": _average,
    "graph.estimator.histogram": _histogram,
    "graph.estimator.degrees": _degrees,
    "graph.sharp.degrees": lambda a, degree_bound, dimension, population, scale, resolution: _sharp(
        a, 2 * mpf(degree_bound + 1) / population, scale, dimension * mpf(resolution)
    ),
    "graph.differential.degrees": lambda degree_bound, dimension, population, scale, resolution: _differential(
        4 * mpf(degree_bound) / population + dimension * mpf(resolution), scale
    ),
    "graph.published.distance": lambda a, population, scale, resolution: _published(
        a, mpf(2) / population, scale, resolution
    ),
    "graph.published.degree": lambda a, degree_bound, population, scale, resolution: _published(
        a, mpf(2) * degree_bound / population, scale, resolution
    ),
    "graph.sharp.distance": lambda a, population, scale, resolution: _sharp(
        a, mpf(2) / population, scale, mpf(resolution)
    ),
    "graph.sharp.degree": lambda a, degree_bound, population, scale, resolution: _sharp(
        a, mpf(2) * degree_bound / population, scale, mpf(resolution)
    ),
    "graph.sharp.average": lambda a, population, scale, resolution: _sharp(
        a, mpf(a.width) / population, scale, mpf(resolution)
    ),
    "graph.sharp.histogram": lambda a, dimension, population, scale, resolution: _sharp(
        a, mpf(1) / population, scale, dimension * mpf(resolution)
    ),
    "graph.differential.distance": lambda degree_bound, population, scale, resolution: _differential(
        mpf(2) / population + mpf(resolution), scale
    ),
    "graph.differential.degree": lambda degree_bound, population, scale, resolution: _differential(
        mpf(2 * degree_bound) / population + mpf(resolution), scale
    ),
    "graph.differential.average": lambda width, population, scale, resolution: _differential(
        mpf(width) / population + mpf(resolution), scale
    ),
    "graph.differential.histogram": lambda population, scale, resolution: _differential(
        mpf(2) / population + 2 * mpf(resolution), scale
    ),
    "composition.networks": _sum,
}
