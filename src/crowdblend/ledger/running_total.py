"""What all releases about one population lose together, as a value that the ledger keeps and one more release extends.

The value holds the masses of both laws, rounded up, and which entries they are of. Masses are only ever rounded up, so
a total that was kept is never below one that was composed from the entries alone. The record that begins an entry has
the digest of the value with that entry, so an edited one is found as an edited entry is (`kept_totals.py`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from flint import arb

from crowdblend.calculus.loss_curves import spread, together
from crowdblend.errors import CrowdblendError
from crowdblend.guarantees import ClosenessCurve, Differential, Profile, Relation, ReplacedCurve, Uses
from crowdblend.guarantees.guessing import differential_for_one
from crowdblend.ledger.entry import Spending
from crowdblend.numerics.balls import precision
from crowdblend.numerics.loss_law import BITS, LossLaw
from crowdblend.numerics.profile_curves import LossPair
from crowdblend.numerics.series import Spread
from crowdblend.version import __version__

FORMAT = "crowdblend running total 1"
# Far below any δ that a steward would set, also after thousands of releases.
CUT = 1e-17
# A grid is used again while it is hardly coarser than the one that fits all releases, and not far finer.
COARSER, FINER = 1.5, 16.0
KEPT_BITS = 64

Spent = tuple[int, Spending]


@dataclass(frozen=True)
class RunningTotal:
    """The laws of so many entries together, under one relation; `delta` is the sum of theirs."""

    population: str
    relation: Relation
    entries: tuple[int, ...]
    delta: float
    spread: Spread
    pair: LossPair

    def grown(self, more: Sequence[Spent]) -> RunningTotal | None:
        """The total with more entries; None where the relation or the grid does not serve them any more."""
        if not more:
            return self
        uses = uses_of([spending for _, spending in more], self.relation)
        pair = None if uses is None else self.beside(uses)
        if uses is None or pair is None:
            return None
        entries = (*self.entries, *(number for number, _ in more))
        delta = self.delta + sum(_deltas(more, self.relation))
        return replace(self, entries=entries, delta=delta, spread=self.spread.beside(spread(uses)), pair=pair)

    def named(self, entry: int) -> RunningTotal:
        """The same total, its last entry by its number."""
        return replace(self, entries=(*self.entries[:-1], entry))

    def beside(self, uses: tuple[Uses, ...]) -> LossPair | None:
        """The laws with more releases; None where the grid does not serve them."""
        wanted, here = self.spread.beside(spread(uses)).spacing, self.pair.up.spacing
        if not wanted / FINER <= here <= wanted * COARSER:
            return None
        added = together(uses, here, CUT)
        if added.up.spacing != here:
            return None
        return LossPair(self.pair.up.beside(added.up), self.pair.down.beside(added.down))

    def to_json(self) -> str:
        """The total as text."""
        document = {
            "format": FORMAT,
            "software": __version__,
            "population": self.population,
            "relation": self.relation.value,
            "entries": self.entries,
            "delta": self.delta,
            "spread": asdict(self.spread),
            "spacing": self.pair.up.spacing,
            "laws": [_kept(law) for law in (self.pair.up, self.pair.down)],
        }
        return json.dumps(document, sort_keys=True, separators=(",", ":"))


def epsilon_at(pair: LossPair, delta: float) -> float | None:
    """The smallest ε at a δ, the larger of both directions; None where none reaches it."""
    found = [pair.up.epsilon(delta), pair.down.epsilon(delta)]
    return None if None in found else max(value for value in found if value is not None)


def compose_all(population: str, spent: Sequence[Spent]) -> RunningTotal | None:
    """The total of all these entries; None where there are none, or one of them has no loss that adds up."""
    spendings = [spending for _, spending in spent]
    for relation in (Relation.ADD_REMOVE, Relation.REPLACE):
        uses = uses_of(spendings, relation)
        if uses:
            every, numbers = spread(uses), tuple(number for number, _ in spent)
            pair = together(uses, every.spacing, CUT)
            return RunningTotal(population, relation, numbers, sum(_deltas(spent, relation)), every, pair)
    return None


def uses_of(spendings: Sequence[Spending], relation: Relation) -> tuple[Uses, ...] | None:
    """The curves of all releases under one relation; None where one has no such guarantee."""
    found: list[Uses] = []
    for spending in spendings:
        uses = _uses(spending, relation)
        if uses is None:
            return None
        found += uses
    return Profile(tuple(found), relation).uses if found else ()


def loss_under(spending: Spending, relation: Relation) -> Differential | None:
    """What one release loses, as one (ε, δ)."""
    return spending.differential if relation is Relation.ADD_REMOVE else spending.replaced


def digest_of(text: str) -> str:
    """The SHA-256 that the chain has of a kept total."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_total(text: str) -> RunningTotal | None:
    """The total that a text holds; None where it is of another version, whose curves may have been mended since."""
    try:
        document: dict[str, Any] = json.loads(text)
        if (document["format"], document["software"]) != (FORMAT, __version__):
            return None
        up, down = (_law(float(document["spacing"]), law) for law in document["laws"])
        return RunningTotal(
            document["population"],
            Relation(document["relation"]),
            tuple(int(number) for number in document["entries"]),
            float(document["delta"]),
            Spread(**document["spread"]),
            LossPair(up, down),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, CrowdblendError):
        return None


def _uses(spending: Spending, relation: Relation) -> tuple[Uses, ...] | None:
    profiles = [made for made in spending.guarantees if isinstance(made, Profile) and made.people == 1]
    known = next((made for made in profiles if made.relation is relation), None)
    if known is not None:
        return known.uses
    stated = differential_for_one(spending.guarantees, relation)
    found: list[tuple[Uses, ...]] = [] if stated is None else [(Uses(ClosenessCurve(stated.epsilon, stated.delta), 1),)]
    added = _uses(spending, Relation.ADD_REMOVE) if relation is Relation.REPLACE else None
    if added is not None:
        found.append(tuple(Uses(ReplacedCurve(use.curve), use.releases) for use in added))
    # Each is true; the one whose losses spread less composes to less.
    return min(found, key=lambda uses: spread(uses).distances, default=None)


def _deltas(spent: Sequence[Spent], relation: Relation) -> list[float]:
    losses = [loss_under(spending, relation) for _, spending in spent]
    return [loss.delta for loss in losses if loss is not None]


def _kept(law: LossLaw) -> dict[str, Any]:
    with precision(BITS):
        masses = " ".join(_up(mass) for mass in law.masses)
        return {"first": law.first, "masses": masses, "infinite": _up(law.infinite)}


def _law(spacing: float, document: dict[str, Any]) -> LossLaw:
    with precision(BITS):
        masses = tuple(_mass(text) for text in document["masses"].split())
        return LossLaw(spacing, CUT, int(document["first"]), masses, _mass(document["infinite"]))


def _up(mass: arb) -> str:
    """A mass as a whole number and a power of two, rounded up to 64 bits."""
    number, power = (int(part) for part in mass.upper().nonnegative_part().man_exp())
    extra = max(number.bit_length() - KEPT_BITS, 0)
    return f"{-(-number >> extra):x}:{power + extra}"


def _mass(text: str) -> arb:
    number, power = text.split(":")
    return arb((int(number, 16), int(power)))
