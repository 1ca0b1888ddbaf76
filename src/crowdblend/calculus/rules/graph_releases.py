"""Statistics of networks as they are released: on a grid, with discrete Laplace noise (docs/proofs.md#networks).

The mechanism rounds the statistic to the grid and the simulator rounds its estimate, clipped to the range, in the same
way; that moves the two apart by at most one step r. Concealing a vertex removes at most d links, and the distance to
any property moves by at most one edit with every link: d edits, 2/n of M.
"""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.description import mechanism, same_release
from crowdblend.calculus.forms import DEGREE, DISTANCE, GRID, ON_GRID, STATISTIC
from crowdblend.calculus.rules.zero_knowledge import laplace_release
from crowdblend.calculus.theorem import rule
from crowdblend.errors import NotApplicable
from crowdblend.guarantees import Differential, Estimator, RandomSamples, Relation, Sampler, ZeroKnowledge
from crowdblend.guarantees.utility import AVERAGE, AVERAGE_DEGREE, CONNECTED, CYCLE_FREE, EULERIAN, HISTOGRAM
from crowdblend.numerics.balls import round_up

DISTANCES = (CONNECTED, CYCLE_FREE, EULERIAN)
OURS = "crowdblend, docs/proofs.md#networks"
NOISY = (Assumption.PUBLIC_SIZE, Assumption.GRID_NOISE)
PEOPLE = (*NOISY, Assumption.CONCEALED_ROWS)
ALONE = (Assumption.BOUNDED_DEGREE, *NOISY)


@rule(
    "graph.published.distance",
    source="ZKP Theorem 26.1 to 26.3 through Proposition 12, on a grid",
    statement="The distance to connectedness, cycle-freeness or an Euler path, rounded to a grid of step r, with "
    "discrete Laplace noise of scale λ, is ln((1−β)e^{(2/n+δ+r)/λ} + βe^{(w+r)/λ})-zero-knowledge private with respect "
    "to the aggregate of its (δ, β)-sampler, w the width of its range.",
    assumes=NOISY,
    about=ON_GRID,
)
def published_distance(premise: Sampler, *, population: int, scale: float, resolution: float) -> ZeroKnowledge:
    """Proposition 12 with the rounding counted as part of the sensitivity."""
    _is_about("graph.published.distance", premise, DISTANCES)
    return laplace_release(premise, arb(2) / population, arb(scale), resolution)


@rule(
    "graph.published.degree",
    source="ZKP Theorem 26.4 through Proposition 12, on a grid",
    statement="The average degree, rounded to a grid of step r, with discrete Laplace noise of scale λ, is "
    "ln((1−β)e^{(2d/n+δ+r)/λ} + βe^{(w+r)/λ})-zero-knowledge private with respect to the aggregate of its (δ, "
    "β)-sampler, w the width of its range.",
    assumes=(Assumption.BOUNDED_DEGREE, *NOISY),
    about=same_release("degree_bound", "population", "scale", "resolution", noise=GRID),
)
def published_degree(
    premise: Sampler, *, degree_bound: int, population: int, scale: float, resolution: float
) -> ZeroKnowledge:
    """Each of at most d links counts at both ends."""
    _is_about("graph.published.degree", premise, (AVERAGE_DEGREE,))
    return laplace_release(premise, 2 * arb(degree_bound) / population, arb(scale), resolution)


@rule(
    "graph.sharp.distance",
    source=OURS,
    statement="The distance to connectedness, cycle-freeness or an Euler path, rounded to a grid of step r, with "
    "discrete Laplace noise of scale λ, is (2/n + h + r)/λ-zero-knowledge private with respect to the aggregate of an "
    "estimator that strays by no more than h as far as noise of scale λ can tell.",
    assumes=NOISY,
    about=ON_GRID,
)
def sharp_distance(premise: Estimator, *, population: int, scale: float, resolution: float) -> ZeroKnowledge:
    """The exponential moment of the error instead of its worst case."""
    _is_about("graph.sharp.distance", premise, DISTANCES)
    return _hidden(premise, arb(2) / population, scale, arb(resolution))


@rule(
    "graph.sharp.degree",
    source=OURS,
    statement="The average degree, rounded to a grid of step r, with discrete Laplace noise of scale λ, is (2d/n + h + "
    "r)/λ-zero-knowledge private with respect to the aggregate of an estimator that strays by no more than h as far as "
    "noise of scale λ can tell.",
    assumes=(Assumption.BOUNDED_DEGREE, *NOISY),
    about=same_release("degree_bound", "population", "scale", "resolution", noise=GRID),
)
def sharp_degree(
    premise: Estimator, *, degree_bound: int, population: int, scale: float, resolution: float
) -> ZeroKnowledge:
    """Each of at most d links counts at both ends."""
    _is_about("graph.sharp.degree", premise, (AVERAGE_DEGREE,))
    return _hidden(premise, 2 * arb(degree_bound) / population, scale, arb(resolution))


@rule(
    "graph.sharp.average",
    source=OURS,
    statement="The average of people's data in an interval of length w, a concealed person counting as its lower end, "
    "rounded to a grid of step r, with discrete Laplace noise of scale λ, is (w/n + h + r)/λ-zero-knowledge private "
    "with respect to the aggregate of an estimator that strays by no more than h.",
    assumes=PEOPLE,
    about=ON_GRID,
)
def sharp_average(premise: Estimator, *, population: int, scale: float, resolution: float) -> ZeroKnowledge:
    """One person moves the average by the width over n."""
    _is_about("graph.sharp.average", premise, (AVERAGE,))
    _is_drawn_from("graph.sharp.average", premise, population)
    return _hidden(premise, arb(premise.width) / population, scale, arb(resolution))


