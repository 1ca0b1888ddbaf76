"""Entries of a ledger from its records: releases begun and finished, and declarations.

Keys and identities lie beside the records, which committed to them: whether they are the same is checked here too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import msgspec

from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput, RefusedByLedger
from crowdblend.ledger.adoption import AdoptedRecord
from crowdblend.ledger.approvals import Approval, Approvals
from crowdblend.ledger.budget import Budget, SpendingGroup
from crowdblend.ledger.chain import FORMAT, Record, check_record, commitment, matches, sample_name
from crowdblend.ledger.declarations import Declarations
from crowdblend.ledger.entry import Entry, Spending
from crowdblend.ledger.identity import Identity, fingerprint, identity_of
from crowdblend.ledger.kept_heads import AcceptedLoss
from crowdblend.ledger.limits import Accounts
from crowdblend.ledger.statements import StatedRecord
from crowdblend.ledger.steps import BegunRecord, CreatedRecord, FinishedRecord, Step, to_step
from crowdblend.trusted.calculus.encoding import decode
from crowdblend.trusted.guarantees.privacy import Guarantee


@lru_cache(maxsize=4096)
def _guarantees(text: bytes) -> tuple[Guarantee, ...]:
    """Return the guarantees that JSON describes; most releases have those of an earlier one."""
    document = json.loads(text)
    if not isinstance(document, list):
        raise TypeError("guarantees are a list")
    return tuple(decode(one) for one in document)


@dataclass
class History:
    """The content of a ledger's records up to the last one that was followed."""

    last: Record | None = None
    entries: dict[int, Entry] = field(default_factory=dict)
    counts: dict[tuple[object, ...], tuple[SpendingGroup, int]] = field(default_factory=dict)
    """How many releases spent the same about the same people, in the order of the first."""
    declarations: Declarations = field(default_factory=Declarations)
    approvals: Approvals = field(default_factory=Approvals)
    losses: list[AcceptedLoss] = field(default_factory=list)
    """The records that a restore forgot, as someone accepted."""
    secret: str | None = None
    """The commitment to the ledger's secret."""
    latest: str = ""
    """The latest time that a record has."""

    def follow(self, records: Iterable[Record]) -> None:
        """Take more records into account; raises DoesNotVerify at the first that is not as it was written."""
        for record in records:
            check_record(record, self.last)
            try:
                self._take(to_step(record.body), record.role)
            except (msgspec.MsgspecError, LookupError, TypeError, ValueError, RecursionError, CrowdblendError):
                raise DoesNotVerify(
                    f"Record {record.number} of the ledger holds nothing that this version understands. "
                    "Use the crowdblend that wrote it, or restore a backup.",
                    where=f"record {record.number}",
                    code="ledger.unreadable",
                ) from None
            self.last = record

    def entry(self, entry_id: int) -> Entry:
        """Return the release of that number; refuse one that there is not."""
        if entry_id not in self.entries:
            message = f"The ledger has no release {entry_id}. Look its number up in the list of releases."
            raise InvalidInput(message, where=f"release {entry_id}", code="ledger.no-release")
        return self.entries[entry_id]

    def budget(self, population: str) -> Budget:
        """Return the spending on a population, and on those that overlap with it."""
        names = {population, *self.declarations.overlapping(population)}
        about = [entry for entry in self.entries.values() if entry.spending.population in names]
        made = self.accounts.budget(population, releases=tuple(entry.id for entry in about))
        return replace(made, stated=tuple(entry.id for entry in about if entry.spending.stated))

    def _take(self, step: Step, role: str) -> None:
        if not step.at.isprintable():
            raise ValueError("a time is a printable text")
        match step:
            case CreatedRecord():
                if self.last is not None or step.format != FORMAT:
                    raise ValueError("a ledger is created once, in the format of this version")
                self.secret = step.secret
            case BegunRecord() | StatedRecord() | AdoptedRecord():
                if self.last is None or step.entry != len(self.entries) + 1:
                    raise ValueError("entries are numbered one after the other")
                entry = self.entries[step.entry] = step.to_entry(_guarantees(bytes(step.guarantees)), role)
                self._count(entry.spending)
                if entry.approval is not None:
                    self.approvals.use(entry.approval, entry.spending, entry.id)
            case FinishedRecord():
                if self.entries[step.entry].status != "unfinished":
                    raise ValueError("a release is finished once")
                begun = self.entries[step.entry]
                self.entries[step.entry] = begun.finished(step.certificate_digest, step.data_sha256, step.internal)
            case Approval():
                self.approvals.made.append(msgspec.structs.replace(step, role=role))
            case AcceptedLoss():
                self.losses.append(msgspec.structs.replace(step, role=role))
            case _:
                self.declarations.add(msgspec.structs.replace(step, role=role))
        self.latest = max(self.latest, step.at)

    def _count(self, spending: Spending) -> None:
        """Count one more release; equal guarantees are one object, which is compared in less time than its content."""
        alike = (spending.population, id(spending.guarantees), spending.fresh, spending.series, spending.kind)
        group, count = self.counts.get(alike) or (SpendingGroup.of(spending), 0)
        self.counts[alike] = group, count + 1

    @property
    def accounts(self) -> Accounts:
        """The spending and the declarations."""
        groups: Counter[SpendingGroup] = Counter()
        for group, count in self.counts.values():
            groups[group] += count
        return Accounts(tuple(replace(group, count=count) for group, count in groups.items()), self.declarations)

    def accepted_heads(self) -> set[tuple[int, str]]:
        """Return the heads whose records are lost, as someone accepted."""
        return {head for loss in self.losses for head in loss.lost}

    def names(self) -> tuple[str, ...]:
        """Return every name of a population, of releases and of declarations."""
        approved = (one.population for one in self.approvals.made)
        return *self.populations(), *self.declarations.populations(), *approved

    def populations(self) -> tuple[str, ...]:
        """Return every population that something was released about, in the order of the first release."""
        return tuple(dict.fromkeys(group.population for group, _ in self.counts.values()))


