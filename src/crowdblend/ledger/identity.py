"""The identity of a source: by which the ledger recognizes the table that a release reads."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

import msgspec

from crowdblend.errors import InvalidInput
from crowdblend.ledger.number_places import MOST as MOST_PLACE
from crowdblend.ledger.number_places import place_of
from crowdblend.trusted.machine.type_resolution import resolve

UNKNOWN = "unknown"
UNNAMED = "source:"
"""The beginning of the name that a population without one has: the rest is a fingerprint of its source."""


@dataclass(frozen=True)
class Identity:
    """The name of the exact content of a source, and sketches of its people and rows.

    `hashing` names the hash function of the sketches: only sketches of one function are compared. `numbered` says that
    the ids look like a table's own numbering, 1 to n; it is for the words of a refusal, and not kept.
    """

    source: str
    hashing: str
    sketches: tuple[Sketch, ...]
    numbered: bool = False

    def to_json(self) -> str:
        """Return the identity as text; equal identities give equal texts."""
        kept = tuple(one.to_stored() for one in self.sketches if one.kind != "numbering")
        return msgspec.json.encode(_StoredIdentity(self.source, self.hashing, kept)).decode()

    def of(self, *kinds: Kind) -> tuple[Sketch, ...]:
        """Return the sketches of some kinds."""
        return tuple(one for one in self.sketches if one.kind in kinds)


def identity_of(text: str) -> Identity:
    """Return the identity that a text describes; raise InvalidInput when it describes none."""
    try:
        stored = msgspec.json.decode(text, type=resolve(_StoredIdentity))
        return Identity(stored.source, stored.hashing, tuple(one.sketch() for one in stored.sketches))
    except (msgspec.MsgspecError, RecursionError, struct.error):
        message = "An identity in the ledger cannot be read. Restore a backup."
        raise InvalidInput(message, where="ledger", code="ledger.identity") from None


def fingerprint(text: str) -> str:
    """Return the hash of an identity for the chain of records; the identity is kept beside it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class FingerprintRequest:
    """A request for a source's fingerprint, with the secret under which marks are made.

    `columns` are the single columns, `rows` the sets of columns, by which earlier sources are recognized.
    """

    secret: bytes
    columns: tuple[str, ...] = ()
    rows: tuple[Anchor, ...] = ()


MOST = 4096
"""A sketch has at most this many marks: beyond, its level rises, which halves it."""
_BITS = 64
_PERSON, _ROW = struct.Struct(">BQH"), struct.Struct(">BQI")
_NO_NUMBER = 2**16 - 1
_MOST_OFTEN = 2**32 - 1
Kind = Literal["person", "numbering", "column", "rows"]
"""People by their ids; ids that number the rows of one table only; another column; rows, by some of their columns."""


@dataclass(frozen=True)
class Anchor:
    """The columns that identify rows: the person, another column, or those that tell rows apart.

    The hash of the columns `by` decides which rows are looked at; what is compared is the hash of all `columns`.
    """

    columns: tuple[str, ...]
    by: tuple[str, ...]

    def __post_init__(self) -> None:
        for names in (self.columns, self.by):
            if not names or not all(isinstance(name, str) for name in names):
                raise InvalidInput("An anchor has at least one column. Name it.", where="columns", code="ledger.anchor")


class Mark(NamedTuple):
    """The mark of a person or a row: its hash's leading zeros, its number of occurrences, about how large an id is.

    `place` is None where the id is no whole number.
    """

    depth: int
    often: int
    place: int | None = None


@dataclass(frozen=True)
class Sketch:
    """The marks of everybody whose hash begins with `level` zero bits; rows count as often as they occur.

    `span` are the smallest and the largest of the ids that are whole numbers.
    """

    kind: Kind
    anchor: Anchor
    level: int
    marks: dict[int, Mark] = field(repr=False)
    span: tuple[int, int] | None = None

    @property
    def of_people(self) -> bool:
        """True if the marks are those of ids in a person column."""
        return self.kind in ("person", "numbering")

    def at(self, level: int) -> dict[int, int]:
        """Return the marks of a higher level, and how often each occurs."""
        return {mark: kept.often for mark, kept in self.marks.items() if kept.depth >= level}

    def places(self, level: int) -> dict[int, int | None]:
        """Return the marks of a higher level, and about how large the id of each is."""
        return {mark: kept.place for mark, kept in self.marks.items() if kept.depth >= level}

    def to_stored(self) -> StoredSketch:
        """Return the sketch as the ledger keeps it; ids that number the rows of one table say nothing about another."""
        rows = sorted(self.marks.items())
        if self.kind == "rows":
            packed = b"".join(_ROW.pack(kept.depth, mark, kept.often) for mark, kept in rows)
        else:
            places = [_NO_NUMBER if kept.place is None else kept.place for _, kept in rows]
            pairs = zip(rows, places, strict=True)
            packed = b"".join(_PERSON.pack(kept.depth, mark, place) for (mark, kept), place in pairs)
        assert self.kind != "numbering", "a numbering is not kept"
        return StoredSketch(self.kind, self.anchor.columns, self.anchor.by, self.level, packed, self.span)


Names = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class StoredSketch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sketch in JSON: marks are packed into bytes."""

    kind: Literal["person", "column", "rows"]
    columns: Names
    by: Names
    level: Annotated[int, msgspec.Meta(ge=0, le=_BITS)]
    marks: bytes
    span: tuple[int, int] | None

    def sketch(self) -> Sketch:
        """Unpack it; raises struct.error where the bytes are no marks."""
        if self.kind == "rows":
            marks = {mark: Mark(depth, count) for depth, mark, count in _ROW.iter_unpack(self.marks)}
        else:
            people = _PERSON.iter_unpack(self.marks)
            marks = {mark: Mark(depth, 1, place if place < MOST_PLACE else None) for depth, mark, place in people}
        return Sketch(self.kind, Anchor(self.columns, self.by), self.level, marks, self.span)


class _StoredIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    source: str
    hashing: str
    sketches: tuple[StoredSketch, ...]


def sketch(
    kind: Kind,
    anchor: Anchor,
    level: int,
    hashes: Iterable[tuple[int, int, int]],
    secret: bytes,
    numbers: Mapping[int, int] | None = None,
) -> Sketch:
    """Return the sketch of all rows whose hash by `anchor.by` begins with `level` zeros.

    A row is the hash that decides, the hash that is compared, and how often it occurs; both have 64 bits. `numbers`
    has the ids that are whole numbers, by the hash that is compared.
    """
    rows = list(hashes)
    while len(rows) > MOST and level < _BITS:
        level += 1
        rows = [row for row in rows if row[0] < 1 << (_BITS - level)]
    domain, often = (b"row", _MOST_OFTEN) if kind == "rows" else (b"person", 1)
    ids: Mapping[int, int] = {} if kind == "rows" or numbers is None else numbers
    marks = {}
    for by, content, count in rows:
        keyed = hashlib.blake2b(content.to_bytes(8, "big"), digest_size=8, key=secret, person=domain)
        marks[int.from_bytes(keyed.digest(), "big")] = Mark(zeros(by), min(count, often), place_of(ids.get(content)))
    known = [ids[content] for _, content, _ in rows if ids.get(content, -1) >= 0]
    return Sketch(kind, anchor, level, marks, (min(known), max(known)) if known else None)


def zeros(value: int) -> int:
    """Return the number of leading zero bits of a 64-bit number."""
    return _BITS - value.bit_length()
