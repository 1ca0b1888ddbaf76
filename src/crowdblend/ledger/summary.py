"""The summary of a ledger: everything in its records by which a later release is judged.

It follows from the records, and every record seals the summary after it. So whoever reads the last record and the
summary knows what was spent and stated without reading 100,000 records. `check` follows all records and compares the
summary after each of them with its seal: a release that was let through by a summary that was not true is found, also
when the true one was put back later.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from crowdblend.errors import CrowdblendError, DoesNotVerify
from crowdblend.guarantees import Guarantee
from crowdblend.ledger.entry import Entry, check_digest, decoded_guarantees
from crowdblend.ledger.spent import SpentGroup, digest_of, encoded, group_of
from crowdblend.ledger.stated import Stated, stated_of
from crowdblend.ledger.statements import statement_of

NAME = "summary"
MOST_GROUPS = 2000
"""Beyond so many different sources and guarantees a summary is no summary: all records are read instead."""


@dataclass
class Settled:
    """A group of entries that count for ever: how many, and which was the first."""

    group: SpentGroup
    count: int
    first: int


@dataclass
class Summary:
    """What the records of a ledger come to."""

    entries: int = 0
    """How many releases were begun."""
    settled: dict[str, Settled] = field(default_factory=dict)
    """Entries whose output was announced, by the digest of their group; they count for ever."""
    pending: dict[int, str] = field(default_factory=dict)
    """Entries that may still be abandoned, with the digest of their group."""
    output: set[int] = field(default_factory=set)
    """Entries whose output was announced and that are not finished."""
    stated: Stated = field(default_factory=Stated)
    totals: dict[str, str] = field(default_factory=dict)
    """The digest of the composed total that is kept of a population."""
    secret: str | None = None
    """The commitment to the ledger's secret."""
    latest: str = ""
    """The latest time that a record has."""
    _groups: dict[str, SpentGroup] = field(default_factory=dict, repr=False)
    _digests: dict[int, tuple[tuple[Guarantee, ...], str]] = field(default_factory=dict, repr=False)
    _lines: dict[str, str] = field(default_factory=dict, repr=False)
    _known: dict[Any, str] = field(default_factory=dict, repr=False)
    _stated: str = field(default="", repr=False)
    _totals: str = field(default="", repr=False)
    _settled: str = field(default="", repr=False)

    @property
    def unfinished(self) -> frozenset[int]:
        """The entries that are neither finished nor abandoned."""
        return frozenset(self.pending) | self.output

    @property
    def groups(self) -> tuple[SpentGroup, ...]:
        """What was spent: every entry that was not abandoned."""
        settled = (replace(one.group, count=one.count) for one in self.settled.values())
        return (*settled, *(self._groups[known] for known in self.pending.values()))

    def first_entries(self) -> dict[int, str]:
        """An entry of every group, and every one that may be abandoned, with the digest of its group."""
        return {**{one.first: known for known, one in self.settled.items()}, **self.pending}

    def populations(self) -> tuple[str, ...]:
        """Every population that something was released about, in the order of the first release."""
        found = self.first_entries()
        return tuple(dict.fromkeys(self._groups[found[number]].population for number in sorted(found)))

    def follow(self, content: Mapping[str, Any], entry: Entry | None = None) -> None:
        """Take one more record into account; `entry` is the release as the record leaves it."""
        at = content.get("at")
        if isinstance(at, str) and at > self.latest and at.isprintable():
            self.latest = at
        if entry is None:
            statement = statement_of(content)
            if statement is not None:
                self.stated.follow(statement)
                self._stated = ""
            return
        match content["step"]:
            case "begun":
                self.entries = entry.id
                self.pending[entry.id] = self.group_digest(entry)
                if content.get("total") is not None:
                    self.totals[entry.spending.population] = content["total"]
                    self._totals = ""
            case "output":
                self._settle(entry.id)
            case "abandoned":
                del self.pending[entry.id]
            case _:
                self.output.discard(entry.id)

    def _settle(self, number: int) -> None:
        known = self.pending.pop(number)
        self.output.add(number)
        one = self.settled.setdefault(known, Settled(self._groups[known], 0, number))
        one.count += 1
        self._lines[known] = f"{known} {one.count} {one.first}"
        self._settled = ""

    def seal(self) -> str:
        """What a record says of the summary after it: a hash of everything in it."""
        if not self._stated:
            self._stated = digest_of(self.stated.to_dict())
        if not self._totals:
            self._totals = digest_of(self.totals)
        if not self._settled:
            self._settled = "\n".join(["settled", *self._lines.values()])
        output = " ".join(map(str, sorted(self.output))) if self.output else ""
        pending = " ".join([f"{number} {known}" for number, known in self.pending.items()])
        text = (
            f"{self.entries} {self.secret} {self._stated} {self._totals}\n{self.latest}\n{output}\n{pending}\n"
            f"{self._settled}"
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> str:
        """The summary as text; where it has too many groups, without anything in it."""
        if len(self.settled) + len(self.pending) > MOST_GROUPS:
            return "null"
        groups = {known: self._groups[known] for known in (*self.settled, *self.pending.values())}
        content = {
            "entries": self.entries,
            "guarantees": {self._guarantees_digest(one.guarantees): encoded(one.guarantees) for one in groups.values()},
            "groups": [
                [*one.group.facts(self._guarantees_digest(one.group.guarantees)), one.count, one.first]
                for one in self.settled.values()
            ],
            "pending": [
                [number, *groups[known].facts(self._guarantees_digest(groups[known].guarantees))]
                for number, known in self.pending.items()
            ],
            "output": sorted(self.output),
            "stated": self.stated.to_dict(),
            "totals": self.totals,
            "secret": self.secret,
            "latest": self.latest,
        }
        return json.dumps(content, sort_keys=True, separators=(",", ":"))

    def group_digest(self, entry: Entry) -> str:
        """The digest of the group that an entry belongs to."""
        made = entry.spending
        # Hashing guarantees takes long, and those of most entries are one and the same object.
        sample = None if made.fresh else made.sample
        at = (made.population, id(made.guarantees), made.source, made.rate, entry.identity, sample)
        if at not in self._known:
            self._known[at] = self._add_group(group_of(entry))
        return self._known[at]

    def _add_group(self, group: SpentGroup) -> str:
        known = digest_of(group.facts(self._guarantees_digest(group.guarantees)))
        self._groups.setdefault(known, group)
        return known

    def _guarantees_digest(self, guarantees: tuple[Guarantee, ...]) -> str:
        found = self._digests.get(id(guarantees))
        if found is None:
            found = self._digests[id(guarantees)] = guarantees, digest_of(encoded(guarantees))
        return found[1]


def read_summary(text: object, sealed: object) -> Summary | None:
    """The summary that is kept beside the records; raises DoesNotVerify unless it is the one that was sealed.

    None where it was too long to be kept.
    """
    if text == "null":
        return None
    try:
        made = _read(json.loads(str(text)))
        if made.seal() != sealed:
            raise edited()
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, CrowdblendError):
        raise edited() from None
    return made


