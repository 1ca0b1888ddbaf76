"""The samplers of networks once more, by the exponential moment of their error instead of one accuracy.

Proposition 12 pays for a failed sampler with the whole range, so K must exceed range/λ. An average of t independent
terms errs by little nearly always and by more ever more rarely; counting that in full costs no K at all. With
ln E[e^{θX}] ≤ vθ²/(2(1−cθ)) for both signs of X, ln E[e^{|X|/λ}] ≤ (√(2v ln 2) + c·ln 2)/λ for λ ≥ √(v/(2 ln 2)) + c
(docs/proofs.md#networks).
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.description import mechanism
from crowdblend.calculus.forms import DEGREE, DISTANCE, SIMULATOR, STATISTIC
from crowdblend.calculus.rules.graphs import NETWORK, largest_light_term
from crowdblend.calculus.theorem import rule
from crowdblend.errors import NotApplicable
from crowdblend.guarantees import Aggregate, Estimator, Exploration, Neighbourhood, RandomSamples
from crowdblend.guarantees.utility import AVERAGE, AVERAGE_DEGREE, CONNECTED, CYCLE_FREE, EULERIAN, HISTOGRAM
from crowdblend.numerics.balls import round_up

OURS = "crowdblend, docs/proofs.md#networks"
AVERAGED = (*NETWORK, Assumption.BOUNDED_AVERAGE)


@dataclass(frozen=True)
class _Error:
    """How far an error reaches and from which scale on; errors of one estimate add up in both (Hölder)."""

    reach: arb
    least: arb

    def __add__(self, other: _Error) -> _Error:
        return _Error(self.reach + other.reach, self.least + other.least)

    def off(self, bias: arb) -> _Error:
        """The same error around a value that is off by at most so much."""
        return _Error(self.reach + bias, self.least)

    def estimator(self, statistic: str, width: arb, aggregate: Aggregate) -> Estimator:
        """The statement, rounded outward."""
        return Estimator(statistic, round_up(self.reach), round_up(self.least), round_up(width), aggregate)


@rule(
    "graph.estimator.connected",
    source=OURS,
    statement="The sampler of graph.sampler.connected strays by no more than 2/(sd) + (2/d)√(ln 2/(2t)) as far as "
    "noise of scale (2/d)/√(8t·ln 2) or more can tell.",
    assumes=NETWORK,
    about=mechanism(STATISTIC, "degree_bound", measure=DISTANCE, statistic=CONNECTED),
    free={"samples": SIMULATOR, "explored": SIMULATOR},
)
def estimator_connected(*, degree_bound: int, samples: int, explored: int) -> Estimator:
    """Terms between 0 and 1, 2/d of M each."""
    error = _averaged(arb(2) / degree_bound, samples).off(_missed(degree_bound, explored))
    return error.estimator(CONNECTED, arb(2) / degree_bound, Exploration(samples, explored))


@rule(
    "graph.estimator.eulerian",
    source=OURS,
    statement="The sampler of graph.sampler.eulerian strays by no more than 2/(sd) + (1/d)√(ln 2/(2t)) as far as noise "
    "of scale (1/d)/√(8t·ln 2) or more can tell.",
    assumes=NETWORK,
    about=mechanism(STATISTIC, "degree_bound", measure=DISTANCE, statistic=EULERIAN),
    free={"samples": SIMULATOR, "explored": SIMULATOR},
)
def estimator_eulerian(*, degree_bound: int, samples: int, explored: int) -> Estimator:
    """Terms between 0 and 1/2, 2/d of M each."""
    error = _averaged(arb(1) / degree_bound, samples).off(_missed(degree_bound, explored))
    return error.estimator(EULERIAN, arb(1) / degree_bound, Exploration(samples, explored))


@rule(
    "graph.estimator.cycle-free",
    source=OURS,
    statement="The sampler of graph.sampler.cycle-free strays by no more than 2/(sd) + √(ln 2/(2t)), or with an "
    "average degree of at most L by 2/(sd) + √(2L·ln 2/(td)) + ln 2/(3t) + (2/d)√(ln 2/(2t)), as far as noise can tell "
    "of scale 1/√(8t·ln 2), or √(L/(2td·ln 2)) + 1/(3t) + (2/d)/√(8t·ln 2), or more.",
    assumes=AVERAGED,
    about=mechanism(STATISTIC, "degree_bound", "average_bound", measure=DISTANCE, statistic=CYCLE_FREE),
    free={"samples": SIMULATOR, "explored": SIMULATOR},
)
def estimator_cycle_free(*, degree_bound: int, average_bound: float, samples: int, explored: int) -> Estimator:
    """Links and components apart, or both in one: whichever reaches less far."""
    share = arb(average_bound).min(arb(degree_bound)) / degree_bound
    whole = _averaged(arb(1), samples)
    apart = _rare(arb(1), share, samples) + _averaged(arb(2) / degree_bound, samples)
    error = _smaller(whole, apart).off(_missed(degree_bound, explored))
    return error.estimator(CYCLE_FREE, share, Exploration(samples, explored))


@rule(
    "graph.estimator.average-degree",
    source=OURS,
    statement="The average degree of t random vertices strays by no more than d√(ln 2/(2t)), or with an average of at "
    "most L by √(2dL·ln 2/t) + d·ln 2/(3t), as far as noise can tell of scale d/√(8t·ln 2), or √(dL/(2t·ln 2)) + "
    "d/(3t), or more.",
    assumes=AVERAGED,
    about=mechanism(STATISTIC, "degree_bound", "average_bound", measure=DEGREE, statistic=AVERAGE_DEGREE),
    free={"samples": SIMULATOR},
)
def estimator_average_degree(*, degree_bound: int, average_bound: float, samples: int) -> Estimator:
    """Degrees between 0 and d, and not many of them large."""
    average = arb(average_bound).min(arb(degree_bound))
    error = _smaller(_averaged(arb(degree_bound), samples), _rare(arb(degree_bound), average, samples))
    return error.estimator(AVERAGE_DEGREE, average, Neighbourhood(samples, 1))


@rule(
    "graph.estimator.light-ends",
    source=OURS,
    statement="The sampler of graph.sampler.light-ends strays by no more than √(2RL·ln 2/t) + R·ln 2/(3t), R = "
    "2·min(d, √(nL)), as far as noise of scale √(RL/(2t·ln 2)) + R/(3t) or more can tell.",
    assumes=(*AVERAGED, Assumption.PUBLIC_SIZE),
    about=mechanism(STATISTIC, "degree_bound", "average_bound", "population", measure=DEGREE, statistic=AVERAGE_DEGREE),
    free={"samples": SIMULATOR},
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
    free={"samples": SIMULATOR},
)
def estimator_average(*, samples: int, population: int, width: float) -> Estimator:
    """Sampling without replacement has no larger exponential moments than with it (Hoeffding 1963)."""
    return _averaged(arb(width), samples).estimator(AVERAGE, arb(width), RandomSamples(samples, population))


@rule(
    "graph.estimator.histogram",
    source=OURS,
    statement="The shares of m classes among k of n people stray (in L1) by no more than (√m + 1/2)/√k as far as noise "
    "of scale 1/√k or more can tell.",
    assumes=(Assumption.FIXED_SHARES, Assumption.PUBLIC_SIZE),
    about=mechanism(STATISTIC, "population", "dimension", measure=HISTOGRAM, statistic=HISTOGRAM),
    free={"samples": SIMULATOR},
)
def estimator_histogram(*, samples: int, population: int, dimension: int) -> Estimator:
    """√(m/k) on average, and one drawn person moves the error by at most 2/k (McDiarmid's inequality)."""
    root = arb(_some(samples)).sqrt()
    error = _Error((arb(dimension).sqrt() + arb(1) / 2) / root, 1 / root)
    return error.estimator(HISTOGRAM, arb(2), RandomSamples(samples, population))


def _averaged(length: arb, samples: int) -> _Error:
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


def _missed(degree_bound: int, explored: int) -> arb:
    """Components of more than s vertices, at most n/s of them."""
    return 2 / (arb(explored) * degree_bound)


def _some(samples: int) -> int:
    if samples < 1:
        raise NotApplicable("an estimate needs at least 1 sampled person, got 0. Draw more people.")
    return samples
