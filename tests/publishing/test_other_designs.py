"""Facts whose design is exchanged for another: they are refused, or a guarantee follows that they state."""

import pytest

from crowdblend.errors import DoesNotVerify
from crowdblend.kinds.shared.facts import derive, read_facts
from crowdblend.methods import designs
from crowdblend.methods.designs.design import differential_of
from tests.publishing.test_mutated_certificates import EVERY, honest

HALF = {"rate": 0.5, "low": 0.5, "high": 0.5}
OTHERS = {
    "poisson": {"rate": 0.5},
    "coins": {"rate": 0.5},
    "thinned": {"rate": 0.8, "people": 2_000, "of": 8_000},
    "survey": {"people": 2_000, "of": 8_000},
    "biased": {"low": 0.4, "high": 0.5, "exceptions": 3, "already_drawn": True},
    "strata": {"column": "sex", "strata": {"female": HALF, "male": HALF}},
    "weights": {"column": "w", "strata": {"[2, 4)": {"rate": 0.35, "low": 0.25, "high": 0.5}}, "breaks": [2.0, 4.0]},
    "everybody": {},
}


def test_every_design_is_exchanged() -> None:
    assert set(OTHERS) == {str(one.__struct_config__.tag) for one in designs.DESIGNS}


@pytest.mark.parametrize("name", [name for name in EVERY if name != "graph"])
def test_facts_of_another_design_are_refused_or_give_what_they_state(name: str) -> None:
    facts = dict(honest(name).facts)
    for tag, fields in OTHERS.items():
        try:
            other = read_facts({**facts, "design": {"design": tag, **fields}})
            found = derive(other)
        except DoesNotVerify:
            continue
        # Crowds guarantee nothing without coins, and no fixed number of people hides them.
        crowds = {"k", "mechanism"} <= {*other.parameters} or bool(other.crowds)
        assert not (crowds and tag in ("survey", "everybody")), (name, tag)
        assert differential_of(found).conclusion.epsilon <= other.largest_epsilon
