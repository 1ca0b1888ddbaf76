"""Statistics of networks: the samplers that simulate them, and the noise that hides a person (ZKP Theorem 26).

Distances are edge edits divided by M = d·n/2, d the public degree bound. The paper leaves constants in O(·); here
each sampler is a plain average over random vertices, whose constants Hoeffding's inequality proves. Concealing a
vertex removes at most d links, which moves the number of components, of surplus links and of links by at most d.
"""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.description import mechanism, same_release
from crowdblend.calculus.forms import DEGREE, DISTANCE, LAPLACE, PROVED, RELEASED_STATISTIC, SIMULATOR, STATISTIC
from crowdblend.calculus.rules.zero_knowledge import laplace_release
from crowdblend.calculus.theorem import rule
from crowdblend.errors import NotApplicable
from crowdblend.guarantees import Exploration, Neighbourhood, Sampler, ZeroKnowledge
from crowdblend.guarantees.utility import AVERAGE_DEGREE, CONNECTED, CYCLE_FREE, EULERIAN
from crowdblend.numerics.balls import round_up

NETWORK = (Assumption.BOUNDED_DEGREE,)
NOISY = (Assumption.PUBLIC_SIZE, Assumption.EXACT_NOISE, Assumption.LAPLACE_NOISE)


@rule(
    "graph.sampler.connected",
    source="ZKP Theorem 26.1 (Marko and Ron), constants from Hoeffding's inequality",
    statement="Averaging 1/(size of v's component), 0 when more than s vertices are found, over t random vertices "
    "gives the distance to connectedness, which lies between 0 and 2/d, within δ except with probability 2e^{−t(d(δ − "
    "2/(sd)))²/2}.",
    assumes=NETWORK,
    about=mechanism(STATISTIC, "degree_bound", measure=DISTANCE, statistic=CONNECTED),
    free={"accuracy": PROVED, "samples": SIMULATOR, "explored": SIMULATOR},
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
    about=mechanism(STATISTIC, "degree_bound", measure=DISTANCE, statistic=CYCLE_FREE),
    free={"accuracy": PROVED, "samples": SIMULATOR, "explored": SIMULATOR},
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
    about=mechanism(STATISTIC, "degree_bound", measure=DISTANCE, statistic=EULERIAN),
    free={"accuracy": PROVED, "samples": SIMULATOR, "explored": SIMULATOR},
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
    about=mechanism(STATISTIC, "degree_bound", measure=DEGREE, statistic=AVERAGE_DEGREE),
    free={"accuracy": PROVED, "samples": SIMULATOR},
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
    about=mechanism(STATISTIC, "degree_bound", "average_bound", "population", measure=DEGREE, statistic=AVERAGE_DEGREE),
    free={"accuracy": PROVED, "samples": SIMULATOR},
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
    """Twice the most neighbours of larger degree that anybody has: j such neighbours have j² link ends between them."""
    return 2 * arb(degree_bound).min((population * average).sqrt())


def _explorer(
    statistic: str, degree_bound: int, accuracy: float, samples: int, explored: int, spread: arb, width: arb
) -> Sampler:
    """An average of t terms in an interval of length `spread`, n/M = 2/d per unit, minus what exploring s misses."""
    missed = 2 / (arb(explored) * degree_bound)
    left = arb(accuracy) - missed
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


@rule(
    "graph.connected",
    source="ZKP Theorem 26.1 through Proposition 12",
    statement="The distance to connectedness with Lap(λ) noise is ln((1−β)e^{(2/n+δ)/λ} + βe^{w/λ})-zero-knowledge "
    "private with respect to the aggregate of its (δ, β)-sampler, w the width of its range.",
    assumes=NOISY,
    about=RELEASED_STATISTIC,
)
def connected_distance(premise: Sampler, *, population: int, scale: float) -> ZeroKnowledge:
    """Concealing a vertex adds at most d components: 2/n of M."""
    _is_about("graph.connected", premise, CONNECTED)
    return laplace_release(premise, arb(2) / population, arb(scale))


@rule(
    "graph.cycle-free",
    source="ZKP Theorem 26.3 through Proposition 12",
    statement="The distance to cycle-freeness with Lap(λ) noise is ln((1−β)e^{(2/n+δ)/λ} + βe^{w/λ})-zero-knowledge "
    "private with respect to the aggregate of its (δ, β)-sampler, w the width of its range.",
    assumes=NOISY,
    about=RELEASED_STATISTIC,
)
def cycle_free_distance(premise: Sampler, *, population: int, scale: float) -> ZeroKnowledge:
    """Concealing a vertex breaks at most d − 1 independent cycles: 2/n of M."""
    _is_about("graph.cycle-free", premise, CYCLE_FREE)
    return laplace_release(premise, arb(2) / population, arb(scale))


@rule(
    "graph.eulerian",
    source="ZKP Theorem 26.2 through Proposition 12",
    statement="The distance to an Euler path with Lap(λ) noise is ln((1−β)e^{(4/n+δ)/λ} + βe^{w/λ})-zero-knowledge "
    "private with respect to the aggregate of its (δ, β)-sampler, w the width of its range.",
    assumes=NOISY,
    about=RELEASED_STATISTIC,
)
def eulerian_distance(premise: Sampler, *, population: int, scale: float) -> ZeroKnowledge:
    """The paper's 4/n; 2/n holds for every graph small enough to try."""
    _is_about("graph.eulerian", premise, EULERIAN)
    return laplace_release(premise, arb(4) / population, arb(scale))


@rule(
    "graph.average-degree",
    source="ZKP Theorem 26.4 through Proposition 12",
    statement="The average degree with Lap(λ) noise is ln((1−β)e^{(2d/n+δ)/λ} + βe^{w/λ})-zero-knowledge private with "
    "respect to the aggregate of its (δ, β)-sampler, w the width of its range.",
    assumes=(Assumption.BOUNDED_DEGREE, *NOISY),
    about=same_release("degree_bound", "population", "scale", noise=LAPLACE),
)
def average_degree(premise: Sampler, *, degree_bound: int, population: int, scale: float) -> ZeroKnowledge:
    """Concealing a vertex removes at most d links, each counted at both ends; the range may be narrower than d."""
    _is_about("graph.average-degree", premise, AVERAGE_DEGREE)
    return laplace_release(premise, 2 * arb(degree_bound) / population, arb(scale))


def _is_about(rule_id: str, premise: Sampler, statistic: str) -> None:
    if premise.statistic != statistic:
        raise NotApplicable(
            f"{rule_id} needs a sampler of the {statistic}, got one of the {premise.statistic}. Use that sampler."
        )
