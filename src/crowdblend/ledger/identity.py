"""The identity of a source: by which the ledger recognizes the table that a release reads."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import field
from typing import Annotated, Literal, NamedTuple

import msgspec

from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.type_resolution import resolve

UNKNOWN = "unknown"
UNNAMED = "source:"


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
_PERSON, _ROW = struct.Struct(">BQ"), struct.Struct(">BQI")
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
    """The mark of a person or a row: its hash's leading zeros, and its number of occurrences."""

    depth: int
    often: int


@dataclass(frozen=True)
class Sketch:
    """The marks of everybody whose hash begins with `level` zero bits; rows count as often as they occur."""

    kind: Kind
    anchor: Anchor
    level: int
    marks: dict[int, Mark] = field(repr=False)

    @property
    def of_people(self) -> bool:
        """True if the marks are those of ids in a person column."""
        return self.kind in ("person", "numbering")

    def at(self, level: int) -> dict[int, int]:
        """Return the marks of a higher level, and how often each occurs."""
        return {mark: kept.often for mark, kept in self.marks.items() if kept.depth >= level}

    def to_stored(self) -> StoredSketch:
        """Return the sketch as the ledger keeps it; ids that number the rows of one table say nothing about another."""
        rows = sorted((mark, kept.depth, kept.often) for mark, kept in self.marks.items())
        if self.kind == "rows":
            packed = b"".join(_ROW.pack(depth, mark, count) for mark, depth, count in rows)
        else:
            packed = b"".join(_PERSON.pack(depth, mark) for mark, depth, _ in rows)
        assert self.kind != "numbering", "a numbering is not kept"
        return StoredSketch(self.kind, self.anchor.columns, self.anchor.by, self.level, packed)


Names = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class StoredSketch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sketch in JSON: marks are packed into bytes."""

    kind: Literal["person", "column", "rows"]
    columns: Names
    by: Names
    level: Annotated[int, msgspec.Meta(ge=0, le=_BITS)]
    marks: bytes

    def sketch(self) -> Sketch:
        """Unpack it; raises struct.error where the bytes are no marks."""
        unpacked = (_ROW if self.kind == "rows" else _PERSON).iter_unpack(self.marks)
        marks = {mark: Mark(depth, *(count or (1,))) for depth, mark, *count in unpacked}
        return Sketch(self.kind, Anchor(self.columns, self.by), self.level, marks)


class _StoredIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    source: str
    hashing: str
    sketches: tuple[StoredSketch, ...]


def sketch(kind: Kind, anchor: Anchor, level: int, hashes: Iterable[tuple[int, int, int]], secret: bytes) -> Sketch:
    """Return the sketch of all rows whose hash by `anchor.by` begins with `level` zeros.

    A row is the hash that decides, the hash that is compared, and how often it occurs; both have 64 bits.
    """
    rows = list(hashes)
    while len(rows) > MOST and level < _BITS:
        level += 1
        rows = [row for row in rows if row[0] < 1 << (_BITS - level)]
    domain, often = (b"row", _MOST_OFTEN) if kind == "rows" else (b"person", 1)
    marks = {}
    for by, content, count in rows:
        keyed = hashlib.blake2b(content.to_bytes(8, "big"), digest_size=8, key=secret, person=domain)
        marks[int.from_bytes(keyed.digest(), "big")] = Mark(zeros(by), min(count, often))
    return Sketch(kind, anchor, level, marks)


def zeros(value: int) -> int:
    """Return the number of leading zero bits of a 64-bit number."""
    return _BITS - value.bit_length()
