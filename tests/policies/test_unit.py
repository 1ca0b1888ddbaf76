"""The unit of protection: what several rows of a person make of a claim, and of what the engine keeps."""

from typing import Any

import pytest

import crowdblend as cb
from crowdblend.kinds.shared.facts import to_json
from crowdblend.methods.designs import SeveralRows
from crowdblend.methods.mechanisms import SuppressedHistogram
from crowdblend.methods.mechanisms.everywhere import ThresholdHistogram
from crowdblend.policies.publication import Publication
from crowdblend.policies.sampling_section import Sampling
from crowdblend.policies.unit import Unit
from crowdblend.trusted.calculus import RULES
from tests.cases import for_each
from tests.plans import plan

COLUMNS = {"ward": cb.values("north", "south")}


@for_each("rows", [1, 2, 7, 1_000])
@for_each("epsilon", [0.01, 1.0, 9.0])
def test_what_one_row_may_lose_comes_to_what_the_person_may(rows: int, epsilon: float) -> None:
    """As the rule adds it up, but for rounding; a share larger by a millionth is too much."""
    loss, delta = Unit(rows).per_row(epsilon, 1e-6)
    whole = RULES["rows.per-person"](ThresholdHistogram(loss, round(30 / loss)).claim(), rows_per_person=rows)
    assert whole.conclusion.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert rows * loss <= epsilon * (1 + 1e-12) < rows * loss * (1 + 1e-6)
    ratio = whole.conclusion.delta / whole.premises[0].conclusion.delta
    assert delta * ratio == pytest.approx(1e-6, rel=1e-9)


def test_one_row_loses_what_the_person_may() -> None:
    assert Unit().per_row(0.3, 1e-7) == (0.3, 1e-7)


def test_noise_is_claimed_of_all_rows_and_crowds_of_a_coin_for_each() -> None:
    noise, crowds = ThresholdHistogram(0.5, 30), SuppressedHistogram(20)
    assert Unit(3).claimed(noise) == SeveralRows(noise, 3)
    assert Unit(3, coins=True).claimed(crowds) == crowds
    assert (Unit().claimed(noise), Unit(one_row=True).claimed(noise)) == (noise, noise)


TABLES: list[tuple[Publication, Sampling, Unit]] = [
    (cb.Table(), cb.Poisson(0.2), Unit(2, counts="people", coins=True)),
    (cb.Table(below_k="threshold"), cb.Everybody(), Unit(2, counts="people")),
    (cb.Microdata(), cb.Poisson(0.2), Unit(2, counts="people", coins=True)),
    (cb.OutlierTable(limit=100), cb.Poisson(0.2), Unit(2, counts="people")),
]


@for_each(("publication", "sampling", "expected"), TABLES)
def test_facts_have_the_unit_of_their_policy(publication: Publication, sampling: Sampling, expected: Unit) -> None:
    policy = cb.Policy(
        **{"person": "id", "columns": COLUMNS, "rows_per_person": 2, "sampling": sampling},
        **{"epsilon": 2.0, "delta": 1e-6, "publish": publication},
    )
    facts = plan(policy).facts()
    assert policy.only.unit == policy.data.unit == expected
    assert facts.unit == expected


@for_each("count", ["rows", "people"])
def test_a_register_counts_rows_unless_it_is_asked_for_people(count: Any) -> None:
    policy = cb.Policy(
        **{"person": "id", "columns": COLUMNS, "rows_per_person": 2, "sampling": cb.Everybody()},
        **{"epsilon": 2.0, "publish": cb.Table(count=count)},
    )
    facts = plan(policy).facts()
    assert (policy.data.unit.counts, policy.data.unit.most) == (facts.unit.counts, facts.unit.most) == (count, 2)
    assert to_json(facts).get("rows_per_person") is None


@for_each(("publication", "sampling", "expected"), TABLES)
def test_people_with_one_row_are_one_unit_for_all_kinds(
    publication: Publication, sampling: Sampling, expected: Unit
) -> None:
    policy = cb.Policy(
        **{"person": "id", "columns": COLUMNS, "sampling": sampling},
        **{"epsilon": 2.0, "delta": 1e-6, "publish": publication},
    )
    assert expected.several
    assert policy.data.unit == plan(policy).facts().unit == Unit()
