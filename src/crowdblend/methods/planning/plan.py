"""`plan`: leave one of k, rate, epsilon and delta out, and it is solved for on the safe side."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from crowdblend.errors import CrowdblendError, NotProved
from crowdblend.methods.designs import Biased, Claims, Poisson, Strata, ThinnedSurvey
from crowdblend.methods.planning import series
from crowdblend.methods.planning.bounds import BOUNDS, PlannedMechanism, noise_loss
from crowdblend.methods.planning.parts import equal_shares, smallest_thresholds
from crowdblend.methods.planning.request import Form, PlanRequest
from crowdblend.methods.planning.solve import solve
from crowdblend.notation import PYTHON, spell
from crowdblend.trusted.calculus import Certificate, Derivation
from crowdblend.trusted.calculus.assumptions import StepAssumption
from crowdblend.trusted.calculus.rules import composition, profiles, surveys
from crowdblend.trusted.calculus.rules.strata import worst_stratum
from crowdblend.trusted.guarantees.guessing import lead
from crowdblend.trusted.guarantees.parameters import check
from crowdblend.trusted.guarantees.privacy import Guarantee
from crowdblend.trusted.machine.html_summary import html_summary


class Plan(ABC):
    """The consequences of a policy, or of a few parameters, before anything is read."""

    if TYPE_CHECKING:

        @property
        def k(self) -> int | None:
            """The crowd size, given or planned; None where there is none, or several."""

    @abstractmethod
    def certificate(self) -> Certificate:
        """Return the certificate that a release would have."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return the planned parameters as JSON-ready data."""

    @abstractmethod
    def describe(self) -> list[tuple[str, str]]:
        """Describe the plan: what is done, and how; keys of policies stand in backticks."""

    @property
    @abstractmethod
    def planned_releases(self) -> int:
        """The number of releases planned together, under one epsilon and delta."""

    def _repr_html_(self) -> str:
        """Return what would happen, what it would mean, and what is taken for granted; every text is escaped."""
        certificate = self.certificate()
        sentence = lead(certificate.guarantees, self.planned_releases)
        described = [(what, spell(how, PYTHON)) for what, how in self.describe()]
        return html_summary(sentence, described, certificate.sentences())

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """The guarantees, strongest first."""
        return self.certificate().guarantees

    @property
    def assumptions(self) -> tuple[StepAssumption, ...]:
        """The assumptions of the guarantees."""
        return self.certificate().assumptions()


