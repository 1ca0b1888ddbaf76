"""Averages, counts and histograms as totals with discrete Laplace noise (ZKP 3), and quantiles.

A person adds a whole number of steps to a total, a concealed row adds nothing, and discrete Laplace noise hides a step
up to a factor e^η. Published from everybody's totals, a simulator that sees k random rows scales their totals up;
published from the totals of k drawn rows, the simulator does the same with one row concealed.

Quantiles are chosen from a grid by permute-and-flip. With l_c people below candidate c, u_c at it or below, and the
wanted rank r = (a/b)N of N people, the loss of c is b·max(l_c − r, r − u_c), a whole number. Every candidate gets a
coin that falls heads with probability e^{−η(loss − least loss)/2}, and one of those with heads is published, each
equally likely.
"""

from __future__ import annotations

from flint import arb

from crowdblend.trusted.calculus.assumptions import ROWS, Assumption
from crowdblend.trusted.calculus.description import SIMULATOR, Composite, mechanism, same_release
from crowdblend.trusted.calculus.theorem import Unmet, rule
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.utility import NoisyTotals
from crowdblend.trusted.numerics.balls import maximum, minimum, round_up, sqrt, total

_NOISE = (*ROWS, Assumption.EXACT_NOISE)


@rule(
    "totals.sum",
    source="crowdblend, docs/proofs.md#totals",
    statement="One total to which each person adds between 0 and w whole steps, with discrete Laplace noise of loss η "
    "per step: concealing and rounding move it by (w + ½)η, a person deviates by wη/2 and reaches wη.",
    assumes=(*_NOISE, Assumption.NOISY_TOTAL),
    about=mechanism("totals.sum", "grid_steps", "noise_epsilon"),
)
def noisy_sum(*, grid_steps: int, noise_epsilon: float) -> NoisyTotals:
    """Values in an interval of length w deviate from their mean by at most w/2."""
    loss = arb(noise_epsilon)
    return NoisyTotals(
        round_up((grid_steps + arb(0.5)) * loss), round_up(grid_steps * loss / 2), round_up(grid_steps * loss)
    )


@rule(
    "totals.histogram",
    source="crowdblend, docs/proofs.md#totals",
    statement="The counts of m ≥ 2 bins, each person in at most one, with discrete Laplace noise of loss η on every "
    "bin: concealing and rounding move them by (1 + m/2)η, a person deviates by √(m−1)η and reaches 2η.",
    assumes=(*_NOISE, Assumption.NOISY_BINS, Assumption.ALL_CELLS),
    about=mechanism("totals.histogram", "bins", "noise_epsilon"),
)
def noisy_bins(*, bins: int, noise_epsilon: float) -> NoisyTotals:
    """The deviations of shares that sum to at most 1 are together largest when all bins are equal."""
    return noisy_groups.function(bins=bins, grid_steps=1, noise_epsilon=noise_epsilon)  # type: ignore[return-value]


@rule(
    "totals.groups",
    source="crowdblend, docs/proofs.md#groups",
    statement="m ≥ 2 totals to which each person adds whole steps, none of them negative and w in all at most, with "
    "discrete Laplace noise of loss η per step on every total: concealing and rounding move them by (w + m/2)η, a "
    "person deviates by w√(m−1)η and reaches 2wη.",
    assumes=(*_NOISE, Assumption.NOISY_GROUPS, Assumption.ALL_CELLS),
    about=mechanism("totals.groups", "bins", "grid_steps", "noise_epsilon"),
)
def noisy_groups(*, bins: int, grid_steps: int, noise_epsilon: float) -> NoisyTotals:
    """Bins with w steps per person instead of one: a variance is at most w times a mean."""
    if bins == 1:
        return noisy_sum.function(grid_steps=grid_steps, noise_epsilon=noise_epsilon)  # type: ignore[return-value]
    loss = arb(noise_epsilon)
    return NoisyTotals(
        round_up((grid_steps + arb(bins) / 2) * loss),
        round_up(grid_steps * arb(bins - 1).sqrt() * loss),
        round_up(2 * grid_steps * loss),
    )


@rule(
    "totals.together",
    source="crowdblend, docs/proofs.md#totals",
    statement="Totals of the same people with independent noise are one set of totals: steps, deviations and reaches "
    "add up.",
    assumes=(Assumption.OWN_RANDOMNESS,),
    about=Composite("totals.together"),
)
def totals_together(*premises: NoisyTotals) -> NoisyTotals:
    """Every one of the three is a sum over the totals."""
    step, drift, reach = (total(getattr(p, name) for p in premises) for name in ("step", "drift", "reach"))
    return NoisyTotals(step, drift, reach)


@rule(
    "totals.differential",
    source="discrete Laplace mechanism",
    statement="Noisy totals of reach r are r-differentially private with one person's data replaced, a concealed row "
    "being data like any other.",
    assumes=(Assumption.CONCEALED_ROWS,),
    about=same_release(),
)
def totals_are_differential(premise: NoisyTotals) -> Differential:
    """Replacing one person moves the totals by at most the reach, in units of the noise."""
    return Differential(premise.reach, 0.0, Relation.REPLACE)


