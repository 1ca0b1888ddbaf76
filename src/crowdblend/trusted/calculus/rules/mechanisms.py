"""Mechanisms on a given table: crowd-blending (CBP 3.1 and 4), noisy histograms, outlier privacy, and sanitizers.

Sanitizers run on a sample of fixed size and are differentially private with one person's data replaced, from which
sample-and-sanitize (ZKP Proposition 16) starts. A concealed row ⊥ counts as a value like any other: synopses let it
satisfy no query, and an OpenDP measurement reads it as one fixed value of its domain.
"""

from __future__ import annotations

from flint import arb

from crowdblend.trusted.calculus.assumptions import NOISY_TABLE, ROWS, TABLE, Assumption
from crowdblend.trusted.calculus.description import NOISY_POINTS, TARGET, mechanism, same_release
from crowdblend.trusted.calculus.theorem import Unmet, require, require_unsampled, rule
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, OutlierPrivate, Relation
from crowdblend.trusted.guarantees.profiles import GaussianCurve, Profile, ThresholdCurve, Uses
from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.arithmetic import Number
from crowdblend.trusted.numerics.balls import round_up, upper_bound
from crowdblend.trusted.numerics.laplace import appears, fading_divergence
from crowdblend.trusted.numerics.mechanism_curves import GaussianCells

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
    assumes=(Assumption.STATED_MECHANISM, Assumption.OWN_DATA_ONLY),
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


@rule(
    "opendp.measurement",
    source="OpenDP's privacy map, docs/proofs.md#sanitizers-on-a-sample",
    statement="A measurement whose privacy map gives (ε, δ) at the distance of one replaced row is (ε, "
    "δ)-differentially private with one person's data replaced.",
    assumes=(Assumption.STATED_MAP, *ROWS),
    about=mechanism("opendp.measurement", "epsilon", "delta"),
)
def opendp_measurement(*, epsilon: float, delta: float) -> Differential:
    """Replacing a row is one change to a metric that counts changes, and two steps to one that counts people."""
    return Differential(epsilon, delta, Relation.REPLACE)


@rule(
    "synopsis.exponential",
    source="BLR08 as used in ZKP Proposition 24, docs/proofs.md#sanitizers-on-a-sample",
    statement="Choosing among fixed tables of synthetic rows with probability proportional to e^{−ε·k·d/2}, where d is "
    "the largest difference between the shares of a query of the class in the candidate and among the k people, is "
    "ε-differentially private with one person's data replaced.",
    assumes=(*TABLE, Assumption.FIXED_CANDIDATES, Assumption.SYNOPSIS_WEIGHTS, Assumption.EXACT_CHOICE),
    about=mechanism("synopsis.exponential", "epsilon"),
)
def synopsis_exponential(*, epsilon: float) -> Differential:
    """One person of k moves every share, hence d, by at most 1/k."""
    return Differential(epsilon, 0.0, Relation.REPLACE)


@rule(
    "synopsis.counts",
    source="discrete Laplace mechanism, docs/proofs.md#sanitizers-on-a-sample",
    statement="Counts over fixed classes that replacing one person's data moves by at most s in total, each with "
    "discrete Laplace noise of loss ε₀, and whatever is computed from them alone, are sε₀-differentially private with "
    "one person's data replaced.",
    assumes=(
        *TABLE,
        Assumption.EXACT_NOISE,
        Assumption.DISCRETE_LAPLACE,
        Assumption.MOVED_COUNTS,
        Assumption.ALL_CELLS,
    ),
    about=mechanism("synopsis.counts", "noise_epsilon", "sensitivity"),
)
def noisy_counts(*, noise_epsilon: float, sensitivity: float) -> Differential:
    """Each count that moves by one costs a factor e^ε₀."""
    return Differential(round_up(arb(noise_epsilon) * sensitivity), 0.0, Relation.REPLACE)