@rule(
    "graph.sharp.histogram",
    source=OURS,
    statement="The shares of m classes of people, a concealed person counting in none, each rounded to a grid of step "
    "r, with discrete Laplace noise of scale λ, are (1/n + h + mr)/λ-zero-knowledge private with respect to the "
    "aggregate of an estimator that strays (in L1) by no more than h as far as noise of scale λ can tell.",
    assumes=(*PEOPLE, Assumption.FIXED_SHARES),
    about=same_release("dimension", "population", "scale", "resolution", noise=GRID),
)
def sharp_histogram(
    premise: Estimator, *, dimension: int, population: int, scale: float, resolution: float
) -> ZeroKnowledge:
    """One person is in one class, and every class is rounded."""
    _is_about("graph.sharp.histogram", premise, (HISTOGRAM,))
    _is_drawn_from("graph.sharp.histogram", premise, population)
    return _hidden(premise, arb(1) / population, scale, dimension * arb(resolution))


def _hidden(premise: Estimator, sensitivity: arb, scale: float, rounding: arb) -> ZeroKnowledge:
    """Nothing moves further than the range is wide, however far the estimate strays."""
    if scale < premise.least_scale:
        raise NotApplicable(
            f"scale must be at least {premise.least_scale:g} for this estimator, got {scale:g}. "
            "Add more noise or sample more people."
        )
    moved = (sensitivity + premise.reach).min(arb(premise.width)) + rounding
    return ZeroKnowledge(round_up(moved / scale), 0.0, premise.aggregate, Relation.CONCEAL)


def _is_about(rule_id: str, premise: Sampler | Estimator, statistics: tuple[str, ...]) -> None:
    if premise.statistic not in statistics:
        raise NotApplicable(
            f"{rule_id} needs an estimate of the {' or the '.join(statistics)}, got one of the {premise.statistic}. "
            "Use another rule."
        )


def _is_drawn_from(rule_id: str, premise: Estimator, population: int) -> None:
    """One person matters by 1/n, so n must be the number of those whom the estimator draws from."""
    drawn = premise.aggregate
    if not isinstance(drawn, RandomSamples) or drawn.population != population:
        raise NotApplicable(
            f"{rule_id} needs an estimator that draws from the population of {population}, got another. "
            "Use the same number of people in both steps."
        )


@rule(
    "graph.differential.distance",
    source=OURS,
    statement="The distance to connectedness, cycle-freeness or an Euler path, rounded to a grid of step r, with "
    "discrete Laplace noise of scale λ, is (2/n + r)/λ-differentially private with one person's links replaced.",
    assumes=ALONE,
    about=mechanism(STATISTIC, "degree_bound", "population", "scale", "resolution", measure=DISTANCE, noise=GRID),
)
def differential_distance(*, degree_bound: int, population: int, scale: float, resolution: float) -> Differential:
    """Any two sets of at most d links of one person are at most d edits apart: d of M = dn/2."""
    edits = arb(degree_bound) / (arb(degree_bound) * population / 2)
    return _replaced(edits + resolution, scale)


@rule(
    "graph.differential.degree",
    source=OURS,
    statement="The average degree, rounded to a grid of step r, with discrete Laplace noise of scale λ, is (2d/n + "
    "r)/λ-differentially private with one person's links replaced.",
    assumes=ALONE,
    about=mechanism(STATISTIC, "degree_bound", "population", "scale", "resolution", measure=DEGREE, noise=GRID),
)
def differential_degree(*, degree_bound: int, population: int, scale: float, resolution: float) -> Differential:
    """The number of links moves by at most d, and each counts at both ends."""
    return _replaced(2 * arb(degree_bound) / population + resolution, scale)


@rule(
    "graph.differential.average",
    source=OURS,
    statement="The average of people's data in an interval of length w, rounded to a grid of step r, with discrete "
    "Laplace noise of scale λ, is (w/n + r)/λ-differentially private with one person's data replaced.",
    assumes=(Assumption.STATED_RANGE, *NOISY),
    about=mechanism(STATISTIC, "width", "population", "scale", "resolution", measure=AVERAGE, noise=GRID),
)
def differential_average(*, width: float, population: int, scale: float, resolution: float) -> Differential:
    """One value of n moves within the interval."""
    return _replaced(arb(width) / population + resolution, scale)


@rule(
    "graph.differential.histogram",
    source=OURS,
    statement="The shares of classes of people, each rounded to a grid of step r, with discrete Laplace noise of scale "
    "λ, are (2/n + 2r)/λ-differentially private with one person's data replaced.",
    assumes=(Assumption.FIXED_CLASSES, *NOISY),
    about=mechanism(STATISTIC, "population", "scale", "resolution", measure=HISTOGRAM, noise=GRID),
)
def differential_histogram(*, population: int, scale: float, resolution: float) -> Differential:
    """One person leaves a class and enters another; all other shares stay."""
    return _replaced(2 * (arb(1) / population + resolution), scale)


def _replaced(moved: arb, scale: float) -> Differential:
    return Differential(round_up(moved / scale), 0.0, Relation.REPLACE)
