"""Every number that describes a release is in an assumption, so that a reader sees it without the derivation."""

from pathlib import Path

import pytest

from crowdblend.trusted.calculus import RULES, verify_file
from crowdblend.trusted.calculus.description import Description
from crowdblend.trusted.guarantees.privacy import Differential, DifferentialUnderSampling, ZeroKnowledge
from tests.cases import for_each

ISSUED = sorted((Path(__file__).parents[1] / "data" / "certificates").glob("*.json"))


@for_each("rule_id", RULES)
def test_a_parameter_describes_the_release_or_is_free_for_a_reason(rule_id: str) -> None:
    rule = RULES[rule_id]
    assert sorted((*rule.about.details, *rule.free)) == sorted(rule.parameters)
    assert all(len(reason.split()) >= 4 for reason in rule.free.values())


@for_each("rule_id", RULES)
def test_a_parameter_that_describes_the_release_is_in_an_assumption(rule_id: str) -> None:
    rule = RULES[rule_id]
    listed = {name for assumption in rule.theorem.assumes for name in assumption.numbers}
    # The rate of a sample is assumed where the sample is in fact drawn: in dps.differential and dps.zero-knowledge.
    later = {"rate"} if rule.conclusion is DifferentialUnderSampling else set()
    assert set(rule.about.details) <= listed | later


@pytest.mark.parametrize("rule_id", ["dps.differential", "dps.zero-knowledge"])
def test_the_rate_of_a_sample_is_assumed_where_it_is_drawn(rule_id: str) -> None:
    assert any("rate" in assumption.numbers for assumption in RULES[rule_id].theorem.assumes)


def numbers(description: Description) -> set[tuple[str, object]]:
    own = {(name, value) for name, value in description.details if not isinstance(value, str)}
    return own.union(*map(numbers, description.parts))


@for_each("path", ISSUED)
def test_every_number_of_an_issued_release_is_in_an_assumption(path: Path) -> None:
    certificate = verify_file(path)
    if not any(isinstance(made, Differential | ZeroKnowledge) for made in certificate.guarantees):
        return
    listed = {number for assumed in certificate.assumptions() for number in assumed.numbers}
    assert numbers(certificate.description) - {("dimension", 1)} <= listed


def test_a_table_with_flags_is_told_apart_from_one_without() -> None:
    given = {"k": 20, "noise_epsilon": 2.0, "rate": 0.1, "epsilon": 1.0}
    with_flags, without = (RULES["histogram.noisy-sampled"](**given, flag=flag) for flag in (True, False))
    assert with_flags.conclusion.delta > without.conclusion.delta
    said = [{made.sentence() for made in derivation.assumptions()} for derivation in (with_flags, without)]
    (more,), (less,) = said[0] - said[1], said[1] - said[0]
    assert "Published counts say whether they are exact." in more
    assert "Published counts do not say whether they are exact." in less
    assert "20" in less
