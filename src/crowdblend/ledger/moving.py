"""Moving a ledger to another database: every row as it is, verified by its head before the copy is called done."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from crowdblend.errors import DoesNotVerify
from crowdblend.ledger.chain import Head
from crowdblend.ledger.database import Transaction, copy_rows, create_tables, create_triggers
from crowdblend.ledger.followed_store import check_kept
from crowdblend.ledger.history import History
from crowdblend.ledger.ledger import Ledger
from crowdblend.ledger.store import Location, Store, locate, refuse_ledger


@dataclass(frozen=True)
class MovedLedger:
    """A ledger that was copied, with the head of both."""

    source: Location
    target: Location
    head: Head
    unfinished: tuple[int, ...]
    """The entries whose releases are resumed in the target."""

    def advice(self) -> list[str]:
        """Return what the steward does next, as sentences."""
        source, target = self.source.words(), self.target.words()
        said = [
            f"Use {target} alone from now on, and set CROWDBLEND_LEDGER to it: two ledgers are two budgets.",
            f"{source} is as it was. Keep it where no release finds it, or delete it: it holds keys and a secret.",
        ]
        if self.unfinished:
            numbers = ", ".join(map(str, self.unfinished))
            said.append(f"Resume what is unfinished in {target}, and not in {source}: {numbers}.")
        if self.target.url is not None:
            said.append(
                "Its owner alone may use it so far; crowdblend ledger roles prints the SQL of rights for others."
            )
        return said

    def lines(self) -> list[str]:
        """Return what was done and what comes next, as sentences."""
        copied = f"{self.head.records} records of {self.source.words()} are in {self.target.words()}"
        return [f"{copied}, and both have the head {self.head.hash}.", *self.advice()]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON-ready data."""
        return {
            "from": self.source.words(),
            "to": self.target.words(),
            "head": self.head.to_dict(),
            "unfinished": list(self.unfinished),
            "advice": self.advice(),
        }


def move_ledger(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> MovedLedger:
    """Copy the ledger at `source` to `target`, which has none; return what was copied, once the copy is verified.

    Nobody writes to the source meanwhile, and the source is not changed. Where the copy fails, nothing is left.
    """
    old, place = Ledger.open(source, make=False), locate(target)
    if place.url is not None:  # before the source is held: a target that is the source would be waited for
        with Store(place).transaction(writing=False) as looking:
            refuse_ledger(looking, place)
    with Store.open(old.location).transaction(writing=True) as reading:
        # Read by another connection, which sees what this one holds still.
        head, unfinished = old.head(), tuple(entry.id for entry in old.unfinished_entries())

        def fill(transaction: Transaction) -> None:
            create_tables(transaction)
            copy_rows(reading, transaction)
            create_triggers(transaction)
            history = History()
            history.follow(transaction.records())
            if history.last is None or history.last.hash != head.hash:
                raise _differs(place)
            check_kept(transaction, history)

        Store.create(place, fill)
        made = Ledger.open(target, make=False).head()
        if (made.records, made.hash) != (head.records, head.hash):
            raise _differs(place)
    return MovedLedger(old.location, place, head, unfinished)


def _differs(place: Location) -> DoesNotVerify:
    message = f"The copy {place.words()} has another head than its source."
    remedy = "Do not use the copy, and move the ledger to another place."
    return DoesNotVerify(message, remedy=remedy, where="ledger", code="ledger.copy")
