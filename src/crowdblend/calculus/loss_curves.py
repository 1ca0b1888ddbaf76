"""Profiles evaluated: the divergence of all releases together at an ε, and the ε at which it is small enough."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from flint import arb

from crowdblend.errors import Infeasible
from crowdblend.guarantees import (
    AmplifiedCurve,
    BiasedCurve,
    ClosenessCurve,
    CrowdCurve,
    LossCurve,
    NoisyCountCurve,
    OutlierCurve,
    PartsCurve,
    PointCurve,
    Profile,
    ReplacedCurve,
    SplitCurve,
    StrataCurve,
    Uses,
)
from crowdblend.numerics.balls import expm1, precision, round_down, round_up
from crowdblend.numerics.combined_curves import Replaced, WorstOf
from crowdblend.numerics.loss_law import BITS, GridTooFine, compose
from crowdblend.numerics.mechanism_curves import BiasedCrowds, OutlierBins, PartsOfCrowds, Points
from crowdblend.numerics.noise_curve import NoisyCounts
from crowdblend.numerics.profile_curves import (
    Closeness,
    ClosenessKernel,
    Crowds,
    Curve,
    LossPair,
    Sampled,
    Split,
    loss_pair,
)
from crowdblend.numerics.series import Spread, cut_for, spread_of

# Divergences are looked for down to here; what is smaller is stated as a little more than it is.
FIRST_DELTA, LAST_DELTA = 1e-9, 1e-30
# In so many ways is ε divided between removing a person's data and adding other data.
SHARES = 32


def _crowds(made: CrowdCurve) -> Curve:
    return Sampled(arb(made.rate), Crowds(made.k, arb(made.rate), arb(made.blend_epsilon).exp()))


def _noisy(made: NoisyCountCurve) -> Curve:
    return NoisyCounts(made.k, arb(made.rate), made.noise_epsilon, flagged=made.flag)


def _points(made: PointCurve) -> Curve:
    return Sampled(arb(made.rate), Points(made.k, arb(made.rate), arb(made.noise_epsilon).exp()))


def _biased(made: BiasedCurve) -> Curve:
    blend = arb(made.blend_epsilon).exp()
    return BiasedCrowds(made.k, blend, made.low, made.high, made.exceptions, made.max_rate)


def _amplified(made: AmplifiedCurve) -> Curve:
    return Sampled(arb(made.rate), ClosenessKernel(made.epsilon, made.delta))


def _split(made: SplitCurve) -> Curve:
    chosen = arb(made.rate) * made.share
    # The divergence grows with the rate, so the larger neighbouring double is the safe one.
    released = arb(round_up(arb(made.rate) * (1 - arb(made.share)) / (1 - chosen)))
    return Split(chosen, Closeness(made.epsilon, 0.0), Sampled(released, Crowds(made.k, released, arb(1))))


def _parts(made: PartsCurve) -> Curve:
    shares = [arb(share) for share in made.shares]
    total = sum(shares, arb(0))
    taken = arb(made.rate) * total / total.max(arb(1))
    return Sampled(taken, PartsOfCrowds(list(zip(made.thresholds, shares, strict=True)), taken))


def _strata(made: StrataCurve) -> Curve:
    return WorstOf([curve_of(curve) for curve in made.curves])


def _replaced(made: ReplacedCurve) -> Curve:
    return Replaced(curve_of(made.curve))


_CURVES: dict[type[LossCurve], Callable[[Any], Curve]] = {
    CrowdCurve: _crowds,
    NoisyCountCurve: _noisy,
    PointCurve: _points,
    BiasedCurve: _biased,
    AmplifiedCurve: _amplified,
    SplitCurve: _split,
    PartsCurve: _parts,
    StrataCurve: _strata,
    OutlierCurve: lambda made: OutlierBins(made.epsilon, made.transition, made.limit),
    ClosenessCurve: lambda made: Closeness(made.epsilon, made.delta),
    ReplacedCurve: _replaced,
}


@lru_cache(maxsize=32)
def curve_of(made: LossCurve) -> Curve:
    """The curve that a value names."""
    with precision(BITS):
        return _CURVES[type(made)](made)


@lru_cache(maxsize=256)
def pair_of(made: LossCurve, spacing: float, cut: float) -> LossPair:
    """The laws of one release on a grid."""
    return loss_pair(curve_of(made), spacing, cut)


def spread(uses: tuple[Uses, ...]) -> Spread:
    """How far the losses of these releases spread."""
    return spread_of((curve_of(use.curve), use.releases) for use in uses)


def grid_of(uses: tuple[Uses, ...]) -> float:
    """The spacing of the grid that these releases are composed on."""
    return spread(uses).spacing


@lru_cache(maxsize=16)
def together(uses: tuple[Uses, ...], spacing: float, cut: float) -> LossPair:
    """The laws of all releases together, on this grid or the finest coarser one that holds them."""
    while True:
        try:
            pairs = [(pair_of(use.curve, spacing, cut), use.releases) for use in uses]
            ups = compose(pair.up.times(count) for pair, count in pairs)
            return LossPair(ups, compose(pair.down.times(count) for pair, count in pairs))
        except GridTooFine:
            spacing *= 2


def delta_of(profile: Profile, epsilon: float) -> float:
    """A δ that is true of all releases together at this ε."""
    return _resolved(profile, lambda pair: max(round_up(pair.up.delta(epsilon)), round_up(pair.down.delta(epsilon))))


def epsilon_of(profile: Profile, delta: float) -> float:
    """The smallest ε that is proved for all releases together at this δ."""
    pair = _laws(profile, delta)
    found = [law.epsilon(delta) for law in (pair.up, pair.down)]
    if None in found:
        raise Infeasible(
            f"no epsilon reaches delta = {delta:g} for these releases together: they lose everything "
            "more often than that. Raise delta."
        )
    return max(epsilon for epsilon in found if epsilon is not None)


def replaced_delta_of(profile: Profile, epsilon: float) -> float:
    """A δ at this ε when one person's data are replaced: removed and added, ε divided as well as a few tries can.

    (P − α₁α₂R)₊ ≤ (P − α₁Q)₊ + α₁(Q − α₂R)₊, with Q the releases without the person.
    """

    def divided(pair: LossPair) -> float:
        tried = []
        for share in range(SHARES + 1):
            first = epsilon * share / SHARES
            second = max(round_down(arb(epsilon) - first), 0.0)
            tried.append(round_up(pair.up.delta(first) + arb(first).exp() * pair.down.delta(second)))
        return min(tried)

    return _resolved(profile, divided)


def group_delta_of(profile: Profile, epsilon: float, people: int) -> float:
    """A δ at this ε for several people together: a chain of neighbours with the same share of ε for each."""
    share = max(round_down(arb(epsilon) / people), 0.0)
    chain = arb(people) if share == 0 else expm1(arb(people) * share) / expm1(share)

    def chained(pair: LossPair) -> float:
        return round_up(chain * pair.up.delta(share).max(pair.down.delta(share)))

    return _resolved(profile, chained)


def _laws(profile: Profile, delta: float) -> LossPair:
    return together(profile.uses, grid_of(profile.uses), cut_for(delta, profile.releases))


def _resolved(profile: Profile, evaluate: Callable[[LossPair], float]) -> float:
    """A divergence, evaluated with ends that are cut where they are small against it."""
    assumed = FIRST_DELTA
    while True:
        found = evaluate(_laws(profile, assumed))
        if found >= assumed or assumed <= LAST_DELTA:
            return min(found, 1.0)
        assumed = max(found / 10, LAST_DELTA)
