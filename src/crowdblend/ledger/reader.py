"""The part of a ledger that reads: what was released and declared, what it comes to, and whether it is whole."""

from __future__ import annotations

import os
from collections.abc import Mapping

from crowdblend.errors import InvalidInput
from crowdblend.ledger.approvals import NumberedApproval
from crowdblend.ledger.budget import Budget, ProfileTotal
from crowdblend.ledger.chain import GENESIS, Head, Record
from crowdblend.ledger.database import Transaction
from crowdblend.ledger.declarations import Limit, Threshold
from crowdblend.ledger.entry import Entry, Spending, normal_name
from crowdblend.ledger.followed_store import FollowedStore, check_kept
from crowdblend.ledger.history import History, check_key, ledger_behind
from crowdblend.ledger.identity import Identity
from crowdblend.ledger.kept_heads import AcceptedLoss
from crowdblend.ledger.limits import Accounts
from crowdblend.ledger.populations import Population, populations_of
from crowdblend.ledger.store import locate, now


class LedgerReader:
    """The ledger at `where`, of which every record is verified as it is read."""

    def __init__(self, where: str | os.PathLike[str] | None = None) -> None:
        self.location = locate(where)
        self._records = FollowedStore(self.location)
        self._identities: dict[str, Identity] = {}

    def __repr__(self) -> str:
        return f"Ledger({self.location.words()!r})"

    # What was released.

    def entries(self) -> tuple[Entry, ...]:
        """Return every entry, oldest first; raises DoesNotVerify when the ledger was edited."""
        return tuple(self._records.replay().entries.values())

    def entry(self, entry_id: int) -> Entry:
        """Return the entry with the number `entry_id`."""
        return self._records.replay().entry(entry_id)

    def chain(self) -> tuple[tuple[Record, ...], Mapping[int, Entry]]:
        """Return every record of the chain, oldest first, and the entries that they make; refuses an edited ledger."""
        if self._records.readable() is None:
            return (), {}
        return self._records.read(lambda transaction, history: (tuple(transaction.records()), dict(history.entries)))

    def unfinished_entries(self) -> tuple[Entry, ...]:
        """Return the entries of releases that were begun and not finished, oldest first."""
        return tuple(entry for entry in self.entries() if entry.status == "unfinished")

    def unfinished_of(self, policy: str) -> tuple[Entry, ...]:
        """Return the unfinished entries of the `policy` with this digest, oldest first; none where no ledger is yet."""
        if self._records.is_missing:
            return ()
        return tuple(entry for entry in self.unfinished_entries() if entry.spending.policy == policy)

    def accounts(self) -> Accounts:
        """Return what was spent and declared."""
        return self._records.replay().accounts

    def budget(self, population: str) -> Budget:
        """Return what all releases about a `population` come to, with those about populations that overlap."""
        return self._records.replay().budget(normal_name(population))

    def budgets(self) -> tuple[Budget, ...]:
        """Return the budget of every population, in the order of their first release."""
        history = self._records.replay()
        return tuple(map(history.budget, history.populations()))

    def total(self, population: str, delta: float | None = None, *, more: Spending | None = None) -> ProfileTotal:
        """Return what all releases about a `population` come to by their profiles, with one release `more` or without.

        It is the ε at this `delta`, by default at the sum of all δ, where it compares with `budget`.
        """
        return self.accounts().total(normal_name(population), delta, more)

    def releases_that_fit(self, release: Spending, limit: Limit) -> int | None:
        """Return how many more of such a `release` keep a `limit`, counted as the limit counts."""
        return self.accounts().releases_that_fit(limit, release)

    def populations(self) -> tuple[Population, ...]:
        """Return every population that something was released about or declared of."""
        return populations_of(self._records.replay())

    def thresholds(self, population: str | None = None) -> tuple[Threshold, ...]:
        """Return every threshold that a `population` has had, or without one those for any; the last is in force."""
        name = None if population is None else normal_name(population)
        return tuple(self._records.replay().declarations.thresholds.get(name, ()))

    def approvals(self) -> tuple[NumberedApproval, ...]:
        """Return every approval, oldest first, with the release that used it."""
        return self._records.replay().approvals.numbered()

    def limits(self, population: str) -> tuple[Limit, ...]:
        """Return every limit that a `population` has had, the one in force last."""
        return tuple(self._records.replay().declarations.limits.get(normal_name(population), ()))

    def key(self, entry_id: int) -> bytes:
        """Return the key of the release `entry_id`: unfinished, to get the same output again, or sealed."""
        entry = self.entry(entry_id)
        if not entry.keeps_key:
            reason = "was begun without a key" if entry.key_commitment is None else "is finished, and its key destroyed"
            raise InvalidInput(f"Release {entry_id} {reason}.", where=f"release {entry_id}", code="ledger.no-key")
        return check_key(entry, self._records.read(lambda transaction, _: transaction.keys()).get(entry.id))

    # Whether it is whole.

    def head(self, trusted_head: Head | None = None) -> Head:
        """Return the head of the chain after a full check; with it, a later cut or replacement is found.

        Records, keys, identities and the ledger's secret are compared with what the chain says of them. With an earlier
        head as `trusted_head`, a ledger whose end was cut off, or an older copy of it, is found too. Raises
        DoesNotVerify when anything was edited.
        """
        trusted = trusted_head or Head(0, GENESIS, "")
        if self._records.readable() is None:
            if trusted.records:
                raise ledger_behind(trusted.records)
            return Head(0, GENESIS, now())

        def look(transaction: Transaction, history: History) -> Head:
            self._identities = {}
            if transaction.may_read_secrets():
                check_kept(transaction, history)
            if trusted.records and transaction.hash_of(trusted.records) != trusted.hash:
                raise ledger_behind(trusted.records)
            assert history.last is not None, "a ledger without records is refused"
            return Head(history.last.number, history.last.hash, now())

        return self._records.read_anew(look)

    def losses(self) -> tuple[AcceptedLoss, ...]:
        """Return the losses of records that were accepted, oldest first: see `accept_loss`."""
        return tuple(self._records.replay().losses)

    def latest_head(self) -> Head:
        """Return the head of the records as they are followed, without comparing keys and identities: see `head`."""
        last = self._records.replay().last
        return Head(0, GENESIS, now()) if last is None else Head(last.number, last.hash, now())

    def check(self, trusted_head: Head | None = None) -> str:
        """Return the hash that seals everything recorded so far; refuses what `head(trusted_head)` refuses.

        With an earlier `trusted_head` a ledger whose end was cut off is found.
        """
        return self.head(trusted_head).hash