@dataclass(frozen=True)
class SolvedPlan(Plan):
    """The four parameters, which of them was solved for, by which rule, and what every other rule would give.

    Of several strata it is that of the largest k, under the ε and δ of all of them, and `strata` has each by its label.
    """

    k: int
    rate: float | None
    epsilon: float
    delta: float
    solved: str
    rule: str
    bounds: Mapping[str, float]
    request: PlanRequest = field(repr=False)
    thresholds: tuple[int, ...] = ()
    """With several tables, the k of each; `k` is the largest of them."""
    strata: Mapping[str, SolvedPlan] = field(default_factory=dict)

    @classmethod
    def of_strata(cls, strata: Mapping[str, SolvedPlan]) -> SolvedPlan:
        """Return the plan of the `strata`, of which the worst counts; only a sample without strata has no label."""
        each = strata.values()
        worst = {name: max(getattr(one, name) for one in each) for name in ("epsilon", "delta")}
        return replace(max(each, key=lambda one: one.k), **worst, strata=strata if any(strata) else {})

    @property
    def each(self) -> Mapping[str, SolvedPlan]:
        """The plan of every stratum by its label; a sample without strata is one, which has none."""
        return self.strata or {"": self}

    def raise_k(self, hundredths: int) -> SolvedPlan:
        """Return the plan with every k larger by `hundredths` of it, rounded up."""
        raised = {label: one.raise_k(hundredths) for label, one in self.strata.items()}
        return replace(self, k=math.ceil(self.k * (100 + hundredths) / 100), strata=raised)

    @property
    def planned_releases(self) -> int:
        return self.request.releases

    def describe(self) -> list[tuple[str, str]]:
        return [(name, f"{getattr(self, name):g}") for name in ("k", "rate", "epsilon", "delta") if getattr(self, name)]

    def summary(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"k": self.k, "rate": self.rate, "epsilon": self.epsilon, "delta": self.delta}
        shown |= {"solved": self.solved, "rule": self.rule, "bounds": dict(self.bounds)}
        shown["blend_epsilon"] = self.request.blend_epsilon
        if self.request.noisy:
            shown |= {"below_k": "noise", "flag": self.request.flag, "noise_epsilon": self.noise_epsilon}
        if self.request.form == "moved":
            shown |= {"noise_epsilon": self.noise_epsilon}
        if self.request.shares:
            shown |= {"parts": len(self.request.shares)}
        if self.request.biased:
            shown |= self.request.sampling(None)
        if self.request.releases > 1:
            shown["releases"] = self.request.releases
        return shown | ({"rate": None, "rule": worst_stratum.id, "bounds": {}} if len(self.strata) > 1 else {})

    @property
    def noise_epsilon(self) -> float | None:
        """The loss of the noise below k, or of the noise on points, if there is any."""
        if self.request.form == "moved":
            return self.request.noise_epsilon
        return noise_loss(self.request, self.rate, self.epsilon) if self.request.noisy else None

    @property
    def crowd_loss(self) -> float | None:
        """The loss of the noise that members of a crowd have, whatever claims it; None where there is none."""
        return self.noise_epsilon or self.request.blend_epsilon or None

    @property
    def sampled_with(self) -> float:
        """The largest sampling probability of anyone protected; a δ as large guarantees nothing beyond sampling."""
        if self.strata:
            return max(one.sampled_with for one in self.strata.values())
        if self.rate is None or self.request.biased:
            return self.request.protected_rate
        return self.design.inclusion.high

    @property
    def mechanism(self) -> PlannedMechanism:
        """The planned mechanism, of which only the parameters are known."""
        return PlannedMechanism(self.request, self.k, self.noise_epsilon)

    def certificate(self) -> Certificate:
        """Return the certificate of a release with these parameters, before it is made.

        Of several releases it is what they guarantee together.
        """
        return Certificate(self.together() if self.request.releases > 1 else self.planned_derivations())

    @property
    def design(self) -> Poisson | Biased:
        """The way in which people are sampled; of several strata those of the largest k."""
        request = self.request
        if request.low is not None and request.high is not None:
            return Biased(request.low, request.high, request.exceptions, request.protected_rate, self.rate)
        assert self.rate is not None, "a rate is planned or given unless sampling is biased"
        if request.samples is not None and request.population is not None:
            return ThinnedSurvey(self.rate, request.samples, request.population)
        return Poisson(self.rate)

    def planned_derivations(self) -> tuple[Derivation, ...]:
        """Derive the guarantee of sampling and of mechanisms with these parameters."""
        if self.strata:
            drawn = Strata("stratum", {label: one.design.inclusion for label, one in self.strata.items()})
            each = [one.mechanism for one in self.strata.values()]
            return self._check_derivations(drawn.derivations(each, self.epsilon))
        if not self.request.shares:
            return self.derivations(self.mechanism)
        mechanisms = [(PlannedMechanism(self.request, k, None),) for k in self.thresholds]
        return self._check_derivations(self.design.parts_derivations(mechanisms, self.request.shares, self.epsilon))

    def derivations(self, mechanism: Claims) -> tuple[Derivation, ...]:
        """Derive the guarantee of sampling and this `mechanism`; refuse one weaker than the plan."""
        return self._check_derivations(self.design.derivations((mechanism,), self.epsilon))

    def together(self) -> tuple[Derivation, ...]:
        """Derive the joint guarantee of all planned releases."""
        if self.rule == series.RULES[series.ADDED]:
            one = answer_alone(series.share_of(self.request))
            _, once, *_ = one.planned_derivations()
            return (composition.differential_releases_add_up(*[once] * self.request.releases),)
        profile = series.profile_together(self.request, self.k, self.rate)
        if self.solved == "delta":
            found = profiles.profile_at_epsilon(profile, epsilon=self.epsilon)
        else:
            found = profiles.profile_at_delta(profile, delta=self.delta)
        known = (
            surveys.survey_is_zero_knowledge if self.request.survey_parameters else profiles.profile_is_zero_knowledge
        )
        return self._check_derivations((known(profile, epsilon=found.conclusion.epsilon), found))

    def _check_derivations(self, derivations: tuple[Derivation, ...]) -> tuple[Derivation, ...]:
        differential = derivations[1].conclusion
        if differential.epsilon > self.epsilon or differential.delta > self.delta:
            message = "The mechanism guarantees less than its plan."
            raise NotProved(message, remedy="Plan the release again.", where="epsilon", code="plan.mechanism-differs")
        return derivations


