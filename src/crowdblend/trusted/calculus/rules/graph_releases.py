"""Statistics of networks as they are released (docs/proofs.md#networks): the noise that hides a person.

Concealing a vertex removes at most d links, which moves the number of components, of surplus links and of links by at
most d, and the distance to any property by at most one edit with every link: d edits, 2/n of M = dn/2. On a grid the
mechanism rounds the statistic and the simulator rounds its estimate, clipped to the range, in the same way; that moves
the two apart by at most one step r.
"""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from crowdblend.trusted.calculus.assumptions import Assumption
from crowdblend.trusted.calculus.description import (
    DEGREE,
    DISTANCE,
    GRID,
    LAPLACE,
    STATISTIC,
    About,
    mechanism,
    same_release,
)
from crowdblend.trusted.calculus.rules.graphs import NETWORK, OURS
from crowdblend.trusted.calculus.rules.zero_knowledge import laplace_release
from crowdblend.trusted.calculus.theorem import Rule, Unmet, rule
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Differential, Guarantee, Relation, ZeroKnowledge
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

DISTANCES = (CONNECTED, CYCLE_FREE, EULERIAN)
NOISY = (Assumption.PUBLIC_SIZE, Assumption.EXACT_NOISE, Assumption.LAPLACE_NOISE)
ON_GRID = (Assumption.PUBLIC_SIZE, Assumption.GRID_NOISE)
PEOPLE = (*ON_GRID, Assumption.CONCEALED_ROWS, Assumption.OWN_DATA_ONLY)
_OF_SAMPLER = "private with respect to the aggregate of its (δ, β)-sampler, w the width of its range."
_OF_ESTIMATOR = (
    "zero-knowledge private with respect to the aggregate of an estimator that strays by no more than h as far as "
    "noise of scale λ can tell."
)
_DISTANCE, _DEGREE = "The distance to connectedness, cycle-freeness or an Euler path", "The average degree"

_Register = Callable[[Callable[..., Guarantee]], Rule]


def _with_laplace(rule_id: str, theorem: str, what: str, shift: str, *details: str) -> _Register:
    """Return the rule of a statistic with Laplace noise that concealing a vertex moves by at most so much."""
    return rule(
        rule_id,
        source=f"ZKP Theorem {theorem} through Proposition 12",
        statement=f"{what} with Lap(λ) noise is ln((1−β)e^{{({shift}+δ)/λ}} + βe^{{w/λ}})-zero-knowledge {_OF_SAMPLER}",
        assumes=(*(NETWORK if details else ()), *NOISY),
        about=same_release(*details, "population", "scale", noise=LAPLACE),
    )


def _on_grid(
    rule_id: str, what: str, claim: str, assumes: tuple[Assumption, ...], about: About, source: str = OURS
) -> _Register:
    """Return the rule of a statistic on a grid with discrete Laplace noise."""
    verb = "are" if what.startswith("The shares") else "is"
    rounded = "each rounded" if verb == "are" else "rounded"
    noisy = f"{what}, {rounded} to a grid of step r, with discrete Laplace noise of scale λ, {verb} {claim}"
    return rule(rule_id, source=source, statement=noisy, assumes=assumes, about=about)


def _of_estimate(*details: str) -> About:
    return same_release(*details, "population", "scale", "resolution", noise=GRID)


def _alone(measure: str, *details: str) -> About:
    return mechanism(STATISTIC, *details, "population", "scale", "resolution", measure=measure, noise=GRID)


@_with_laplace("graph.connected", "26.1", "The distance to connectedness", "2/n")
def connected_distance(premise: Sampler, *, population: int, scale: float) -> ZeroKnowledge:
    """Concealing a vertex adds at most d components: 2/n of M."""
    _is_about(premise, CONNECTED)
    return laplace_release(premise, arb(2) / population, arb(scale))


@_with_laplace("graph.cycle-free", "26.3", "The distance to cycle-freeness", "2/n")
def cycle_free_distance(premise: Sampler, *, population: int, scale: float) -> ZeroKnowledge:
    """Concealing a vertex breaks at most d − 1 independent cycles: 2/n of M."""
    _is_about(premise, CYCLE_FREE)
    return laplace_release(premise, arb(2) / population, arb(scale))


@_with_laplace("graph.eulerian", "26.2", "The distance to an Euler path", "4/n")
def eulerian_distance(premise: Sampler, *, population: int, scale: float) -> ZeroKnowledge:
    """The paper's 4/n; 2/n holds for every graph small enough to try."""
    _is_about(premise, EULERIAN)
    return laplace_release(premise, arb(4) / population, arb(scale))


