"""What all releases about one population lose together, as a value that the ledger keeps and one more release extends.

The value holds the masses of both laws, rounded up, and the curves they are of. Masses are only ever rounded up, so a
total that was kept is never below one that was composed from the entries alone. The record that begins an entry has
the digest of the value with that entry, and later summaries have it too: an edited one is found as an edited entry is.
An older value does no harm: what came after is composed anew.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from flint import arb

from crowdblend.calculus.encoding import decode, encode
from crowdblend.calculus.loss_curves import pair_of, spread, together
from crowdblend.errors import CrowdblendError
from crowdblend.guarantees import ClosenessCurve, Profile, Relation, ReplacedCurve, Uses
from crowdblend.guarantees.guessing import differential_for_one
from crowdblend.ledger.entry import Losses
from crowdblend.numerics.balls import precision
from crowdblend.numerics.loss_law import BITS, LossLaw
from crowdblend.numerics.profile_curves import LossPair
from crowdblend.numerics.series import Spread
from crowdblend.version import __version__

FORMAT = "crowdblend running total 2"
# Far below any δ that a steward would set, also after thousands of releases.
CUT = 1e-17
# A grid is used again while it is hardly coarser than the one that fits all releases, and not far finer.
COARSER, FINER = 1.5, 16.0
KEPT_BITS = 64
# What a law may lose by rounding and by cutting its ends, for each of its releases: far below any δ.
ROUNDING = 1e-16

Spent = tuple[Losses, int]
"""What a release loses, and how many such releases there are."""


@dataclass(frozen=True)
class RunningTotal:
    """The laws of all uses of a profile together."""

    profile: Profile
    spread: Spread
    pair: LossPair

    def grown_to(self, uses: tuple[Uses, ...]) -> RunningTotal | None:
        """The total of these uses, which include its own; None where they do not, or its grid does not serve them."""
        known = {use.curve: use.releases for use in self.profile.uses}
        wanted = Counter({use.curve: use.releases for use in uses})
        wanted.subtract(known)
        if any(left < 0 for left in wanted.values()):
            return None
        more = tuple(Uses(curve, left) for curve, left in wanted.items() if left)
        pair = self.beside(more)
        if pair is None:
            return None
        together_with = self.spread.beside(spread(more)) if more else self.spread
        return replace(self, profile=Profile(uses, self.profile.relation), spread=together_with, pair=pair)

    def beside(self, uses: tuple[Uses, ...]) -> LossPair | None:
        """The laws with more releases; None where the grid does not serve them."""
        if not uses:
            return self.pair
        wanted, here = self.spread.beside(spread(uses)).spacing, self.pair.up.spacing
        if not wanted / FINER <= here <= wanted * COARSER:
            return None
        added = together(uses, here, CUT)
        if added.up.spacing != here:
            return None
        return LossPair(self.pair.up.beside(added.up), self.pair.down.beside(added.down))

    def is_enough(self) -> bool:
        """Whether the laws are as large as those of the profile, composed again on the same grid.

        Of very many releases a law has a long upper end, which is cut off and counted as lost, more or less of it
        depending on the order in which they are composed: so much the laws may differ.
        """
        spacing = self.pair.up.spacing
        again = together(self.profile.uses, spacing, CUT)
        if again.up.spacing != spacing:
            return False
        ups, downs = zip(*(_infinite(use, spacing) for use in self.profile.uses), strict=True)
        slack = ROUNDING * (self.profile.releases + 1)
        return self.pair.up.covers(again.up, slack + _cut_off(again.up, ups)) and self.pair.down.covers(
            again.down, slack + _cut_off(again.down, downs)
        )

    def to_json(self) -> str:
        """The total as text."""
        document = {
            "format": FORMAT,
            "software": __version__,
            "profile": encode(self.profile),
            "spread": asdict(self.spread),
            "spacing": self.pair.up.spacing,
            "laws": [_kept(law) for law in (self.pair.up, self.pair.down)],
        }
        return json.dumps(document, sort_keys=True, separators=(",", ":"))


def total_of(uses: tuple[Uses, ...], relation: Relation, kept: RunningTotal | None = None) -> RunningTotal:
    """The total of these uses, of which there is at least one; grown from the one that was kept where it serves."""
    grown = kept.grown_to(uses) if kept is not None and kept.profile.relation is relation else None
    if grown is not None:
        return grown
    every = spread(uses)
    return RunningTotal(Profile(uses, relation), every, together(uses, every.spacing, CUT))


def total_of_spent(spent: Sequence[Spent], kept: RunningTotal | None = None) -> RunningTotal | None:
    """The total under the first relation that adds all up; None where there are none, or one has no loss."""
    for relation in (Relation.ADD_REMOVE, Relation.REPLACE):
        uses = uses_of(spent, relation)
        if uses:
            return total_of(uses, relation, kept)
    return None


def epsilon_at(pair: LossPair, delta: float) -> float | None:
    """The smallest ε at a δ, the larger of both directions; None where none reaches it."""
    found = [pair.up.epsilon(delta), pair.down.epsilon(delta)]
    return None if None in found else max(value for value in found if value is not None)


def uses_of(spent: Iterable[Spent], relation: Relation) -> tuple[Uses, ...] | None:
    """The curves of all releases under one relation; None where one has no such guarantee."""
    found: list[Uses] = []
    for losses, count in spent:
        uses = _uses(losses, relation)
        if uses is None:
            return None
        found += [Uses(use.curve, use.releases * count) for use in uses]
    return Profile(tuple(found), relation).uses if found else ()


def digest_of(text: str) -> str:
    """The SHA-256 that the chain has of a kept total."""
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=16)
def read_total(text: str) -> RunningTotal | None:
    """The total that a text holds; None where it is of another version, whose curves may have been mended since."""
    try:
        document: dict[str, Any] = json.loads(text)
        if (document["format"], document["software"]) != (FORMAT, __version__):
            return None
        profile = decode(document["profile"])
        if not isinstance(profile, Profile):
            return None
        up, down = (_law(float(document["spacing"]), law) for law in document["laws"])
        return RunningTotal(profile, Spread(**document["spread"]), LossPair(up, down))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, CrowdblendError):
        return None


def _uses(losses: Losses, relation: Relation) -> tuple[Uses, ...] | None:
    profiles = [made for made in losses.guarantees if isinstance(made, Profile) and made.people == 1]
    known = next((made for made in profiles if made.relation is relation), None)
    if known is not None:
        return known.uses
    stated = differential_for_one(losses.guarantees, relation)
    found: list[tuple[Uses, ...]] = [] if stated is None else [(Uses(ClosenessCurve(stated.epsilon, stated.delta), 1),)]
    added = _uses(losses, Relation.ADD_REMOVE) if relation is Relation.REPLACE else None
    if added is not None:
        found.append(tuple(Uses(ReplacedCurve(use.curve), use.releases) for use in added))
    # Each is true; the one whose losses spread less composes to less.
    return min(found, key=lambda uses: spread(uses).distances, default=None)


def _infinite(use: Uses, spacing: float) -> tuple[float, float]:
    """The logarithm of the mass that so many uses leave at finite losses, in each direction."""
    pair = pair_of(use.curve, spacing, CUT)
    lost = (min(float(law.infinite.lower()), 1.0) for law in (pair.up, pair.down))
    up, down = (use.releases * math.log1p(-mass) if mass < 1 else -math.inf for mass in lost)
    return up, down


def _cut_off(law: LossLaw, finite: Iterable[float]) -> float:
    """How much mass of a law is at infinity only because its upper end was cut off."""
    lost = -math.expm1(sum(finite))
    return max(float(law.infinite.upper()) - lost * (1 - 1e-9), 0.0)


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
