"""The store of a ledger with its records followed: what every look into a ledger, and every new record, begins with."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TypeVar

from crowdblend.errors import InvalidInput, NotReachable
from crowdblend.ledger.chain import Head, Record, next_record
from crowdblend.ledger.database import Transaction
from crowdblend.ledger.history import History, check_keys, checked_secret, edited_ledger, ledger_behind, read_identities
from crowdblend.ledger.kept_heads import AcceptedLoss, KeptHeads, lost_heads, refuse_lost
from crowdblend.ledger.server import CUT, database_of
from crowdblend.ledger.steps import Step, checked_body
from crowdblend.ledger.store import Location, Store, now

Made = TypeVar("Made", bound=Step)
Seen = TypeVar("Seen")
_WAITS = (0.5, 1.0, 2.0)
"""Seconds before each other try where a connection was cut."""


class FollowedStore:
    """The store at a location, made where it is missing, and the history that its records tell.

    All records are followed once, later ones when they are there. The head of every record that is appended is kept
    beside the ledger, and the heads that were kept so far are compared when the ledger is first followed.
    """

    def __init__(self, location: Location) -> None:
        self.location = location
        self._store = None if location.is_missing else _open(location)
        self._history = History()
        self._lock = RLock()
        self._heads: KeptHeads | None = None
        self._is_compared = False

    @property
    def is_missing(self) -> bool:
        """Return whether no ledger is there yet."""
        return self._store is None and self.location.is_missing

    def require(self, *, make: bool) -> None:
        """Open the store, which must be there; the user's own is made unless `make` is false."""
        if self._store is None and (make or self.location.named):
            self._store = _open(self.location, make=not self.location.named)

    def read(self, look: Callable[[Transaction, History], Seen]) -> Seen:
        """Return what is seen in a transaction on one state; where the connection is cut, look again."""

        def attempt() -> Seen:
            with self.reading() as (transaction, history):
                return look(transaction, history)

        return _try_again(attempt)

    def read_anew(self, look: Callable[[Transaction, History], Seen]) -> Seen:
        """Return what is seen in a transaction in which all records were followed again from the first."""

        def attempt() -> Seen:
            with self._lock:
                self._history, self._is_compared = History(), False
                with self.reading() as (transaction, history):
                    return look(transaction, history)

        return _try_again(attempt)

    def append(self, make: Callable[[Transaction, History], Made]) -> Made:
        """Append the record that is made in a transaction, and return it.

        Where the connection is cut the transaction is tried again, unless the record is there: then its commit came
        through, and only the answer was lost.
        """
        lost: tuple[Made, Record] | None = None

        def attempt() -> tuple[Made, Record]:
            nonlocal lost
            with self.writing() as (transaction, history):
                if lost is not None and transaction.hash_of(lost[1].number) == lost[1].hash:
                    return lost
                made = make(transaction, history)
                record = next_record(history.last, checked_body(made), transaction.role())
                lost = made, record
                transaction.add_record(record)
            return lost

        made, record = _try_again(attempt)
        self._heads_of(self.open()).add(Head(record.number, record.hash, now()))
        return made

    def accept_loss(self, make: Callable[[Sequence[Head], str], AcceptedLoss]) -> AcceptedLoss:
        """Append the record, made for heads and a role, of a loss that someone accepts; refuse where none is lost."""
        kept, self._is_compared = self._heads_of(self.open()).read(), True

        def accept(transaction: Transaction, history: History) -> AcceptedLoss:
            lost = lost_heads(kept, transaction, history.accepted_heads())
            if not lost:
                message = "The ledger has the records of every head that was kept. Nothing is to be accepted."
                raise InvalidInput(message, where="--accept", code="ledger.not-behind")
            return make(lost, transaction.role())

        try:
            return self.append(accept)
        except BaseException:
            self._is_compared = False
            raise

    @contextmanager
    def writing(self) -> Iterator[tuple[Transaction, History]]:
        """Begin a transaction that no other writer overlaps, and follow what was recorded."""
        store = self.open()
        kept = self._heads_to_compare(store)
        with self._lock, store.transaction(writing=True) as transaction:
            yield transaction, self._follow(transaction, kept)

    @contextmanager
    def reading(self) -> Iterator[tuple[Transaction, History]]:
        """Begin a transaction that sees one state, and follow what was recorded."""
        store = self.readable() or self.open()
        kept = self._heads_to_compare(store)
        with self._lock, store.transaction(writing=False) as transaction:
            yield transaction, self._follow(transaction, kept)

    def replay(self) -> History:
        """Return what all records tell; an empty history where no ledger is yet."""
        if self.readable() is None:
            return History()
        return self.read(lambda _, history: history)

    def _heads_of(self, store: Store) -> KeptHeads:
        if self._heads is None:
            path, url = self.location.path, self.location.url
            in_file = None if path is None else KeptHeads.beside(path)
            self._heads = in_file or KeptHeads.in_state_folder(database_of(str(url)), store.first_hash)
        return self._heads

    def _heads_to_compare(self, store: Store) -> tuple[Head, ...]:
        """Return the heads that were kept before a transaction begins, so that it sees the records of all of them."""
        return () if self._is_compared else self._heads_of(store).read()

    def _follow(self, transaction: Transaction, kept: Sequence[Head]) -> History:
        """Follow all records that were added since the last look, and compare the last known one and kept heads."""
        last = self._history.last
        records = transaction.records(1 if last is None else last.number)
        if last is not None and next(records, None) != last:
            raise ledger_behind(last.number)
        self._history.follow(records)
        if self._history.last is None:
            raise edited_ledger("All records of the ledger were deleted.")
        lost = lost_heads(kept, transaction, self._history.accepted_heads())
        refuse_lost(lost, self._history.last.number, None if self._heads is None else self._heads.path)
        self._is_compared = True
        return self._history

    def readable(self) -> Store | None:
        """Return the store; None where the user's own ledger is missing, which is empty until the first release."""
        if self._store is None and not self.location.is_missing:
            self._store = _open(self.location)
        if self._store is None and self.location.named:
            message = f"There is no ledger at {self.location.words()}."
            remedy = "Correct its name; the first release makes a new one."
            raise InvalidInput(message, remedy=remedy, where="ledger", code="ledger.missing")
        return self._store

    def open(self) -> Store:
        """Return the store, made where it is missing."""
        if self._store is None:
            if self.location.is_missing:
                warnings.warn(f"No ledger at {self.location.words()}; creating a new one.", stacklevel=4)
            self._store = _open(self.location, make=True)
        return self._store


def _open(location: Location, *, make: bool = False) -> Store:
    """Return the store at a location, as `Store.open` does; where the connection is cut, try again."""
    return _try_again(lambda: Store.open(location, make=make))


def _try_again(attempt: Callable[[], Seen]) -> Seen:
    """Return what an attempt returns; where the connection is cut, try again a few times."""
    for wait in _WAITS:
        try:
            return attempt()
        except NotReachable as problem:
            if problem.code != CUT:
                raise
            time.sleep(wait)
    return attempt()


def check_kept(transaction: Transaction, history: History) -> None:
    """Raise DoesNotVerify unless keys, the secret and identities are those that the chain commits to."""
    check_keys(history.entries, transaction.keys())
    checked_secret(transaction.secret(), history.secret)
    for _ in read_identities(history.entries.values(), transaction.identities()):
        pass  # one is held at a time
