"""Profiles: the divergence of a release at every ε, how releases compose by them, and what is left of them at one ε.

A rule of a profile only names the curve and its numbers. The curve is evaluated where a profile becomes an (ε, δ).
"""

from __future__ import annotations

from dataclasses import replace

from crowdblend.trusted.calculus.assumptions import BELOW_K, MOVED_POINTS, NOISY_TABLE, Assumption
from crowdblend.trusted.calculus.description import (
    NAMED,
    NOISY_BELOW_K,
    NOISY_POINTS,
    RELEASES,
    TARGET,
    UNDER_BIAS,
    UNDER_SAMPLING,
    Composite,
    mechanism,
    same_release,
)
from crowdblend.trusted.calculus.loss_curves import delta_of, epsilon_of, group_delta_of, replaced_delta_of
from crowdblend.trusted.calculus.rules.blending import ROBUST, check_bias, check_rates
from crowdblend.trusted.calculus.rules.mechanisms import check_noise_by_size
from crowdblend.trusted.calculus.rules.programme import check_shares
from crowdblend.trusted.calculus.rules.recoding import require_pure
from crowdblend.trusted.calculus.rules.sampling import SAMPLED
from crowdblend.trusted.calculus.theorem import (
    Unmet,
    require,
    require_alike,
    require_one_person,
    require_unsampled,
    rule,
)
from crowdblend.trusted.guarantees import profiles as curves
from crowdblend.trusted.guarantees.aggregates import Aggregate, IidSampling, Together
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.profiles import LossCurve, Profile, Uses
from crowdblend.trusted.guarantees.programme import OneSampleCurve, PartOfSample, ProgrammeCurve, UnequalSampleCurve

_PROOF = "crowdblend, docs/proofs.md#composition-by-profiles"
SERIES = (Assumption.FRESH_SAMPLES, Assumption.FIXED_SERIES)


def _once(curve: LossCurve, samplings: int = 1) -> Profile:
    return Profile((Uses(curve, 1),), Relation.ADD_REMOVE, 1, samplings)


@rule(
    "profile.crowds",
    source=_PROOF,
    statement="Poisson sampling at rate β, then a (k, ε)-crowd-blending mechanism, has the divergence of "
    "suppression.exact or blending.sharp at every ε, in each direction.",
    assumes=SAMPLED,
    about=UNDER_SAMPLING,
)
def profile_of_crowds(premise: CrowdBlending, *, rate: float) -> Profile:
    """For suppression the curve is the divergence itself, at the worst class size for each ε."""
    return _once(curves.CrowdCurve(premise.k, premise.epsilon, rate))


@rule(
    "profile.noise-below-k",
    source=_PROOF,
    statement="Poisson sampling at rate β, then a histogram that is exact from k on and carries discrete Laplace noise "
    "of loss ε₀ below, has the divergence of histogram.noisy-sampled at every ε, in each direction.",
    assumes=(*BELOW_K, *SAMPLED),
    about=mechanism(UNDER_SAMPLING.name, "rate", inside=NOISY_BELOW_K),
)
def profile_of_noise_below_k(*, k: int, noise_epsilon: float, rate: float, flag: bool) -> Profile:
    """The divergence of the published value at the worst class size for each ε."""
    return _once(curves.NoisyCountCurve(k, noise_epsilon, rate, flag))


@rule(
    "profile.points",
    source=_PROOF,
    statement="Poisson sampling at rate β, then the noisy points of blocks that hold at least k, has the divergence of "
    "points.sampled at every ε, in each direction.",
    assumes=(*MOVED_POINTS, *SAMPLED),
    about=mechanism(UNDER_SAMPLING.name, "rate", inside=NOISY_POINTS),
)
def profile_of_points(*, k: int, noise_epsilon: float, rate: float) -> Profile:
    """The divergence of a point hidden among k − 1 others at the worst block size for each ε."""
    return _once(curves.PointCurve(k, noise_epsilon, rate))


@rule(
    "profile.programme",
    source=_PROOF,
    statement="Poisson sampling at rate β, then a mechanism of any kind with randomness of its own on every one of "
    "several disjoint parts of the sample, has the divergence of programme.parts at every ε, in each direction.",
    assumes=(Assumption.OWN_RANDOMNESS, *SAMPLED),
    about=UNDER_SAMPLING,
)
def profile_of_programme(*premises: PartOfSample, rate: float) -> Profile:
    """An average of convex curves is convex."""
    check_shares(premises)
    return _once(ProgrammeCurve(rate, premises))