@_with_laplace("graph.average-degree", "26.4", _DEGREE, "2d/n", "degree_bound")
def average_degree(premise: Sampler, *, degree_bound: int, population: int, scale: float) -> ZeroKnowledge:
    """Concealing a vertex removes at most d links, each counted at both ends; the range may be narrower than d."""
    _is_about(premise, AVERAGE_DEGREE)
    return laplace_release(premise, 2 * arb(degree_bound) / population, arb(scale))


@_on_grid(
    "graph.published.distance",
    _DISTANCE,
    f"ln((1−β)e^{{(2/n+δ+r)/λ}} + βe^{{(w+r)/λ}})-zero-knowledge {_OF_SAMPLER}",
    ON_GRID,
    _of_estimate(),
    "ZKP Theorem 26.1 to 26.3 through Proposition 12, on a grid",
)
def published_distance(premise: Sampler, *, population: int, scale: float, resolution: float) -> ZeroKnowledge:
    """Proposition 12 with the rounding counted as part of the sensitivity."""
    _is_about(premise, *DISTANCES)
    return laplace_release(premise, arb(2) / population, arb(scale), resolution)


@_on_grid(
    "graph.published.degree",
    _DEGREE,
    f"ln((1−β)e^{{(2d/n+δ+r)/λ}} + βe^{{(w+r)/λ}})-zero-knowledge {_OF_SAMPLER}",
    (*NETWORK, *ON_GRID),
    _of_estimate("degree_bound"),
    "ZKP Theorem 26.4 through Proposition 12, on a grid",
)
def published_degree(
    premise: Sampler, *, degree_bound: int, population: int, scale: float, resolution: float
) -> ZeroKnowledge:
    """Each of at most d links counts at both ends."""
    _is_about(premise, AVERAGE_DEGREE)
    return laplace_release(premise, 2 * arb(degree_bound) / population, arb(scale), resolution)


@_on_grid("graph.sharp.distance", _DISTANCE, f"(2/n + h + r)/λ-{_OF_ESTIMATOR}", ON_GRID, _of_estimate())
def sharp_distance(premise: Estimator, *, population: int, scale: float, resolution: float) -> ZeroKnowledge:
    """The exponential moment of the error instead of its worst case."""
    _is_about(premise, *DISTANCES)
    return _hide_range(premise, arb(2) / population, scale, arb(resolution))


@_on_grid(
    "graph.sharp.degree",
    _DEGREE,
    f"(2d/n + h + r)/λ-{_OF_ESTIMATOR}",
    (*NETWORK, *ON_GRID),
    _of_estimate("degree_bound"),
)
def sharp_degree(
    premise: Estimator, *, degree_bound: int, population: int, scale: float, resolution: float
) -> ZeroKnowledge:
    """Each of at most d links counts at both ends."""
    _is_about(premise, AVERAGE_DEGREE)
    return _hide_range(premise, 2 * arb(degree_bound) / population, scale, arb(resolution))


@_on_grid(
    "graph.sharp.average",
    "The average of people's data in an interval of length w, a concealed person counting as its lower end",
    f"(w/n + h + r)/λ-{_OF_ESTIMATOR}",
    PEOPLE,
    _of_estimate(),
)
def sharp_average(premise: Estimator, *, population: int, scale: float, resolution: float) -> ZeroKnowledge:
    """One person moves the average by the width over n."""
    _is_about(premise, AVERAGE)
    _is_drawn_from(premise, population)
    return _hide_range(premise, arb(premise.width) / population, scale, arb(resolution))


@_on_grid(
    "graph.sharp.histogram",
    "The shares of m classes of people, a concealed person counting in none",
    f"(1/n + h + mr)/λ-{_OF_ESTIMATOR}",
    (*PEOPLE, Assumption.FIXED_SHARES),
    _of_estimate("dimension"),
)
def sharp_histogram(
    premise: Estimator, *, dimension: int, population: int, scale: float, resolution: float
) -> ZeroKnowledge:
    """One person is in one class, and every class is rounded; errors are in L1."""
    _is_about(premise, HISTOGRAM)
    _is_drawn_from(premise, population)
    return _hide_range(premise, arb(1) / population, scale, dimension * arb(resolution))