@rule(
    "totals.add-remove",
    source="discrete Laplace mechanism, docs/proofs.md#statistics-of-strata",
    statement="Totals to which each person adds whole steps, none of them negative and w in all at most, with discrete "
    "Laplace noise of loss η per step on every total, are wη-differentially private with one person more or less.",
    assumes=(*_NOISE, Assumption.NOISY_GROUPS, Assumption.ALL_CELLS),
    about=mechanism("totals.groups", "bins", "grid_steps", "noise_epsilon"),
)
def totals_without_a_person(*, bins: int, grid_steps: int, noise_epsilon: float) -> Differential:
    """A person who leaves takes w steps away in all; replacing one would move up to 2w."""
    del bins
    return Differential(round_up(grid_steps * arb(noise_epsilon)), 0.0, Relation.ADD_REMOVE)


@rule(
    "totals.zero-knowledge",
    source="crowdblend, docs/proofs.md#totals; sharper than ZKP Proposition 12 for averages",
    statement="Noisy totals of all n people are ε-zero-knowledge private with respect to k of n random samples, ε = "
    "step + max(n²·reach²·c/(8k), n·drift·√((n−k)/((n−1)k))), c = min((n−k+1)/n, (n−k)(k+1)/(nk)).",
    assumes=(Assumption.CONCEALED_ROWS, Assumption.PUBLIC_SIZE),
    about=same_release("population"),
    free={"samples": SIMULATOR},
)
def totals_estimated_from_samples(premise: NoisyTotals, *, samples: int, population: int) -> ZeroKnowledge:
    """The simulator scales up the totals of the samples; its error is bounded by a moment and by a mean."""
    drawn = RandomSamples(samples, population)
    if samples == 0:
        # Nothing is seen: the simulator takes every total for 0, and together they are at most n people's reach.
        estimated = arb(population) * premise.reach
    else:
        n, k = arb(population), arb(samples)
        left = population - samples
        finite = minimum((left + 1) / n, left * (k + 1) / (n * k))
        moment = (n * premise.reach) ** 2 * finite / (8 * k)
        mean = n * premise.drift * sqrt(arb(left) / (max(population - 1, 1) * k))
        estimated = maximum(moment, mean)
    return ZeroKnowledge(round_up(premise.step + estimated), 0.0, drawn, Relation.CONCEAL)


_CHOSEN = (
    *ROWS,
    Assumption.FIXED_CANDIDATES,
    Assumption.QUANTILE_LOSSES,
    Assumption.EXACT_CHOICE,
)


@rule(
    "quantile.everybody",
    source="permute-and-flip (McKenna and Sheldon 2020), docs/proofs.md#quantiles",
    statement="Choosing the a/b-quantile of a fixed number of people from fixed candidates by permute-and-flip at rate "
    "η is bη-differentially private with one person's data replaced, a concealed row being data like any other.",
    assumes=(*_CHOSEN, Assumption.PUBLIC_RANK),
    about=mechanism("quantile.everybody", "numerator", "denominator", "noise_epsilon"),
)
def quantile_of_everybody(*, numerator: int, denominator: int, noise_epsilon: float) -> Differential:
    """The number of people below a candidate moves by one at most, and the wanted rank stays."""
    _proper(numerator, denominator)
    return Differential(round_up(denominator * arb(noise_epsilon)), 0.0, Relation.REPLACE)


@rule(
    "quantile.groups",
    source="permute-and-flip (McKenna and Sheldon 2020), docs/proofs.md#quantiles",
    statement="Choosing the a/b-quantile of every group, each person in at most one, from fixed candidates by "
    "permute-and-flip at rate η is 2·max(a, b − a)·η-differentially private with one person's data replaced, a "
    "concealed row being in no group.",
    assumes=(*_CHOSEN, Assumption.ONE_GROUP, Assumption.OWN_RANDOMNESS),
    about=mechanism("quantile.groups", "numerator", "denominator", "noise_epsilon"),
)
def quantile_of_groups(*, numerator: int, denominator: int, noise_epsilon: float) -> Differential:
    """A person who leaves a group moves its losses by max(a, b − a), and so does one who joins another."""
    _proper(numerator, denominator)
    moved = 2 * max(numerator, denominator - numerator)
    return Differential(round_up(moved * arb(noise_epsilon)), 0.0, Relation.REPLACE)


@rule(
    "quantile.add-remove",
    source="permute-and-flip (McKenna and Sheldon 2020), docs/proofs.md#quantiles",
    statement="Choosing the a/b-quantile of every group, each person in at most one, from fixed candidates by "
    "permute-and-flip at rate η is max(a, b − a)·η-differentially private with one person more or less.",
    assumes=(*_CHOSEN, Assumption.ONE_GROUP, Assumption.OWN_RANDOMNESS),
    about=mechanism("quantile.groups", "numerator", "denominator", "noise_epsilon"),
)
def quantile_without_a_person(*, numerator: int, denominator: int, noise_epsilon: float) -> Differential:
    """A person who leaves moves the losses of one group by at most max(a, b − a)."""
    _proper(numerator, denominator)
    moved = max(numerator, denominator - numerator)
    return Differential(round_up(moved * arb(noise_epsilon)), 0.0, Relation.ADD_REMOVE)


def _proper(numerator: int, denominator: int) -> None:
    if not 0 < numerator < denominator:
        raise Unmet(f"needs a share between 0 and 1, got {numerator}/{denominator}. Pass for example 1/2.")
