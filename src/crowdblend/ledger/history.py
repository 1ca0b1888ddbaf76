"""From records to entries: a release is begun, may get an output, and is finished or abandoned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.ledger.chain import unreadable, version_of
from crowdblend.ledger.entry import Entry, check_digest, spending_of
from crowdblend.ledger.stated import Stated
from crowdblend.ledger.statements import statement_of


@dataclass
class History:
    """What the records leave: every entry by its id, what stewards stated, the commitment to the ledger's secret."""

    entries: dict[int, Entry] = field(default_factory=dict)
    stated: Stated = field(default_factory=Stated)
    totals: dict[str, str] = field(default_factory=dict)
    """The digest of the composed total that is kept of a population."""
    secret: str | None = None
    version: int = 1

    def follow(self, content: dict[str, Any]) -> None:
        """Take one more record into account; raises InvalidInput when it may not follow."""
        if content["step"] == "format":
            self._new_format(content)
            return
        statement = statement_of(content)
        if statement is not None:
            self.stated.follow(statement)
            return
        if content["step"] == "begun":
            entry = begun(content)
            if type(entry.id) is not int or entry.id != len(self.entries) + 1:
                raise InvalidInput(
                    "entries are numbered one after the other. Begin the next one.", where="ledger", code="ledger.step"
                )
            if content.get("total") is not None:
                check_digest("total", content["total"])
                self.totals[entry.spending.population] = content["total"]
        else:
            entry = after(self.entries[content["entry"]], content)
        self.entries[entry.id] = entry

    def _new_format(self, content: dict[str, Any]) -> None:
        """With the second format the ledger got its secret, and sealed keys of an older version got commitments."""
        version = version_of(content["format"])
        if version <= self.version:
            raise InvalidInput("the ledger has this format already. Go on.", where="ledger", code="ledger.step")
        if self.secret is None:
            check_digest("secret", content["secret"])
            for number, stated in content["keys"].items():
                check_digest("key", stated)
                self.entries[int(number)] = replace(self.entries[int(number)], key_commitment=stated)
            self.secret = content["secret"]
        self.version = version


def replay(contents: Iterable[dict[str, Any]]) -> History:
    """What all records come to."""
    history = History()
    for number, content in enumerate(contents, 1):
        try:
            history.follow(content)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError, CrowdblendError):
            raise unreadable(number) from None
    return history


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
            return Entry(**{**vars(entry), "output": True})
        case "finished", "unfinished", True:
            digests = {name: content[name] for name in ("certificate_digest", "data_sha256")}
            for name, value in digests.items():
                check_digest(name, value)
            internal = content.get("internal", {})
            if not isinstance(internal, dict):
                raise InvalidInput(
                    "internal facts are names with values. Correct them.", where="internal", code="ledger.internal"
                )
            return Entry(**{**vars(entry), "status": "finished", "internal": internal, **digests})
        case "abandoned", "unfinished", False:
            return replace(entry, status="abandoned")
    raise InvalidInput(
        _WHY[content["step"], entry.status].format(id=entry.id), where=f"release {entry.id}", code="ledger.step"
    )


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
