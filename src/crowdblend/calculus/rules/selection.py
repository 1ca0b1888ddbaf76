"""Choosing among candidates by scores: first how far one person moves a score, then the loss."""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.description import Composite, mechanism
from crowdblend.calculus.theorem import rule
from crowdblend.guarantees.privacy import Differential, Relation
from crowdblend.guarantees.utility import BoundedScore
from crowdblend.numerics.balls import round_up
from crowdblend.numerics.expected_people import largest_step

_SCORED = (Assumption.ONE_ROW_PER_PERSON, Assumption.FIXED_CANDIDATES)


@rule(
    "score.published",
    source="crowdblend, docs/proofs.md#choosing-the-recoding",
    statement="Scoring a recoding by the people whom sampling at rate β and suppression below k are expected to "
    "publish, each times what the class keeps, at most W: one person who decides and stands for m people moves every "
    "score by at most W times the largest E[X·1(X ≥ k)] that m people add to a class, and upwards only.",
    assumes=(*_SCORED, Assumption.SCORED_BY_PUBLISHED),
    about=mechanism("score.published", "counted_from", "rate", "stands_for", "parts"),
)
def expected_people_bound_a_score(*, counted_from: int, rate: float, stands_for: int, parts: int) -> BoundedScore:
    """A person is in one class of each recoding; what m people add to a class is largest around k/β people."""
    return BoundedScore(round_up(arb(parts * largest_step(counted_from, rate, stands_for))), monotone=True)


@rule(
    "score.stated",
    source="definition",
    statement="Scores of which it is stated how far one person more or less moves them.",
    assumes=(*_SCORED, Assumption.BOUNDED_SCORE),
    about=mechanism("score.stated", "sensitivity", "monotone"),
)
def score_is_stated(*, sensitivity: float, monotone: bool) -> BoundedScore:
    """Taken for granted."""
    return BoundedScore(sensitivity, monotone)


@rule(
    "selection.exponential",
    source="exponential mechanism, docs/proofs.md#choosing-the-recoding",
    statement="Choosing with probability proportional to e^{ε·score/(2Δ)}, where one person moves every score by at "
    "most Δ, is ε-differentially private with one person more or less; e^{ε·score/Δ} will do when a further person "
    "never lowers a score.",
    assumes=(Assumption.CHOICE_WEIGHTS, Assumption.EXACT_CHOICE),
    about=Composite("selection.exponential", ("epsilon",)),
)
def exponential_choice(score: BoundedScore, *, epsilon: float) -> Differential:  # noqa: ARG001  its Δ is in the weights
    """A person moves all weights and their sum by factors whose quotients stay within e^ε."""
    return Differential(epsilon, 0.0, Relation.ADD_REMOVE)
