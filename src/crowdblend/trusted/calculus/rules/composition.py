"""Rules for releases that may be published together (CBP 3.2, LQS 2.2 and 2.6, ZKP Prop. 2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeVar

from flint import arb

from crowdblend.errors import DoesNotCompose, InvalidInput, NotApplicable
from crowdblend.trusted.calculus.assumptions import Assumption
from crowdblend.trusted.calculus.description import RELEASES, Composite
from crowdblend.trusted.calculus.theorem import (
    RULES,
    Derivation,
    Unmet,
    require,
    require_alike,
    require_unsampled,
    rule,
)
from crowdblend.trusted.guarantees.aggregates import (
    Aggregate,
    Exploration,
    IidSampling,
    Neighbourhood,
    RandomSamples,
    Together,
)
from crowdblend.trusted.guarantees.parameters import check_type
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    Guarantee,
    Relation,
    ZeroKnowledge,
)
from crowdblend.trusted.numerics.balls import round_up, total

Loss = TypeVar("Loss", Differential, ZeroKnowledge)


@rule(
    "composition.differential",
    source="basic composition",
    statement="Differentially private releases, each with its own randomness, add up: (Σε, Σδ).",
    assumes=(Assumption.FRESH_SAMPLES,),
    about=RELEASES,
)
def differential_releases_add_up(*premises: Differential) -> Differential:
    """The sum of the losses, under one relation and for one group size."""
    return replace(_sum_losses(premises), samplings=max(premise.samplings for premise in premises))


@rule(
    "composition.adaptive",
    source="basic composition",
    statement="Differentially private steps on one table add up, (Σε, Σδ). Each step draws randomness of its own and "
    "may depend on what earlier steps published; the guarantee of no step relies on sampling.",
    assumes=(Assumption.OWN_RANDOMNESS,),
    about=Composite("steps"),
)
def steps_add_up(*premises: Differential) -> Differential:
    """Given the results so far, each step keeps its guarantee, and the factors multiply."""
    for premise in premises:
        require_unsampled(premise)
    return _sum_losses(premises)


@rule(
    "composition.random-samples",
    source="ZKP Proposition 2",
    statement="Zero-knowledge releases with respect to k₁, k₂, … of the same n random samples add up: Σε and Σδ, with "
    "respect to Σk samples.",
    assumes=(Assumption.FRESH_SAMPLES,),
    about=RELEASES,
)
def random_sample_releases_add_up(*premises: ZeroKnowledge) -> ZeroKnowledge:
    """The simulator asks for all the samples and runs each simulator on its own."""
    drawn = [p.aggregate for p in premises if isinstance(p.aggregate, RandomSamples)]
    if len(drawn) < len(premises) or len({d.population for d in drawn}) > 1:
        raise Unmet(
            "adds guarantees relative to random samples of one population. "
            "Use composition.iid-sampling for i.i.d. samples."
        )
    population = drawn[0].population
    together = RandomSamples(min(population, sum(d.samples for d in drawn)), population)
    return _zero_knowledge_sum(premises, together)


@rule(
    "composition.iid-sampling",
    source="CBP footnote 4",
    statement="Zero-knowledge releases with respect to i.i.d. sampling at one rate add up: Σε and Σδ, with respect to "
    "the sum of their rounds.",
    assumes=(Assumption.FRESH_SAMPLES,),
    about=RELEASES,
)
def iid_sample_releases_add_up(*premises: ZeroKnowledge) -> ZeroKnowledge:
    """The simulator asks for all the rounds and runs each simulator on its own."""
    drawn = [p.aggregate for p in premises if isinstance(p.aggregate, IidSampling)]
    if len(drawn) < len(premises) or len({d.rate for d in drawn}) > 1:
        raise Unmet(
            "adds guarantees relative to i.i.d. sampling at one rate. "
            "Use composition.random-samples for k of n samples."
        )
    return _zero_knowledge_sum(premises, IidSampling(drawn[0].rate, sum(d.rounds for d in drawn)))


@rule(
    "composition.networks",
    source="ZKP Proposition 2, for the aggregates of section 5",
    statement="Zero-knowledge releases about one network add up: Σε and Σδ, with respect to all their aggregates "
    "together; the random people of explorations, of neighbourhoods and of plain samples add up, and the farthest "
    "exploration is granted to each.",
    assumes=(Assumption.FRESH_SAMPLES,),
    about=Composite("releases", shared=("population", "degree_bound")),
)
def network_releases_add_up(*premises: ZeroKnowledge) -> ZeroKnowledge:
    """The simulator asks for every aggregate and runs each simulator on its own."""
    parts = [part for premise in premises for part in _parts(premise.aggregate)]
    explored = [part for part in parts if isinstance(part, Exploration)]
    around = [part for part in parts if isinstance(part, Neighbourhood)]
    plain = [part for part in parts if isinstance(part, RandomSamples)]
    if not explored + around or len(explored + around + plain) < len(parts) or len({p.population for p in plain}) > 1:
        raise Unmet(
            "adds guarantees relative to explorations and neighbourhoods of one network and "
            "random samples of its people. Use composition.random-samples for those alone."
        )
    together: list[Aggregate] = []
    if explored:
        together.append(Exploration(sum(e.samples for e in explored), max(e.explored for e in explored)))
    if around:
        together.append(Neighbourhood(sum(a.samples for a in around), max(a.radius for a in around)))
    if plain:
        population = plain[0].population
        together.append(RandomSamples(min(population, sum(p.samples for p in plain)), population))
    return _zero_knowledge_sum(premises, together[0] if len(together) == 1 else Together(tuple(together)))


def _parts(aggregate: Aggregate) -> tuple[Aggregate, ...]:
    return aggregate.aggregates if isinstance(aggregate, Together) else (aggregate,)


def _zero_knowledge_sum(premises: tuple[ZeroKnowledge, ...], aggregate: Aggregate) -> ZeroKnowledge:
    return replace(_sum_losses(premises), aggregate=aggregate)


@rule(
    "composition.blending-differential",
    source="CBP Proposition 8",
    statement="A (k, ε₁)-crowd-blending release next to an ε₂-differentially private one (one person more or less) "
    "from the same table is (k, ε₁ + 2ε₂)-crowd-blending. The guarantee of the differential release does not rely on "
    "sampling.",
    assumes=(Assumption.OWN_RANDOMNESS,),
    about=Composite("together"),
)
def blending_next_to_differential(blending: CrowdBlending, differential: Differential) -> CrowdBlending:
    """Swapping two crowd members is one removal and one addition to the differential release."""
    _pure_add_remove(differential)
    return CrowdBlending(blending.k, round_up(arb(blending.epsilon) + 2 * arb(differential.epsilon)))


@rule(
    "composition.blending-differential-both",
    source="CBP Proposition 8, both relations known",
    statement="A (k, ε₁)-crowd-blending release next to one that is ε₂-differentially private under both relations is "
    "(k, ε₁ + ε₂)-crowd-blending. The guarantee of the differential release does not rely on sampling.",
    assumes=(Assumption.OWN_RANDOMNESS,),
    about=Composite("together", groups=((0,), (1, 2))),
)
def blending_next_to_both(blending: CrowdBlending, removing: Differential, replacing: Differential) -> CrowdBlending:
    """Blending swaps one person for another, which the replace relation covers in one step."""
    _pure_add_remove(removing)
    require(replacing, "Use composition.blending-differential.", relation=Relation.REPLACE, people=1, delta=0)
    require_unsampled(replacing)
    loss = max(removing.epsilon, replacing.epsilon)
    return CrowdBlending(blending.k, round_up(arb(blending.epsilon) + loss))


@dataclass(frozen=True)
class Refusal:
    """A pair of guarantees that void each other, and the theorem that says so."""

    source: str
    reason: str
    remedy: str

    def words(self) -> str:
        """Return the refusal as one sentence."""
        return f"{self.source}: {self.reason}; {self.remedy}."


_ONE_SAMPLE = (
    "publish them together in one policy, each from a part of the sample of its own, or publish one table of the "
    "finest classes and add it up"
)
_FRESH = "draw a fresh sample for each release, and add up their differential guarantees"

REFUSALS: dict[frozenset[type[Guarantee]], Refusal] = {
    frozenset({CrowdBlending}): Refusal(
        "CBP Proposition 7",
        "two crowd-blending releases from one sample need not hide anybody: a person can be alone where "
        "two crowds overlap",
        _ONE_SAMPLE,
    ),
    frozenset({DifferentialUnderSampling}): Refusal(
        "LQS 2.2",
        "privacy under sampling rests on uncertainty about the sample, which a second release from it removes",
        _FRESH,
    ),
    frozenset({DifferentialUnderSampling, Differential}): Refusal(
        "LQS 2.6",
        "even a differentially private release from the same sample can undo privacy under sampling",
        _FRESH,
    ),
    frozenset({DifferentialUnderSampling, CrowdBlending}): Refusal(
        "LQS 2.6 and CBP Proposition 7",
        "a second release from the same sample can undo privacy under sampling",
        _FRESH,
    ),
}

_ONE_DRAW = Refusal(
    "One draw",
    "both count on nobody knowing who was drawn into the table, which holds for one release",
    "take what you need from the earlier release. A table is released several times where every one of its releases, "
    'the first too, has `sampling.design = "poisson"`, which draws anew',
)
_SHARED_SAMPLE = Refusal(
    "basic composition",
    "losses add up only when each release draws its own independent sample, and these share one",
    _FRESH,
)


def why_not_from_one_sample(first: Iterable[Guarantee], second: Iterable[Guarantee]) -> Refusal:
    """Return why two sampled releases with these guarantees may not use the same sample.

    Every guarantee that sampling strengthened takes for granted that nothing else is published from the sample, so
    there is always a reason; the most telling one is given. A survey that is thinned was sampled twice: there the coins
    of each release are its own, and what they share is the draw of the survey.
    """
    first, second = tuple(first), tuple(second)
    if any(getattr(made, "samplings", 1) > 1 for made in (*first, *second)):
        return _ONE_DRAW
    pairs = {frozenset({type(one), type(other)}) for one in first for other in second}
    return next((refusal for kinds, refusal in REFUSALS.items() if kinds in pairs), _SHARED_SAMPLE)


_COMPOSITIONS = (
    "composition.differential",
    "composition.networks",
    "composition.random-samples",
    "composition.iid-sampling",
    "composition.blending-differential",
)


def compose(*derivations: Derivation) -> Derivation:
    """Return the guarantee of publishing all of these, or a refusal with the reason and the theorem.

    Guarantees of one kind are added in one step. Differential and zero-knowledge guarantees add up as what both imply:
    differential privacy with one person's data replaced. Another mixture is composed pair by pair from the left.
    """
    if not derivations:
        raise InvalidInput("compose needs at least one release, got none.", remedy="Pass compose(one, other).")
    for derivation in derivations:
        check_type("compose", derivation, Derivation, "derivations, as planned releases and certificates hold them")
    kinds = {type(derivation.conclusion) for derivation in derivations}
    if len(derivations) == 1:
        return derivations[0]
    if len(kinds) == 1:
        return _compose(*derivations)
    if kinds == {Differential, ZeroKnowledge}:
        return _compose(*map(_with_data_replaced, derivations))
    return reduce(_compose, derivations)


def _with_data_replaced(derivation: Derivation) -> Derivation:
    """Return what a differential or zero-knowledge guarantee implies of one person's data replaced."""
    if isinstance(derivation.conclusion, ZeroKnowledge):
        return RULES["zero-knowledge.differential"](derivation)
    added = derivation.conclusion.relation is Relation.ADD_REMOVE
    return RULES["differential.replace"](derivation) if added else derivation


