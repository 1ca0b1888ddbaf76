"""Certificates survive a round trip, and no single edit survives the checker."""

import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend import plan, verify
from crowdblend.errors import DoesNotVerify, InvalidInput, NotApplicable, NotProved
from crowdblend.trusted.calculus import RULES, Assumption, Certificate, Derivation, compose, verify_file
from crowdblend.trusted.calculus.assumptions import StepAssumption
from crowdblend.trusted.calculus.certificate import FORMAT, by_strength
from crowdblend.trusted.guarantees.aggregates import IidSampling, RandomSamples
from crowdblend.trusted.guarantees.guessing import differential_for_one, zero_knowledge_for_one
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge
from crowdblend.trusted.numerics.balls import precision
from tests.cases import for_each

from .documents import ISSUED, at, edited, leaves, resealed

PLANS = {
    "suppression": {"rate": 0.1, "k": 20, "epsilon": 0.5},
    "below -ln(1-rate)": {"rate": 0.5, "k": 10, "epsilon": 0.3},
    "noise": {"rate": 0.1, "k": 20, "epsilon": 1.0, "blend_epsilon": 0.5},
    "biased": {"low": 0.08, "high": 0.12, "exceptions": 1, "max_rate": 0.12, "k": 15, "epsilon": 1.0},
}


@pytest.fixture(params=PLANS, ids=list(PLANS))
def document(request: pytest.FixtureRequest) -> dict:
    return json.loads(plan(**PLANS[request.param]).certificate().to_json())


def other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return value * (1 - 2**-50) if value else 1e-9
    if isinstance(value, int):
        return value + 1
    return f"{value} " if isinstance(value, str) else "something"


def test_round_trip(document: dict) -> None:
    certificate = verify(json.dumps(document))
    assert certificate.to_dict() == document
    assert [g.strength for g in certificate.guarantees] == sorted(
        (g.strength for g in certificate.guarantees), reverse=True
    )


def test_any_single_edit_is_refused(document: dict) -> None:
    for path in leaves(document):
        reason = "The format must be" if path == ("format",) else "The digest does not match"
        with pytest.raises(DoesNotVerify, match=reason):
            verify(json.dumps(edited(document, path, other(at(document, path)))))


def test_edited_numbers_and_words_are_refused_even_with_a_fitting_digest(document: dict) -> None:
    """Beyond the digest: what the checker recomputes cannot be edited at all, one place at a time."""
    # A parameter may be edited only into another true derivation, with the same conclusions.
    derived = [path for path in leaves(document) if path[0] not in ("digest", "stated") and "parameters" not in path]
    assert len(derived) > 30
    for path in derived:
        with pytest.raises(DoesNotVerify, match=REASONS):
            verify(resealed(edited(document, path, other(at(document, path)))))


def test_removed_and_reordered_parts_are_refused(document: dict) -> None:
    for name in document:
        reason = "The format must be" if name == "format" else "exactly 8 parts"
        with pytest.raises(DoesNotVerify, match=reason):
            verify(json.dumps({part: value for part, value in document.items() if part != name}))
    backwards = {**document, "derivations": document["derivations"][::-1]}
    with pytest.raises(DoesNotVerify, match=r"certificate\.guarantees\[1\]\.\w+ is not what"):
        verify(resealed(backwards))
    fewer = {**document, "assumptions": document["assumptions"][1:]}
    with pytest.raises(DoesNotVerify, match=r"certificate\.assumptions is not what"):
        verify(resealed(fewer))


def test_the_others_are_shown() -> None:
    node = plan(rate=0.1, k=20, epsilon=0.5).certificate().to_dict()["derivations"][0]["premises"][0]
    assert node["rule"] == "choice.sampling"
    assert [premise["rule"] for premise in node["premises"]] == [
        "suppression.exact",
        "suppression.published",
        "blending.explicit",
    ]


@for_each("text", ["", "[]", "null", "{", '{"format": 1, "format": 1}', '{"x": NaN}', "[" * 100_000])
def test_not_a_certificate(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"no certificate|is not a JSON object") as refused:
        verify(text)
    assert "\n" not in str(refused.value)


def test_unknown_rules_and_endless_trees_are_refused(document: dict) -> None:
    path = ("derivations", 0)
    with pytest.raises(DoesNotVerify, match="unknown rule"):
        verify(resealed(edited(document, (*path, "rule"), "wishful.thinking")))
    node = at(document, path)
    for _ in range(80):
        node = {**node, "premises": [node]}
    with pytest.raises(DoesNotVerify, match="deep"):
        verify(resealed(edited(document, path, node)))


