"""Releases that a restored ledger had forgotten, entered again from what their folders say.

A folder tells what was guaranteed, and neither the key nor whose data were read: an adopted release counts in totals
and limits, and no later one is compared with its source.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import msgspec

from crowdblend.errors import RefusedByLedger
from crowdblend.ledger.chain import Digest
from crowdblend.ledger.entry import Entry, Spending, check_digest, check_text
from crowdblend.trusted.calculus.encoding import encode
from crowdblend.trusted.guarantees.privacy import Guarantee


@dataclass(frozen=True)
class FolderRelease:
    """A release as its folder tells it: what it spent, and on which day.

    `guarantees` are those that add up with others, `software` the version that published it.
    """

    kind: str
    guarantees: tuple[Guarantee, ...]
    fresh: bool
    series: int
    folder: str
    certificate_digest: str
    date: str
    software: str

    def __post_init__(self) -> None:
        check_digest("certificate_digest", self.certificate_digest)
        for name in ("date", "software"):
            check_text(name, getattr(self, name))

    def to_entry(self, number: int, at: str, population: str, by: str) -> Entry:
        """Return its entry: about a sample that no other release is known to use."""
        sample = f"adopted:{self.certificate_digest}"
        about = (population, sample, self.fresh, self.kind, self.guarantees, self.folder)
        spending = Spending(*about, series=self.series)
        entry = Entry(number, at, spending, "destroyed", self.software, by, status="adopted")
        return replace(entry, certificate_digest=self.certificate_digest, published=self.date)


class AdoptedRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="adopted"):
    """A release was entered again from its folder: fields as in its entry and in its folder."""

    entry: int
    at: str
    by: str
    population: str
    kind: str
    guarantees: msgspec.Raw
    fresh: bool
    series: int
    folder: str
    certificate_digest: Digest
    date: str
    software: str

    @classmethod
    def of(cls, entry: Entry, release: FolderRelease) -> AdoptedRecord:
        """Return the record of an adopted entry."""
        guarantees = msgspec.Raw(msgspec.json.encode(encode(release.guarantees)))
        about = {**vars(release), "guarantees": guarantees}
        return cls(entry.id, entry.created, entry.by, entry.spending.population, **about)

    def to_entry(self, guarantees: tuple[Guarantee, ...], role: str) -> Entry:
        """Return the entry of the record, appended by a role of the database."""
        about = {name: getattr(self, name) for name in FolderRelease.__match_args__ if name != "guarantees"}
        check_text("by", self.by)
        release = FolderRelease(guarantees=guarantees, **about)
        return replace(release.to_entry(self.entry, self.at, self.population, self.by), role=role)


def refuse_known(release: FolderRelease, population: str, entries: Iterable[Entry], *, new: bool) -> None:
    """Refuse a release that has an entry, and unless it is `new` one that an unfinished entry may be."""
    for entry in entries:
        if entry.certificate_digest == release.certificate_digest:
            raise RefusedByLedger(
                f"Release {entry.id} of the ledger is the one in {release.folder}. Nothing is to be entered.",
                where=release.folder,
                code="ledger.recorded",
            )
        made = entry.spending
        alike = (made.population, made.guarantees, entry.created[:10]) == (population, release.guarantees, release.date)
        if entry.status == "unfinished" and alike and not new:
            raise RefusedByLedger(
                f"Release {entry.id} was begun on the same day with the same guarantees, and is unfinished: it counts "
                f"as spent, and may be the one in {release.folder}.",
                remedy=f"Resume it: crowdblend ledger resume {entry.id} POLICY --out DIR. If it is another one, enter "
                "this one with --new.",
                where=release.folder,
                code="ledger.unfinished",
            )
