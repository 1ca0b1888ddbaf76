"""The steps that records of a ledger hold, each as JSON of its own form: a release begun, finished, a declaration.

A record of someone else's making is refused here: every field has its type, and no field is unknown.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Literal

import msgspec

from crowdblend.ledger.adoption import AdoptedRecord
from crowdblend.ledger.approvals import Approval
from crowdblend.ledger.chain import Digest
from crowdblend.ledger.declarations import Description, Distinct, Limit, Overlap, Threshold
from crowdblend.ledger.entry import Entry, Spending
from crowdblend.ledger.kept_heads import AcceptedLoss
from crowdblend.ledger.statements import StatedRecord
from crowdblend.trusted.calculus.encoding import encode
from crowdblend.trusted.guarantees.privacy import Guarantee
from crowdblend.trusted.machine.type_resolution import resolve

_OF_ENTRY = ("software", "by", "key", "key_commitment", "identity", "not_compared", "other_people", "approval")


class CreatedRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="created"):
    """The ledger was made: its format, and the commitment to its secret."""

    format: str
    secret: Digest
    at: str


class BegunRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="begun"):
    """A release was begun: fields as in its spending and its entry."""

    entry: int
    at: str
    software: str
    by: str
    population: str
    sample: str
    fresh: bool
    kind: str
    guarantees: msgspec.Raw
    folder: str
    source: str
    rate: float | None
    policy: Digest | None
    series: int
    key: Literal["destroyed", "sealed"]
    key_commitment: Digest | None
    identity: Digest | None
    not_compared: tuple[int, ...]
    other_people: tuple[int, ...]
    approval: int | None

    @classmethod
    def of(cls, entry: Entry) -> BegunRecord:
        """Return the record that begins an entry."""
        guarantees = msgspec.Raw(json.dumps(encode(entry.spending.guarantees), allow_nan=False))
        about = {**vars(entry.spending), "guarantees": guarantees}
        return cls(entry=entry.id, at=entry.created, **about, **{name: getattr(entry, name) for name in _OF_ENTRY})

    def to_entry(self, guarantees: tuple[Guarantee, ...], role: str) -> Entry:
        """Return the entry that the record begins, appended by a role of the database."""
        if not (self.software + self.by).isprintable():
            raise ValueError("software and by are printable texts")
        who, made = (self.population, self.sample, self.fresh, self.kind), (self.folder, self.source)
        spending = Spending(*who, guarantees, *made, self.rate, self.policy, self.series)
        return Entry(
            self.entry,
            self.at,
            spending,
            self.key,
            self.software,
            self.by,
            role,
            key_commitment=self.key_commitment,
            identity=self.identity,
            not_compared=self.not_compared,
            other_people=self.other_people,
            approval=self.approval,
        )


class FinishedRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="finished"):
    """A release was published: digests of what appeared, and what only the steward may know of it."""

    entry: int
    at: str
    certificate_digest: Digest
    data_sha256: Digest
    internal: dict[str, Any]


Step = (
    CreatedRecord
    | BegunRecord
    | FinishedRecord
    | StatedRecord
    | AdoptedRecord
    | Limit
    | Description
    | Overlap
    | Distinct
    | Threshold
    | Approval
    | AcceptedLoss
)


@cache
def _decoder() -> msgspec.json.Decoder[Step]:
    return msgspec.json.Decoder(resolve(Step))


def to_body(step: Step) -> str:
    """Return a step as JSON in ASCII, which every database keeps as it is."""
    return json.dumps(json.loads(msgspec.json.encode(step)), sort_keys=True, separators=(",", ":"))


def checked_body(step: Step) -> str:
    """Return a step as JSON, once it can be read again."""
    body = to_body(step)
    to_step(body)
    return body


def to_step(body: str) -> Step:
    """Return the step that JSON describes; raises MsgspecError, ValueError or CrowdblendError where it is none."""
    return _decoder().decode(body)
