"""The head of a ledger: how many records it has and the hash that seals them all. Whoever keeps one finds a ledger
that was cut off, replaced or put back to an earlier state."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdblend.errors import DoesNotVerify, InvalidInput

FORMAT = "crowdblend ledger head 1"
HEAD_NAMESPACE = "crowdblend-ledger-head"
"""The purpose of a signature of a head."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Head:
    """So many records were there at this time, sealed by this hash."""

    records: int
    hash: str
    at: str

    def to_json(self) -> str:
        """The head as a file holds it, and as it is signed."""
        content = {"format": FORMAT, "records": self.records, "hash": self.hash, "at": self.at}
        return json.dumps(content, indent=1) + "\n"


def read_head(text: str) -> Head:
    """The head that a file holds; raises InvalidInput when it holds none."""
    try:
        content: Any = json.loads(text)
        made = Head(content["records"], content["hash"], content["at"])
        if content["format"] != FORMAT or type(made.records) is not int or not _DIGEST.fullmatch(made.hash):
            raise ValueError
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        raise InvalidInput(
            "This is no head of a ledger. Pass a file that crowdblend ledger check --save-head wrote.",
            where="--head",
            code="ledger.head",
        ) from None
    return made


def load_head(path: Path) -> Head:
    """Return the head in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise InvalidInput(f"{path} cannot be read. Name a head.", where="--head", code="ledger.head") from None
    return read_head(text)


def behind(records: int) -> DoesNotVerify:
    """The refusal of a ledger that does not hold what a head commits to."""
    return DoesNotVerify(
        f"The ledger is not the one whose {records} records the head seals: its end was cut off, an older file was "
        "put in its place, or it is another ledger. Restore it from a backup.",
        where="ledger",
        code="does-not-verify",
    )
