"""A ledger entry: what one release spends, and what became of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from crowdblend.errors import InvalidInput
from crowdblend.ledger.chain import DIGEST
from crowdblend.ledger.identity import UNNAMED
from crowdblend.trusted.calculus.encoding import encode
from crowdblend.trusted.calculus.rules.sampling import replacing_is_removing_and_adding
from crowdblend.trusted.guarantees.guessing import differential_for_one, zero_knowledge_for_one
from crowdblend.trusted.guarantees.privacy import Differential, Guarantee, Relation, ZeroKnowledge

_LONGEST = {"folder": 4096}
_LONGEST_NAME = 1000
MOST_RELEASES = 10**6
STATED = "stated"
"""The kind and the status of what another tool spent."""
# What the steward alone may know of one publication, or after its name of one of several.
_DROPPED = "rows_dropped"
_SPACES = re.compile(r"[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")


class Losses:
    """The losses of a release's guarantees about one person."""

    guarantees: tuple[Guarantee, ...]

    @property
    def differential(self) -> Differential | None:
        """The guarantee about one person more or less in the population: the one that adds up."""
        return differential_for_one(self.guarantees)

    @property
    def replacement_loss(self) -> Differential | None:
        """The guarantee about one person's data replaced, stated or following from the one above; it adds up too."""
        stated = differential_for_one(self.guarantees, Relation.REPLACE)
        if stated is None and self.differential is not None:
            made: Differential = replacing_is_removing_and_adding.conclude(self.differential)
            return made
        return stated

    @property
    def loss(self) -> Differential | None:
        """The guarantee by which releases are compared: about one person more or less, else about data replaced."""
        return self.differential or self.replacement_loss

    def loss_under(self, relation: Relation) -> Differential | None:
        """Return the guarantee under a relation that adds up: one person more or less, or replaced."""
        return self.differential if relation is Relation.ADD_REMOVE else self.replacement_loss

    @property
    def zero_knowledge(self) -> ZeroKnowledge | None:
        """The guarantee relative to a sample of everybody else, or to any other aggregate, for one person."""
        return zero_knowledge_for_one(self.guarantees)


