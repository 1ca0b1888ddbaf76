"""Every registered rule is in the table of examples, cited, documented and named in one style."""

import re

from crowdblend.trusted.calculus import RULES
from tests.cases import for_each

from .examples import CASES, EXAMPLES


def test_the_table_covers_exactly_the_registered_rules() -> None:
    assert set(EXAMPLES) == set(RULES)
    assert all(EXAMPLES.values())


@for_each(("rule_id", "number"), CASES)
def test_every_example_concludes_the_promised_kind(rule_id: str, number: int) -> None:
    example = EXAMPLES[rule_id][number]
    assert type(RULES[rule_id].conclude(*example.premises, **example.parameters)) is RULES[rule_id].conclusion


@for_each("rule_id", RULES)
def test_cited_documented_and_named(rule_id: str) -> None:
    found = RULES[rule_id]
    assert found.id == rule_id
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*)+", rule_id)
    assert found.theorem.source.strip()
    assert found.theorem.statement.strip().endswith(".")
    assert found.why


def test_each_rule_is_its_own_function() -> None:
    assert len({found.function for found in RULES.values()}) == len(RULES)
