"""The part of a ledger in which people declare what holds: limits, who the people are, which populations overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from crowdblend.ledger.approvals import Approval
from crowdblend.ledger.chain import Head
from crowdblend.ledger.database import Transaction
from crowdblend.ledger.declarations import (
    NEVER,
    Description,
    Distinct,
    Limit,
    Overlap,
    Threshold,
    refuse_confusable,
    this_user,
)
from crowdblend.ledger.filters import order_for
from crowdblend.ledger.history import History
from crowdblend.ledger.kept_heads import AcceptedLoss
from crowdblend.ledger.reader import LedgerReader
from crowdblend.ledger.store import now
from crowdblend.trusted.guarantees.parameters import check
from crowdblend.trusted.guarantees.privacy import Relation

Declared = TypeVar("Declared", Limit, Description, Overlap, Distinct, Threshold, Approval)


class LedgerDeclarations(LedgerReader):
    """A ledger in which people declare what holds for a population; nothing that is declared is ever changed."""

    def limit(
        self,
        population: str,
        *,
        epsilon: float,
        delta: float,
        until: str | int | None = None,
        why: str | None = None,
        by: str | None = None,
        relation: Relation = Relation.ADD_REMOVE,
        renyi: bool = False,
    ) -> Limit:
        """Set the limit of a `population`: the `epsilon` at this `delta` that all releases about it may come to.

        It holds also where a release reacts to earlier ones. Losses under one `relation` are added up, a declared
        series as one; with `renyi` they are counted by Rényi divergence, of an order that is fixed here.

        `until` is a year, a month or a day; afterwards nothing is released before a new limit is set. A limit that ends
        is followed by one that does not only if `until` is "never". `by` names the person, by default the user of this
        process. A change of a limit needs `why`.
        """
        day = None if until in (None, NEVER) else str(until)
        check("epsilon", epsilon)
        check("delta", delta)
        order = order_for(epsilon, delta) if renyi else None
        made = Limit(population, epsilon, delta, day, by or this_user(), why, now(), relation, order)
        return self._declare(made, keeps_end=until is None)

    def threshold(
        self,
        population: str | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        why: str | None = None,
        by: str | None = None,
    ) -> Threshold:
        """Let every release about a `population` beyond an `epsilon` or a `delta` wait for an approval.

        Without `population` it holds for all of them. Without both numbers an earlier threshold is lifted. A change
        needs `why`, and `by` names the person, by default the user of this process.
        """
        return self._declare(Threshold(population, epsilon, delta, by or this_user(), why, now()))

    def approve(
        self,
        population: str,
        *,
        policy: str,
        epsilon: float | None,
        delta: float | None,
        why: str | None = None,
        by: str | None = None,
    ) -> Approval:
        """Approve one release about a `population`: of the `policy` with this digest, up to an `epsilon` and a `delta`.

        Both are None for a release without an ε that adds up. `by` names who approves it, by default the user of this
        process, and `why` gives the reason.
        """
        return self._declare(Approval(population, policy, epsilon, delta, by or this_user(), why, now()))

    def describe(self, population: str, *, owner: str, description: str, by: str | None = None) -> Description:
        """Declare who answers for a `population`, its `owner`, and who its people are, by a `description`.

        `by` names who declares it, by default the user of this process.
        """
        return self._declare(Description(population, owner, description, by or this_user(), now()))

    def overlap(self, population: str, other: str, *, why: str | None = None, by: str | None = None) -> Overlap:
        """Declare that a `population` and an `other` have people in common: what was released about them adds up.

        `by` names who declares it, by default the user of this process, and `why` gives the reason.
        """
        return self._declare(Overlap(population, other, by or this_user(), why, now()))

    def distinct(self, population: str, other: str, *, why: str | None = None, by: str | None = None) -> Distinct:
        """Declare that a `population` and an `other` are other people, although some ids agree as small numbers do.

        It holds for ids that agree by chance alone: more ids in common, or equal rows, are said and refused as ever.
        `by` names who declares it, by default the user of this process, and `why` gives the reason.
        """
        return self._declare(Distinct(population, other, by or this_user(), why, now()))

    def accept_loss(self, *, why: str, by: str | None = None) -> AcceptedLoss:
        """Accept that the ledger lacks records whose heads were kept beside it, as after a restore; return which.

        From then on it can be used again. What the lost records spent is entered again by `adopt` or `record`. `by`
        names who accepts it, by default the user of this process, and `why` gives the reason.
        """

        def accept(lost: Sequence[Head], role: str) -> AcceptedLoss:
            heads = tuple((one.records, one.hash) for one in lost)
            return AcceptedLoss(heads, by or this_user(), why, now(), role)

        return self._records.accept_loss(accept)

    def _declare(self, declaration: Declared, *, keeps_end: bool = False) -> Declared:
        stated = (declaration.population, getattr(declaration, "other", None))
        names = dict.fromkeys(name for name in stated if name is not None)

        def declare(transaction: Transaction, history: History) -> Declared:
            for name in names:
                refuse_confusable(name, history.names())
            if isinstance(declaration, Limit):
                declaration.check_change(history.declarations.limit(declaration.population), keeps_end=keeps_end)
            if isinstance(declaration, Threshold):
                declaration.check_change(history.declarations.threshold(declaration.population))
            if isinstance(declaration, Distinct):
                history.declarations.check_distinct(declaration)
            return msgspec.structs.replace(declaration, role=transaction.role())

        return self._records.append(declare)