def test_a_certificate_must_promise_something() -> None:
    with pytest.raises(InvalidInput, match="guarantees no privacy"):
        Certificate(())
    empty = {name: [] if isinstance(part, list) else part for name, part in PLAIN.items()}
    with pytest.raises(DoesNotVerify, match="guarantees no privacy"):
        verify(resealed(empty))


def test_files_and_folders(tmp_path: Path) -> None:
    text = plan(rate=0.1, k=20, epsilon=0.5).certificate().to_json()
    (tmp_path / "certificate.json").write_text(text, encoding="utf-8")
    assert verify_file(tmp_path).to_json() == verify_file(tmp_path / "certificate.json").to_json() == text
    with pytest.raises(InvalidInput, match="not readable"):
        verify_file(tmp_path / "missing.json")


@for_each("path", ISSUED)
def test_a_certificate_verifies_and_holds_no_sentences(path: Path) -> None:
    assert verify_file(path).guarantees
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["format"] == FORMAT
    texts = [at(document, place) for place in leaves(document) if place[0] not in ("facts", "digest", "format")]
    # Ids, kinds and names of statistics and noise; the longest names a noise.
    assert max(len(text.split()) for text in texts if isinstance(text, str)) <= 5
    assert not any(text.endswith(".") for text in texts if isinstance(text, str))


@settings(deadline=None, max_examples=20, derandomize=True)
@given(
    k=st.integers(1, 2000),
    rate=st.floats(1e-4, 0.99),
    epsilon=st.floats(1e-3, 10),
    blend=st.sampled_from([0.0, 0.0, 0.3, 2.0]),
)
def test_every_plan_verifies(k: int, rate: float, epsilon: float, blend: float) -> None:
    try:
        planned = plan(k=k, rate=rate, epsilon=epsilon, blend_epsilon=blend)
    except InvalidInput:
        assert blend > 0
        return
    assert verify(planned.certificate().to_json()).derivations[0].conclusion.delta <= planned.delta


def test_a_certificate_must_guarantee_privacy() -> None:
    accurate = RULES["laplace.accurate"](scale=1.0, failure=0.1)
    with pytest.raises(InvalidInput, match="guarantees no privacy"):
        Certificate((accurate,))
    private = RULES["laplace.everybody"](sensitivity=0.1, scale=1.0, population=50)
    assert len(verify(Certificate((accurate, private)).to_json()).derivations) == 2


def test_a_certificate_is_about_one_crowd_size() -> None:
    with pytest.raises(InvalidInput, match=r"k = 5 and k = 6 of histogram\.suppressed"):
        Certificate((RULES["histogram.suppressed"](k=5), RULES["histogram.suppressed"](k=6)))


def test_pure_rules_are_reachable_from_a_leaf() -> None:
    noisy, crowds = RULES["histogram.laplace"](noise_epsilon=0.2), RULES["histogram.suppressed"](k=20)
    beside = compose(crowds, noisy)
    sampled = RULES["blending.sharp"](beside, rate=0.1, epsilon=1.0)
    chosen = RULES["recoding.split"](noisy, crowds, rate=0.1, share=0.5, epsilon=0.5)
    for made in (sampled, chosen, RULES["blending.differential"](noisy, k=20), compose(noisy, noisy)):
        assert verify(Certificate((made,)).to_json()).guarantees == (made.conclusion,)


def test_a_promise_that_counts_on_sampling_is_not_sampled_again() -> None:
    noisy = RULES["histogram.laplace"](noise_epsilon=0.2)
    released = RULES["dps.differential"](RULES["sampling.amplification"](noisy, rate=0.1))
    assert released.conclusion.samplings == 1
    for again in (released, compose(noisy, released)):
        with pytest.raises(NotApplicable, match="not sampled yet"):
            RULES["sampling.amplification"](again, rate=0.1)
        with pytest.raises(NotApplicable, match="not sampled yet"):
            RULES["sample-and-sanitize.sharp"](RULES["differential.replace"](again), samples=3, population=9)


def test_assumptions_are_sentences_with_numbers_in_order() -> None:
    certificate = replace(plan(rate=0.1, k=20, epsilon=0.5).certificate(), stated=(Assumption.ASSUMED_RATE,))
    assumptions = certificate.assumptions()
    assert assumptions[0] == StepAssumption(Assumption.ASSUMED_RATE)
    assert StepAssumption(Assumption.INDEPENDENT_SAMPLING, (("rate", 0.1),)) in assumptions
    assert len(set(assumptions)) == len(assumptions)
    lowered = RULES["dps.differential"](RULES["dps.lower-rate"](_sampled(), rate=0.05))
    assert [made.sentence() for made in lowered.assumptions() if "coin" in made.sentence()] == [
        "Each person was kept or left out with probability 0.05, by a coin of its own, independent of all other "
        "randomness."
    ]
    drawn = RULES["sample-and-sanitize.sharp"](
        RULES["differential.replace"](RULES["histogram.laplace"](noise_epsilon=0.2)), samples=100, population=1000
    )
    sentences = [made.sentence() for made in drawn.assumptions()]
    assert any(sentence.startswith("Exactly 100 of 1,000 people were drawn, uniformly, ") for sentence in sentences)