@dataclass(frozen=True)
class Spending(Losses):
    """The spending of a release that is about to begin, and its population.

    `population` names the people, `sample` those of them that the release sees. A `fresh` sample was drawn by us for
    this release alone; otherwise it is a table that someone had drawn already. `rate` is the largest probability with
    which such a table may hold a person. `source` names the rows' origin. `policy` is the SHA-256 of the policy, and
    `folder` where the release appears: `resume` checks both. `series` is how many releases with
    these guarantees are declared together: recorded before the first of them appears, so that none reacts to another.
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
    series: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "population", normal_name(self.population))
        for name in ("population", "sample", "kind", "folder", "source"):
            check_text(name, getattr(self, name))
        if not isinstance(self.fresh, bool):
            raise _refusal("fresh", "fresh must be True or False. Pass whether the sample was drawn for this release.")
        guarantees = self.guarantees
        if not isinstance(guarantees, tuple) or not all(isinstance(made, Guarantee) for made in guarantees):
            raise _refusal("guarantees", "guarantees must be a tuple of guarantees. Pass those of the certificate.")
        if not guarantees:
            raise _refusal("guarantees", "A release has at least one guarantee. Pass those of its certificate.")
        if self.rate is not None and not (isinstance(self.rate, int | float) and 0 < self.rate <= 1):
            raise _refusal(
                "rate", "rate must be a probability above 0. Pass the largest with which a person was sampled."
            )
        if type(self.series) is not int or not 1 <= self.series <= MOST_RELEASES:
            raise _refusal(
                "series", f"series must be a whole number from 1 to {MOST_RELEASES:,}. Pass how many are declared."
            )
        if self.policy is not None:
            check_digest("policy", self.policy)

    @property
    def stated(self) -> bool:
        """True if another tool spent it: a person states so, and no rule derived it."""
        return self.kind == STATED

    @property
    def named_population(self) -> str:
        """The name of the population for logs, which hold no fingerprint of a source."""
        return public_name(self.population)

    def to_dict(self) -> dict[str, Any]:
        """Return the spending as JSON-ready data."""
        return {**vars(self), "guarantees": [encode(guarantee) for guarantee in self.guarantees]}


@dataclass(frozen=True)
class Statement:
    """The tool that spent something on these people, who states so, and why; `reference` is where it can be read."""

    tool: str
    version: str | None
    by: str
    why: str
    reference: str | None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None or name not in ("version", "reference"):
                check_text(name, value)

    def words(self) -> str:
        """Return the statement for a line of a list."""
        version = f" {self.version}" if self.version else ""
        reference = f" ({self.reference})" if self.reference else ""
        return f"stated by {self.by}, not derived: {self.tool}{version}, {self.why}{reference}"


@dataclass(frozen=True)
class Entry:
    """A release in the ledger, or what another tool spent. It counts as spent from the moment it is recorded."""

    id: int
    created: str
    spending: Spending
    key: Literal["destroyed", "sealed"]
    """The end of the key, once the release is finished."""
    software: str
    by: str
    """The person who began it, as they say."""
    role: str = ""
    """The role that began it, as PostgreSQL knows it; empty in a file."""
    status: Literal["unfinished", "finished", "stated", "adopted"] = "unfinished"
    certificate_digest: str | None = None
    data_sha256: str | None = None
    key_commitment: str | None = None
    """What the chain knows of the key; None where no key was passed."""
    identity: str | None = None
    """The SHA-256 of the identity of the source, which the ledger keeps beside the chain; None where it has none."""
    not_compared: tuple[int, ...] = ()
    """Earlier releases of which the ledger could not know whether they used this sample."""
    other_people: tuple[int, ...] = ()
    """Earlier releases whose ids agree by chance, about populations that were declared to be other people."""
    approval: int | None = None
    """The number of the approval that the release used; None where it needed none."""
    internal: Mapping[str, Any] = field(default_factory=dict)
    """What only the steward may know of the release."""
    statement: Statement | None = None
    """Who states what another tool spent; None for releases."""
    published: str | None = None
    """The day on the certificate of an adopted release, which was entered again from its folder."""

    @property
    def keeps_key(self) -> bool:
        """True if the ledger holds the key: for ever if sealed, else until the release is finished."""
        return self.key_commitment is not None and (self.status == "unfinished" or self.key == "sealed")

    @property
    def key_state(self) -> Literal["kept", "sealed", "destroyed"] | None:
        """The state of the key now: kept until the release is finished, sealed, destroyed; None if there was none."""
        if self.key_commitment is None:
            return None
        return "kept" if self.keeps_key and self.key == "destroyed" else self.key

    def finished(self, certificate_digest: str, data_sha256: str, internal: Mapping[str, Any]) -> Entry:
        """Return the entry of the same release, published."""
        made = object.__new__(Entry)  # nothing else changes, and a ledger has thousands
        published = {"certificate_digest": certificate_digest, "data_sha256": data_sha256, "internal": internal}
        vars(made).update(vars(self), status="finished", **published)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as JSON-ready data; neither a key nor what is internal is part of it."""
        return {
            "id": self.id,
            "created": self.created,
            "published": self.published,
            "status": self.status,
            **self.spending.to_dict(),
            "certificate_digest": self.certificate_digest,
            "data_sha256": self.data_sha256,
            "software": self.software,
            "by": self.by,
            "role": self.role or None,
            "key": self.key_state,
            "approval": self.approval,
            "statement": None if self.statement is None else vars(self.statement),
        }

    def steward_sentences(self) -> list[str]:
        """Return sentences about the internal numbers for the steward; they are never published."""
        cuts = {name: value for name, value in self.internal.items() if name.endswith(_DROPPED)}
        return [self._cut_sentence(name.removesuffix(_DROPPED), dropped) for name, dropped in cuts.items()]

    def _cut_sentence(self, publication: str, cut: int) -> str:
        """Return a sentence on rows of people with several that were dropped; of one of several publications."""
        if cut == 0:
            return f"{publication}No row was dropped: nobody who is counted has more rows than the policy allows."
        rows = self.internal.get(f"{publication}rows_of_people", 0)
        share = f" of {rows:,} ({100 * cut / rows:.3g} %)" if rows else ""
        return (
            f"{publication}{cut:,} rows{share} were dropped: of people with several rows, only as many random ones "
            "count as the policy allows."
        )


def public_name(population: str) -> str:
    """Return the name of a population without the fingerprint of a source, which stands for a name that nobody gave."""
    return "unnamed" if population.startswith(UNNAMED) else population


def normal_name(name: str) -> str:
    """Return a population's name in Unicode's composed form, with one space between words and none around them.

    >>> normal_name(" residents  of A\\u030arhus ")
    'residents of Århus'
    """
    return _normal_text(name) if isinstance(name, str) else name


@lru_cache(maxsize=1024)
def _normal_text(name: str) -> str:
    return _SPACES.sub(" ", unicodedata.normalize("NFC", name)).strip(" ")


def check_digest(name: str, value: object) -> None:
    """Refuse what is no SHA-256."""
    if not isinstance(value, str) or not DIGEST.fullmatch(value):
        raise InvalidInput(
            f"{name} is a SHA-256 of 64 hexadecimal digits. Pass it as text.", where=name, code="ledger.digest"
        )


def check_text(name: str, value: object) -> None:
    """Refuse what is no short text that can be printed."""
    longest = _LONGEST.get(name, _LONGEST_NAME)
    if not isinstance(value, str) or not _is_short_text(value, longest):
        raise InvalidInput(
            f"{name} is a text of 1 to {longest} printable characters. Correct it.", where=name, code="ledger.name"
        )


@lru_cache(maxsize=1024)
def _is_short_text(text: str, longest: int) -> bool:
    """Return whether a text can be printed; names of most releases are those of an earlier one."""
    return bool(text.strip()) and text.isprintable() and len(text) <= longest


def _refusal(name: str, message: str) -> InvalidInput:
    return InvalidInput(message, where=name, code=f"ledger.{name}")
