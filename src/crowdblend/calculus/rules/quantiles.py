"""Quantiles chosen from a grid by permute-and-flip: how far one person moves the losses, and what that costs.

With l_c people below candidate c, u_c at it or below, and the wanted rank r = (a/b)N of N people, the loss of c is
b·max(l_c − r, r − u_c), a whole number. Every candidate gets a coin that falls heads with probability
e^{−η(loss − least loss)/2}, and one of those with heads is published, each equally likely.
"""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.conditions import Unmet
from crowdblend.calculus.description import mechanism
from crowdblend.calculus.theorem import rule
from crowdblend.guarantees.privacy import Differential, Relation
from crowdblend.numerics.balls import round_up

_CHOSEN = (
    Assumption.ONE_ROW_PER_PERSON,
    Assumption.FIXED_CANDIDATES,
    Assumption.QUANTILE_LOSSES,
    Assumption.EXACT_CHOICE,
)


@rule(
    "quantile.everybody",
    source="permute-and-flip (McKenna and Sheldon 2020), docs/proofs.md#quantiles",
    statement="Choosing the a/b-quantile of a fixed number of people from fixed candidates by permute-and-flip at rate "
    "η is bη-differentially private with one person's data replaced, a concealed row being data like any other.",
    assumes=(*_CHOSEN, Assumption.PUBLIC_RANK),
    about=mechanism("quantile.everybody", "numerator", "denominator", "noise_epsilon"),
)
def quantile_of_everybody(*, numerator: int, denominator: int, noise_epsilon: float) -> Differential:
    """The number of people below a candidate moves by one at most, and the wanted rank stays."""
    _proper(numerator, denominator)
    return Differential(round_up(denominator * arb(noise_epsilon)), 0.0, Relation.REPLACE)


@rule(
    "quantile.groups",
    source="permute-and-flip (McKenna and Sheldon 2020), docs/proofs.md#quantiles",
    statement="Choosing the a/b-quantile of every group, each person in at most one, from fixed candidates by "
    "permute-and-flip at rate η is 2·max(a, b − a)·η-differentially private with one person's data replaced, a "
    "concealed row being in no group.",
    assumes=(*_CHOSEN, Assumption.ONE_GROUP),
    about=mechanism("quantile.groups", "numerator", "denominator", "noise_epsilon"),
)
def quantile_of_groups(*, numerator: int, denominator: int, noise_epsilon: float) -> Differential:
    """A person who leaves a group moves its losses by max(a, b − a), and so does one who joins another."""
    _proper(numerator, denominator)
    moved = 2 * max(numerator, denominator - numerator)
    return Differential(round_up(moved * arb(noise_epsilon)), 0.0, Relation.REPLACE)


@rule(
    "quantile.add-remove",
    source="permute-and-flip (McKenna and Sheldon 2020), docs/proofs.md#quantiles",
    statement="Choosing the a/b-quantile of every group, each person in at most one, from fixed candidates by "
    "permute-and-flip at rate η is max(a, b − a)·η-differentially private with one person more or less.",
    assumes=(*_CHOSEN, Assumption.ONE_GROUP),
    about=mechanism("quantile.groups", "numerator", "denominator", "noise_epsilon"),
)
def quantile_without_a_person(*, numerator: int, denominator: int, noise_epsilon: float) -> Differential:
    """A person who leaves moves the losses of one group by at most max(a, b − a)."""
    _proper(numerator, denominator)
    moved = max(numerator, denominator - numerator)
    return Differential(round_up(moved * arb(noise_epsilon)), 0.0, Relation.ADD_REMOVE)


def _proper(numerator: int, denominator: int) -> None:
    if not 0 < numerator < denominator:
        raise Unmet(f"needs a share between 0 and 1, got {numerator}/{denominator}. Pass for example 1/2.")
