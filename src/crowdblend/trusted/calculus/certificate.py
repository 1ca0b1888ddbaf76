"""A certificate: guarantees, what they take for granted, and the derivations that anyone can redo.

Written down it holds ids and numbers only; sentences are written when it is shown, so better wording breaks no
certificate.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.trusted.calculus.assumptions import Assumption, StepAssumption, in_order
from crowdblend.trusted.calculus.description import Description, Disagreement, agree, agreed_within
from crowdblend.trusted.calculus.encoding import Document, encode
from crowdblend.trusted.calculus.theorem import Derivation
from crowdblend.trusted.guarantees.guessing import differential_for_one, zero_knowledge_for_one
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    Guarantee,
    OutlierPrivate,
    Relation,
    ZeroKnowledge,
)
from crowdblend.trusted.machine.html_summary import html_summary

FORMAT = "crowdblend certificate 1"
# Guarantees that may speak of the mechanism that runs on the sample; their sentences say so.
_ON_THE_SAMPLE = (CrowdBlending, OutlierPrivate)


@dataclass(frozen=True)
class Certificate:
    """Guarantees of one release with their derivations, strongest first.

    `derivations` say by which rules it guarantees what; `stated` are assumptions that no rule knows of, such as a
    sampling rate taken on trust. `facts` describe the release (hash of the data file, software versions); they are
    guarded by the digest. That a release's derivations follow from its facts is checked where its kind is known.
    """

    derivations: tuple[Derivation, ...]
    stated: tuple[Assumption, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for assumption in self.stated:
            if assumption.numbers or self.stated.count(assumption) > 1:
                raise InvalidInput(f"{assumption.name} must be stated once and need no numbers; leave it out.")
        if all(made.conclusion.strength == 0 for made in self.derivations):
            raise InvalidInput("This certificate guarantees no privacy. Add a derivation of a privacy guarantee.")
        object.__setattr__(self, "derivations", by_strength(self.derivations))
        self.__dict__["description_"] = _one_release(self.derivations)

    def __repr__(self) -> str:
        return "\n".join(["Certificate", *(f"  {made!r}" for made in self.derivations)])

    def _repr_html_(self) -> str:
        """Return the guarantees and what they take for granted; every text is escaped."""
        (first, *_) = self.guarantees
        return html_summary((self.differential() or first).words(), lists=self.sentences())

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy the derivations, each of which is derived again where it is read."""
        return Certificate, (self.derivations, self.stated, dict(self.facts))

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """The guarantees, without their derivations."""
        return tuple(made.conclusion for made in self.derivations)

    @property
    def description(self) -> Description:
        """The description of the release that every derivation is about."""
        described: Description = self.__dict__["description_"]
        return described

    def differential(self, relation: Relation = Relation.ADD_REMOVE) -> Differential | None:
        """Return the differential guarantee for one person: one more or less, or under another `relation`."""
        return differential_for_one(self.guarantees, relation)

    def zero_knowledge(self) -> ZeroKnowledge | None:
        """Return the zero-knowledge guarantee for one person."""
        return zero_knowledge_for_one(self.guarantees)

    def assumptions(self) -> tuple[StepAssumption, ...]:
        """Return every assumption of any of the derivations, each with its numbers."""
        return in_order(
            [*map(StepAssumption, self.stated), *(made for step in self.steps() for made in step.own_assumptions())]
        )

    def sentences(self) -> dict[str, list[str]]:
        """Return the guarantees and the assumptions in words."""
        return {
            "Guarantees": [guarantee.words() for guarantee in self.guarantees],
            "Assumptions": [assumed.sentence() for assumed in self.assumptions()],
        }

    def steps(self) -> Iterator[Derivation]:
        """Yield every step of every derivation."""
        for made in self.derivations:
            yield from made.steps()

    def to_dict(self) -> Document:
        """Return the certificate as JSON-ready data, with the digest of everything else in it."""
        body = {
            "format": FORMAT,
            "guarantees": [encode(guarantee) for guarantee in self.guarantees],
            "release": self.description.to_dict(),
            "assumptions": [assumed.to_dict() for assumed in self.assumptions()],
            "stated": [assumption.name for assumption in self.stated],
            "derivations": [node(made) for made in self.derivations],
            "facts": dict(self.facts),
        }
        return {**body, "digest": digest(body)}

    def to_json(self) -> str:
        """Return the certificate as text; equal certificates give equal bytes."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def by_strength(derivations: Iterable[Derivation]) -> tuple[Derivation, ...]:
    """Derivations as a certificate lists them: the strongest guarantee first, equally strong ones as they came."""
    return tuple(sorted(derivations, key=lambda made: -made.conclusion.strength))


def digest(body: Document) -> str:
    """SHA-256 of the canonical form of a certificate's body."""
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def node(derivation: Derivation) -> Document:
    """Return a derivation as JSON-ready data."""
    return {
        "rule": derivation.rule.id,
        "parameters": dict(derivation.parameters),
        "premises": [node(premise) for premise in derivation.premises],
        "conclusion": encode(derivation.conclusion),
    }


def _one_release(derivations: tuple[Derivation, ...]) -> Description:
    """The one release that all derivations are about, or that runs on its sample; the strongest describes all of it."""
    whole = derivations[0].description
    for made in derivations[1:]:
        fitting = agreed_within if isinstance(made.conclusion, _ON_THE_SAMPLE) else agree
        try:
            whole = fitting(whole, made.description)
        except Disagreement as refused:
            raise InvalidInput(
                f"A certificate is about one release, and these derivations are about several: {refused}. "
                "Write one certificate for each release."
            ) from refused
    return whole