@rule(
    "profile.steps",
    source="Zhu, Dong and Wang 2022, Theorem 10; docs/proofs.md#amplified-once",
    statement="Mechanisms with profiles of their own on one table, each with randomness of its own, have the profile "
    "of the product of their pairs, also where one depends on what earlier ones published; the profile of none relies "
    "on sampling.",
    assumes=(Assumption.OWN_RANDOMNESS, Assumption.FIXED_SERIES),
    about=Composite("steps"),
)
def steps_compose(*premises: Profile) -> Profile:
    """The pairs dominate every mechanism on every table, so their product dominates all of them on the same one."""
    require_alike(premises)
    for premise in premises:
        require_unsampled(premise)
    uses = tuple(use for premise in premises for use in premise.uses)
    return Profile(uses, premises[0].relation, premises[0].people, 0)


@rule(
    "profile.one-sample",
    source="crowdblend, docs/proofs.md#amplified-once",
    statement="Mechanisms that have a profile together, with one person more or less, all on one and the same Poisson "
    "sample at rate β, have the divergence of a mixture, β parts of them and 1 − β of their neighbour, at every ε, in "
    "each direction.",
    assumes=SAMPLED,
    about=UNDER_SAMPLING,
)
def profile_of_one_sample(premise: Profile, *, rate: float) -> Profile:
    """The person is in the sample of all of them or of none, so that sampling amplifies once, after composing."""
    _add_remove(premise)
    require_unsampled(premise)
    return _once(OneSampleCurve(rate, premise.uses))


@rule(
    "profile.one-unequal-sample",
    source="crowdblend, docs/proofs.md#amplified-once",
    statement="Mechanisms that have a profile together, with one person more or less, all on one and the same sample "
    "to which everybody comes by an independent coin with a probability of their own, have the divergence of "
    "profile.one-sample at the largest probability of a protected person, at every ε, in each direction.",
    assumes=ROBUST,
    about=UNDER_BIAS,
)
def profile_of_one_unequal_sample(
    premise: Profile, *, low: float, high: float, exceptions: int, max_rate: float
) -> Profile:
    """Noise does not depend on the rates of others, and a smaller rate loses less."""
    check_rates(low, high, exceptions, max_rate)
    _add_remove(premise)
    require_unsampled(premise)
    return _once(UnequalSampleCurve(low, high, exceptions, max_rate, premise.uses))


@rule(
    "profile.biased",
    source=_PROOF,
    statement="Under the conditions of robust.differential the divergence at every ε is at most the δ' of that rule.",
    assumes=ROBUST,
    about=UNDER_BIAS,
)
def profile_of_biased_sampling(
    premise: CrowdBlending, *, low: float, high: float, exceptions: int, max_rate: float
) -> Profile:
    """One bound for both directions; without the person no more than 1 − e^ε(1 − P) is lost."""
    check_bias(premise, low, high, exceptions, max_rate)
    return _once(curves.BiasedCurve(premise.k, premise.epsilon, low, high, exceptions, max_rate))


@rule(
    "profile.amplified",
    source=_PROOF,
    statement="An (ε, δ)-differentially private mechanism on a Poisson sample at rate β has the divergence of a "
    "mixture, β parts of it and 1 − β of its neighbour, at every ε, in each direction.",
    assumes=SAMPLED,
    about=UNDER_SAMPLING,
)
def profile_of_amplified(premise: Differential, *, rate: float) -> Profile:
    """Sampling weighs both ends of the loss."""
    require_one_person(premise, "State the mechanism's add-remove guarantee.")
    require_unsampled(premise)
    return _once(curves.AmplifiedCurve(premise.epsilon, premise.delta, rate))


@rule(
    "profile.outliers",
    source=_PROOF,
    statement="A histogram whose bin of size j carries discrete Laplace noise of loss ε(j) = tε/(K − j) for j < K − t, "
    "else ε, has the largest divergence between bins of size j and j − 1 at every ε, in each direction.",
    assumes=(*NOISY_TABLE, Assumption.NOISE_BY_SIZE, Assumption.ALL_CELLS),
    about=mechanism("outlier.histogram", "epsilon", "transition", "limit"),
)
def profile_of_outliers(*, epsilon: float, transition: int, limit: int) -> Profile:
    """The same curve for everybody: that outliers lose less is not part of it."""
    check_noise_by_size(epsilon, transition, limit)
    return _once(curves.OutlierCurve(epsilon, transition, limit), 0)


