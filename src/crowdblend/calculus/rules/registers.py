"""Registers: everybody is in the table, a person may have several rows, and every number carries noise."""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.description import mechanism
from crowdblend.calculus.theorem import rule
from crowdblend.guarantees import Differential, Relation
from crowdblend.numerics.balls import round_up

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