def check_keys(entries: Mapping[int, Entry], keys: Mapping[int, bytes]) -> None:
    """Raise DoesNotVerify when a key was changed, swapped, deleted, or kept though it had to be destroyed."""
    for number in sorted(entries.keys() | keys.keys()):
        problem = _key_problem(entries.get(number), keys.get(number))
        if problem:
            raise _edited_error(number, f"The key of release {number} {problem}")


def check_key(entry: Entry, key: bytes | None) -> bytes:
    """Return the key of an entry that keeps one; raises DoesNotVerify when it was changed or deleted."""
    problem = _key_problem(entry, key)
    if key is None or problem:
        raise _edited_error(entry.id, f"The key of release {entry.id} {problem or 'was deleted'}")
    return key


def _key_problem(entry: Entry | None, key: bytes | None) -> str | None:
    if entry is None:
        return "is there, and the release is not"
    if key is None:
        return "was deleted" if entry.keeps_key else None
    if not entry.keeps_key:
        return "is still there, though it was to be destroyed"
    drawn = entry.spending.sample.startswith("drawn:")
    if not matches(key, entry.key_commitment) or (drawn and entry.spending.sample != sample_name(key)):
        return "was changed"
    return None


def refuse_known_key(key: bytes | None, entries: Iterable[Entry]) -> None:
    """Refuse a key that an earlier release was begun with, whichever people both are about.

    The key draws the noise too: where cells of two tables carry the same noise, it cancels out.
    """
    known = None if key is None else commitment(key)
    for entry in entries:
        if known is not None and entry.key_commitment == known:
            resume = f"Resume release {entry.id}, or pass" if entry.status == "unfinished" else "Pass"
            raise RefusedByLedger(
                f"Release {entry.id} was begun with this key, and a key is for one release: its noise would be drawn "
                "twice.",
                remedy=f"{resume} a new key: crowdblend.trusted.randomness.new_key().",
                where="key",
                code="key.used",
            )


def read_identities(entries: Iterable[Entry], rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Identity]]:
    """Yield identities by digest, one at a time; raises DoesNotVerify unless they are those that entries commit to."""
    missing: dict[str, int] = {}
    for entry in entries:
        if entry.identity is not None:
            missing.setdefault(entry.identity, entry.id)
    for digest, text in rows:
        number = missing.pop(digest, 0)
        if not number or not isinstance(text, str) or fingerprint(text) != digest:
            raise _changed_identity(number)
        try:
            yield digest, identity_of(text)
        except InvalidInput as problem:
            message, remedy, _ = problem.refusal
            raise DoesNotVerify(message, remedy=remedy, where=f"release {number}", code=problem.code) from None
    for number in missing.values():
        raise _changed_identity(number)


def _changed_identity(number: int) -> DoesNotVerify:
    if not number:
        return _edited_error(number, "A source fingerprint belongs to no release")
    return _edited_error(number, f"The source fingerprint of release {number} was modified or deleted")


def _edited_error(number: int, problem: str) -> DoesNotVerify:
    message = f"{problem}: the ledger was edited. Restore it from a backup."
    return DoesNotVerify(message, where=f"release {number}", code="does-not-verify")


def edited_ledger(problem: str) -> DoesNotVerify:
    """Return the error for a ledger that someone changed as a whole."""
    return DoesNotVerify(problem, remedy="Restore it from a backup.", where="ledger", code="does-not-verify")


def ledger_behind(records: int) -> DoesNotVerify:
    """Return the error for a ledger that lacks records which its head seals."""
    return edited_ledger(
        f"The ledger is not the one whose {records} records the head seals: its end was cut off, an older file was "
        "put in its place, or it is another ledger."
    )


def checked_secret(secret: bytes, commitment: str | None) -> bytes:
    """Return the ledger's secret; raises DoesNotVerify unless it is the one that the chain committed to."""
    if not matches(secret, commitment):
        raise edited_ledger("The secret of the ledger was changed or deleted.")
    return secret
