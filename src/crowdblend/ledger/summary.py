"""The summary of a ledger: what was spent by population, and what stewards stated.

It follows from the records, and every record of the third format seals the summary after it. So whoever reads the last
record and the summary knows the totals without reading 100,000 records; `check` reads them all, and compares.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crowdblend.errors import CrowdblendError, DoesNotVerify
from crowdblend.ledger.history import History
from crowdblend.ledger.spent import SpentGroup, group_of, groups_of
from crowdblend.ledger.stated import Stated, stated_of

NAME = "summary"
TOTAL = "total of "
"""The composed total of a population is kept beside the summary, under this and its name."""
MOST_GROUPS = 2000
"""Beyond so many different guarantees a summary is no summary: totals are then computed from all records."""


@dataclass(frozen=True)
class Summary:
    """What the records of a ledger come to."""

    groups: tuple[SpentGroup, ...]
    stated: Stated
    unfinished: frozenset[int]
    """The entries that are neither finished nor abandoned."""
    totals: Mapping[str, str] = field(default_factory=dict)
    """The digest of the composed total that is kept of a population."""

    def to_json(self) -> str:
        """The summary as text; equal summaries give equal texts."""
        content: dict[str, Any] = {
            "groups": [group.to_dict() for group in self.groups] if len(self.groups) <= MOST_GROUPS else None,
            "stated": self.stated.to_dict(),
            "unfinished": sorted(self.unfinished),
        }
        if self.totals:
            content["totals"] = dict(self.totals)
        return json.dumps(content, sort_keys=True, separators=(",", ":"))

    def populations(self) -> tuple[str, ...]:
        """Every population that something was released about, in the order of the first release."""
        return tuple(dict.fromkeys(group.population for group in sorted(self.groups, key=_first)))


def summary_of(history: History) -> Summary:
    """The summary of everything recorded."""
    entries = history.entries.values()
    waiting = frozenset(entry.id for entry in entries if entry.status == "unfinished")
    return Summary(groups_of(entries), history.stated, waiting, dict(history.totals))


def digest(text: str) -> str:
    """What a record says of the summary after it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def kept_summary(text: object, stated: str) -> Summary | None:
    """The summary that is kept beside the records; raises DoesNotVerify unless it is the one that was sealed.

    None where it was too long to be kept.
    """
    if not isinstance(text, str) or digest(text) != stated:
        raise edited()
    try:
        content = json.loads(text)
        if content["groups"] is None:
            return None
        groups = tuple(group_of(one) for one in content["groups"])
        totals = {str(name): str(digest) for name, digest in content.get("totals", {}).items()}
        return Summary(groups, stated_of(content["stated"]), frozenset(content["unfinished"]), totals)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, CrowdblendError):
        raise edited() from None


def edited() -> DoesNotVerify:
    """The refusal of a summary that does not follow from the records."""
    return DoesNotVerify(
        "the summary of the ledger was changed or deleted: the ledger was edited. Restore it from a backup.",
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


def _first(group: SpentGroup) -> int:
    return group.ids[0].start
