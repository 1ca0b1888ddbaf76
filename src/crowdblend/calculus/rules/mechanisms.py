"""Crowd-blending mechanisms (CBP 3.1 and 4), and the plain noisy histogram."""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import TABLE, Assumption
from crowdblend.calculus.conditions import require, require_unsampled
from crowdblend.calculus.description import NOISY_POINTS, TARGET, mechanism, same_release
from crowdblend.calculus.theorem import rule
from crowdblend.guarantees.privacy import CrowdBlending, Differential, Relation
from crowdblend.guarantees.profiles import GaussianCurve, Profile, ThresholdCurve, Uses
from crowdblend.numerics.balls import upper_bound
from crowdblend.numerics.laplace import appears
from crowdblend.numerics.mechanism_curves import GaussianCells

GAUSSIAN = (Assumption.EXACT_NOISE, Assumption.DISCRETE_GAUSSIAN, Assumption.ALL_CELLS)
SHOWN = (Assumption.EXACT_NOISE, Assumption.SHOWN_FROM_THRESHOLD)


@rule(
    "histogram.suppressed",
    source="CBP 3.1, first example",
    statement="A histogram over fixed classes that drops counts below k is (k, 0)-crowd-blending.",
    assumes=(*TABLE, Assumption.SMALL_CLASSES_DROPPED),
    about=mechanism("histogram.suppressed", "k"),
)
def histogram_suppressed(*, k: int) -> CrowdBlending:
    """Members of a class are interchangeable, and a class below k is not shown with or without the person."""
    return CrowdBlending(k, 0.0)


@rule(
    "histogram.noisy",
    source="CBP 3.1, second example",
    statement="A histogram over fixed classes, exact from k on, with noise below k that hides a step of one up to a "
    "factor e^ε (empty classes included), is (k, ε)-crowd-blending.",
    assumes=(*TABLE, Assumption.EXACT_NOISE, Assumption.NOISE_BELOW_K, Assumption.ALL_CELLS),
    about=mechanism("histogram.noisy", "k", "noise_epsilon"),
)
def histogram_noisy(*, k: int, noise_epsilon: float) -> CrowdBlending:
    """Members of a class are interchangeable, and below k the noise hides one person."""
    return CrowdBlending(k, noise_epsilon)


@rule(
    "histogram.laplace",
    source="discrete Laplace mechanism",
    statement="A histogram over fixed classes with discrete Laplace noise of loss ε on every cell, the empty ones too, "
    "is ε-differentially private with one person more or less.",
    assumes=(*TABLE, Assumption.EXACT_NOISE, Assumption.DISCRETE_LAPLACE, Assumption.ALL_CELLS),
    about=mechanism("histogram.laplace", "noise_epsilon"),
)
def histogram_laplace(*, noise_epsilon: float) -> Differential:
    """One person moves one count by one, and the noise at neighbouring values differs by a factor of at most e^ε."""
    return Differential(noise_epsilon, 0.0, Relation.ADD_REMOVE)


@rule(
    "histogram.gaussian",
    source="Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy, 2020, Theorem 7; "
    "docs/proofs.md#gaussian",
    statement="A histogram over fixed classes with discrete Gaussian noise of parameter σ on every cell, the empty "
    "ones too, is (ε, P[Y ≥ m − 1] − e^ε·P[Y ≥ m])-differentially private with one person more or less, Y the noise "
    "and m the first whole number from σ²ε + 1/2 on.",
    assumes=(*TABLE, *GAUSSIAN),
    about=mechanism("histogram.gaussian", "sigma"),
    free={"epsilon": TARGET},
)
def histogram_gaussian(*, sigma: float, epsilon: float) -> Differential:
    """One person moves one count by one, and the loss of that rises with the noise."""
    delta = upper_bound(lambda: GaussianCells(sigma).at(arb(epsilon).exp()))
    return Differential(epsilon, delta, Relation.ADD_REMOVE)


