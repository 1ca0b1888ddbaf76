"""Profiles of tables that are noisy whatever their size: Gaussian noise on every cell, and a threshold."""

from __future__ import annotations

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.description import mechanism
from crowdblend.calculus.rules.mechanisms import GAUSSIAN, SHOWN
from crowdblend.calculus.theorem import rule
from crowdblend.guarantees import GaussianCurve, Profile, ThresholdCurve, Uses

_TABLE = (Assumption.ONE_ROW_PER_PERSON, Assumption.FIXED_CLASSES)


@rule(
    "profile.gaussian",
    source="crowdblend, docs/proofs.md#gaussian",
    statement="A histogram over fixed classes with discrete Gaussian noise of parameter σ on every cell, the empty "
    "ones too, has the divergence of histogram.gaussian at every ε, in each direction.",
    assumes=(*_TABLE, *GAUSSIAN),
    about=mechanism("histogram.gaussian", "sigma"),
)
def profile_of_gaussian(*, sigma: float) -> Profile:
    """The divergence of the noise from itself, moved by one."""
    return Profile((Uses(GaussianCurve(sigma), 1),))


@rule(
    "profile.threshold",
    source="crowdblend, docs/proofs.md#threshold",
    statement="A histogram of the cells in which somebody is, each with discrete Laplace noise of loss ε₀ and shown "
    "from t on, has at every ε ≥ 0 the larger of (1 − e^(ε−ε₀))₊/(1 + e^−ε₀) and, with the person, q = "
    "e^(−(t−1)ε₀)/(1 + e^−ε₀), without, (1 − e^ε(1 − q))₊.",
    assumes=(*_TABLE, *SHOWN),
    about=mechanism("histogram.threshold", "noise_epsilon", "show_from"),
)
def profile_of_threshold(*, noise_epsilon: float, show_from: int) -> Profile:
    """The person is alone in a cell, or one of several in a noisy one."""
    return Profile((Uses(ThresholdCurve(noise_epsilon, show_from), 1),))
