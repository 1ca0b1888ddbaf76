"""What the theorems about profiles say, written again: which curve, and the composition of randomized responses."""

import math
from collections.abc import Callable
from typing import Any

from mpmath import findroot, mp, mpf

from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Relation
from crowdblend.trusted.guarantees.profiles import (
    AmplifiedCurve,
    BiasedCurve,
    ClosenessCurve,
    CrowdCurve,
    GaussianCurve,
    GroupSurveyCurve,
    LossCurve,
    NoisyCountCurve,
    OutlierCurve,
    PointCurve,
    ReplacedCurve,
    SplitCurve,
    SurveyCurve,
    ThresholdCurve,
    Uses,
)
from crowdblend.trusted.guarantees.programme import (
    OneSampleCurve,
    ProgrammeCurve,
    UnequalProgrammeCurve,
    UnequalSampleCurve,
)

mp.dps = 60
Fields = dict[str, Any]
ADD = Relation.ADD_REMOVE


def _profile(*uses: Uses, relation: Relation = ADD, people: int = 1, samplings: int = 1) -> Fields:
    return {"uses": uses, "relation": relation, "people": people, "samplings": samplings}


def _once(curve: LossCurve, samplings: int = 1) -> Fields:
    return _profile(Uses(curve, 1), samplings=samplings)


def _united(*premises: Any) -> Fields:
    counts: dict[LossCurve, int] = {}
    for premise in premises:
        for use in premise.uses:
            counts[use.curve] = counts.get(use.curve, 0) + use.releases
    ordered = sorted(counts, key=lambda curve: (type(curve).__name__, tuple(vars(curve).values())))
    first = premises[0]
    uses = tuple(Uses(curve, counts[curve]) for curve in ordered)
    return _profile(*uses, relation=first.relation, people=first.people, samplings=max(p.samplings for p in premises))


def responses(premise: Any, epsilon: Any) -> Any:
    """The divergence of m releases that lose everything with probability δ and else ±ε as randomized response does."""
    (use,) = premise.uses
    times, most, kept = use.releases, mp.exp(mpf(use.curve.epsilon)), (1 - mpf(use.curve.delta)) ** use.releases
    growth = mp.exp(mpf(epsilon))
    total = mpf(0)
    for j in range(times + 1):
        total += math.comb(times, j) * max(mpf(0), most**j - growth * most ** (times - j)) / (1 + most) ** times
    return 1 - kept + kept * total


def _at_delta(premise: Any, delta: float) -> Any:
    (use,) = premise.uses
    top = mpf(use.curve.epsilon) * use.releases
    return findroot(
        lambda epsilon: responses(premise, epsilon) - mpf(delta), (mpf(0), top), solver="anderson", tol=1e-50
    )


def _differential(premise: Any, epsilon: Any, delta: Any, people: int | None = None) -> Fields:
    return {
        "epsilon": epsilon,
        "delta": delta,
        "relation": premise.relation,
        "people": premise.people if people is None else people,
        "samplings": premise.samplings,
    }


def _group(premise: Any, epsilon: float, people: int) -> Fields:
    share = mpf(epsilon) / people
    chain = sum(mp.exp(i * share) for i in range(people))
    return _differential(premise, epsilon, chain * responses(premise, share), people)


def _surveyed(premise: Any, curve: LossCurve) -> Fields:
    return _profile(Uses(curve, 1), relation=Relation.REPLACE, samplings=premise.samplings + 1)


def _known_of_survey(premise: Any, epsilon: float) -> Fields:
    """One survey of a release of which only (ε₀, δ₀) is known: n/N times the chord of closeness."""
    asked = premise.uses[0].curve
    share, own = mpf(asked.samples) / asked.population, asked.uses[0].curve
    most, lost = mp.exp(mpf(own.epsilon)), mpf(own.delta)
    factor = 1 + (mp.exp(mpf(epsilon)) - 1) / share
    delta = share * (lost + (1 - lost) * max(most - factor, mpf(0)) / (most + 1))
    aggregate = RandomSamples(asked.samples, asked.population)
    return {"epsilon": epsilon, "delta": delta, "aggregate": aggregate, "relation": Relation.CONCEAL, "people": 1}


PROFILE_REFERENCES: dict[str, Callable[..., Fields]] = {
    "profile.crowds": lambda a, rate: _once(CrowdCurve(a.k, a.epsilon, rate)),
    "profile.noise-below-k": lambda k, noise_epsilon, rate, flag: _once(NoisyCountCurve(k, noise_epsilon, rate, flag)),
    "profile.points": lambda k, noise_epsilon, rate: _once(PointCurve(k, noise_epsilon, rate)),
    "profile.programme": lambda *all_, rate: _once(ProgrammeCurve(rate, all_)),
    "profile.steps": _united,
    "profile.one-sample": lambda a, rate: _once(OneSampleCurve(rate, a.uses)),
    "profile.one-unequal-sample": lambda a, low, high, exceptions, max_rate: _once(
        UnequalSampleCurve(low, high, exceptions, max_rate, a.uses)
    ),
    "profile.unequal-programme": lambda *all_, low, high, exceptions, max_rate: _once(
        UnequalProgrammeCurve(low, high, exceptions, max_rate, all_)
    ),
    "profile.biased": lambda a, low, high, exceptions, max_rate: _once(
        BiasedCurve(a.k, a.epsilon, low, high, exceptions, max_rate)
    ),
    "profile.amplified": lambda a, rate: _once(AmplifiedCurve(a.epsilon, a.delta, rate)),
    "profile.outliers": lambda epsilon, transition, limit: _once(OutlierCurve(epsilon, transition, limit), 0),
    "profile.gaussian": lambda sigma: _once(GaussianCurve(sigma), 0),
    "profile.threshold": lambda noise_epsilon, show_from: _once(ThresholdCurve(noise_epsilon, show_from), 0),
    "profile.differential": lambda a: _profile(
        Uses(ClosenessCurve(a.epsilon, a.delta), 1), relation=a.relation, people=a.people, samplings=a.samplings
    ),
    "profile.recoding-population": lambda a, b: _profile(
        Uses(ClosenessCurve(a.epsilon, 0.0), 1), *b.uses, samplings=a.samplings + b.samplings
    ),
    "profile.recoding-split": lambda a, b, rate, share: _once(SplitCurve(a.epsilon, b.k, rate, share)),
    "profile.replaced": lambda a: _profile(
        *(Uses(ReplacedCurve(use.curve), use.releases) for use in a.uses), relation=Relation.REPLACE, samplings=1
    ),
    "survey.profile": lambda a, samples, population: _surveyed(a, SurveyCurve(samples, population, False, a.uses)),
    "survey.strata-profile": lambda a, samples, population: _surveyed(
        a, SurveyCurve(samples, population, True, a.uses)
    ),
    "survey.groups-profile": lambda a, samples, population: _surveyed(a, GroupSurveyCurve(samples, population, a.uses)),
    "survey.zero-knowledge": _known_of_survey,
    "composition.profiles": _united,
    "composition.repeated": lambda a, releases: _united(*[a] * releases),
    "rows.own-coins": lambda a, rows_per_person: _united(*[a] * rows_per_person),
    "profile.delta": lambda a, epsilon: _differential(a, epsilon, responses(a, epsilon)),
    "profile.epsilon": lambda a, delta: _differential(a, _at_delta(a, delta), delta),
    "profile.group": _group,
}