@rule(
    "histogram.threshold",
    source="crowdblend, docs/proofs.md#threshold; the mechanism is that of Korolova, Kenthapadi, Mishra and Ntoulas, "
    "Releasing Search Queries and Clicks Privately, 2009",
    statement="A histogram of the cells in which somebody is, each with discrete Laplace noise of loss ε and shown "
    "where the noisy count is at least t, is (ε, e^(−(t−1)ε)/(1 + e^−ε))-differentially private with one person more "
    "or less.",
    assumes=(*TABLE, *SHOWN),
    about=mechanism("histogram.threshold", "noise_epsilon", "show_from"),
)
def histogram_threshold(*, noise_epsilon: float, show_from: int) -> Differential:
    """A person who is alone makes a cell appear; among others the noise hides one person."""
    delta = upper_bound(lambda: appears((-arb(noise_epsilon)).exp(), show_from))
    return Differential(noise_epsilon, delta, Relation.ADD_REMOVE)


@rule(
    "generalization.suppressed",
    source="CBP 3.1, third example; LQS Definition 5",
    statement="Recoding every record by a fixed function and dropping the results that occur fewer than k times is (k, "
    "0)-crowd-blending.",
    assumes=(*TABLE, Assumption.SMALL_CLASSES_DROPPED),
    about=mechanism("generalization.suppressed", "k"),
)
def generalization_suppressed(*, k: int) -> CrowdBlending:
    """Records with the same recoded value are interchangeable, and rare values are not shown."""
    return CrowdBlending(k, 0.0)


@rule(
    "points.noisy",
    source="CBP 4, example before Proposition 11",
    statement="Dropping the points of blocks that hold fewer than k, and moving every other point by noise of its own "
    "that hides where in its block it was up to a factor e^ε, is (k, ε)-crowd-blending.",
    assumes=(*TABLE, Assumption.SMALL_CLASSES_DROPPED, Assumption.EXACT_NOISE, Assumption.NOISE_ON_POINTS),
    about=NOISY_POINTS,
)
def points_noisy(*, k: int, noise_epsilon: float) -> CrowdBlending:
    """Points of one block are nearly interchangeable, and sparse blocks are not shown."""
    return CrowdBlending(k, noise_epsilon)


@rule(
    "blending.stated",
    source="CBP Definition 4",
    statement="A mechanism that is (k, ε)-crowd-blending by the word of whoever plans with it.",
    assumes=(Assumption.STATED_MECHANISM,),
    about=mechanism("blending.stated", "k", "blend_epsilon"),
)
def blending_stated(*, k: int, blend_epsilon: float) -> CrowdBlending:
    """A mechanism that is not ours is planned with on its author's word."""
    return CrowdBlending(k, blend_epsilon)


@rule(
    "blending.postprocessing",
    source="CBP Definition 4",
    statement="Whatever is computed from a (k, ε)-crowd-blending release alone is (k, ε)-crowd-blending.",
    about=same_release(),
)
def blending_survives_postprocessing(premise: CrowdBlending) -> CrowdBlending:
    """Both halves of the definition compare output distributions, and computing on them keeps them close."""
    return premise


@rule(
    "blending.differential",
    source="CBP Proposition 5",
    statement="An ε-differentially private mechanism (one person more or less) is (k, ε)-crowd-blending for every k.",
    about=same_release(),
    free={"k": "true for every k"},
)
def differential_blends(premise: Differential, *, k: int) -> CrowdBlending:
    """Removing anyone changes the output by at most e^ε, so the second half of the definition always holds."""
    # With the replace relation alone a table of fewer than k people is not covered (CBP Proposition 5).
    require(premise, "Use a mechanism with pure noise.", relation=Relation.ADD_REMOVE, people=1, delta=0)
    require_unsampled(premise)
    return CrowdBlending(k, premise.epsilon)


@rule(
    "profile.gaussian",
    source="crowdblend, docs/proofs.md#gaussian",
    statement="A histogram over fixed classes with discrete Gaussian noise of parameter σ on every cell, the empty "
    "ones too, has the divergence of histogram.gaussian at every ε, in each direction.",
    assumes=(*TABLE, *GAUSSIAN),
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
    assumes=(*TABLE, *SHOWN),
    about=mechanism("histogram.threshold", "noise_epsilon", "show_from"),
)
def profile_of_threshold(*, noise_epsilon: float, show_from: int) -> Profile:
    """The person is alone in a cell, or one of several in a noisy one."""
    return Profile((Uses(ThresholdCurve(noise_epsilon, show_from), 1),))
