"""Numbers in words are never below the proved ones, and no promise claims that its factor holds except rarely."""

import math
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend.trusted.calculus import RULES, Assumption
from crowdblend.trusted.guarantees.wording import at_least, at_most, close, exactly
from tests.cases import for_each

from .examples import CASES, EXAMPLES


@settings(deadline=None, derandomize=True, max_examples=500)
@given(st.floats(0, 1e6))
def test_what_is_shown_is_rounded_up_to_six_digits(value: float) -> None:
    shown = float(at_most(value))
    assert value <= shown <= value * (1 + 1e-5) + 5e-324
    assert value * (1 - 1e-5) - 5e-324 <= float(at_least(value)) <= value


@given(st.floats(0, 1e6))
def test_what_is_stated_is_exact(value: float) -> None:
    assert float(exactly(value)) == value


def test_delta_is_added_and_absent_when_nothing_is() -> None:
    assert close(1.0, 2.5e-7, "x") == "at most e^1 times what it would be x, plus 2.5e-07, and vice versa"
    assert close(1.0, 0.0, "x") == "at most e^1 times what it would be x, and vice versa"


@for_each(("rule_id", "number"), CASES)
def test_promises_say_what_is_proved(rule_id: str, number: int) -> None:
    example = EXAMPLES[rule_id][number]
    made = RULES[rule_id].conclude(*example.premises, **example.parameters)
    words = made.words()
    if hasattr(made, "delta"):
        assert "except with probability" not in words
        assert "its probability is at most e^" in words
        assert made.delta == 0 or f"plus {at_most(made.delta)}" in words


@for_each(("rule_id", "number"), CASES)
def test_assumptions_carry_their_numbers(rule_id: str, number: int) -> None:
    example, found = EXAMPLES[rule_id][number], RULES[rule_id]
    made = found.conclude(*example.premises, **example.parameters)
    for assumed in found.own_assumptions(example.premises, found.normalize(example.parameters), made):
        sentence = assumed.sentence()
        assert sentence.endswith(".")
        assert "{" not in sentence
        said = [float(text.replace(",", "")) for text in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", sentence)]
        for name, value in assumed.numbers:
            assert isinstance(value, bool) or any(math.isclose(one, value, rel_tol=1e-5) for one in said), name


@for_each("assumption", Assumption)
def test_patterns_name_what_stands_for_numbers(assumption: Assumption) -> None:
    assert all(f"{{{name}}}" in assumption.pattern or "[" in assumption.pattern for name in assumption.numbers)
    assert ":" not in "".join(assumption.numbers)
