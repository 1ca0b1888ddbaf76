"""The theorems that relate crowd size, rate, ε and δ, each under the name that a plan shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import arb

from crowdblend.errors import NotApplicable
from crowdblend.methods.designs import Claims
from crowdblend.methods.planning.parts import derive_parts
from crowdblend.methods.planning.request import PlanRequest
from crowdblend.trusted.calculus import Derivation, Rule
from crowdblend.trusted.calculus.rules import blending, mechanisms, profiles, programme, sampling, surveys
from crowdblend.trusted.numerics.balls import expm1, log1p, precision, round_down


@dataclass(frozen=True)
class Bound:
    """One rule seen as a function from (k, rate, epsilon) to δ."""

    name: str
    rule: Rule
    applies: Callable[[PlanRequest], bool]
    compared: bool = False
    """Whether the rule only shows what a better one improves on; then it is tried for k up to LARGEST_COMPARED."""
    tolerance: float = 1e-8
    """The error to which an answer is worth finding, on the safe side: larger where each try takes long."""

    def derive(self, request: PlanRequest, k: int, rate: float | None, epsilon: float) -> Derivation:
        """Return the guarantee at these parameters; raise NotApplicable outside the rule's own conditions."""
        if self.rule is surveys.profile_of_survey:
            return profiles.profile_at_epsilon(profile_once(request, k, rate, epsilon), epsilon=epsilon)
        if request.shares:
            assert rate is not None, "parts are of a sample at one rate"
            return derive_parts([crowd(request, k)] * len(request.shares), request.shares, rate, epsilon)
        if not self.rule.premises:
            loss = noise_loss(request, rate, epsilon)
            given = {"k": k, "noise_epsilon": loss, "rate": rate, "epsilon": epsilon, "flag": request.flag}
            return self.rule(**{name: given[name] for name in self.rule.parameters})
        return self.rule(crowd(request, k), **request.sampling(rate), epsilon=epsilon)

    def delta(self, request: PlanRequest, k: int, rate: float | None, epsilon: float) -> float:
        """Return the proved δ at these parameters."""
        return float(self.derive(request, k, rate, epsilon).conclusion.delta)


def noise_loss(request: PlanRequest, rate: float | None, epsilon: float) -> float:
    """Return the loss of the noise below k: as given, or the largest ε₀ that sampling at this rate turns into ε."""
    if request.noise_epsilon is not None:
        return request.noise_epsilon
    if rate is None or epsilon <= 0:
        raise NotApplicable(
            "Noise below k needs a rate and an epsilon above 0.",
            remedy="Suppress below k instead.",
            where="below_k",
            code="plan.noise-below-k",
        )
    with precision(128):
        kept = arb(epsilon)
        if request.survey_parameters:
            # Replacing is removing and adding, and asking n of N people makes good for the rest.
            kept = log1p(expm1(epsilon) * arb(request.population) / arb(request.samples)) / 2
        return round_down(log1p(kept.expm1() / arb(rate)))


def profile_once(request: PlanRequest, k: int, rate: float | None, epsilon: float) -> Derivation:
    """The profile of one release with these parameters; noise below k is that for epsilon, where it is left open."""
    if request.biased:
        found = profiles.profile_of_biased_sampling(crowd(request, k), **request.sampling(None))
    elif request.form == "moved":
        found = profiles.profile_of_points(k=k, noise_epsilon=request.noise_epsilon, rate=rate)
    elif request.noisy:
        loss = noise_loss(request, rate, epsilon)
        found = profiles.profile_of_noise_below_k(k=k, noise_epsilon=loss, rate=rate, flag=request.flag)
    elif request.shares:
        placed = (programme.crowds_in_a_part(crowd(request, k), share=share) for share in request.shares)
        found = profiles.profile_of_programme(*placed, rate=rate)
    else:
        found = profiles.profile_of_crowds(crowd(request, k), rate=rate)
    if not request.survey_parameters:
        return found
    return surveys.profile_of_survey(profiles.profile_under_replacing(found), **request.survey_parameters)


@dataclass(frozen=True)
class PlannedMechanism(Claims):
    """The mechanism that a request is about, known by its parameters alone: it claims, and publishes nothing."""

    request: PlanRequest
    k: int
    noise_epsilon: float | None

    def claim(self) -> Derivation:
        """Return the guarantee to crowds."""
        return crowd(self.request, self.k, self.noise_epsilon)

    def claim_under_sampling(self, *, rate: float, epsilon: float) -> Derivation | None:
        """Return the guarantee after sampling by a theorem of its own; None where there is none."""
        for bound in BOUNDS:
            if not bound.rule.premises and bound.applies(self.request):
                return bound.derive(self.request, self.k, rate, epsilon)
        return None


def crowd(request: PlanRequest, k: int, loss: float | None = None) -> Derivation:
    """Return the claim of the crowd-blending mechanism that the request is about."""
    if request.form == "moved":
        return mechanisms.points_noisy(k=k, noise_epsilon=request.noise_epsilon)
    if loss is not None:
        return mechanisms.histogram_noisy(k=k, noise_epsilon=loss)
    if request.blend_epsilon > 0:
        return mechanisms.blending_stated(k=k, blend_epsilon=request.blend_epsilon)
    if request.form == "records":
        return mechanisms.generalization_suppressed(k=k)
    return mechanisms.histogram_suppressed(k=k)


def _suppressing(request: PlanRequest) -> bool:
    return request.crowd_epsilon == 0 and not (request.biased or request.noisy or request.shares)


BOUNDS = (
    Bound("exact", sampling.suppression_exact, _suppressing),
    Bound("published", sampling.suppression_published, _suppressing, compared=True, tolerance=1e-4),
    Bound("shuffled", sampling.points_sampled, lambda q: q.form == "moved" and not q.biased),
    Bound("sharp", sampling.blending_sharp, lambda q: q.crowd_epsilon > 0 and not q.biased),
    Bound("blending", blending.blending_explicit, lambda q: not (q.biased or q.noisy or q.shares), True, 1e-4),
    Bound("parts", programme.programme_of_parts, lambda q: bool(q.shares)),
    Bound("noise", sampling.noisy_histogram_sampled, lambda q: q.noisy),
    Bound("robust", blending.robust_sampling_is_differential, lambda q: q.biased),
    Bound("survey", surveys.profile_of_survey, lambda q: bool(q.survey_parameters), tolerance=1e-4),
)
