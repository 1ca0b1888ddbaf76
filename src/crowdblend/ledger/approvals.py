"""Approvals: a release beyond a threshold waits until someone else has approved this release alone.

An approval names one policy by its digest, one population, and an ε and δ that the release may not exceed. One release
uses it, in the transaction that records the release: of two releases that begin at the same time, one waits on.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from crowdblend.errors import RefusedByLedger
from crowdblend.ledger.chain import Digest
from crowdblend.ledger.declarations import DeclarationRecord, Declarations, Threshold
from crowdblend.ledger.entry import Spending, check_digest
from crowdblend.ledger.identity import UNNAMED
from crowdblend.trusted.guarantees.wording import at_most


class Approval(DeclarationRecord, frozen=True, tag="approval"):
    """The approval of one release: of a policy with this digest, about a population, up to an ε and a δ.

    Both are None for a release without an ε that adds up. `by` says who approved it, and `why` for what reason.
    """

    population: str
    policy: Digest
    epsilon: float | None
    delta: float | None
    by: str
    why: str | None = None
    at: str = ""
    role: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_digest("policy", self.policy)

    def covers(self, spending: Spending) -> bool:
        """Return whether it names a release: the policy and the population, and no less than the release spends."""
        if (spending.population, spending.policy) != (self.population, self.policy):
            return False
        loss = spending.loss
        if loss is None or self.epsilon is None or self.delta is None:
            return loss is None and self.epsilon is None
        return loss.epsilon <= self.epsilon and loss.delta <= self.delta

    def words(self) -> str:
        """Return what was approved, for a line of a list."""
        up_to = "without an epsilon that adds up"
        if self.epsilon is not None and self.delta is not None:
            up_to = f"up to epsilon {at_most(self.epsilon)}, delta {at_most(self.delta)}"
        return f"one release about {self.population!r} {up_to}, policy {self.policy}"


@dataclass(frozen=True)
class NumberedApproval:
    """An approval with its number, and the number of the release that used it; None where none has."""

    number: int
    approval: Approval
    used_by: int | None

    def to_dict(self) -> dict[str, object]:
        """Return the approval as JSON-ready data."""
        return {"approval": self.number, **self.approval.to_dict(), "used_by": self.used_by}


@dataclass
class Approvals:
    """All approvals of a ledger in their order, numbered from 1, and the releases that used them."""

    made: list[Approval] = field(default_factory=list)
    used: dict[int, int] = field(default_factory=dict)

    def numbered(self) -> tuple[NumberedApproval, ...]:
        """Return every approval with its number and its use."""
        return tuple(NumberedApproval(n, one, self.used.get(n)) for n, one in enumerate(self.made, 1))

    def use(self, number: int, spending: Spending, entry: int) -> None:
        """Take into account that a release used an approval; raises ValueError where it could not."""
        if not 1 <= number <= len(self.made) or number in self.used or not self.made[number - 1].covers(spending):
            raise ValueError("an approval is used once, by the release that it names")
        self.used[number] = entry

    def required(self, spending: Spending, declarations: Declarations) -> int | None:
        """Return the number of the approval that a release uses, or None where it needs none; refuse one without."""
        threshold = declarations.exceeded_threshold(spending)
        if threshold is None:
            return None
        covering = [one for one in self.numbered() if one.approval.covers(spending)]
        free = next((one.number for one in covering if one.used_by is None), None)
        if free is None:
            raise _refusal(spending, threshold, covering)
        return free


def _refusal(spending: Spending, threshold: Threshold, used: Sequence[NumberedApproval]) -> RefusedByLedger:
    """Return the refusal of a release without an approval, with what to ask for."""
    loss = spending.loss
    spends = "has no epsilon that adds up"
    if loss is not None:
        spends = f"spends epsilon {at_most(loss.epsilon)}, delta {at_most(loss.delta)}"
    before = f" Approval {used[-1].number} of the same was used by release {used[-1].used_by}." if used else ""
    message = f"This release {spends}, and {threshold.words()} waits for an approval.{before}"
    if spending.population.startswith(UNNAMED):
        remedy = 'An approval names the population: write `data.population = "NAME"`, and ask for one then.'
        return RefusedByLedger(message, remedy=remedy, where="`data.population`", code="approval.unnamed")
    up_to = "" if loss is None else f" --epsilon {at_most(loss.epsilon)} --delta {at_most(loss.delta)}"
    asked = f"crowdblend ledger approve {shlex.quote(spending.population)} --policy {spending.policy}{up_to}"
    remedy = f"Ask an approver for it: {asked}"
    return RefusedByLedger(message, remedy=remedy, where=spending.population, code="approval.needed")