def _compose(*derivations: Derivation) -> Derivation:
    kinds = tuple(type(derivation.conclusion) for derivation in derivations)
    refusal = REFUSALS.get(frozenset(kinds))
    if refusal:
        raise DoesNotCompose(refusal.words())
    reasons = []
    for rule_id in _COMPOSITIONS:
        for order in (derivations, derivations[::-1]):
            if RULES[rule_id].accepts(*(type(d.conclusion) for d in order)):
                try:
                    return RULES[rule_id](*order)
                except NotApplicable as refused:
                    reasons.append(str(refused))
    names = " and ".join(sorted({kind.__name__ for kind in kinds}))
    raise DoesNotCompose(reasons[-1] if reasons else f"No theorem composes {names}; publish one of them only.")


def _pure_add_remove(premise: Differential) -> None:
    remedy = "A replace-only guarantee does not cover a person's absence (CBP Proposition 8)."
    require(premise, remedy, relation=Relation.ADD_REMOVE, people=1, delta=0)
    # The sample is drawn once, after the composition; a release that counted on it already would count it twice.
    require_unsampled(premise)


def _sum_losses(premises: tuple[Loss, ...]) -> Loss:
    """Return the first of the premises with the losses of all."""
    require_alike(premises)
    epsilon, delta = (total(getattr(premise, name) for premise in premises) for name in ("epsilon", "delta"))
    return replace(premises[0], epsilon=epsilon, delta=min(1.0, delta))
