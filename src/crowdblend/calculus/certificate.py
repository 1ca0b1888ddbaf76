"""A certificate: what is promised, what that takes for granted, and the derivation that anyone can redo."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from crowdblend.calculus.assumptions import Assumption, in_order
from crowdblend.calculus.encoding import encode
from crowdblend.calculus.theorem import Derivation
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Guarantee

FORMAT = "crowdblend certificate 1"


@dataclass(frozen=True)
class Certificate:
    """Promises with their derivations, strongest first.

    `stated` are assumptions that no rule knows of, such as a sampling rate taken on trust. `facts` describe the
    release (hash of the data file, software versions); they are guarded by the digest but derive nothing.
    """

    promises: tuple[Derivation, ...]
    stated: tuple[Assumption, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for assumption in self.stated:
            if assumption.numbers or self.stated.count(assumption) > 1:
                raise InvalidInput(f"{assumption.name} must be stated once and need no numbers; leave it out.")
        if all(promise.conclusion.strength == 0 for promise in self.promises):
            raise InvalidInput("a certificate must promise privacy, and this one does not. Add a promise that does.")
        sizes = {step.parameters["k"] for step in self.steps() if not step.premises and "k" in step.parameters}
        if len(sizes) > 1:
            raise InvalidInput(
                f"a certificate must be about one crowd size k, got {', '.join(map(str, sorted(sizes)))}. "
                "Write one certificate for each release."
            )
        ranked = sorted(self.promises, key=lambda promise: -promise.conclusion.strength)
        object.__setattr__(self, "promises", tuple(ranked))

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """What is promised, without the derivations."""
        return tuple(promise.conclusion for promise in self.promises)

    def assumptions(self) -> tuple[str, ...]:
        """Everything taken for granted by any of the promises, in sentences."""
        stated = [(assumption, assumption.sentence({})) for assumption in self.stated]
        return in_order([*stated, *(made for step in self.steps() for made in step.assumed())])

    def steps(self) -> Iterator[Derivation]:
        """Every step of every derivation."""
        for promise in self.promises:
            yield from promise.steps()

    def to_dict(self) -> dict[str, Any]:
        """The certificate as JSON-ready data, with the digest of everything else in it."""
        body = {
            "format": FORMAT,
            "assumptions": list(self.assumptions()),
            "stated": [assumption.name for assumption in self.stated],
            "promises": [_promise(derivation) for derivation in self.promises],
            "facts": dict(self.facts),
        }
        return {**body, "digest": digest(body)}

    def to_json(self) -> str:
        """The certificate as text; equal certificates give equal bytes."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def digest(body: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical form of a certificate's body."""
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _promise(derivation: Derivation) -> dict[str, Any]:
    return {"words": derivation.conclusion.words(), "derivation": _node(derivation)}


def _node(derivation: Derivation) -> dict[str, Any]:
    return {
        "rule": derivation.rule.id,
        "source": derivation.rule.theorem.source,
        "statement": derivation.rule.theorem.statement,
        "parameters": dict(derivation.parameters),
        "premises": [_node(premise) for premise in derivation.premises],
        "conclusion": encode(derivation.conclusion),
    }