@_on_grid(
    "graph.sharp.degrees",
    "The shares of m bands of degrees, a concealed person having no links",
    f"(2(d+1)/n + h + mr)/λ-{_OF_ESTIMATOR}",
    (*NETWORK, *ON_GRID, Assumption.FIXED_SHARES),
    _of_estimate("degree_bound", "dimension"),
)
def sharp_degrees(
    premise: Estimator, *, degree_bound: int, dimension: int, population: int, scale: float, resolution: float
) -> ZeroKnowledge:
    """Concealing a vertex moves it and at most d neighbours from one band into another, each 2/n in L1."""
    _is_about(premise, DEGREES)
    moved = 2 * (arb(degree_bound) + 1) / population
    return _hide_range(premise, moved, scale, dimension * arb(resolution))


def _hide_range(premise: Estimator, sensitivity: arb, scale: float, rounding: arb) -> ZeroKnowledge:
    """Nothing moves further than the range is wide, however far the estimate strays."""
    if scale < premise.least_scale:
        raise Unmet(
            f"needs a scale of at least {premise.least_scale:g} for this estimator, got {scale:g}. "
            "Add more noise or sample more people."
        )
    moved = (sensitivity + premise.reach).min(arb(premise.width)) + rounding
    return ZeroKnowledge(round_up(moved / scale), 0.0, premise.aggregate, Relation.CONCEAL)


def _is_about(premise: Sampler | Estimator, *statistics: str) -> None:
    if premise.statistic not in statistics:
        raise Unmet(
            f"needs an estimate of the {' or the '.join(statistics)}, got one of the {premise.statistic}. "
            "Use another rule."
        )


def _is_drawn_from(premise: Estimator, population: int) -> None:
    """One person matters by 1/n, so n must be the number of those whom the estimator draws from."""
    drawn = premise.aggregate
    if not isinstance(drawn, RandomSamples) or drawn.population != population:
        raise Unmet(
            f"needs an estimator that draws from the population of {population}, got another. "
            "Use the same number of people in both steps."
        )


@_on_grid(
    "graph.differential.distance",
    _DISTANCE,
    "(2/n + r)/λ-differentially private with one person's links replaced.",
    (*NETWORK, *ON_GRID),
    _alone(DISTANCE, "degree_bound"),
)
def differential_distance(*, degree_bound: int, population: int, scale: float, resolution: float) -> Differential:
    """Any two sets of at most d links of one person are at most d edits apart: d of M = dn/2."""
    edits = arb(degree_bound) / (arb(degree_bound) * population / 2)
    return _replace_person(edits + resolution, scale)


@_on_grid(
    "graph.differential.degree",
    _DEGREE,
    "(2d/n + r)/λ-differentially private with one person's links replaced.",
    (*NETWORK, *ON_GRID),
    _alone(DEGREE, "degree_bound"),
)
def differential_degree(*, degree_bound: int, population: int, scale: float, resolution: float) -> Differential:
    """The number of links moves by at most d, and each counts at both ends."""
    return _replace_person(2 * arb(degree_bound) / population + resolution, scale)


@_on_grid(
    "graph.differential.average",
    "The average of people's data in an interval of length w",
    "(w/n + r)/λ-differentially private with one person's data replaced.",
    (Assumption.STATED_RANGE, Assumption.OWN_DATA_ONLY, *ON_GRID),
    _alone(AVERAGE, "width"),
)
def differential_average(*, width: float, population: int, scale: float, resolution: float) -> Differential:
    """One value of n moves within the interval."""
    return _replace_person(arb(width) / population + resolution, scale)


@_on_grid(
    "graph.differential.histogram",
    "The shares of classes of people",
    "(2/n + 2r)/λ-differentially private with one person's data replaced.",
    (Assumption.FIXED_CLASSES, Assumption.OWN_DATA_ONLY, *ON_GRID),
    _alone(HISTOGRAM),
)
def differential_histogram(*, population: int, scale: float, resolution: float) -> Differential:
    """One person leaves a class and enters another; all other shares stay."""
    return _replace_person(2 * (arb(1) / population + resolution), scale)


@_on_grid(
    "graph.differential.degrees",
    "The shares of m bands of degrees",
    "(4d/n + mr)/λ-differentially private with one person's links replaced.",
    (*NETWORK, *ON_GRID, Assumption.FIXED_SHARES),
    _alone(DEGREES, "degree_bound", "dimension"),
)
def differential_degrees(
    *, degree_bound: int, dimension: int, population: int, scale: float, resolution: float
) -> Differential:
    """At most 2d people change bands: friends who are left or won, and the person only where these are fewer."""
    return _replace_person(4 * arb(degree_bound) / population + dimension * arb(resolution), scale)


def _replace_person(distance: arb, scale: float) -> Differential:
    return Differential(round_up(distance / scale), 0.0, Relation.REPLACE)