@rule(
    "profile.differential",
    source="Kairouz, Oh and Viswanath 2015; " + _PROOF,
    statement="An (ε, δ)-differentially private release has at every ε' a divergence of at most that of the pair which "
    "loses everything with probability δ, and else ε or −ε as randomized response does.",
    about=same_release(),
)
def profile_of_differential(premise: Differential) -> Profile:
    """One known pair (ε, δ) bounds the curve everywhere."""
    uses = (Uses(curves.ClosenessCurve(premise.epsilon, premise.delta), 1),)
    return Profile(uses, premise.relation, premise.people, premise.samplings)


@rule(
    "profile.recoding-population",
    source=_PROOF,
    statement="Choosing the recoding by an ε₁-differentially private selection on the whole population, then releasing "
    "an independent sample, has the composed profile of both.",
    assumes=SERIES,
    about=Composite("recoding.population"),
)
def profile_of_population_recoding(choice: Differential, release: Profile) -> Profile:
    """Adaptive composition: the curve of the release is the same for every recoding that may have been chosen."""
    require_pure(choice)
    _add_remove(release)
    uses = (Uses(curves.ClosenessCurve(choice.epsilon, choice.delta), 1), *release.uses)
    return Profile(uses, Relation.ADD_REMOVE, 1, choice.samplings + release.samplings)


@rule(
    "profile.recoding-split",
    source=_PROOF,
    statement="Sending each sampled person to the choosing part with probability ρ and else to the released part, with "
    "an ε₁-differentially private choice and suppression below k, each with randomness of its own, has the divergence "
    "of a mixture, βρ parts of the choice and 1 − βρ of suppression at rate β(1−ρ)/(1−βρ), at every ε, in each "
    "direction.",
    assumes=(Assumption.CHOOSING_PART, Assumption.OWN_RANDOMNESS, *SAMPLED),
    about=Composite("recoding.split", ("rate", "share")),
)
def profile_of_split_recoding(choice: Differential, release: CrowdBlending, *, rate: float, share: float) -> Profile:
    """Given the choosing part, the released part is a Poisson sample of everybody else."""
    require_pure(choice)
    require_unsampled(choice)
    require(release, "Suppress small classes instead.", epsilon=0)
    return _once(curves.SplitCurve(choice.epsilon, release.k, rate, share))


@rule(
    "profile.replaced",
    source=_PROOF,
    statement="Releases with a profile for one person more or less have one for one person's data replaced: for every "
    "release, the divergence at e^ε is at most min over ε₁ + ε₂ = ε of up(ε₁) + e^ε₁·down(ε₂).",
    about=same_release(),
)
def profile_under_replacing(premise: Profile) -> Profile:
    """Each release is converted by itself, at every ε, so that releases under one relation compose."""
    _add_remove(premise)
    uses = tuple(Uses(curves.ReplacedCurve(use.curve), use.releases) for use in premise.uses)
    return Profile(uses, Relation.REPLACE, 1, premise.samplings)


@rule(
    "composition.profiles",
    source="Zhu, Dong and Wang 2022, Theorem 10; docs/proofs.md#composition-by-profiles",
    statement="Releases with profiles, each with a sample and noise of its own, have the profile of the product of "
    "their pairs, also where a release depends on what earlier ones published.",
    assumes=SERIES,
    about=RELEASES,
)
def profiles_compose(*premises: Profile) -> Profile:
    """Every curve is dominated by a pair, and the product of the pairs dominates the composition."""
    require_alike(premises)
    uses = tuple(use for premise in premises for use in premise.uses)
    return replace(premises[0], uses=uses, samplings=max(premise.samplings for premise in premises))


