"""Outlier privacy (Lui and Pass, 2015): more noise for smaller bins, with the true δ of the noise that is drawn."""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import NOISY_TABLE, Assumption
from crowdblend.calculus.conditions import Unmet
from crowdblend.calculus.description import mechanism, same_release
from crowdblend.calculus.theorem import rule
from crowdblend.guarantees.privacy import Differential, OutlierPrivate
from crowdblend.numerics import balls
from crowdblend.numerics.arithmetic import Number
from crowdblend.numerics.balls import round_up, upper_bound
from crowdblend.numerics.laplace import fading_divergence


@rule(
    "outlier.histogram",
    source="proved in docs/proofs.md; the notion is that of Lui and Pass, Outlier Privacy, 2015",
    statement="A histogram whose bin of size j carries discrete Laplace noise of loss ε(j) = tε/(K − j) for j < K − t, "
    "else ε, is (c·ε(j), δ)-outlier private, δ the largest hockey-stick divergence at c·ε(j) between bins of size j "
    "and j − 1.",
    assumes=(*NOISY_TABLE, Assumption.NOISE_BY_SIZE, Assumption.ALL_CELLS),
    about=mechanism("outlier.histogram", "epsilon", "transition", "limit"),
    free={"factor": "names the curve that the guarantee states"},
)
def outlier_histogram(*, epsilon: float, transition: int, limit: int, factor: float) -> OutlierPrivate:
    """One person changes one bin by one, so one bin's divergence is all there is."""
    check_noise_by_size(epsilon, transition, limit)

    def delta() -> Number:
        losses = [arb(epsilon) * transition / (limit - j) for j in range(limit - transition)] + [arb(epsilon)]
        return fading_divergence(balls, losses, arb(factor))

    return OutlierPrivate(epsilon, transition, limit, factor, min(1.0, upper_bound(delta)))


def check_noise_by_size(epsilon: float, transition: int, limit: int) -> None:
    """Refuse noise that the theorem is not about."""
    if epsilon == 0:
        raise Unmet("needs epsilon above 0, got 0. Pass the loss for large bins.")
    if transition >= limit:
        raise Unmet(f"needs transition below limit = {limit}, got {transition}. Lower t or raise K.")


@rule(
    "outlier.differential",
    source="Lui and Pass, Outlier Privacy, 2015: the definition",
    statement="Outlier privacy whose curve never exceeds ε is (ε, δ)-differential privacy.",
    about=same_release(),
)
def outlier_private_is_differential(premise: OutlierPrivate) -> Differential:
    """The curve's largest value holds for everybody."""
    return Differential(round_up(arb(premise.factor) * premise.epsilon), premise.delta, premise.relation)
