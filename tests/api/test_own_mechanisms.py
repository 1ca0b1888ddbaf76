"""`cb.audit` of one's own function: false claims are found, true ones are not, and what is no function is refused."""

from collections.abc import Callable
from random import random

import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from tests.api.survey import table
from tests.cases import for_each

HALF = Differential(0.5, 0.0, Relation.REPLACE)


def response(answer: int) -> int:
    return answer if random() < 0.75 else 1 - answer


def test_a_false_claim_is_found_and_a_true_one_is_not() -> None:
    """Each is wrong with probability below 1e-9: ε is ln 3 = 1.0986, and the event has 1/4 against 3/4."""
    verdict = cb.audit(response, HALF, (1, 0), runs=20_000, error=1e-9)
    assert verdict.finding
    assert verdict.subject == "response"
    assert verdict.guarantee == HALF
    true = cb.audit(response, Differential(1.1, 0.0, Relation.REPLACE), (1, 0), runs=5_000, error=1e-9)
    assert not true.finding


def test_several_pairs_go_by_their_names() -> None:
    verdict = cb.audit(response, HALF, {"equal": (1, 1), "yes and no": (1, 0)}, runs=20_000, error=1e-9)
    assert (verdict.finding, verdict.pair) == (True, "yes and no")


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no claim": (lambda: cb.audit(response), "claim takes a Differential"),  # type: ignore[call-overload]
    "a claim of numbers": (lambda: cb.audit(response, (0.5, 0.0), (1, 0)), "claim takes a Differential"),  # type: ignore[call-overload]
    "no neighbours": (lambda: cb.audit(response, HALF), "pair of populations"),  # type: ignore[call-overload]
    "one population": (lambda: cb.audit(response, HALF, 1), "pair of populations"),  # type: ignore[call-overload]
    "three populations": (lambda: cb.audit(response, HALF, (1, 0, 2)), "pair of populations"),  # type: ignore[call-overload]
    "no pairs": (lambda: cb.audit(response, HALF, {}, runs=100), "pair of populations"),
    "a policy with a claim": (lambda: cb.audit(table(), HALF, (1, 0)), "takes a function"),  # type: ignore[call-overload]
    "people of a function": (
        lambda: cb.audit(response, HALF, (1, 0), people=10),  # type: ignore[call-overload]
        "plays no part",
    ),
}


@for_each("name", WRONG)
def test_what_is_no_mechanism_is_refused_in_a_sentence(name: str) -> None:
    call, words = WRONG[name]
    with pytest.raises(InvalidInput, match=words) as caught:
        call()
    assert caught.value.remedy
