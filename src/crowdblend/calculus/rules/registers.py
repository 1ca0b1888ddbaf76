"""People with several rows: every number carries noise, and a person's rows are hidden together."""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.conditions import require_one_person, require_unsampled
from crowdblend.calculus.description import Composite, mechanism
from crowdblend.calculus.theorem import rule
from crowdblend.guarantees import Differential, Relation
from crowdblend.numerics.balls import expm1, round_up

_ROWS = (Assumption.ROWS_PER_PERSON, Assumption.FIXED_CLASSES, Assumption.EXACT_NOISE, Assumption.LAPLACE_PER_ROW)


@rule(
    "register.rows",
    source="discrete Laplace mechanism, docs/proofs.md#registers",
    statement="A histogram of rows over fixed classes, of which each person has at most m, with discrete Laplace noise "
    "of loss ε₀ on every cell, the empty ones too, is mε₀-differentially private with one person more or less.",
    assumes=(*_ROWS, Assumption.ALL_CELLS),
    about=mechanism("register.rows", "noise_epsilon", "rows_per_person"),
)
def rows_with_noise(*, noise_epsilon: float, rows_per_person: int) -> Differential:
    """One person moves the counts by at most m in all, and each step costs a factor of at most e^ε₀."""
    return Differential(round_up(rows_per_person * arb(noise_epsilon)), 0.0, Relation.ADD_REMOVE)


@rule(
    "register.total",
    source="discrete Laplace mechanism, docs/proofs.md#registers",
    statement="A number to which each person adds at most m, with discrete Laplace noise of loss ε₀, is "
    "mε₀-differentially private with one person more or less.",
    assumes=_ROWS,
    about=mechanism("register.total", "noise_epsilon", "rows_per_person"),
)
def total_with_noise(*, noise_epsilon: float, rows_per_person: int) -> Differential:
    """One person moves the number by at most m."""
    return Differential(round_up(rows_per_person * arb(noise_epsilon)), 0.0, Relation.ADD_REMOVE)


@rule(
    "rows.per-person",
    source="group privacy, by a chain of neighbours; docs/proofs.md#registers",
    statement="A mechanism that is (ε, δ)-differentially private with one row more or less, run on at most m rows of "
    "every person, is (mε, (1 + e^ε + … + e^{(m−1)ε})·δ)-differentially private with one person more or less.",
    assumes=(Assumption.SEVERAL_ROWS,),
    about=Composite("rows", ("rows_per_person",)),
)
def rows_of_a_person(premise: Differential, *, rows_per_person: int) -> Differential:
    """A person's rows leave one after the other, each step a pair of neighbours of the mechanism."""
    require_one_person(premise, "State the mechanism's add-remove guarantee.")
    require_unsampled(premise)
    loss = arb(premise.epsilon)
    steps = arb(rows_per_person) if premise.epsilon == 0 else expm1(rows_per_person * loss) / expm1(loss)
    delta = 0.0 if premise.delta == 0 else min(1.0, round_up(steps * premise.delta))
    return Differential(round_up(rows_per_person * loss), delta, Relation.ADD_REMOVE)
