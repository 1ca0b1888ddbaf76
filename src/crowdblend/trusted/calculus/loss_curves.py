"""Profiles evaluated: the divergence of all releases together at an ε, and the ε at which it is small enough."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from flint import arb

from crowdblend.errors import Infeasible
from crowdblend.trusted.guarantees import profiles, programme, statement_curves
from crowdblend.trusted.guarantees.profiles import LossCurve, Profile, Uses
from crowdblend.trusted.guarantees.programme import PartOfSample
from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.balls import expm1, precision, round_down, round_up, upper_bound
from crowdblend.trusted.numerics.combined_curves import MeanOf, ReplacedData, WorstOf
from crowdblend.trusted.numerics.loss_law import BITS, GridTooFine, compose
from crowdblend.trusted.numerics.mechanism_curves import (
    BiasedCrowds,
    GaussianCells,
    OutlierBins,
    Points,
    ThresholdCells,
)
from crowdblend.trusted.numerics.noise_below_k import NoisyKernel
from crowdblend.trusted.numerics.profile_curves import (
    Closeness,
    ClosenessKernel,
    Crowds,
    Curve,
    Gaps,
    LossPair,
    SampledKernel,
    Split,
    loss_pair,
)
from crowdblend.trusted.numerics.programme import (
    Average,
    BlendingCrowds,
    CrowdTerm,
    NoiseTerm,
    OwnCurve,
    OwnLaws,
    OwnTerm,
    PointTerm,
    Pointwise,
    SampledGaps,
    SurveyMixture,
    Term,
    part_divergences,
)
from crowdblend.trusted.numerics.series import Spread, cut_for, spread_of
from crowdblend.trusted.numerics.statement_curves import Chords, RenyiBound

# Divergences are looked for down to here; what is smaller is stated as a little more than it is.
FIRST_DELTA, LAST_DELTA = 1e-9, 1e-30
# In this many ways is ε divided between removing a person's data and adding other data.
SHARES = 32
# Mechanisms on one sample are composed with ends that are cut where they are small against this.
FINEST_DELTA = 1e-20
# The ε of one curve is looked for below this, by halving until doubles are told apart.
LARGEST_EPSILON = 1e6
_HALVINGS = 80


def _kernel(part: PartOfSample, rate: arb) -> Gaps:
    """Return the mechanism of a part, with everybody else there with this probability."""
    match part:
        case programme.PartInCrowds(_, k, blend_epsilon):
            return Pointwise(BlendingCrowds(k, rate, arb(blend_epsilon).exp()))
        case programme.PartWithNoise(_, k, noise_epsilon, flag):
            return NoisyKernel(k, rate, noise_epsilon, flagged=flag)
        case programme.PartOfPoints(_, k, noise_epsilon):
            return Pointwise(Points(k, rate, arb(noise_epsilon).exp()))
        case programme.PrivatePart(_, uses):
            return _own(uses)
    raise NotImplementedError(type(part).__name__)


def _own(uses: tuple[Uses, ...]) -> Gaps:
    """Mechanisms that see the same people: one by its curve, several by their composed laws."""
    if len(uses) == 1 and uses[0].releases == 1:
        return OwnCurve(curve_of(uses[0].curve))
    return _compose_laws(uses)


def _compose_laws(uses: tuple[Uses, ...]) -> Gaps:
    """Return the divergences of all mechanisms by their composed laws."""
    how = spread(uses)
    return OwnLaws(together(uses, how.spacing, cut_for(FINEST_DELTA, how.releases)), math.sqrt(how.distances))


def part_terms(parts: Sequence[PartOfSample]) -> list[tuple[arb, Term]]:
    """Every part with its share, where these are more than the sample divided by their sum, and its mechanism."""
    whole = sum((arb(part.share) for part in parts), arb(0)).max(arb(1))
    return [(arb(part.share) / whole, _term(part)) for part in parts]


def part_delta(part: PartOfSample, shares: Sequence[float], rate: float, epsilon: float) -> float:
    """Return the divergence that one part adds to the average of all, whose shares are given, before it is weighted."""

    def delta() -> arb:
        total = sum((arb(share) for share in shares), arb(0))
        whole = total.max(arb(1))
        growth = arb(epsilon).exp()
        ways = part_divergences(balls, _term(part), arb(part.share) / whole, total / whole, arb(rate), growth)
        return balls.maximum(*ways)

    return upper_bound(delta)


def _term(part: PartOfSample) -> Term:
    match part:
        case programme.PartInCrowds(_, k, blend_epsilon):
            return CrowdTerm(k, arb(blend_epsilon).exp())
        case programme.PartWithNoise(_, k, noise_epsilon, flag):
            return NoiseTerm(k, (-arb(noise_epsilon)).exp(), flag)
        case programme.PartOfPoints(_, k, noise_epsilon):
            return PointTerm(k, arb(noise_epsilon).exp())
        case programme.PrivatePart(_, uses):
            return OwnTerm(partial(_own_divergences, uses))
    raise NotImplementedError(type(part).__name__)


def _own_divergences(uses: tuple[Uses, ...], more: arb, fewer: arb) -> tuple[arb, arb]:
    """Return both divergences, one factor each, rounded up; higher precision sharpens neither."""
    (up,), (down,) = _own(uses).gaps([more], [fewer])
    return _upper(up), _upper(down)


def _upper(bound: arb | None) -> arb:
    return arb(1) if bound is None else bound.upper()


@lru_cache(maxsize=32)
@precision(BITS)
def curve_of(loss_curve: LossCurve) -> Curve:  # noqa: PLR0911, PLR0912  one case for each curve
    """Return the curve that a value names."""
    match loss_curve:
        case profiles.CrowdCurve(k, blend_epsilon, rate):
            return SampledKernel(arb(rate), Crowds(k, arb(rate), arb(blend_epsilon).exp()))
        case profiles.NoisyCountCurve(k, noise_epsilon, rate, flag):
            return SampledGaps(arb(rate), NoisyKernel(k, arb(rate), noise_epsilon, flagged=flag))
        case profiles.PointCurve(k, noise_epsilon, rate):
            return SampledKernel(arb(rate), Points(k, arb(rate), arb(noise_epsilon).exp()))
        case profiles.BiasedCurve(k, blend_epsilon, low, high, exceptions, max_rate):
            return BiasedCrowds(k, arb(blend_epsilon).exp(), low, high, exceptions, max_rate)
        case profiles.AmplifiedCurve(epsilon, delta, rate):
            return SampledKernel(arb(rate), ClosenessKernel(epsilon, delta))
        case profiles.SplitCurve(epsilon, k, rate, share):
            chosen = arb(rate) * share
            # The divergence grows with the rate, so the larger neighbouring double is the safe one.
            released = arb(round_up(arb(rate) * (1 - arb(share)) / (1 - chosen)))
            return Split(chosen, Closeness(epsilon, 0.0), SampledKernel(released, Crowds(k, released, arb(1))))
        case programme.ProgrammeCurve(rate, publications):
            return _programme(rate, publications)
        case programme.OneSampleCurve(rate, uses):
            return SampledGaps(arb(rate), _own(uses))
        case programme.UnequalSampleCurve(_, _, _, max_rate, uses):
            return SampledGaps(arb(max_rate), _own(uses))
        case programme.UnequalProgrammeCurve(_, _, _, _, publications):
            total = sum((arb(part.share) for part in publications), arb(0))
            each = Counter(publications).items()
            return MeanOf([(n * arb(part.share) / total, unequal_part(loss_curve, part)) for part, n in each])
        case profiles.SurveyCurve(samples, population, _, uses):
            return SurveyMixture(arb(samples) / population, _compose_laws(uses))
        case profiles.GroupSurveyCurve(samples, population, uses):
            return SurveyMixture(arb(samples) / population, _compose_laws(uses), apart=False)
        case programme.StrataCurve(curves):
            return WorstOf([curve_of(curve) for curve in curves])
        case profiles.ReplacedCurve(curve):
            return ReplacedData(curve_of(curve))
        case profiles.OutlierCurve(epsilon, transition, limit):
            return OutlierBins(epsilon, transition, limit)
        case profiles.GaussianCurve(sigma):
            return GaussianCells(sigma)
        case profiles.ThresholdCurve(noise_epsilon, show_from):
            return ThresholdCells(noise_epsilon, show_from)
        case profiles.ClosenessCurve(epsilon, delta):
            return Closeness(epsilon, delta)
        case statement_curves.ConcentratedCurve(rho):
            return RenyiBound(rho)
        case statement_curves.PointsCurve(points):
            return Chords(points)
    raise NotImplementedError(type(loss_curve).__name__)


def _programme(rate: float, publications: Sequence[PartOfSample]) -> Curve:
    shares = [arb(part.share) for part in publications]
    total = sum(shares, arb(0))
    taken = arb(rate) * total / total.max(arb(1))
    kernels = []
    for part, count in Counter(publications).items():
        own = taken * part.share / total
        kernels.append((count * arb(part.share) / total, _kernel(part, own / (1 - taken + own))))
    return SampledGaps(taken, Average(kernels))


def unequal_part(curve: programme.UnequalProgrammeCurve, part: PartOfSample) -> Curve:
    """Return the curve that one part adds to the mean: the person is in some part, the others in this one."""
    total = sum((arb(one.share) for one in curve.publications), arb(0))
    whole = total.max(arb(1))
    share, taken = arb(part.share) / whole, arb(curve.max_rate) * total / whole
    match part:
        case programme.PartInCrowds(_, k, blend_epsilon):
            low, high = (
                arb(rate) * share / (1 - arb(rate) * (total / whole - share)) for rate in (curve.low, curve.high)
            )
            ends = round_down(low), min(round_up(high), 1.0)
            return BiasedCrowds(k, arb(blend_epsilon).exp(), *ends, curve.exceptions, round_up(taken))
        case programme.PrivatePart(_, uses):
            return SampledGaps(taken, _own(uses))
    raise NotImplementedError(type(part).__name__)


def unequal_part_delta(curve: programme.UnequalProgrammeCurve, part: PartOfSample, epsilon: float) -> float:
    """Return the divergence that one part adds to the mean of all, before it is weighted."""
    with precision(BITS):
        ways = unequal_part(curve, part).bounds([arb(epsilon).exp()])
        return max(round_up(_upper(bound)) for (bound,) in ways)


@lru_cache(maxsize=256)
def pair_of(curve: LossCurve, spacing: float, cut: float) -> LossPair:
    """Return the laws of one release on a grid."""
    return loss_pair(curve_of(curve), spacing, cut)


def spread(uses: tuple[Uses, ...]) -> Spread:
    """Return how far the losses of these releases spread."""
    return spread_of((curve_of(use.curve), use.releases) for use in uses)


def grid_of(uses: tuple[Uses, ...]) -> float:
    """Return the spacing of the grid that these releases are composed on."""
    return spread(uses).spacing


@lru_cache(maxsize=16)
def together(uses: tuple[Uses, ...], spacing: float, cut: float) -> LossPair:
    """Return the laws of all releases together, on this grid or the finest coarser one that holds them."""
    while True:
        try:
            pairs = [(pair_of(use.curve, spacing, cut), use.releases) for use in uses]
            ups = compose(pair.up.times(count) for pair, count in pairs)
            return LossPair(ups, compose(pair.down.times(count) for pair, count in pairs))
        except GridTooFine:
            spacing *= 2


def delta_of(profile: Profile, epsilon: float) -> float:
    """A δ that is true of all releases together at this ε; of one release its curve is one too, without a grid."""
    found = _resolve(profile, lambda pair: max(round_up(pair.up.delta(epsilon)), round_up(pair.down.delta(epsilon))))
    if profile.releases > 1:
        return found
    with precision(BITS):
        ways = curve_of(profile.uses[0].curve).bounds([arb(epsilon).exp()])
        return min(found, max(round_up(_upper(bound)) for (bound,) in ways))


def epsilon_of(profile: Profile, delta: float) -> float:
    """Return the smallest ε that is proved for all releases together at this δ."""
    pair = _laws(profile, delta)
    found = [law.epsilon(delta) for law in (pair.up, pair.down)]
    if None in found:
        raise Infeasible(
            f"No epsilon reaches delta = {delta:g} for these releases together: they lose everything "
            "more often than that. Raise delta."
        )
    return max(epsilon for epsilon in found if epsilon is not None)


def epsilon_of_one(loss_curve: LossCurve, delta: float) -> float:
    """Return an ε, near the smallest, at which the curve of one release is proved to be at most δ."""

    def reaches(epsilon: float) -> bool:
        ways = curve.bounds([arb(epsilon).exp()])
        return all(round_up(_upper(bound)) <= delta for (bound,) in ways)

    with precision(BITS):
        curve = curve_of(loss_curve)
        low, high = 0.0, LARGEST_EPSILON
        if not reaches(high):
            raise Infeasible(f"No epsilon reaches delta = {delta:g} on this curve. Raise delta.")
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if reaches(middle) else (middle, high)
        return high if not reaches(0.0) else 0.0


def replaced_delta_of(profile: Profile, epsilon: float) -> float:
    """A δ at this ε when one person's data are replaced: removed and added, ε divided as well as a few tries can.

    (P − α₁α₂R)₊ ≤ (P − α₁Q)₊ + α₁(Q − α₂R)₊, with Q the releases without the person.
    """

    def divide(pair: LossPair) -> float:
        tried = []
        for share in range(SHARES + 1):
            first = epsilon * share / SHARES
            second = max(round_down(arb(epsilon) - first), 0.0)
            tried.append(round_up(pair.up.delta(first) + arb(first).exp() * pair.down.delta(second)))
        return min(tried)

    return _resolve(profile, divide)


def group_delta_of(profile: Profile, epsilon: float, people: int) -> float:
    """Return a δ at this ε for several people together: a chain of neighbours with the same share of ε for each."""
    share = max(round_down(arb(epsilon) / people), 0.0)
    chain = arb(people) if share == 0 else expm1(arb(people) * share) / expm1(share)
    return _resolve(profile, lambda pair: round_up(chain * pair.up.delta(share).max(pair.down.delta(share))))


def _laws(profile: Profile, delta: float) -> LossPair:
    return together(profile.uses, grid_of(profile.uses), cut_for(delta, profile.releases))


def _resolve(profile: Profile, evaluate: Callable[[LossPair], float]) -> float:
    """Return a divergence, evaluated with ends that are cut where they are small against it."""
    assumed = FIRST_DELTA
    while True:
        found = evaluate(_laws(profile, assumed))
        if found >= assumed or assumed <= LAST_DELTA:
            return min(found, 1.0)
        assumed = max(found / 10, LAST_DELTA)
