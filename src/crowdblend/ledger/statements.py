"""Spending of other tools on the people of a population: stated by a person, derived by nobody, and added up too.

A statement is an (ε, δ), a ρ of zero-concentrated privacy, or (ε, δ) at several points. Each is a curve, which composes
with those of releases, and an (ε, δ) at the δ that the statement names, which is what sums count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.ledger.entry import STATED, Entry, Spending, Statement
from crowdblend.trusted.calculus.encoding import encode
from crowdblend.trusted.calculus.loss_curves import epsilon_of_one
from crowdblend.trusted.guarantees.parameters import PARAMETERS, check
from crowdblend.trusted.guarantees.privacy import Differential, Guarantee, Relation
from crowdblend.trusted.guarantees.profiles import LossCurve, Profile, ReplacedCurve, Uses
from crowdblend.trusted.guarantees.statement_curves import ConcentratedCurve, PointsCurve
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.numerics.balls import total

Point = tuple[float, float]


def guarantees_of(
    epsilon: float | None,
    delta: float | None,
    rho: float | None,
    curve: Sequence[Point] | None,
    relation: Relation | str,
) -> tuple[Guarantee, ...]:
    """Return what a statement says of one person: the (ε, δ) that sums count, and the curve where there is more."""
    if sum(given is not None for given in (epsilon, rho, curve)) != 1:
        raise _refusal("epsilon", "A statement has one of epsilon, rho and curve.", "Pass what the other tool reports.")
    relation = _relation(relation)
    if epsilon is not None:
        check("epsilon", epsilon)
        check("delta", 0.0 if delta is None else delta)
        _check_delta(delta or 0.0)
        return (Differential(epsilon, delta or 0.0, relation),)
    if delta is None:
        message = "A rho or a curve needs the delta at which its epsilon is counted in sums."
        raise _refusal("delta", message, "Pass delta, for example 1e-6.")
    check("delta", delta)
    _check_delta(delta)
    made: LossCurve
    if rho is not None:
        check("rho", rho)
        made = ConcentratedCurve(rho)
    else:
        made = PointsCurve(_points(curve))
    return (Differential(_epsilon_at(made, delta), delta, relation), Profile((Uses(made, 1),), relation))


def _points(curve: object) -> tuple[Point, ...]:
    """Return the points of a curve as pairs; what is none is refused by the curve."""
    try:
        return tuple(tuple(point) for point in curve)  # type: ignore[attr-defined]
    except TypeError:
        return ()


def _epsilon_at(curve: LossCurve, delta: float) -> float:
    points = curve.points if isinstance(curve, PointsCurve) else ()
    try:
        return min([epsilon_of_one(curve, delta), *(epsilon for epsilon, at in points if at <= delta)])
    except CrowdblendError:
        message = f"The curve reaches no delta of {at_most(delta)}, at which it would be counted."
        raise _refusal("delta", message, "Pass a larger delta, or more points.") from None


def _check_delta(delta: float) -> None:
    if delta >= 1:
        raise _refusal("delta", "A delta of 1 guarantees nothing, and adds up to nothing.", "Pass the tool's delta.")


def _relation(relation: object) -> Relation:
    try:
        found = Relation(relation)
    except ValueError:
        found = Relation.CONCEAL
    if found is Relation.CONCEAL:
        message = "relation is add-remove (one person more or less) or replace (one person's data replaced)."
        raise _refusal("relation", message, "Pass the one that the tool's guarantee is about.")
    return found


def _refusal(name: str, message: str, remedy: str) -> InvalidInput:
    return InvalidInput(message, remedy=remedy, where=name, code="ledger.stated")


class StatedRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="stated"):
    """Another tool spent something on these people: fields as in its entry and its statement."""

    entry: int
    at: str
    software: str
    population: str
    guarantees: msgspec.Raw
    tool: str
    version: str | None
    by: str
    why: str
    reference: str | None

    @classmethod
    def of(cls, entry: Entry) -> StatedRecord:
        """Return the record of an entry that was stated."""
        assert entry.statement is not None, "it was stated"
        guarantees = msgspec.Raw(msgspec.json.encode(encode(entry.spending.guarantees)))
        where = entry.spending.population
        return cls(entry.id, entry.created, entry.software, where, guarantees, **vars(entry.statement))

    def to_entry(self, guarantees: tuple[Guarantee, ...], role: str) -> Entry:
        """Return the entry of the record, appended by a role of the database."""
        statement = Statement(self.tool, self.version, self.by, self.why, self.reference)
        entry = stated_entry(self.entry, self.at, self.software, self.population, guarantees, statement)
        return replace(entry, role=role)


def stated_entry(
    number: int, at: str, software: str, population: str, guarantees: tuple[Guarantee, ...], statement: Statement
) -> Entry:
    """Return the entry of a statement: about a sample of its own, and without data that could be compared."""
    spending = Spending(population, f"{STATED}:{number}", True, STATED, guarantees, "elsewhere")
    return Entry(number, at, spending, "destroyed", software, statement.by, status="stated", statement=statement)


def concentrated_together(uses: Sequence[Uses]) -> tuple[Uses, ...]:
    """Return uses of curves with every ρ added up, which is less than what composing their curves comes to.

    Of one person's data replaced, two steps of one person each, it is 4ρ (Bun and Steinke 2016, Propositions 1.7, 1.9).
    """
    kept, rhos = [], []
    for use in uses:
        match use.curve:
            case ConcentratedCurve(rho):
                rhos += [rho] * use.releases
            case ReplacedCurve(ConcentratedCurve(rho)):
                rhos += [4 * rho] * use.releases
            case _:
                kept.append(use)
    if not rhos:
        return tuple(kept)
    together = total(rhos)
    # Beyond the range of a ρ nothing is guaranteed in any way that they are composed.
    return (*kept, Uses(ConcentratedCurve(together), 1)) if PARAMETERS["rho"].allows(together) else tuple(uses)
