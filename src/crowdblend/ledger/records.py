"""Records of a ledger: one typed value for each step, to and from JSON.

A record of someone else's making is refused here: every field has its type, and no field is unknown.
"""

from __future__ import annotations

import json
from dataclasses import fields
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec

from crowdblend.calculus.encoding import decode, encode
from crowdblend.guarantees.privacy import Guarantee
from crowdblend.ledger.declarations import Description, Limit, Overlap
from crowdblend.ledger.entry import Entry, Spending

_OF_ENTRY = ("software", "key", "key_commitment", "identity", "not_compared")
Digest = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]


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

    @classmethod
    def of(cls, entry: Entry) -> BegunRecord:
        """Return the record that begins an entry."""
        guarantees = msgspec.Raw(json.dumps(encode(entry.spending.guarantees), allow_nan=False))
        about = {**vars(entry.spending), "guarantees": guarantees}
        return cls(entry=entry.id, at=entry.created, **about, **{name: getattr(entry, name) for name in _OF_ENTRY})

    def to_entry(self) -> Entry:
        """Return the entry that the record begins."""
        if not self.software.isprintable():
            raise ValueError("software is a printable text")
        about = {one.name: getattr(self, one.name) for one in fields(Spending)}
        spending = Spending(**{**about, "guarantees": _guarantees(bytes(self.guarantees))})
        return Entry(self.entry, self.at, spending, **{name: getattr(self, name) for name in _OF_ENTRY})


class FinishedRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="step", tag="finished"):
    """A release was published: digests of what appeared, and what only the steward may know of it."""

    entry: int
    at: str
    certificate_digest: Digest
    data_sha256: Digest
    internal: dict[str, Any]


Step = CreatedRecord | BegunRecord | FinishedRecord | Limit | Description | Overlap
_DECODER: msgspec.json.Decoder[Step] = msgspec.json.Decoder(Step)


def to_body(step: Step) -> str:
    """Return a step as JSON in ASCII, which every database keeps as it is."""
    return json.dumps(json.loads(msgspec.json.encode(step)), sort_keys=True, separators=(",", ":"))


def to_step(body: str) -> Step:
    """Return the step that JSON describes; raises MsgspecError, ValueError or CrowdblendError where it is none."""
    return _DECODER.decode(body)


@lru_cache(maxsize=4096)
def _guarantees(text: bytes) -> tuple[Guarantee, ...]:
    """Return the guarantees that JSON describes; most releases have those of an earlier one."""
    document = json.loads(text)
    if not isinstance(document, list):
        raise TypeError("guarantees are a list")
    return tuple(decode(one) for one in document)
