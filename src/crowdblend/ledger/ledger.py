"""The ledger itself: entries are recorded before anything is published, and never changed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from crowdblend.errors import InvalidInput
from crowdblend.ledger.adoption import AdoptedRecord, FolderRelease, refuse_known
from crowdblend.ledger.chain import KEY_BYTES, commitment
from crowdblend.ledger.conflicts import KnownRelease, Outlook, check_conflicts, distinct_entries, population_of
from crowdblend.ledger.database import Transaction
from crowdblend.ledger.declarations import refuse_confusable, this_user
from crowdblend.ledger.declaring import LedgerDeclarations
from crowdblend.ledger.entry import Entry, Spending, Statement, check_digest, normal_name
from crowdblend.ledger.history import History, checked_secret, read_identities, refuse_known_key
from crowdblend.ledger.identity import FingerprintRequest, Identity, fingerprint
from crowdblend.ledger.statements import StatedRecord, guarantees_of, stated_entry
from crowdblend.ledger.steps import BegunRecord, FinishedRecord
from crowdblend.ledger.store import Store, locate, now
from crowdblend.notation import Caution
from crowdblend.trusted.guarantees.privacy import Relation
from crowdblend.trusted.machine.version import __version__


class Ledger(LedgerDeclarations):
    """The ledger at `where`, a path or URL; without one, that of CROWDBLEND_LEDGER, else the user's own.

    `limit`, `threshold`, `describe`, `overlap` and `distinct` declare what holds for a population, and `approve` lets a
    release begin that waits; `budget` and `total` say what was
    spent.

    A release calls `begin` before anything is computed from anyone's data, and `finish` when its output is about to
    appear. From `begin` on the entry is spent, whatever happens. Until it is finished the ledger holds its key: a
    release that crashed is run again with that key and gives the same output, so that nobody sees two outputs of one
    sample.

    The first release makes a missing file, with a warning, since a mistyped name would be a second ledger. Looking into
    a missing one is refused; only the user's own is taken to be empty.
    """

    @classmethod
    def open(cls, where: str | os.PathLike[str] | None = None, *, make: bool = True) -> Ledger:
        """Return the ledger at `where`, which must be there; the user's own is made unless `make` is false."""
        ledger = cls(where)
        ledger._records.require(make=make)
        return ledger

    @classmethod
    def create(cls, where: str | os.PathLike[str] | None = None) -> Ledger:
        """Return a new and empty ledger at `where`; refuses a place that has one."""
        Store.create(locate(where))
        return cls(where)

    def fingerprint_request(self) -> FingerprintRequest:
        """Return what the identity of a new source must hold, so that it can be compared with every earlier one."""
        self._records.open()

        def look(transaction: Transaction, history: History) -> tuple[bytes, list[Identity]]:
            known = self._known_identities(transaction, list(history.entries.values()))
            return checked_secret(transaction.secret(), history.secret), list(known.values())

        secret, known = self._records.read(look)
        columns = (one.anchor.columns[0] for each in known for one in each.of("person", "column"))
        rows = (one.anchor for each in known for one in each.of("rows"))
        return FingerprintRequest(secret, tuple(dict.fromkeys(columns)), tuple(dict.fromkeys(rows)))

    def population(self, spending: Spending, identity: Identity | None = None) -> str:
        """Return the name under which the release `spending` adds up, if its population has no name.

        `identity` is that of its source.
        """
        new = KnownRelease(spending, identity)
        return self._records.read(
            lambda transaction, history: population_of(new, self._earlier(transaction, history, spending))
        )

    def check_spending(self, spending: Spending) -> None:
        """Refuse a release whose `spending` would exceed a limit, or waits for an approval, before its source is read.

        It is checked again, with every earlier release, when the release begins.
        """
        if not self._records.is_missing:
            self._records.read(lambda transaction, history: _check_spending(transaction, history, spending))

    def preview(self, spending: Spending, identity: Identity | None = None, key: bytes | None = None) -> Outlook:
        """Return what the ledger says of a release that may begin; raises DoesNotCompose when it may not.

        The arguments are those of `begin`: `spending`, and the `identity` and `key` of its sample.
        """

        def look(transaction: Transaction, history: History) -> Outlook:
            outlook = self._check(transaction, history, KnownRelease(spending, identity), key)
            return replace(outlook, high=tuple(history.accounts.high_totals(spending)))

        return self._records.read(look)

    def begin(
        self,
        spending: Spending,
        *,
        identity: Identity | None = None,
        key: bytes | None = None,
        seal: bool = False,
        by: str | None = None,
    ) -> int:
        """Record a release that conflicts with no earlier one, as unfinished; return the number of its entry.

        The check and the record are one transaction: of two releases from one sample that begin at the same time, one
        is refused. `spending` is what the release guarantees, and to whom; `identity` tells its source from others. The
        `key` of the sample is kept until the release is finished, or for ever with `seal`; the record has a commitment
        to it. `by` names the person, by default the user of this process.
        """
        if key is not None and (not isinstance(key, bytes) or len(key) != KEY_BYTES):
            raise InvalidInput(
                f"A key has {KEY_BYTES} bytes. Pass the key that drew the sample.", where="key", code="key.length"
            )
        text = None if identity is None else identity.to_json()

        def record(transaction: Transaction, history: History) -> BegunRecord:
            outlook = self._check(transaction, history, KnownRelease(spending, identity), key)
            entry = Entry(
                id=len(history.entries) + 1,
                created=now(),
                spending=spending,
                key="sealed" if seal else "destroyed",
                software=f"crowdblend {__version__}",
                by=by or this_user(),
                key_commitment=None if key is None else commitment(key),
                identity=None if text is None else fingerprint(text),
                not_compared=outlook.not_compared,
                other_people=outlook.other_people,
                approval=history.approvals.required(spending, history.declarations),
            )
            if key is not None:
                transaction.add_key(entry.id, key)
            if text is not None:
                transaction.add_identity(fingerprint(text), text)
            return BegunRecord.of(entry)

        return self._records.append(record).entry

    def record(
        self,
        population: str,
        *,
        tool: str,
        why: str,
        relation: Relation | Literal["add-remove", "replace"],
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        curve: Sequence[tuple[float, float]] | None = None,
        version: str | None = None,
        reference: str | None = None,
        by: str | None = None,
    ) -> Entry:
        """Record what another `tool` spent on a `population`; return its entry, which is stated and not derived.

        It is an `epsilon` with its `delta`, the `rho` of zero-concentrated privacy, or a `curve` of pairs (ε, δ), each
        true; sums count the last two with their ε at `delta`. `relation` is the one that the tool's guarantee is about.
        What was spent is recorded also beyond a limit, with a warning; it cannot be taken back. `why` gives the reason,
        `version` is that of the tool, `reference` says where its statement is, and `by` who states it.
        """
        guarantees = guarantees_of(epsilon, delta, rho, curve, relation)
        statement = Statement(tool, version, by or this_user(), why, reference)
        population = normal_name(population)

        def record(_: Transaction, history: History) -> StatedRecord:
            software = f"crowdblend {__version__}"
            entry = stated_entry(len(history.entries) + 1, now(), software, population, guarantees, statement)
            refuse_confusable(entry.spending.population, history.names())
            return StatedRecord.of(entry)

        return self._entry_beyond_limits(self._records.append(record).entry)

    def adopt(self, population: str, release: FolderRelease, *, new: bool = False, by: str | None = None) -> Entry:
        """Enter a release about a `population` again that a restored ledger has forgotten; return its entry.

        `release` is what its folder tells, as `crowdblend.publishing.adopting` reads it. A release that has an entry
        is refused, and one that an unfinished entry may be, unless it is `new`. What was spent is recorded also beyond
        a limit, with a warning. `by` names who enters it, by default the user of this process.
        """
        population = normal_name(population)

        def record(_: Transaction, history: History) -> AdoptedRecord:
            entry = release.to_entry(len(history.entries) + 1, now(), population, by or this_user())
            refuse_confusable(population, history.names())
            refuse_known(release, population, history.entries.values(), new=new)
            return AdoptedRecord.of(entry, release)

        return self._entry_beyond_limits(self._records.append(record).entry)

    def _entry_beyond_limits(self, number: int) -> Entry:
        """Return an entry that no limit could refuse, and warn of limits that it exceeds."""
        entry = self.entry(number)
        for sentence in self.accounts().overruns(entry.spending.population):
            warnings.warn(Caution(sentence), stacklevel=3)
        return entry

    def finish(
        self, entry_id: int, *, certificate_digest: str, data_sha256: str, internal: Mapping[str, Any] | None = None
    ) -> None:
        """Record what the release `entry_id` published, by `certificate_digest` and `data_sha256`; destroy its key.

        A sealed key is kept.
        `internal` is for the steward alone, such as how much was suppressed, as JSON has it.
        """
        check_digest("certificate_digest", certificate_digest)
        check_digest("data_sha256", data_sha256)

        def record(transaction: Transaction, history: History) -> FinishedRecord:
            entry = history.entry(entry_id)
            if entry.status != "unfinished":
                message = f"Release {entry.id} is {entry.status} already. Begin a new one."
                raise InvalidInput(message, where=f"release {entry.id}", code="ledger.step")
            if entry.key != "sealed":
                transaction.delete_key(entry.id)
            return FinishedRecord(entry.id, now(), certificate_digest, data_sha256, dict(internal or {}))

        self._records.append(record)

    def _check(self, transaction: Transaction, history: History, release: KnownRelease, key: bytes | None) -> Outlook:
        """Return the outlook of a release; refuses one that conflicts with an earlier one or exceeds a limit."""
        earlier = self._earlier(transaction, history, release.spending)
        outlook = check_conflicts(release, earlier, history.declarations)
        refuse_known_key(key, history.entries.values())
        _check_spending(transaction, history, release.spending)
        return outlook

    def _earlier(
        self, transaction: Transaction, history: History, spending: Spending
    ) -> list[tuple[Entry, KnownRelease]]:
        """Return the entries that a release is compared with, each with the identity of its source."""
        entries = distinct_entries(history.entries.values(), spending)
        known = self._known_identities(transaction, entries)
        return [(entry, KnownRelease(entry.spending, known.get(entry.identity or ""))) for entry in entries]

    def _known_identities(self, transaction: Transaction, entries: list[Entry]) -> dict[str, Identity]:
        """Return the identities of the sources of some entries by digest; each is read from the database once."""
        unread = [one for one in entries if one.identity is not None and one.identity not in self._identities]
        if unread:
            digests = {str(one.identity) for one in unread}
            self._identities |= read_identities(unread, transaction.identities(digests))
        return self._identities


def _check_spending(transaction: Transaction, history: History, spending: Spending) -> None:
    """Refuse a release under a confusable name, one that would exceed a limit, and one that waits for an approval.

    The day is the latest of this machine's, the server's and the one that the ledger was written on: so a clock that is
    put back prolongs no limit.
    """
    refuse_confusable(spending.population, history.names())
    today = max(now()[:10], transaction.server_day(), history.latest[:10])
    history.accounts.check(spending, today)
    history.approvals.required(spending, history.declarations)
