"""People with several rows: noise hides them together, and crowds where every row has a coin of its own."""

from __future__ import annotations

from dataclasses import replace

from flint import arb

from crowdblend.trusted.calculus.assumptions import Assumption
from crowdblend.trusted.calculus.description import Composite, mechanism
from crowdblend.trusted.calculus.theorem import Unmet, require_one_person, require_unsampled, rule
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from crowdblend.trusted.guarantees.profiles import Profile, Uses
from crowdblend.trusted.numerics.balls import expm1, round_up

_ROWS = (
    *(Assumption.ROWS_PER_PERSON, Assumption.OWN_DATA_ONLY),
    *(Assumption.FIXED_CLASSES, Assumption.EXACT_NOISE, Assumption.LAPLACE_PER_ROW),
)


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


@rule(
    "rows.own-coins",
    source="crowdblend, docs/proofs.md#a-coin-for-every-row",
    statement="A release that has a profile with one row more or less, where a coin of its own decides about every row "
    "and every class is published by itself, with randomness of its own, has for one person more or less, who has at "
    "most m rows, each in another class, the profile of the product of m equal pairs.",
    assumes=(Assumption.ROWS_OWN_COINS, Assumption.OWN_RANDOMNESS),
    about=Composite("rows.sampled", ("rows_per_person",)),
)
def rows_with_own_coins(premise: Profile, *, rows_per_person: int) -> Profile:
    """The classes of a person's rows are independent of each other, and all rows come or go together."""
    require_one_person(premise, "State the profile with one row more or less.")
    if premise.samplings != 1:
        raise Unmet(f"needs rows that coins decided about once, got samplings = {premise.samplings}.")
    return replace(premise, uses=tuple(Uses(use.curve, use.releases * rows_per_person) for use in premise.uses))