def _sampled() -> Derivation:
    return RULES["suppression.exact"](RULES["histogram.suppressed"](k=20), rate=0.1, epsilon=0.5)


@pytest.mark.parametrize("stated", [("ASSUMED_RATE", "ASSUMED_RATE"), ("INDEPENDENT_SAMPLING",)])
def test_stated_assumptions_are_stated_once_and_need_no_numbers(stated: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="stated once"):
        Certificate((_sampled(),), tuple(Assumption[name] for name in stated))


REASONS = r"is not what the|unknown rule|The format must be|is not a guarantee|of an unknown kind|A relation is none of"
PLAIN = plan(rate=0.1, k=20, epsilon=0.5).certificate().to_dict()


@for_each("facts", [None, [], "none", 3])
def test_facts_are_names_with_values(facts: object) -> None:
    with pytest.raises(DoesNotVerify, match="facts"):
        verify(resealed({**PLAIN, "facts": facts}))


@for_each("number", ["1e400", "-1e400", "-0.0", "-0.0e5"])
def test_numbers_that_no_double_tells_apart_are_refused(number: str) -> None:
    text = json.dumps({**PLAIN, "facts": {"x": 0.25}}).replace("0.25", number)
    with pytest.raises(InvalidInput, match="no certificate"):
        verify(text)


@for_each("depth", [300, 900, 5000, 200_000])
@for_each("brackets", ["[]", ('{"a":', "}")])
def test_deep_nesting_is_refused(depth: int, brackets: tuple[str, str]) -> None:
    opening, closing = brackets
    inner = opening * depth + "1" + closing * depth
    with pytest.raises(InvalidInput, match=r"no certificate|nests deeper"):
        verify(json.dumps({**PLAIN, "facts": {"x": "HERE"}}).replace('"HERE"', inner))


def test_stated_twice_or_unknown_is_refused() -> None:
    stated: Any
    for stated in (["ASSUMED_RATE", "ASSUMED_RATE"], ["INDEPENDENT_SAMPLING"], ["NOTHING"], [[]], 3, None):
        with pytest.raises(DoesNotVerify, match=r"stated once|A step lacks"):
            verify(resealed({**PLAIN, "stated": stated}))


@for_each(
    "change",
    [{"epsilon": -1.0}, {"epsilon": "x"}, {"relation": "friends"}, {"relation": 3}, {"people": 0}, {"kind": "Wish"}],
)
def test_a_conclusion_that_is_no_guarantee_does_not_verify(change: dict) -> None:
    path = ("derivations", 1, "conclusion")
    assert at(PLAIN, path)["kind"] == "Differential"
    with pytest.raises(DoesNotVerify, match=REASONS):
        verify(resealed(edited(PLAIN, path, {**at(PLAIN, path), **change})))


def test_a_certificate_has_a_bounded_number_of_steps() -> None:
    noisy = RULES["histogram.laplace"](noise_epsilon=1e-3)
    assert verify(Certificate((compose(*[noisy] * 499),)).to_json())
    with pytest.raises(DoesNotVerify, match="500 steps"):
        verify(Certificate((compose(*[noisy] * 500),)).to_json())


def test_noise_below_a_huge_k_is_refused_at_once() -> None:
    with pytest.raises(NotProved, match="k"):
        RULES["histogram.noisy-sampled"](k=10**9, noise_epsilon=1.0, rate=0.1, epsilon=1.0, flag=False)


def test_threads_do_not_disturb_each_other() -> None:
    """FLINT's precision belongs to the process: without a lock, threads would compute with each other's."""
    started, events = threading.Event(), []

    def hold() -> None:
        with precision(8):
            started.set()
            time.sleep(0.1)
            events.append("other done")

    def alone() -> Differential:
        return RULES["differential.group"].conclude(Differential(0.3, 1e-7, Relation.ADD_REMOVE), people=4)

    expected = alone()
    other = threading.Thread(target=hold)
    other.start()
    started.wait()
    assert alone() == expected
    events.append("rule done")
    other.join()
    assert events == ["other done", "rule done"]
    assert ctx.prec == 53


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


def test_the_strongest_kind_of_guarantee_comes_first() -> None:
    crowds = RULES["histogram.suppressed"](k=20)
    sampled = RULES["suppression.exact"](crowds, rate=0.1, epsilon=0.5)
    differential = RULES["dps.differential"](sampled)
    assert by_strength([crowds, sampled, differential]) == (differential, sampled, crowds)
