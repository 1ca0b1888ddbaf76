"""Format 2 holds no sentences; of format 1, sentences are guarded by the digest alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crowdblend.calculus import RULES, Assumption, Certificate, format1, verify
from crowdblend.calculus.certificate import FORMAT
from crowdblend.errors import DoesNotVerify
from crowdblend.guarantees import Differential, IidSampling, RandomSamples, Relation, ZeroKnowledge
from crowdblend.guarantees.guessing import differential_for_one, zero_knowledge_for_one

from .documents import ISSUED, at, edited, leaves, resealed

FIRST = [path for path in ISSUED if path.parent.name == "format-1"]
SECOND = [path for path in ISSUED if path.parent.name == "format-2"]
PROSE = ("words", "source", "statement", "assumptions")


def read(path: Any) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SECOND, ids=lambda path: path.stem)
def test_a_certificate_holds_no_sentences(path: Any) -> None:
    document = read(path)
    assert document["format"] == FORMAT
    texts = [at(document, place) for place in leaves(document) if place[0] not in ("facts", "digest", "format")]
    # Ids, kinds and names of statistics and noise; the longest names a noise.
    assert max(len(text.split()) for text in texts if isinstance(text, str)) <= 5
    assert not any(text.endswith(".") for text in texts if isinstance(text, str))


@pytest.mark.parametrize("path", FIRST, ids=lambda path: path.stem)
def test_the_two_formats_guarantee_the_same(path: Any) -> None:
    first, second = (verify(resealed(read(one))) for one in (path, path.parents[1] / "format-2" / path.name))
    assert first.guarantees == second.guarantees
    assert first.assumptions() == second.assumptions()
    assert first.description == second.description


@pytest.mark.parametrize("path", FIRST[::7], ids=lambda path: path.stem)
def test_sentences_of_format_1_may_be_any_but_for_the_digest(path: Any) -> None:
    document = read(path)
    found = [place for place in leaves(document) if place[0] != "facts" and {*PROSE} & {*place}]
    assert len(found) > 5
    plain = verify(resealed(document)).to_json()
    for place in found:
        changed = edited(document, place, "Another sentence.")
        with pytest.raises(DoesNotVerify, match="the digest does not match"):
            verify(json.dumps(changed))
        assert verify(resealed(changed)).to_json() == plain
        with pytest.raises(DoesNotVerify, match=r"format 1"):
            verify(resealed(edited(document, place, 3)))


def test_what_format_1_has_beyond_its_parts_is_refused() -> None:
    document = read(FIRST[0])
    step = ("promises", 0, "derivation")
    for place, reason in (((*step, "extra"), r"derivations\[0\] is not what"), (("promises", 0, "extra"), "format 1")):
        with pytest.raises(DoesNotVerify, match=reason):
            verify(resealed(edited(document, place, 1)))
    with pytest.raises(DoesNotVerify, match="exactly 6 parts"):
        verify(resealed({**document, "release": {}}))
    assert set(document) == format1.PARTS


def test_the_guarantees_for_one_person() -> None:
    one = Differential(1.0, 0.0, Relation.ADD_REMOVE)
    swapped, group = Differential(2.0, 0.0, Relation.REPLACE), Differential(3.0, 0.0, Relation.ADD_REMOVE, people=3)
    drawn = ZeroKnowledge(1.0, 0.0, RandomSamples(3, 9), Relation.CONCEAL)
    iid, several = (ZeroKnowledge(1.0, 0.0, IidSampling(0.1), Relation.ADD_REMOVE, people) for people in (1, 2))
    assert differential_for_one([group, swapped, one]) == one
    assert differential_for_one([group, swapped, one], Relation.REPLACE) == swapped
    assert differential_for_one([group, drawn]) is None
    assert zero_knowledge_for_one([several, drawn, iid]) == iid
    assert zero_knowledge_for_one([several, drawn]) == drawn
    assert zero_knowledge_for_one([several, one]) is None


def test_a_certificate_answers_for_one_person() -> None:
    sampled = RULES["suppression.exact"](RULES["histogram.suppressed"](k=20), rate=0.1, epsilon=0.5)
    one = RULES["dps.differential"](sampled)
    certificate = Certificate(
        (RULES["differential.group"](one, people=3), one, RULES["dps.zero-knowledge"](sampled)),
        (Assumption.ASSUMED_RATE,),
    )
    assert certificate.differential() == one.conclusion
    assert certificate.differential(Relation.REPLACE) is None
    assert certificate.zero_knowledge() == RULES["dps.zero-knowledge"](sampled).conclusion
