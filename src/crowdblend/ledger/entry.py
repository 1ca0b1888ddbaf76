"""What one release promised, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from crowdblend.calculus.encoding import decode, encode
from crowdblend.calculus.rules.sampling import replacing_is_removing_and_adding
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Differential, Guarantee, Relation, ZeroKnowledge
from crowdblend.guarantees.for_one_person import differential_for_one, zero_knowledge_for_one

Status = Literal["unfinished", "finished", "abandoned"]
_LONGEST = 1000


@dataclass(frozen=True)
class Promise:
    """What a release is about to promise, and about whom.

    `population` names the people, `sample` those of them that the release sees. A `fresh` sample was drawn by us for
    this release alone; otherwise it is a table that somebody had drawn already, and `sample` is its fingerprint.
    `source` tells where the rows came from, so that a draw from a table that is itself a published sample is noticed.
    """

    population: str
    sample: str
    fresh: bool
    kind: str
    guarantees: tuple[Guarantee, ...]
    folder: str
    source: str = "unknown"

    def __post_init__(self) -> None:
        for name in ("population", "sample", "kind", "folder"):
            _check_name(name, getattr(self, name))
        if not self.guarantees or not all(isinstance(made, Guarantee) for made in self.guarantees):
            raise InvalidInput("a release must promise at least one guarantee. Pass those of its certificate.")

    @property
    def differential(self) -> Differential | None:
        """The promise about one person more or less in the population: the one that adds up."""
        return differential_for_one(self.guarantees)

    @property
    def replaced(self) -> Differential | None:
        """The promise about one person's data replaced, stated or following from the one above; it adds up too."""
        stated = differential_for_one(self.guarantees, Relation.REPLACE)
        if stated is None and self.differential is not None:
            return replacing_is_removing_and_adding.conclude(self.differential)  # type: ignore[return-value]
        return stated

    @property
    def zero_knowledge(self) -> ZeroKnowledge | None:
        """The promise relative to a sample of everybody else, or to any other aggregate, for one person."""
        return zero_knowledge_for_one(self.guarantees)

    def to_dict(self) -> dict[str, Any]:
        """The promise as JSON-ready data."""
        return {**vars(self), "guarantees": [encode(made) for made in self.guarantees]}


@dataclass(frozen=True)
class Entry:
    """A promise in the ledger. It counts as spent unless it was abandoned before an output could exist."""

    id: int
    created: str
    promise: Promise
    key: Literal["destroyed", "sealed"]
    software: str
    status: Status = "unfinished"
    output: bool = False
    """Whether an output may exist: from then on the entry cannot be abandoned."""
    certificate_digest: str | None = None
    data_sha256: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the promise has been spent."""
        return self.status != "abandoned"

    def to_dict(self) -> dict[str, Any]:
        """The entry as JSON-ready data; a sealed key is not part of it."""
        return {
            "id": self.id,
            "created": self.created,
            "status": self.status,
            **self.promise.to_dict(),
            "certificate_digest": self.certificate_digest,
            "data_sha256": self.data_sha256,
            "software": self.software,
            "key": self.key,
        }


def promise_of(document: dict[str, Any]) -> Promise:
    """The promise that a record holds."""
    named = {name: document[name] for name in ("population", "sample", "fresh", "kind", "folder", "source")}
    return Promise(**named, guarantees=tuple(decode(made) for made in document["guarantees"]))


def _check_name(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > _LONGEST:
        raise InvalidInput(f"{name} must be a name of 1 to {_LONGEST} printable characters. Correct it.")
