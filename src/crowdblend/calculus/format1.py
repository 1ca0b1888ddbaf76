"""Certificates of format 1, which held sentences beside the numbers: they are read for ever, and no longer written.

Their sentences are compared with nothing but the digest. What is derived is derived anew by the rules of today, so what
a rule no longer proves is refused here as well.
"""

from __future__ import annotations

from typing import Any

from crowdblend.calculus.certificate import Certificate, node
from crowdblend.errors import DoesNotVerify

FORMAT = "crowdblend certificate 1"
PARTS = {"format", "assumptions", "stated", "promises", "facts", "digest"}
_PROSE = ("source", "statement")


def without_prose(document: dict[str, Any]) -> dict[str, Any]:
    """The parts that format 2 would have as well, in its shape; raises when a sentence is none."""
    sentences = document["assumptions"]
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        raise DoesNotVerify("the assumptions of a certificate of format 1 are sentences, and here they are not.")
    derivations = []
    for promise in document["promises"]:
        if set(promise) != {"words", "derivation"} or not isinstance(promise["words"], str):
            raise DoesNotVerify("every promise of format 1 has a sentence and a derivation, and one here has not.")
        derivations.append(_without_prose(promise["derivation"]))
    return {"stated": document["stated"], "derivations": derivations, "facts": document["facts"]}


def expected(certificate: Certificate) -> dict[str, Any]:
    """What `without_prose` gives of a format 1 document of this certificate."""
    return {
        "stated": [assumption.name for assumption in certificate.stated],
        "derivations": [node(made) for made in certificate.derivations],
        "facts": dict(certificate.facts),
    }


def _without_prose(step: dict[str, Any]) -> dict[str, Any]:
    if not all(isinstance(step[name], str) for name in _PROSE):
        raise DoesNotVerify("every step of format 1 has a source and a statement, and one here has not.")
    kept = {name: part for name, part in step.items() if name not in _PROSE}
    return {**kept, "premises": [_without_prose(premise) for premise in step["premises"]]}
