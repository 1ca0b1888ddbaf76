"""The ledger itself: entries are recorded before anything is published, and never changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput
from crowdblend.ledger import chain
from crowdblend.ledger.account import Account
from crowdblend.ledger.beside import Known, Outlook, look, population_of
from crowdblend.ledger.budget import Budget, add_up
from crowdblend.ledger.entry import Entry, Spending, check_digest, normal_name
from crowdblend.ledger.history import History, after, replay
from crowdblend.ledger.identity import Identity, Wanted, fingerprint
from crowdblend.ledger.location import Location, locate
from crowdblend.ledger.profile_total import ProfileTotal, profile_total, releases_that_fit
from crowdblend.ledger.secrets import check_key, commitment, matches
from crowdblend.ledger.sound import check_keys, identities_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crowdblend.guarantees import Differential
    from crowdblend.ledger.running_total import RunningTotal
    from crowdblend.ledger.store import Store


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Ledger:
    """An append-only list of entries, one for each release.

    A release calls `begin` before it touches anybody's data, `output_begins` before it computes what it will
    publish, and `finish` when that has appeared. From `output_begins` on the entry is spent, whatever happens;
    before it, `abandon` gives it back. Until it is finished the ledger holds its key: a release that crashed is run
    again with that key and gives the same output, so that nobody sees two outputs of one sample.
    """

    def __init__(self, location: Location, store: Store | None) -> None:
        self.location = location
        self._store = store

    @classmethod
    def open(cls, where: str | os.PathLike[str] | None = None, *, make: bool = True) -> Ledger:
        """The ledger at a path or URL, else the one of CROWDBLEND_LEDGER, else the user's own.

        A ledger that was named must be there, since a mistyped name is no empty ledger; `create` makes a new one. The
        user's own is made when it is missing; if `make` is false, it is taken to be empty until the first release.
        """
        location = locate(where)
        if not make and location.is_new_default:
            return cls(location, None)
        store = _store_module().Store
        return cls(location, store.open(location, make=make and not location.named, protect=make))

    @classmethod
    def create(cls, where: str | os.PathLike[str] | None = None) -> Ledger:
        """A new and empty ledger; refuses a place that has one."""
        location = locate(where)
        return cls(location, _store_module().Store.create(location))

    def wanted(self) -> Wanted:
        """What the identity of a new source must hold, so that it can be compared with every earlier one."""
        with self._writing() as connection:  # an old ledger gets its secret here
            _, history = _history(connection)
            known = identities_of(history.entries, _store_module().identities(connection))
            secret: bytes = _store_module().secret(connection, history)
        spent = [entry for entry in history.entries.values() if entry.counts]
        earlier = [known[entry.id] for entry in spent if entry.id in known]
        columns = (one.anchor.columns[0] for each in earlier for one in each.of("person", "column"))
        rows = (one.anchor for each in earlier for one in each.of("rows"))
        return Wanted(
            secret,
            tuple(dict.fromkeys(columns)),
            tuple(dict.fromkeys(rows)),
            old_names=any(entry.id not in known for entry in spent),
        )

    def population(self, spending: Spending, identity: Identity | None = None) -> str:
        """The name under which a release with an unnamed population adds up."""
        with self._reading() as connection:
            return population_of(Known(spending, identity), _earlier(connection, _history(connection)[1]))

    def look(self, spending: Spending, identity: Identity | None = None) -> Outlook:
        """What the ledger says of a release that may begin; raises DoesNotCompose when it may not."""
        with self._reading() as connection:
            return look(Known(spending, identity), _earlier(connection, _history(connection)[1]))

    def begin(
        self,
        spending: Spending,
        *,
        identity: Identity | None = None,
        sealed_key: bytes | None = None,
        held_key: bytes | None = None,
    ) -> int:
        """Record an entry that may stand beside all earlier ones, as unfinished; its id.

        The check and the record are one transaction: of two releases from one sample that begin at the same time,
        one is refused. A `held_key` is kept until the entry is finished or abandoned, a `sealed_key` for ever; the
        record has a commitment to it.
        """
        from crowdblend.version import __version__  # noqa: PLC0415

        check_key("sealed_key", sealed_key)
        check_key("held_key", held_key)
        if sealed_key is not None and held_key is not None:
            raise InvalidInput(
                "a release has one key: it is sealed, or held until the end. Pass one of them.",
                where="held_key",
                code="ledger.two-keys",
            )
        key = held_key if sealed_key is None else sealed_key
        store = _store_module()
        ahead = self._account(spending.population)
        composed = _running(ahead, spending)  # here, so that nobody waits for it below
        with self._writing() as connection:
            records, history = _history(connection)
            outlook = look(Known(spending, identity), _earlier(connection, history))
            kept = None if identity is None else identity.to_json()
            begun = {
                **spending.to_dict(),
                "step": "begun",
                "entry": len(history.entries) + 1,
                "at": now(),
                "key": "destroyed" if sealed_key is None else "sealed",
                "key_commitment": None if key is None else commitment(key),
                "identity": None if kept is None else fingerprint(kept),
                "not_compared": list(outlook.not_compared),
                "software": f"crowdblend {__version__}",
            }
            if chain.head(records) != chain.head(ahead.records):
                composed = _running(_totals_module().account_of(connection, records, spending.population), spending)
            if composed is not None:
                number = records[-1].number + 1
                begun["total"] = _totals_module().keep(connection, composed.named(begun["entry"]), number)
            store.write(connection, chain.append(records[-1], begun))
            if key is not None:
                store.keep_key(connection, begun["entry"], key)
            if kept is not None:
                store.keep_identity(connection, begun["entry"], kept)
        return len(history.entries) + 1

    def output_begins(self, entry_id: int) -> None:
        """Say that the output is about to be computed: from now on the entry is spent."""
        self._step(entry_id, {"step": "output"})

    def finish(
        self,
        entry_id: int,
        *,
        certificate_digest: str,
        data_sha256: str,
        internal: Mapping[str, Any] | None = None,
    ) -> None:
        """Record what is published, and forget the key unless it is sealed.

        `internal` is for the steward alone, such as how much was suppressed, as JSON has it.
        """
        digests = {"certificate_digest": certificate_digest, "data_sha256": data_sha256}
        for name, value in digests.items():
            check_digest(name, value)
        self._step(entry_id, {"step": "finished", **digests, "internal": dict(internal or {})})

    def abandon(self, entry_id: int) -> None:
        """Give an entry back, which is possible only while no output can exist; its key is forgotten."""
        self._step(entry_id, {"step": "abandoned"})

    def entries(self) -> tuple[Entry, ...]:
        """Every entry, oldest first; raises DoesNotVerify when the ledger was edited."""
        return tuple(replay(chain.contents(self._records())).entries.values())

    def entry(self, entry_id: int) -> Entry:
        """One entry."""
        return _find({entry.id: entry for entry in self.entries()}, entry_id)

    def unfinished(self) -> tuple[Entry, ...]:
        """The entries of releases that were begun and neither finished nor abandoned, oldest first."""
        return tuple(entry for entry in self.entries() if entry.status == "unfinished")

    def budget(self, population: str) -> Budget:
        """What all spent entries about these people come to."""
        return add_up(normal_name(population), self.entries())

    def total(self, population: str, delta: float | None = None, *, more: Spending | None = None) -> ProfileTotal:
        """What all spent entries about these people come to by their profiles, with one more release or without.

        It is the ε at a δ, by default at the sum of all δ, where it compares with `budget`.
        """
        return profile_total(self._account(population), delta, more=more)

    def room(self, release: Spending, limit: Differential) -> int | None:
        """How many more releases like this one keep the total of its population within a limit, by profiles."""
        return releases_that_fit(self._account(release.population), release, limit)

    def budgets(self) -> tuple[Budget, ...]:
        """The budget of every population, in the order of their first release."""
        entries = self.entries()
        names = dict.fromkeys(entry.spending.population for entry in entries if entry.counts)
        return tuple(add_up(name, entries) for name in names)

    def sealed_key(self, entry_id: int) -> bytes:
        """The key that was sealed with an entry: whoever has it knows the sample."""
        entry = self.entry(entry_id)
        if entry.key != "sealed":
            raise InvalidInput(
                f"the key of release {entry_id} was not sealed but destroyed.",
                where=f"release {entry_id}",
                code="ledger.key-destroyed",
            )
        return self._key(entry)

    def held_key(self, entry_id: int) -> bytes:
        """The key of an unfinished release, to run it again and get the same output."""
        entry = self.entry(entry_id)
        if entry.status != "unfinished":
            raise InvalidInput(
                f"release {entry_id} is {entry.status}. There is nothing to resume.",
                where=f"release {entry_id}",
                code="ledger.ended",
            )
        if entry.key_commitment is None:
            raise InvalidInput(
                f"release {entry_id} was begun without a key, so it cannot be resumed.",
                where=f"release {entry_id}",
                code="ledger.no-key",
            )
        return self._key(entry)

    def check(self, seen: str | None = None) -> str:
        """The hash that seals everything recorded so far; raises DoesNotVerify when anything was edited.

        Records, keys, identities, kept totals and the ledger's secret are compared with what the chain says of them,
        and totals with what their entries come to. Whoever kept an earlier such hash passes it as `seen`: then a
        ledger whose end was cut off is found too.
        """
        if self._store is None:
            return chain.GENESIS
        store = _store_module()
        with self._reading() as connection:
            records, history = _history(connection)
            check_keys(history.entries, store.keys(connection))
            identities_of(history.entries, store.identities(connection))
            if history.secret is not None:
                store.secret(connection, history)
            _totals_module().check_totals(connection, records)
        if seen is not None and seen not in {chain.GENESIS, *(record.hash for record in records)}:
            raise DoesNotVerify(
                "no record of the ledger has the given hash: its end was cut off, or another ledger was put in its "
                "place. Restore it from a backup.",
                where="ledger",
                code="does-not-verify",
            )
        return chain.head(records)

    def _step(self, entry_id: int, content: dict[str, Any]) -> None:
        store = _store_module()
        with self._writing() as connection:
            records, history = _history(connection)
            entry = after(_find(history.entries, entry_id), content)
            store.write(connection, chain.append(records[-1], {**content, "entry": entry.id, "at": now()}))
            if not entry.keeps_key:
                store.delete_key(connection, entry.id)

    def _key(self, entry: Entry) -> bytes:
        with self._reading() as connection:
            kept: bytes | None = _store_module().keys(connection).get(entry.id)
        if kept is None or not matches(kept, entry.key_commitment or commitment(kept)):
            raise DoesNotVerify(
                f"the key of release {entry.id} was changed or deleted. Restore it from a backup.",
                where=f"release {entry.id}",
                code="does-not-verify",
            )
        return kept

    def _account(self, population: str) -> Account:
        name = normal_name(population)
        if self._store is None:
            return Account(name, ())
        with self._store.reading() as connection:
            records: list[chain.Record] = _store_module().records(connection)
            chain.verify(records)
            found: Account = _totals_module().account_of(connection, records, name)
        return found

    def _records(self) -> list[chain.Record]:
        if self._store is None:
            return []
        with self._store.reading() as connection:
            written: list[chain.Record] = _store_module().records(connection)
        return written

    def _reading(self) -> AbstractContextManager[Connection]:
        return self._opened().reading()

    def _writing(self) -> AbstractContextManager[Connection]:
        return self._opened().writing()

    def _opened(self) -> Store:
        if self._store is None:
            raise InvalidInput(
                "the ledger was opened to look into it. Open it without make = False.",
                where="ledger",
                code="ledger.read-only",
            )
        return self._store


def _history(connection: Connection) -> tuple[list[chain.Record], History]:
    records: list[chain.Record] = _store_module().records(connection)
    return records, replay(chain.contents(records))


def _running(account: Account, spending: Spending) -> RunningTotal | None:
    """The total of a population with a new entry, not numbered yet; None where no theorem adds it up."""
    with suppress(CrowdblendError):
        return account.running((0, spending))
    return None


def _earlier(connection: Connection, history: History) -> list[tuple[Entry, Identity | None]]:
    known = identities_of(history.entries, _store_module().identities(connection))
    return [(entry, known.get(entry.id)) for entry in history.entries.values()]


def _find(entries: dict[int, Entry], entry_id: int) -> Entry:
    if entry_id not in entries:
        raise InvalidInput(
            f"the ledger has no release {entry_id}. crowdblend ledger list shows them.",
            where=f"release {entry_id}",
            code="ledger.no-release",
        )
    return entries[entry_id]


def _totals_module() -> Any:
    """The table of kept totals, which needs SQLAlchemy too."""
    _store_module()
    from crowdblend.ledger import kept_totals  # noqa: PLC0415

    return kept_totals


def _store_module() -> Any:
    """The part that needs SQLAlchemy, which only those who release have to install."""
    try:
        from crowdblend.ledger import store  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise InvalidInput(
            f"the ledger needs the package {missing.name}. Install crowdblend again.",
            where="ledger",
            code="system.package",
        ) from None
    return store
