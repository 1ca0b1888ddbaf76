"""From records to entries: a release is begun, may get an output, and is finished or abandoned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput
from crowdblend.ledger.entry import Entry, promise_of


def replay(contents: Iterable[dict[str, Any]]) -> dict[int, Entry]:
    """Every entry by its id, as the records leave it."""
    entries: dict[int, Entry] = {}
    for number, content in enumerate(contents, 1):
        try:
            entry = _begun(content) if content["step"] == "begun" else follow(entries[content["entry"]], content)
            if content["step"] == "begun" and entry.id != len(entries) + 1:
                raise KeyError(entry.id)
        except (KeyError, TypeError, ValueError, CrowdblendError) as problem:
            raise DoesNotVerify(
                f"record {number} of the ledger must be a step that this version knows, and it is not. "
                "Use the crowdblend that wrote it, or restore a backup."
            ) from problem
        entries[entry.id] = entry
    return entries


def _begun(content: dict[str, Any]) -> Entry:
    named = {"id": content["entry"], "created": content["at"], "key": content["key"], "software": content["software"]}
    return Entry(**named, promise=promise_of(content))


def follow(entry: Entry, content: dict[str, Any]) -> Entry:
    """The entry after one more step; raises InvalidInput when the step may not follow."""
    match content["step"], entry.status, entry.output:
        case "output", "unfinished", False:
            return replace(entry, output=True)
        case "finished", "unfinished", True:
            digests = {name: content[name] for name in ("certificate_digest", "data_sha256")}
            return replace(entry, status="finished", **digests)
        case "abandoned", "unfinished", False:
            return replace(entry, status="abandoned")
    raise InvalidInput(_WHY[content["step"], entry.status].format(id=entry.id))


_ENDED = "release {id} must be unfinished to go on, and it is not. Begin a new one."
_WHY = {
    ("output", "unfinished"): "the output of release {id} must be announced once, and it was before. Go on.",
    (
        "finished",
        "unfinished",
    ): "the output of release {id} must be announced before it is finished. Call output_begins.",
    ("abandoned", "unfinished"): "release {id} must have no output to be abandoned, and it may have one, so it counts "
    "as spent. Begin a new one.",
    **{(step, status): _ENDED for step in ("output", "finished", "abandoned") for status in ("finished", "abandoned")},
}