@rule(
    "composition.repeated",
    source="Zhu, Dong and Wang 2022, Theorem 10; docs/proofs.md#composition-by-profiles",
    statement="A release that is repeated, each time with a sample and noise of its own, has the profile of as "
    "many equal pairs.",
    assumes=(*SERIES, Assumption.REPEATED_RELEASES),
    about=Composite("repeated", ("releases",)),
)
def repeated_releases_compose(premise: Profile, *, releases: int) -> Profile:
    """composition.profiles of equal premises, written down once."""
    return replace(premise, uses=tuple(Uses(use.curve, use.releases * releases) for use in premise.uses))


@rule(
    "profile.delta",
    source=_PROOF,
    statement="Releases with a profile are (ε, δ)-differentially private together, δ the divergence of the product of "
    "their pairs at ε, the larger of both directions.",
    about=same_release(),
    free={"epsilon": TARGET},
)
def profile_at_epsilon(premise: Profile, *, epsilon: float) -> Differential:
    """The losses are convolved on a grid that lies above the curves."""
    return Differential(epsilon, delta_of(premise, epsilon), premise.relation, premise.people, premise.samplings)


@rule(
    "profile.epsilon",
    source=_PROOF,
    statement="Releases with a profile are (ε, δ)-differentially private together, ε the smallest at which the "
    "divergence of the product of their pairs is at most δ in both directions.",
    about=same_release(),
    free={"delta": "the delta that epsilon is computed for; the guarantee names it"},
)
def profile_at_delta(premise: Profile, *, delta: float) -> Differential:
    """The losses are convolved on a grid that lies above the curves."""
    return Differential(epsilon_of(premise, delta), delta, premise.relation, premise.people, premise.samplings)


@rule(
    "profile.zero-knowledge",
    source="CBP Theorem 13 and footnote 4, the simulators of their proofs; docs/proofs.md#composition-by-profiles",
    statement="Releases with a profile, each from a sample, are (ε, δ)-zero-knowledge private together with respect to "
    "the same samples of everybody else, δ as in profile.delta.",
    about=same_release(),
    free={"epsilon": TARGET},
)
def profile_is_zero_knowledge(premise: Profile, *, epsilon: float) -> ZeroKnowledge:
    """The simulator runs every release on a sample of everybody else: the releases without the person."""
    _add_remove(premise)
    return ZeroKnowledge(epsilon, delta_of(premise, epsilon), aggregates_of(premise), Relation.ADD_REMOVE)


@rule(
    "profile.replace",
    source=_PROOF,
    statement="Releases with a profile for one person more or less are (ε, δ)-differentially private together with one "
    "person's data replaced, δ = min over ε₁ + ε₂ = ε of up(ε₁) + e^ε₁·down(ε₂).",
    about=same_release(),
    free={"epsilon": TARGET},
)
def profile_of_replacing(premise: Profile, *, epsilon: float) -> Differential:
    """Both tables are neighbours of the one without the person, in opposite directions."""
    _add_remove(premise)
    return Differential(epsilon, replaced_delta_of(premise, epsilon), Relation.REPLACE, 1, premise.samplings)


@rule(
    "profile.group",
    source="group privacy, by a chain of neighbours",
    statement="Releases with a profile for one person are (ε, δ)-differentially private together for c people, δ = (1 "
    "+ e^{ε/c} + … + e^{(c−1)ε/c})·δ(ε/c).",
    about=same_release(),
    free={"epsilon": TARGET, "people": NAMED},
)
def profile_for_groups(premise: Profile, *, epsilon: float, people: int) -> Differential:
    """c steps of one person each, each with the same share of ε."""
    require(premise, "Use the profile for one person.", people=1)
    delta = group_delta_of(premise, epsilon, people)
    return Differential(epsilon, delta, premise.relation, people, premise.samplings)


def aggregates_of(profile: Profile) -> Aggregate:
    """Return all samples together; those at one rate are rounds of one aggregate."""
    rounds: dict[Aggregate, int] = {}
    for use in profile.uses:
        found = use.curve.aggregate()
        if found is None:
            raise Unmet("needs releases that are each drawn from a sample, got one that is not. Use profile.delta.")
        rounds[found] = rounds.get(found, 0) + use.releases
    parts: list[Aggregate] = []
    for found, count in rounds.items():
        parts += [IidSampling(found.rate, count)] if isinstance(found, IidSampling) else [found] * count
    return parts[0] if len(parts) == 1 else Together(tuple(parts))


def _add_remove(premise: Profile) -> None:
    require_one_person(premise, "Start from the profiles for one person more or less.")