def plan(
    *,
    rate: float | None = None,
    k: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    blend_epsilon: float = 0.0,
    low: float | None = None,
    high: float | None = None,
    exceptions: int = 0,
    max_rate: float | None = None,
    form: Form = "histogram",
    below_k: str = "suppress",
    noise_epsilon: float | None = None,
    flag: bool = False,
    parts: int = 1,
    releases: int = 1,
) -> SolvedPlan:
    """Solve for the one of k, rate, epsilon and delta that is left out: the smallest k, epsilon or delta, or the
    largest rate, for which the guarantee is proved.

    Parameters:
        rate: The share of people kept by the sampling, between 0 and 1.
        k: The crowd size, the person included.
        epsilon: The privacy loss: one person multiplies probabilities by at most e^epsilon …
        delta: … plus this much.
        blend_epsilon: How far members of one crowd may be told apart; 0 for suppression.
        low: Where probabilities differ: the smallest one of the people who can be sampled.
        high: Where probabilities differ: the largest ordinary one.
        exceptions: How many people may be sampled with any probability.
        max_rate: The largest probability of a protected person, exceptions included.
        form: What is published of a crowd: its size ("histogram"), its records one by one ("records"), or its points,
            moved by noise ("moved").
        below_k: What happens to counts below k: "suppress" or "noise".
        noise_epsilon: The privacy loss of that noise, or of the noise on points; planned unless given.
        flag: Whether cells tell that they are exact, which needs a larger k.
        parts: How many tables are published, each from its own part of the sample, all of equal size.
        releases: How many releases there will be, each from a fresh sample: epsilon and delta are for all of them.
    """
    given = dict(locals())
    check("parts", given.pop("parts"))
    return answer(PlanRequest(**given, shares=equal_shares(parts)))


def answer(request: PlanRequest) -> SolvedPlan:
    """Return the plan for a request."""
    return answer_alone(request) if request.releases == 1 else answer_together(request)


def answer_together(request: PlanRequest) -> SolvedPlan:
    """The plan for several releases, by their profiles and by shares of epsilon and delta, whichever says more."""
    bounds: dict[str, float] = {}
    refusals: list[CrowdblendError] = []
    asked, alone = request, None
    request = series.with_noise(request)
    chooses = request.choice_epsilon is not None
    try:
        with suppress(CrowdblendError):
            # One release says nothing of releases that also choose their recoding.
            alone = None if chooses else getattr(answer_alone(replace(request, releases=1)), request.unknown)
        bounds[series.PROFILE] = series.SOLVERS[request.unknown](request, alone)
    except CrowdblendError as refused:
        refusals.append(refused)
    try:
        if not chooses:
            share = answer_alone(series.share_of(asked))
            bounds[series.ADDED] = series.added_up(asked, getattr(share, asked.unknown))
    except CrowdblendError as refused:
        refusals.append(refused)
    if not bounds or (request.noisy and series.PROFILE not in bounds):
        raise refusals[0]
    # Shares would have other noise below k.
    return _solved_plan(request, bounds, series.RULES, series.PROFILE if request.noisy else None)


def answer_alone(request: PlanRequest) -> SolvedPlan:
    """Return the plan for one release."""
    bounds: dict[str, float] = {}
    refusals: list[CrowdblendError] = []
    for bound in BOUNDS:
        if bound.applies(request) and (not request.survey_parameters or bound.name == "survey"):
            try:
                bounds[bound.name] = solve(bound, request, bounds.get("exact"))
            except CrowdblendError as refused:
                refusals.append(refused)
    if not bounds:
        raise refusals[0]
    return _solved_plan(request, bounds, {bound.name: bound.rule.id for bound in BOUNDS})


def _solved_plan(
    request: PlanRequest, bounds: dict[str, float], rules: Mapping[str, str], best: str | None = None
) -> SolvedPlan:
    solved = request.unknown
    best = best or (max if solved == "rate" else min)(bounds, key=lambda name: bounds[name])
    values: dict[str, Any] = {name: getattr(request, name) for name in ("k", "rate", "epsilon", "delta")}
    values[solved] = bounds[best]
    # The k of every table: as given for all of them, or the smallest for each; one for all in a series.
    if request.k is not None or request.releases > 1 or not request.shares:
        thresholds = (int(values["k"]),) * len(request.shares)
    else:
        thresholds = smallest_thresholds(request.shares, values["rate"], values["epsilon"], values["delta"])
    return SolvedPlan(**values, solved=solved, rule=rules[best], bounds=bounds, request=request, thresholds=thresholds)
