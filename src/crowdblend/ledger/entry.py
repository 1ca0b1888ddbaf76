"""A ledger entry: what one release spends, and what became of it."""

from __future__ import annotations

import marshal
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from crowdblend.calculus.encoding import decode, encode
from crowdblend.calculus.rules.sampling import replacing_is_removing_and_adding
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Differential, Guarantee, Relation, ZeroKnowledge
from crowdblend.guarantees.guessing import differential_for_one, zero_knowledge_for_one

Status = Literal["unfinished", "finished", "abandoned"]
_LONGEST = {"folder": 4096}
_LONGEST_NAME = 1000
# Without references between equal objects, so that equal documents are packed alike.
_PLAIN = 2
_LATELY: dict[int, tuple[Any, tuple[Guarantee, ...]]] = {}
_MOST_LATELY = 1000
_SPACES = re.compile(r"[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Losses:
    """What the guarantees of a release lose about one person."""

    guarantees: tuple[Guarantee, ...]

    @property
    def differential(self) -> Differential | None:
        """The guarantee about one person more or less in the population: the one that adds up."""
        return differential_for_one(self.guarantees)

    @property
    def replaced(self) -> Differential | None:
        """The guarantee about one person's data replaced, stated or following from the one above; it adds up too."""
        stated = differential_for_one(self.guarantees, Relation.REPLACE)
        if stated is None and self.differential is not None:
            return replacing_is_removing_and_adding.conclude(self.differential)  # type: ignore[return-value]
        return stated

    @property
    def zero_knowledge(self) -> ZeroKnowledge | None:
        """The guarantee relative to a sample of everybody else, or to any other aggregate, for one person."""
        return zero_knowledge_for_one(self.guarantees)


@dataclass(frozen=True)
class Spending(Losses):
    """What a release is about to spend, and about whom.

    `population` names the people, `sample` those of them that the release sees. A `fresh` sample was drawn by us for
    this release alone; otherwise it is a table that somebody had drawn already. `rate` is the largest probability with
    which such a table may hold a person. `source` names the rows' origin. `policy` is the SHA-256 of the policy, and
    `folder` where the release appears: whoever resumes the release checks both.
    """

    population: str
    sample: str
    fresh: bool
    kind: str
    guarantees: tuple[Guarantee, ...]
    folder: str
    source: str = "unknown"
    rate: float | None = None
    policy: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "population", normal_name(self.population))
        for name in ("population", "sample", "kind", "folder", "source"):
            _check_name(name, getattr(self, name))
        if not isinstance(self.fresh, bool):
            raise InvalidInput(
                "fresh is true or false: whether the sample was drawn for this release.",
                where="fresh",
                code="ledger.fresh",
            )
        if not isinstance(self.guarantees, tuple) or not self.guarantees:
            raise InvalidInput(
                "a release has at least one guarantee. Pass those of its certificate.",
                where="guarantees",
                code="ledger.guarantees",
            )
        if not all(isinstance(guarantee, Guarantee) for guarantee in self.guarantees):
            raise InvalidInput(
                "guarantees holds something else than guarantees. Pass those of the certificate.",
                where="guarantees",
                code="ledger.guarantees",
            )
        if self.rate is not None and not (isinstance(self.rate, int | float) and 0 < self.rate <= 1):
            raise InvalidInput(
                "rate is a probability above 0. Pass the largest with which anybody was sampled.",
                where="rate",
                code="ledger.rate",
            )
        if self.policy is not None:
            check_digest("policy", self.policy)

    def to_dict(self) -> dict[str, Any]:
        """The spending as JSON-ready data."""
        return {**vars(self), "guarantees": [encode(guarantee) for guarantee in self.guarantees]}


@dataclass(frozen=True)
class Entry:
    """A release in the ledger. It counts as spent unless it was abandoned before an output could exist."""

    id: int
    created: str
    spending: Spending
    key: Literal["destroyed", "sealed"]
    software: str
    status: Status = "unfinished"
    output: bool = False
    """Whether an output may exist: from then on the entry cannot be abandoned."""
    certificate_digest: str | None = None
    data_sha256: str | None = None
    key_commitment: str | None = None
    """What the chain knows of the key; None where no key was passed, or by a version that recorded none."""
    identity: str | None = None
    """The SHA-256 of the identity of the source, which the ledger keeps beside the chain; None where it has none."""
    not_compared: tuple[int, ...] = ()
    """Earlier releases of which the ledger could not know whether they used this sample."""
    internal: Mapping[str, Any] = field(default_factory=dict)
    """What only the steward may know of the release."""

    @property
    def counts(self) -> bool:
        """Whether the release has been spent."""
        return self.status != "abandoned"

    @property
    def keeps_key(self) -> bool:
        """Whether the key belongs in the ledger now: for ever if it is sealed, else until the release is finished."""
        return self.status == "unfinished" or (self.key == "sealed" and self.status == "finished")

    def to_dict(self) -> dict[str, Any]:
        """The entry as JSON-ready data; neither a key nor what is internal is part of it."""
        return {
            "id": self.id,
            "created": self.created,
            "status": self.status,
            **self.spending.to_dict(),
            "certificate_digest": self.certificate_digest,
            "data_sha256": self.data_sha256,
            "software": self.software,
            "key": self.key,
        }


def spending_of(document: dict[str, Any]) -> Spending:
    """The spending that a record holds; the first format knew neither rate nor policy."""
    named = {name: document[name] for name in ("population", "sample", "fresh", "kind", "folder", "source")}
    guarantees = decoded_guarantees(document["guarantees"])
    return Spending(**named, guarantees=guarantees, rate=document.get("rate"), policy=document.get("policy"))


def decoded_guarantees(documents: Any) -> tuple[Guarantee, ...]:
    """The guarantees that JSON-ready data describe; equal ones are decoded once."""
    known = _LATELY.get(id(documents))
    if known is not None and known[0] is documents:
        return known[1]
    found = _decoded(marshal.dumps(documents, _PLAIN))
    if len(_LATELY) >= _MOST_LATELY:
        _LATELY.clear()
    _LATELY[id(documents)] = documents, found  # what is held keeps its id
    return found


@lru_cache(maxsize=4096)
def _decoded(packed: bytes) -> tuple[Guarantee, ...]:
    return tuple(decode(one) for one in marshal.loads(packed))


def normal_name(name: str) -> str:
    """A population's name in Unicode's composed form, with one space between words and none around them.

    >>> normal_name(" residents  of A\\u030arhus ")
    'residents of Århus'
    """
    return _normal(name) if isinstance(name, str) else name


@lru_cache(maxsize=4096)
def _normal(name: str) -> str:
    return _SPACES.sub(" ", unicodedata.normalize("NFC", name)).strip(" ")


def check_digest(name: str, value: Any) -> None:
    """Refuse what is no SHA-256."""
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise InvalidInput(
            f"{name} is a SHA-256 of 64 hexadecimal digits. Pass it as text.", where=name, code="ledger.digest"
        )


def _check_name(name: str, value: Any) -> None:
    longest = _LONGEST.get(name, _LONGEST_NAME)
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > longest:
        raise InvalidInput(
            f"{name} is a name of 1 to {longest} printable characters. Correct it.", where=name, code="ledger.name"
        )
