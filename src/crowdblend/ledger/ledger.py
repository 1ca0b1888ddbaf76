"""The ledger itself: entries are recorded before anything is published, and never changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.ledger import store
from crowdblend.ledger.beside import Known, look
from crowdblend.ledger.connection import Connection
from crowdblend.ledger.entry import Spending, check_digest
from crowdblend.ledger.history import after, begun
from crowdblend.ledger.identity import Identity, Wanted, fingerprint
from crowdblend.ledger.location import locate
from crowdblend.ledger.look_alikes import refuse_look_alike
from crowdblend.ledger.migrations import LATEST
from crowdblend.ledger.reading import ReadableLedger, now
from crowdblend.ledger.running_total import digest_of
from crowdblend.ledger.secrets import check_key, commitment
from crowdblend.ledger.statements import (
    NEVER,
    Description,
    Limit,
    Overlap,
    Statement,
    names_in,
    refuse_change_without_reason,
    refuse_dropped_end,
    step_of,
    this_user,
)
from crowdblend.ledger.summary import total_name
from crowdblend.ledger.view import View


class Ledger(ReadableLedger):
    """An append-only list of entries, one for each release.

    A release calls `begin` before it touches anybody's data, `output_begins` before it computes what it will
    publish, and `finish` when that has appeared. From `output_begins` on the entry is spent, whatever happens;
    before it, `abandon` gives it back. Until it is finished the ledger holds its key: a release that crashed is run
    again with that key and gives the same output, so that nobody sees two outputs of one sample.
    """

    @classmethod
    def open(cls, where: str | os.PathLike[str] | None = None, *, make: bool = True) -> Ledger:
        """The ledger at a path or URL, else the one of CROWDBLEND_LEDGER, else the user's own.

        A ledger that was named must be there, since a mistyped name is no empty ledger; `create` makes a new one. The
        user's own is made when it is missing; if `make` is false, it is taken to be empty until the first release.
        """
        location = locate(where)
        if not make and location.is_new_default:
            return cls(location, None)
        opened = store.Store.open(location, make=make and not location.named, protect=make)
        return cls(location, opened)

    @classmethod
    def create(cls, where: str | os.PathLike[str] | None = None) -> Ledger:
        """A new and empty ledger; refuses a place that has one."""
        location = locate(where)
        return cls(location, store.Store.create(location))

    def wanted(self) -> Wanted:
        """What the identity of a new source must hold, so that it can be compared with every earlier one."""
        with self._writing() as connection:  # an old ledger gets its secret here
            view = View.of(connection, to_write=True)
            known = view.first_identities()
            secret = store.secret(connection, view.summary.secret)
        earlier = [identity for identity in known.values() if identity is not None]
        columns = (one.anchor.columns[0] for each in earlier for one in each.of("person", "column"))
        rows = (one.anchor for each in earlier for one in each.of("rows"))
        return Wanted(
            secret, tuple(dict.fromkeys(columns)), tuple(dict.fromkeys(rows)), old_names=len(earlier) < len(known)
        )

    def state(self, statement: Statement, *, keeps_end: bool = False) -> Statement:
        """Record a limit, a description or an overlap, as an entry of its own in the chain.

        Whoever changes a limit says why. With `keeps_end`, one that ends is not followed by one that does not.
        """
        with self._writing() as connection:
            view = View.of(connection, to_write=True)
            for name in names_in(statement):
                refuse_look_alike(name, view.summary)
            if isinstance(statement, Limit):
                before = view.summary.stated.limit(statement.population)
                refuse_change_without_reason(before, statement)
                if keeps_end:
                    refuse_dropped_end(before, statement)
            made = replace(statement, at=now())
            store.append(connection, view.last, view.summary, {**made.to_dict(), "step": step_of(made)})
        return made

    def limit(
        self,
        population: str,
        *,
        epsilon: float,
        delta: float,
        until: str | int | None = None,
        why: str | None = None,
        by: str | None = None,
    ) -> Limit:
        """Set the limit of a population: the ε at this δ that all releases about it may come to, by profile.

        `until` is a year, a month or a day; afterwards nothing is released before a new limit is set. A limit that ends
        is followed by one that does not only if `until` is "never". `by` is whoever sets it, by default the user of
        this process. A change of a limit needs `why`.
        """
        day = None if until in (None, NEVER) else str(until)
        stated = Limit(population, epsilon, delta, day, by or this_user(), why)
        return self.state(stated, keeps_end=until is None)  # type: ignore[return-value]

    def describe(self, population: str, *, owner: str, description: str, by: str | None = None) -> Description:
        """State who answers for a population, and who its people are."""
        return self.state(Description(population, owner, description, by or this_user()))  # type: ignore[return-value]

    def overlap(self, population: str, other: str, *, why: str | None = None, by: str | None = None) -> Overlap:
        """Declare that two populations have people in common: what was released about one adds up with the other."""
        return self.state(Overlap(population, other, by or this_user(), why))  # type: ignore[return-value]

    def upgrade(self) -> int:
        """Bring the ledger to the present format, as the next release would; the number of the format."""
        with self._writing():
            return LATEST

    def run_as_owner(self, statements: Iterable[str]) -> None:
        """Run statements about roles in a ledger in PostgreSQL; a file has no roles."""
        if self.location.path is not None:
            raise InvalidInput(
                "a ledger in a file has no roles: whoever may write the file may do everything.",
                remedy="Use a ledger in PostgreSQL.",
                where="--ledger",
                code="ledger.role",
            )
        with self._writing() as connection:
            for statement in statements:
                connection.run(statement)

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
        with self._writing() as connection:
            view = View.of(connection, to_write=True)
            outlook = look(Known(spending, identity), view.earlier(spending), view.summary.stated)
            composed = self._within_limits(view, spending).composed(spending)
            kept = None if identity is None else identity.to_json()
            entry = view.summary.entries + 1
            content = {
                **spending.to_dict(),
                "step": "begun",
                "entry": entry,
                "at": now(),
                "key": "destroyed" if sealed_key is None else "sealed",
                "key_commitment": None if key is None else commitment(key),
                "identity": None if kept is None else fingerprint(kept),
                "not_compared": list(outlook.not_compared),
                "software": f"crowdblend {__version__}",
                "total": None if composed is None else digest_of(composed),
            }
            store.append(connection, view.last, view.summary, content, begun(content))
            if composed is not None:
                store.keep_derived(connection, total_name(spending.population), composed)
            if key is not None:
                store.keep_key(connection, entry, key)
            if kept is not None:
                store.keep_identity(connection, entry, kept)
        return entry

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

    def _step(self, entry_id: int, content: dict[str, Any]) -> None:
        with self._writing() as connection:
            view = View.of(connection, to_write=True)
            entry = after(view.entry(entry_id), content)
            step = {**content, "entry": entry.id, "at": now()}
            store.append(connection, view.last, view.summary, step, entry)
            if not entry.keeps_key:
                store.delete_key(connection, entry.id)

    def _writing(self) -> AbstractContextManager[Connection]:
        return self._opened().writing()
