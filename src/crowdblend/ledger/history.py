"""From records to entries: a release is begun, may get an output, and is finished or abandoned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.ledger.chain import unreadable, version_of
from crowdblend.ledger.entry import Entry, check_digest, spending_of
from crowdblend.ledger.statements import is_statement
from crowdblend.ledger.summary import Summary, false_seal

SEALED_SINCE = 4
"""The format since which every record seals the summary after it as it is computed here."""


@dataclass
class History:
    """What the records leave: every entry by its id, and their summary."""

    entries: dict[int, Entry] = field(default_factory=dict)
    summary: Summary = field(default_factory=Summary)
    version: int = 1

    def follow(self, content: dict[str, Any]) -> None:
        """Take one more record into account; raises InvalidInput when it may not follow."""
        step = content["step"]
        if step == "format":
            self._new_format(content)
            self.summary.follow(content)
            return
        if is_statement(step):
            self.summary.follow(content)
            return
        if step == "begun":
            entry = begun(content)
            if type(entry.id) is not int or entry.id != len(self.entries) + 1:
                raise InvalidInput(
                    "entries are numbered one after the other. Begin the next one.", where="ledger", code="ledger.step"
                )
        else:
            entry = after(self.entries[content["entry"]], content)
        self.entries[entry.id] = entry
        self.summary.follow(content, entry)

    def _new_format(self, content: dict[str, Any]) -> None:
        """With the second format the ledger got its secret, and sealed keys of an older version got commitments."""
        version = version_of(content["format"])
        if version <= self.version:
            raise InvalidInput("the ledger has this format already. Go on.", where="ledger", code="ledger.step")
        if self.summary.secret is None:
            check_digest("secret", content["secret"])
            for number in content["keys"]:
                self.entries[int(number)] = with_commitment(self.entries[int(number)], content)
            self.summary.secret = content["secret"]
        self.version = version


def replay(contents: Iterable[dict[str, Any]]) -> History:
    """What all records come to; raises DoesNotVerify where one seals a summary that does not follow from them."""
    history = History()
    for number, content in enumerate(contents, 1):
        try:
            history.follow(content)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError, CrowdblendError):
            raise unreadable(number) from None
        if history.version >= SEALED_SINCE and content.get("summary") != history.summary.seal():
            raise false_seal(number)
    return history


def entry_of(contents: Iterable[dict[str, Any]], entry_id: int) -> Entry | None:
    """One entry, from the records about it alone; None where there are none, or one is about another."""
    entry: Entry | None = None
    for content in contents:
        step = content["step"]
        if step != "format" and content["entry"] != entry_id:
            return None
        if step == "begun":
            entry = begun(content)
        elif entry is not None:
            entry = with_commitment(entry, content) if step == "format" else after(entry, content)
    return entry


def with_commitment(entry: Entry, content: Mapping[str, Any]) -> Entry:
    """An entry of the first format with the commitment to its key that a record of the second has."""
    stated = content["keys"][str(entry.id)]
    check_digest("key", stated)
    return replace(entry, key_commitment=stated)


def begun(content: dict[str, Any]) -> Entry:
    """The entry that a record begins."""
    for name in ("at", "software"):
        if not isinstance(content[name], str) or not content[name].isprintable():
            raise InvalidInput(f"{name} is a printable text. Correct it.", where=name, code="ledger.name")
    if content["key"] not in ("destroyed", "sealed"):
        raise InvalidInput("a key is destroyed or sealed. Correct it.", where="key", code="ledger.key")
    for name in ("key_commitment", "identity", "total"):
        if content.get(name) is not None:
            check_digest(name, content[name])
    return Entry(
        id=content["entry"],
        created=content["at"],
        key=content["key"],
        software=content["software"],
        key_commitment=content.get("key_commitment"),
        identity=content.get("identity"),
        not_compared=tuple(int(number) for number in content.get("not_compared", ())),
        spending=spending_of(content),
    )


def after(entry: Entry, content: dict[str, Any]) -> Entry:
    """The entry after one more step; raises InvalidInput when the step may not follow."""
    match content["step"], entry.status, entry.output:
        case "output", "unfinished", False:
            return _changed(entry, output=True)
        case "finished", "unfinished", True:
            digests = {name: content[name] for name in ("certificate_digest", "data_sha256")}
            for name, value in digests.items():
                check_digest(name, value)
            internal = content.get("internal", {})
            if not isinstance(internal, dict):
                raise InvalidInput(
                    "internal facts are names with values. Correct them.", where="internal", code="ledger.internal"
                )
            return _changed(entry, status="finished", internal=internal, **digests)
        case "abandoned", "unfinished", False:
            return _changed(entry, status="abandoned")
    raise InvalidInput(
        _WHY[content["step"], entry.status].format(id=entry.id), where=f"release {entry.id}", code="ledger.step"
    )


def _changed(entry: Entry, **fields: Any) -> Entry:
    """The entry with other values, which need no check: a ledger has very many."""
    made = object.__new__(Entry)
    made.__dict__.update(entry.__dict__, **fields)
    return made


_ENDED = "release {id} is no longer unfinished. Begin a new one."
_WHY = {
    ("output", "unfinished"): "the output of release {id} was announced before, and is announced once. Go on.",
    (
        "finished",
        "unfinished",
    ): "the output of release {id} is announced before it is finished. Call output_begins.",
    ("abandoned", "unfinished"): "release {id} may have an output, so it counts as spent. Resume it instead.",
    **{(step, status): _ENDED for step in ("output", "finished", "abandoned") for status in ("finished", "abandoned")},
}
