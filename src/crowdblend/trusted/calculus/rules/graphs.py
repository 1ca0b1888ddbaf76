"""Accuracy of network statistics estimated from a few people and their links (ZKP Theorem 26).

Proofs are in docs/proofs.md#networks.

Distances are edge edits divided by M = d·n/2, d the public degree bound. The paper leaves constants in O(·); here
each sampler is a plain average over random vertices, whose constants Hoeffding's inequality proves.

Every sampler is there twice. `graph.sampler.*` states one accuracy. Proposition 12 pays for a failed sampler with the
whole range, so K must exceed range/λ. But an average of t independent terms errs by little nearly always and by more
ever more rarely: `graph.estimator.*` counts that in full, by the exponential moment of the error, and needs no K.
With ln E[e^{θX}] ≤ vθ²/(2(1−cθ)) for both signs of X, ln E[e^{|X|/λ}] ≤ (√(2v ln 2) + c·ln 2)/λ for all
λ ≥ √(v/(2 ln 2)) + c.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from crowdblend.errors import NotApplicable
from crowdblend.trusted.calculus.assumptions import Assumption
from crowdblend.trusted.calculus.description import DEGREE, DISTANCE, PROVED, SIMULATOR, STATISTIC, Mechanism, mechanism
from crowdblend.trusted.calculus.theorem import Unmet, rule
from crowdblend.trusted.guarantees.aggregates import Aggregate, Exploration, Neighbourhood, RandomSamples
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
from crowdblend.trusted.numerics.balls import round_up

OURS = "crowdblend, docs/proofs.md#networks"
NETWORK = (Assumption.BOUNDED_DEGREE,)
AVERAGED = (*NETWORK, Assumption.BOUNDED_AVERAGE)
_SEEN = {"samples": SIMULATOR}
_EXPLORED = {"samples": SIMULATOR, "explored": SIMULATOR}


def _distance(statistic: str, *details: str) -> Mechanism:
    return mechanism(STATISTIC, "degree_bound", *details, measure=DISTANCE, statistic=statistic)


def _degree(*details: str) -> Mechanism:
    return mechanism(STATISTIC, "degree_bound", *details, measure=DEGREE, statistic=AVERAGE_DEGREE)


@rule(
    "graph.sampler.connected",
    source="ZKP Theorem 26.1 (Marko and Ron), constants from Hoeffding's inequality",
    statement="Averaging 1/(size of v's component), 0 when more than s vertices are found, over t random vertices "
    "gives the distance to connectedness, which lies between 0 and 2/d, within δ except with probability 2e^{−t(d(δ − "
    "2/(sd)))²/2}.",
    assumes=NETWORK,
    about=_distance(CONNECTED),
    free={"accuracy": PROVED, **_EXPLORED},
)
def sampler_connected(*, degree_bound: int, accuracy: float, samples: int, explored: int) -> Sampler:
    """At most n/s components are too large to be found; the rest averages terms between 0 and 1."""
    return _explorer(CONNECTED, degree_bound, accuracy, samples, explored, spread=arb(1), width=arb(2) / degree_bound)


@rule(
    "graph.sampler.cycle-free",
    source="ZKP Theorem 26.3, constants from Hoeffding's inequality",
    statement="Averaging deg(v)/2 − 1 + 1/(size of v's component), the last term 0 when more than s vertices are "
    "found, over t random vertices gives the distance to cycle-freeness within δ except with probability 2e^{−2t(δ − "
    "2/(sd))²}.",
    assumes=NETWORK,
    about=_distance(CYCLE_FREE),
    free={"accuracy": PROVED, **_EXPLORED},
)
def sampler_cycle_free(*, degree_bound: int, accuracy: float, samples: int, explored: int) -> Sampler:
    """links − n + components; the terms lie in an interval of length d/2."""
    spread = arb(degree_bound) / 2
    return _explorer(CYCLE_FREE, degree_bound, accuracy, samples, explored, spread=spread, width=arb(1))


@rule(
    "graph.sampler.eulerian",
    source="ZKP Theorem 26.2, constants from Hoeffding's inequality",
    statement="Averaging 1/2 for odd degree and else 1/(size of v's component) if that has links and no odd vertex, 0 "
    "when more than s vertices are found, over t random vertices gives the distance to an Euler path, which lies "
    "between 0 and 1/d, within δ except with probability 2e^{−2t(d(δ − 2/(sd)))²}.",
    assumes=NETWORK,
    about=_distance(EULERIAN),
    free={"accuracy": PROVED, **_EXPLORED},
)
def sampler_eulerian(*, degree_bound: int, accuracy: float, samples: int, explored: int) -> Sampler:
    """odd/2 + even components with links − 1, cut at 0; the terms lie between 0 and 1/2."""
    return _explorer(
        EULERIAN, degree_bound, accuracy, samples, explored, spread=arb(1) / 2, width=1 / arb(degree_bound)
    )


@rule(
    "graph.sampler.average-degree",
    source="crowdblend, docs/proofs.md#networks; replaces the sampler behind ZKP Theorem 26.4",
    statement="The average degree of t random vertices is within δ of everybody's except with probability "
    "2e^{−2tδ²/d²}; isolated vertices are allowed.",
    assumes=NETWORK,
    about=_degree(),
    free={"accuracy": PROVED, **_SEEN},
)
def sampler_average_degree(*, degree_bound: int, accuracy: float, samples: int) -> Sampler:
    """With a public degree bound the plain average suffices, and concealing a vertex may isolate it."""
    failure = _hoeffding(samples, arb(accuracy) / degree_bound)
    return Sampler(AVERAGE_DEGREE, accuracy, failure, float(degree_bound), Neighbourhood(samples, 1))


@rule(
    "graph.sampler.light-ends",
    source="crowdblend, docs/proofs.md#networks; the idea of Goldreich and Ron behind ZKP Theorem 26.4",
    statement="Averaging twice the number of neighbours of larger degree (ties by name) over t random vertices gives "
    "the average degree, which is at most L, within δ except with probability 2e^{−tδ²/(2R(L + δ/3))}, R = 2·min(d, "
    "√(nL)); isolated vertices are allowed.",
    assumes=(*NETWORK, Assumption.BOUNDED_AVERAGE, Assumption.PUBLIC_SIZE),
    about=_degree("average_bound", "population"),
    free={"accuracy": PROVED, **_SEEN},
)
def sampler_light_ends(
    *, degree_bound: int, average_bound: float, population: int, accuracy: float, samples: int
) -> Sampler:
    """A link counts at its end of smaller degree, and nobody has more than √(nL) of those (Bernstein's inequality)."""
    average = arb(average_bound).min(arb(degree_bound))
    most = largest_light_term(degree_bound, average, population)
    exponent = samples * arb(accuracy) ** 2 / (2 * most * (average + arb(accuracy) / 3))
    failure = min(1.0, round_up(2 * (-exponent).exp()))
    return Sampler(AVERAGE_DEGREE, accuracy, failure, round_up(average), Neighbourhood(samples, 2))


def largest_light_term(degree_bound: int, average: arb, population: int) -> arb:
    """Twice the most neighbours of larger degree that anyone has: j such neighbours have j² link ends between them."""
    return 2 * arb(degree_bound).min((population * average).sqrt())


def _explorer(
    statistic: str, degree_bound: int, accuracy: float, samples: int, explored: int, spread: arb, width: arb
) -> Sampler:
    """An average of t terms in an interval of length `spread`, n/M = 2/d per unit, minus what exploring s misses."""
    left = arb(accuracy) - _missed_components(degree_bound, explored)
    if not left > 0:
        raise NotApplicable(
            f"explored must exceed 2/(accuracy*degree_bound) = {round_up(2 / (arb(accuracy) * degree_bound)):.6g}, "
            f"got {explored}. Explore more vertices or ask for less accuracy."
        )
    failure = _hoeffding(samples, left * degree_bound / 2 / spread)
    return Sampler(statistic, accuracy, failure, round_up(width), Exploration(samples, explored))


def _hoeffding(samples: int, relative: arb) -> float:
    """P[an average of independent terms in [0, 1] strays by `relative`] ≤ 2e^{−2t·relative²}."""
    return min(1.0, round_up(2 * (-2 * samples * relative**2).exp()))


@dataclass(frozen=True)
class _Error:
    """The size of an error and the scale from which it holds; both add up (Hölder)."""

    reach: arb
    least: arb

    def __add__(self, other: _Error) -> _Error:
        return _Error(self.reach + other.reach, self.least + other.least)

    def off(self, bias: arb) -> _Error:
        """The same error around a value that is off by at most so much."""
        return _Error(self.reach + bias, self.least)

    def estimator(self, statistic: str, width: arb, aggregate: Aggregate) -> Estimator:
        """Return the statement, rounded outward."""
        return Estimator(statistic, round_up(self.reach), round_up(self.least), round_up(width), aggregate)


@rule(
    "graph.estimator.connected",
    source=OURS,
    statement="The sampler of graph.sampler.connected strays by no more than 2/(sd) + (2/d)√(ln 2/(2t)) as far as "
    "noise of scale (2/d)/√(8t·ln 2) or more can tell.",
    assumes=NETWORK,
    about=_distance(CONNECTED),
    free=_EXPLORED,
)
def estimator_connected(*, degree_bound: int, samples: int, explored: int) -> Estimator:
    """Terms between 0 and 1, 2/d of M each."""
    error = _average_error(arb(2) / degree_bound, samples).off(_missed_components(degree_bound, explored))
    return error.estimator(CONNECTED, arb(2) / degree_bound, Exploration(samples, explored))


@rule(
    "graph.estimator.eulerian",
    source=OURS,
    statement="The sampler of graph.sampler.eulerian strays by no more than 2/(sd) + (1/d)√(ln 2/(2t)) as far as noise "
    "of scale (1/d)/√(8t·ln 2) or more can tell.",
    assumes=NETWORK,
    about=_distance(EULERIAN),
    free=_EXPLORED,
)
def estimator_eulerian(*, degree_bound: int, samples: int, explored: int) -> Estimator:
    """Terms between 0 and 1/2, 2/d of M each."""
    error = _average_error(arb(1) / degree_bound, samples).off(_missed_components(degree_bound, explored))
    return error.estimator(EULERIAN, arb(1) / degree_bound, Exploration(samples, explored))


@rule(
    "graph.estimator.cycle-free",
    source=OURS,
    statement="The sampler of graph.sampler.cycle-free strays by no more than 2/(sd) + √(ln 2/(2t)), or with an "
    "average degree of at most L by 2/(sd) + √(2L·ln 2/(td)) + ln 2/(3t) + (2/d)√(ln 2/(2t)), as far as noise can tell "
    "of scale 1/√(8t·ln 2), or √(L/(2td·ln 2)) + 1/(3t) + (2/d)/√(8t·ln 2), or more.",
    assumes=AVERAGED,
    about=_distance(CYCLE_FREE, "average_bound"),
    free=_EXPLORED,
)
def estimator_cycle_free(*, degree_bound: int, average_bound: float, samples: int, explored: int) -> Estimator:
    """Links and components apart, or both in one: whichever reaches less far."""
    share = arb(average_bound).min(arb(degree_bound)) / degree_bound
    whole = _average_error(arb(1), samples)
    apart = _rare(arb(1), share, samples) + _average_error(arb(2) / degree_bound, samples)
    error = _smaller(whole, apart).off(_missed_components(degree_bound, explored))
    return error.estimator(CYCLE_FREE, share, Exploration(samples, explored))


@rule(
    "graph.estimator.average-degree",
    source=OURS,
    statement="The average degree of t random vertices strays by no more than d√(ln 2/(2t)), or with an average of at "
    "most L by √(2dL·ln 2/t) + d·ln 2/(3t), as far as noise can tell of scale d/√(8t·ln 2), or √(dL/(2t·ln 2)) + "
    "d/(3t), or more.",
    assumes=AVERAGED,
    about=_degree("average_bound"),
    free=_SEEN,
)
def estimator_average_degree(*, degree_bound: int, average_bound: float, samples: int) -> Estimator:
    """Degrees between 0 and d, and not many of them large."""
    average = arb(average_bound).min(arb(degree_bound))
    error = _smaller(_average_error(arb(degree_bound), samples), _rare(arb(degree_bound), average, samples))
    return error.estimator(AVERAGE_DEGREE, average, Neighbourhood(samples, 1))


@rule(
    "graph.estimator.light-ends",
    source=OURS,
    statement="The sampler of graph.sampler.light-ends strays by no more than √(2RL·ln 2/t) + R·ln 2/(3t), R = "
    "2·min(d, √(nL)), as far as noise of scale √(RL/(2t·ln 2)) + R/(3t) or more can tell.",
    assumes=(*AVERAGED, Assumption.PUBLIC_SIZE),
    about=_degree("average_bound", "population"),
    free=_SEEN,
)
def estimator_light_ends(*, degree_bound: int, average_bound: float, population: int, samples: int) -> Estimator:
    """Nobody has more than √(nL) neighbours of larger degree."""
    average = arb(average_bound).min(arb(degree_bound))
    error = _rare(largest_light_term(degree_bound, average, population), average, samples)
    return error.estimator(AVERAGE_DEGREE, average, Neighbourhood(samples, 2))


@rule(
    "graph.estimator.average",
    source=OURS,
    statement="The average of k of n people's data in an interval of length w strays by no more than w√(ln 2/(2k)) as "
    "far as noise of scale w/√(8k·ln 2) or more can tell.",
    assumes=(Assumption.STATED_RANGE, Assumption.PUBLIC_SIZE),
    about=mechanism(STATISTIC, "population", "width", measure=AVERAGE, statistic=AVERAGE),
    free=_SEEN,
)
def estimator_average(*, samples: int, population: int, width: float) -> Estimator:
    """Sampling without replacement has no larger exponential moments than with it (Hoeffding 1963)."""
    return _average_error(arb(width), samples).estimator(AVERAGE, arb(width), RandomSamples(samples, population))


@rule(
    "graph.estimator.histogram",
    source=OURS,
    statement="The shares of m classes among k of n people stray (in L1) by no more than (√m + 1/2)/√k as far as noise "
    "of scale 1/√k or more can tell.",
    assumes=(Assumption.FIXED_SHARES, Assumption.PUBLIC_SIZE),
    about=mechanism(STATISTIC, "population", "dimension", measure=HISTOGRAM, statistic=HISTOGRAM),
    free=_SEEN,
)
def estimator_histogram(*, samples: int, population: int, dimension: int) -> Estimator:
    """√(m/k) on average, and one drawn person moves the error by at most 2/k (McDiarmid's inequality)."""
    return _shares_error(samples, dimension).estimator(HISTOGRAM, arb(2), RandomSamples(samples, population))


@rule(
    "graph.estimator.degrees",
    source=OURS,
    statement="The shares of m bands of degrees among t random vertices stray (in L1) by no more than (√m + 1/2)/√t as "
    "far as noise of scale 1/√t or more can tell.",
    assumes=(*NETWORK, Assumption.FIXED_SHARES),
    about=mechanism(STATISTIC, "degree_bound", "dimension", measure=DEGREES, statistic=DEGREES),
    free=_SEEN,
)
def estimator_degrees(*, degree_bound: int, samples: int, dimension: int) -> Estimator:  # noqa: ARG001  public
    """As for shares of classes, with a vertex in one band: its degree is seen from its neighbourhood."""
    return _shares_error(samples, dimension).estimator(DEGREES, arb(2), Neighbourhood(samples, 1))


def _shares_error(samples: int, dimension: int) -> _Error:
    root = arb(_some(samples)).sqrt()
    return _Error((arb(dimension).sqrt() + arb(1) / 2) / root, 1 / root)


def _average_error(length: arb, samples: int) -> _Error:
    """Terms in an interval of that length: v = length²/(4t), c = 0 (Hoeffding's lemma)."""
    return _sub_gamma(length**2 / (4 * _some(samples)), arb(0))


def _rare(length: arb, mean: arb, samples: int) -> _Error:
    """Terms between 0 and `length` that are small on average: v = length·mean/t, c = length/(3t)."""
    return _sub_gamma(length * mean / _some(samples), length / (3 * samples))


def _sub_gamma(v: arb, c: arb) -> _Error:
    two = arb(2).log()
    return _Error((2 * v * two).sqrt() + c * two, (v / (2 * two)).sqrt() + c)


def _smaller(one: _Error, other: _Error) -> _Error:
    return one if one.reach < other.reach else other


def _missed_components(degree_bound: int, explored: int) -> arb:
    """Components of more than s vertices, at most n/s of them."""
    return 2 / (arb(explored) * degree_bound)


def _some(samples: int) -> int:
    if samples < 1:
        raise Unmet("needs at least 1 sampled person, got 0. Draw more people.")
    return samples
