"""The meaning of a guarantee to a person: how often an observer guesses right.

**Differential privacy.** Someone who thinks it as likely as not that your data were used, and then sees the release,
guesses right with probability at most (e^ε + δ)/(e^ε + 1).

Proof. Let P and Q be the laws of the output with and without your data, and A the outputs after which the guess is
"with". The guess is right with probability p = (P(A) + Q(not A))/2. Write a = P(not A) and b = Q(A), so that
p = 1 − (a + b)/2. Indistinguishability gives 1 − a = P(A) ≤ e^ε·b + δ and 1 − b = Q(not A) ≤ e^ε·a + δ. Added up,
2 − (a + b) ≤ e^ε·(a + b) + 2δ, so a + b ≥ 2(1 − δ)/(e^ε + 1) and p ≤ 1 − (1 − δ)/(e^ε + 1). ∎

**Zero-knowledge privacy.** Something about you that has an even chance from the aggregate alone is concluded from the
release with probability at most 1 − (1/2 − δ)·e^{−ε}.

Proof. So has its opposite an even chance, and 1/2 ≤ e^ε·Pr[opposite | release] + δ. ∎

Both are evaluated in balls and rounded up, also where e^ε is beyond every double.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal

from flint import arb

from crowdblend.trusted.guarantees.aggregates import IidSampling
from crowdblend.trusted.guarantees.privacy import Differential, Guarantee, Relation, ZeroKnowledge
from crowdblend.trusted.numerics.balls import precision, round_up


def differential_for_one(
    guarantees: Iterable[Guarantee], relation: Relation = Relation.ADD_REMOVE
) -> Differential | None:
    """Return the differential guarantee for one person under a relation; None where there is none."""
    found = (made for made in guarantees if isinstance(made, Differential))
    return next((made for made in found if made.relation is relation and made.people == 1), None)


def zero_knowledge_for_one(guarantees: Iterable[Guarantee]) -> ZeroKnowledge | None:
    """Return the zero-knowledge guarantee for one person: relative to a sample of the others, or to any aggregate."""
    found = [made for made in guarantees if isinstance(made, ZeroKnowledge) and made.people == 1]
    return next((made for made in found if isinstance(made.aggregate, IidSampling)), found[0] if found else None)


_BITS = 128
_QUESTIONS = {
    Relation.ADD_REMOVE: "whether your data were used",
    Relation.REPLACE: "which of two possible records is yours",
    Relation.CONCEAL: "whether your data were concealed",
}


def right_guess(guarantee: Differential) -> float:
    """The largest probability of guessing right whether the data were used, both being as likely beforehand.

    >>> from crowdblend.trusted.guarantees.privacy import Relation
    >>> [right_guess(Differential(epsilon, 0.0, Relation.ADD_REMOVE)) for epsilon in (0.0, 1.0, 800.0)]
    [0.5, 0.7310585786300049, 1.0]
    """
    with precision(_BITS):
        return min(1.0, round_up(1 - (1 - arb(guarantee.delta)) / (1 + arb(guarantee.epsilon).exp())))


def right_conclusion(guarantee: ZeroKnowledge) -> float:
    """Return the largest probability of concluding what has an even chance from the aggregate alone."""
    with precision(_BITS):
        return min(1.0, round_up(1 - (arb(1) / 2 - arb(guarantee.delta)) * (-arb(guarantee.epsilon)).exp()))


def percent(probability: float) -> str:
    """Return a probability in percent, rounded up to three digits, or to six where fewer do not tell it from certainty.

    >>> percent(0.7310587), percent(0.99998), percent(1.0)
    ('73.2 %', '99.998 %', '100 %')
    """
    chance = Decimal(min(probability, 1.0))
    rounded = (Context(prec=digits, rounding=ROUND_CEILING).multiply(chance, 100) for digits in range(3, 7))
    return f"{next((one for one in rounded if one < 100), Decimal(100)).normalize():f} %"


def guess_sentence(guarantee: Guarantee, releases: int | None = 1) -> str | None:
    """Return a guarantee for one person as a sentence about guessing; None where it is about something else.

    It names the releases that the guarantee is about: one, this many of a series, or None for all about some people.

    >>> from crowdblend.trusted.guarantees.privacy import Relation
    >>> sentence = guess_sentence(Differential(1.0, 1e-6, Relation.ADD_REMOVE))
    >>> sentence.partition(". ")[2]
    'They are right at most 73.2 % of the time; a coin toss is right 50 %.'
    """
    about = "everything published about you" if releases is None else f"all {releases} releases of the series"
    about = "this release" if releases == 1 else about
    if isinstance(guarantee, Differential) and guarantee.people == 1:
        return (
            f"Someone who studies {about} can guess {_QUESTIONS[guarantee.relation]}. They are right at "
            f"most {percent(right_guess(guarantee))} of the time; a coin toss is right 50 %."
        )
    if isinstance(guarantee, ZeroKnowledge) and guarantee.people == 1:
        return (
            f"Someone who studies {about}, and who would have had an even chance of guessing a fact about "
            f"you from {guarantee.aggregate.words()}, guesses right at most "
            f"{percent(right_conclusion(guarantee))} of the time."
        )
    return None


def total_sentence(total: Differential, tighter: Differential | None) -> str | None:
    """Return what all releases about some people come to, from their sum and from what their profiles compose to.

    Composing says less is lost, and assumes that no release was planned by looking at an earlier one.
    """
    if tighter is None or tighter.relation is not total.relation or right_guess(tighter) >= right_guess(total):
        return guess_sentence(total, releases=None)
    return (
        f"{guess_sentence(tighter, releases=None)} Where a release was planned by looking at an earlier one, they are "
        f"right at most {percent(right_guess(total))} of the time."
    )


def lead(guarantees: Iterable[Guarantee], releases: int = 1) -> str | None:
    """Return what comes first wherever guarantees are shown: the one for one person as a sentence about guessing.

    Where several releases were planned together, a second sentence says how many. The first is about all of them where
    noise without a delta loses its epsilon every time; else it is about this release alone, since a certificate states
    the epsilon of all or its own.
    """
    known = tuple(guarantees)
    first = differential_for_one(known) or zero_knowledge_for_one(known)
    adds_up = isinstance(first, Differential) and not first.delta
    if isinstance(first, Differential) and adds_up:
        first = replace(first, epsilon=releases * first.epsilon)
    said = [] if first is None else [guess_sentence(first, releases if adds_up else 1) or ""]
    if releases > 1:
        said.append(f"This is one of {releases} releases that were planned under one budget.")
    return " ".join(filter(None, said)) or None
