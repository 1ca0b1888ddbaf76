"""The identity of a source: by what the ledger knows again the table that a release reads."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.ledger.sketch import Anchor, Kind, Sketch, sketch_of

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
        """The identity as text; equal identities give equal texts."""
        sketches = [one.to_dict() for one in self.sketches if one.is_kept]
        content = {"source": self.source, "hashing": self.hashing, "sketches": sketches}
        return json.dumps(content, sort_keys=True, separators=(",", ":"))

    def of(self, *kinds: Kind) -> tuple[Sketch, ...]:
        """The sketches of some kinds."""
        return tuple(one for one in self.sketches if one.kind in kinds)


def identity_of(text: Any) -> Identity:
    """The identity that a text describes; raises InvalidInput when it describes none."""
    try:
        content = json.loads(text)
        sketches = tuple(sketch_of(one) for one in content["sketches"])
        source, hashing = content["source"], content["hashing"]
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        raise InvalidInput(
            "an identity in the ledger cannot be read. Restore a backup.", where="ledger", code="ledger.identity"
        ) from None
    if not isinstance(source, str) or not isinstance(hashing, str):
        raise InvalidInput(
            "an identity in the ledger has no name. Restore a backup.", where="ledger", code="ledger.identity"
        )
    return Identity(source, hashing, sketches)


def fingerprint(text: str) -> str:
    """What the chain of records says of an identity, which is kept beside it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Wanted:
    """What the ledger has to know of a new source to compare it, and the secret under which marks are made.

    `columns` are the single columns, `rows` the sets of columns, by which earlier sources are known again.
    """

    secret: bytes
    columns: tuple[str, ...] = ()
    rows: tuple[Anchor, ...] = ()