def _read(content: dict[str, Any]) -> Summary:
    guarantees = {known: decoded_guarantees(one) for known, one in content["guarantees"].items()}
    _whole_numbers(content["entries"], *content["output"])
    if content["secret"] is not None:
        check_digest("secret", content["secret"])
    if not content["latest"].isprintable():
        raise ValueError
    made = Summary(
        entries=content["entries"],
        output=set(content["output"]),
        stated=stated_of(content["stated"]),
        totals=content["totals"],
        secret=content["secret"],
        latest=content["latest"],
    )

    def group(population: str, known: str, fresh: bool, source: str, rate: Any, *rest: Any) -> str:
        return made._add_group(SpentGroup(population, guarantees[known], fresh, source, rate, *rest))

    for *facts, count, first in content["groups"]:
        _whole_numbers(count, first)
        known = group(*facts)
        made.settled[known] = Settled(made._groups[known], count, first)
        made._lines[known] = f"{known} {count} {first}"
    for number, *facts in content["pending"]:
        _whole_numbers(number)
        made.pending[number] = group(*facts)
    return made


def _whole_numbers(*values: object) -> None:
    """The seal is over their digits, which a text could have too."""
    if not all(type(value) is int for value in values):
        raise TypeError


def edited() -> DoesNotVerify:
    """The refusal of a summary that does not follow from the records."""
    return DoesNotVerify(
        "the summary of the ledger was changed or deleted: the ledger was edited. Restore it from a backup.",
        where="ledger",
        code="does-not-verify",
    )


def false_seal(number: int) -> DoesNotVerify:
    """The refusal of a record that seals what does not follow from the records up to it."""
    return DoesNotVerify(
        f"record {number} seals a summary that does not follow from the records: the ledger was edited. "
        "Restore it from a backup.",
        where=f"record {number}",
        code="does-not-verify",
    )


def edited_steps() -> DoesNotVerify:
    """The refusal of a table of steps that does not say where the records are."""
    return DoesNotVerify(
        "where the records of each release are was changed: the ledger was edited. Restore it from a backup.",
        where="ledger",
        code="does-not-verify",
    )


def edited_total(population: str) -> DoesNotVerify:
    """The refusal of a kept total that is not the one that the records name."""
    return DoesNotVerify(
        f"the kept total of {population!r} is not what the records say: the ledger was edited. "
        "Restore it from a backup.",
        where=population,
        code="does-not-verify",
    )


def total_name(population: str) -> str:
    """Under which name the composed total of a population is kept beside the summary.

    A long name stands there by its hash: PostgreSQL's indexes hold 2,700 bytes.
    """
    name = population.encode("utf-8", "surrogatepass")
    return f"total of {population if len(name) <= 1000 else hashlib.sha256(name).hexdigest()}"
