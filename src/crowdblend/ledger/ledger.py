"""The ledger itself: promises are recorded before anything is published, and never changed."""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.ledger import chain
from crowdblend.ledger.beside import refuse_what_does_not_compose
from crowdblend.ledger.budget import Budget, add_up
from crowdblend.ledger.entry import Entry, Promise
from crowdblend.ledger.history import follow, replay
from crowdblend.ledger.location import Location, locate

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crowdblend.ledger.store import Store

_KEY_BYTES = 32
_DIGEST = re.compile(r"[0-9a-f]{64}")


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Ledger:
    """An append-only record of promises.

    A release calls `begin` before it touches anybody's data, `output_begins` before it computes what it will
    publish, and `finish` when that has appeared. From `output_begins` on the promise is spent, whatever happens;
    before it, `abandon` gives the promise back.
    """

    def __init__(self, location: Location, store: Store | None) -> None:
        self.location = location
        self._store = store

    @classmethod
    def open(cls, where: str | os.PathLike[str] | None = None, *, make: bool = True) -> Ledger:
        """The ledger at a path or URL, else the one of CROWDBLEND_LEDGER, else the user's own.

        A missing one is made, unless `make` is false: then the user's own is taken to be empty until the first
        release, and one that was asked for by name is refused.
        """
        location = locate(where)
        if not make and not location.named and location.path and not os.path.lexists(location.path):
            return cls(location, None)
        return cls(location, _store_module().Store.open(location, make=make))

    def begin(self, promise: Promise, *, sealed_key: bytes | None = None) -> int:
        """Record a promise that may stand beside all earlier ones, as unfinished; its id.

        The check and the record are one transaction: of two releases from one sample that begin at the same time,
        one is refused. Pass the key of the sample only when it shall be kept.
        """
        from crowdblend import __version__  # noqa: PLC0415  the root imports the calculus

        if sealed_key is not None and (not isinstance(sealed_key, bytes) or len(sealed_key) != _KEY_BYTES):
            raise InvalidInput(f"a sealed key must be {_KEY_BYTES} bytes. Pass the one that drew the sample.")
        store = _store_module()
        with self._writing() as connection:
            records = store.records(connection)
            entries = replay(chain.contents(records))
            refuse_what_does_not_compose(promise, entries.values())
            begun = {
                **promise.to_dict(),
                "step": "begun",
                "entry": len(entries) + 1,
                "at": now(),
                "key": "destroyed" if sealed_key is None else "sealed",
                "software": f"crowdblend {__version__}",
            }
            store.write(connection, chain.append(records[-1] if records else None, begun))
            if sealed_key is not None:
                store.seal(connection, begun["entry"], sealed_key)
        return len(entries) + 1

    def output_begins(self, entry_id: int) -> None:
        """Say that the output is about to be computed: from now on the promise is spent."""
        self._step(entry_id, {"step": "output"})

    def finish(self, entry_id: int, *, certificate_digest: str, data_sha256: str) -> None:
        """Record what has been published."""
        digests = {"certificate_digest": certificate_digest, "data_sha256": data_sha256}
        for name, value in digests.items():
            if not isinstance(value, str) or not _DIGEST.fullmatch(value):
                raise InvalidInput(f"{name} must be a SHA-256 of 64 hexadecimal digits. Pass it as text.")
        self._step(entry_id, {"step": "finished", **digests})

    def abandon(self, entry_id: int) -> None:
        """Give a promise back, which is possible only while no output can exist."""
        self._step(entry_id, {"step": "abandoned"})

    def entries(self) -> tuple[Entry, ...]:
        """Every entry, oldest first; raises DoesNotVerify when the ledger was edited."""
        return tuple(replay(chain.contents(self._records())).values())

    def entry(self, entry_id: int) -> Entry:
        """One entry."""
        return _find({entry.id: entry for entry in self.entries()}, entry_id)

    def budget(self, population: str) -> Budget:
        """What all spent promises about these people come to."""
        return add_up(population, self.entries())

    def budgets(self) -> tuple[Budget, ...]:
        """The budget of every population, in the order of their first release."""
        entries = self.entries()
        names = dict.fromkeys(entry.promise.population for entry in entries if entry.counts)
        return tuple(add_up(name, entries) for name in names)

    def sealed_key(self, entry_id: int) -> bytes:
        """The key that was sealed with an entry: whoever has it knows the sample."""
        self.entry(entry_id)
        store = _store_module()
        with self._reading() as connection:
            found: bytes | None = store.unseal(connection, entry_id)
        if found is None:
            raise InvalidInput(f"release {entry_id} must have a sealed key, and it has none. It was destroyed.")
        return found

    def check(self, seen: str | None = None) -> str:
        """The hash that seals everything recorded so far; raises DoesNotVerify when anything was edited.

        Whoever kept an earlier such hash passes it as `seen`: then a ledger whose end was cut off is found too.
        """
        records = self._records()
        replay(chain.contents(records))
        if seen is not None and seen not in {chain.GENESIS, *(record.hash for record in records)}:
            raise DoesNotVerify(
                "the ledger must contain the record with the given hash, and it does not: its end was cut off or "
                "another ledger was put in its place. Restore it from a backup."
            )
        return chain.head(records)

    def _step(self, entry_id: int, content: dict[str, Any]) -> None:
        store = _store_module()
        with self._writing() as connection:
            records = store.records(connection)
            entry = _find(replay(chain.contents(records)), entry_id)
            follow(entry, content)
            store.write(connection, chain.append(records[-1], {**content, "entry": entry.id, "at": now()}))

    def _records(self) -> list[chain.Record]:
        if self._store is None:
            return []
        with self._store.reading() as connection:
            found: list[chain.Record] = _store_module().records(connection)
        return found

    def _reading(self) -> AbstractContextManager[Connection]:
        return self._opened().reading()

    def _writing(self) -> AbstractContextManager[Connection]:
        return self._opened().writing()

    def _opened(self) -> Store:
        if self._store is None:
            raise InvalidInput("the ledger must be open for writing. Open it without make = False.")
        return self._store


def _find(entries: dict[int, Entry], entry_id: int) -> Entry:
    if entry_id not in entries:
        raise InvalidInput(f"the release must be in the ledger, got {entry_id}. crowdblend ledger list shows them.")
    return entries[entry_id]


def _store_module() -> Any:
    """The part that needs SQLAlchemy, which only those who release have to install."""
    try:
        from crowdblend.ledger import store  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise InvalidInput(
            f"the ledger needs the package {missing.name}, and it is missing. Install crowdblend[release]."
        ) from None
    return store
