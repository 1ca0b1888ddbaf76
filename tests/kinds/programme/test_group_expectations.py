"""What readers will see of groups of some sizes, before anything is read."""

import math

import numpy as np
import pytest

import crowdblend as cb
from crowdblend.kinds import plan
from crowdblend.kinds.programme.expected_errors import expected_of, group_expectations
from crowdblend.kinds.shared.facts import DATA
from tests.cases import for_each
from tests.methods.estimates.outputs import published

POLICY = cb.Policy(
    person="id",
    columns={"sex": cb.values("female", "male")},
    sampling=cb.Poisson(0.5),
    epsilon=1.0,
    delta=1e-6,
    publish=cb.Table(),
)


def test_small_groups_are_not_shown_and_large_ones_always() -> None:
    found = group_expectations(plan(POLICY).facts(), (10, 34, 35, 70, 1_000))
    assert [one.shown for one in found[:2]] == [0.0, 0.0]
    assert math.isclose(found[2].shown, 0.5**35, rel_tol=1e-9)  # everybody of the group is sampled
    assert 0.5 < found[3].shown < 0.6  # half of seventy is k
    assert found[4].shown > 1 - 1e-12
    assert found[0].words() == "A group of 10 people will not be shown."
    assert found[4].low is not None
    assert found[4].low < 1_000 < (found[4].high or 0)


def test_strata_are_not_told_by_one_rate() -> None:
    policy = POLICY.replace(sampling=cb.Strata("sex", {"female": 0.1, "male": 0.5}))
    assert group_expectations(plan(policy).facts()) == ()
    told = [plan(one.replace(publish=cb.Table(below_k="noise"))).describe()[-1][0] for one in (policy, POLICY)]
    assert told == ["would publish", "compared"]  # how cells near k look follows from one k
    assert plan(POLICY.replace(sampling=cb.Everybody(), publish=cb.OutlierTable(limit=99))).facts().rate is None


@for_each(
    ("policy", "most"),
    [(POLICY, 100), (POLICY.replace(epsilon=0.5, publish=cb.Table(below_k="noise")), 100), (POLICY, 10_000)],
    daily=2,
)
def test_expected_errors_are_the_mean_deviations_of_estimates(policy: cb.Policy, most: int) -> None:
    facts = plan(policy).facts()
    law, rate = facts.tables[DATA].shown_by[0], 0.5
    sizes = [(people, error) for people, error in expected_of(facts).mean if people <= most]
    assert sizes
    for people, error in sizes:
        values, masses, _ = published(law, rate, people)
        mean = np.average(values, weights=masses)
        deviation = np.average(np.abs(values - mean), weights=masses) / rate
        assert error == pytest.approx(deviation, rel=0.05), people


def test_whether_a_cell_is_shown_is_told_where_the_sample_alone_decides() -> None:
    assert expected_of(plan(POLICY).facts()).shown is not None
    cut = POLICY.replace(publish=cb.Table(below_k="noise", show_from=5))
    assert expected_of(plan(cut).facts()).shown is None


@for_each(
    ("rate", "least", "end"),
    [
        (0.5, 100, "cells of fewer than about 78 people are mostly missing"),
        (0.1, 200, "one of 50 is shown with probability 0.122"),
        (0.001, 10_000, "cells of fewer than about 3,000 people are mostly missing"),
    ],
)
def test_errors_are_told_of_cells_that_are_mostly_shown(rate: float, least: int, end: str) -> None:
    facts = plan(POLICY.replace(sampling=cb.Poisson(rate), epsilon=0.9)).facts()
    law, expected = facts.tables[DATA].shown_by[0], expected_of(facts)
    assert [one.people for one in expected.groups] == [least, 100 * least]
    assert published(law, rate, least)[1].sum() > 0.9
    told = expected.sentences()[0]
    assert told.startswith(
        f"cells as readers see them, 95 times in 100: {least:,} people ± {expected.groups[0].off:,} and "
    )
    assert told.endswith(f"; {end}")


@for_each(
    "policy",
    [
        POLICY,
        POLICY.replace(sampling=cb.Poisson(0.1), epsilon=0.5),
        POLICY.replace(publish=cb.Table(below_k="noise")),
        POLICY.replace(sampling=cb.Everybody(), delta=None),
        POLICY.replace(sampling=cb.Strata("sex", {"female": 0.2, "male": 0.5})),
    ],
)
def test_the_error_that_is_told_holds_95_times_in_100(policy: cb.Policy) -> None:
    """Of the estimates that readers see of such a cell, by the law of sample and noise; in the worst stratum."""
    facts = plan(policy).facts()
    (table,), expected = facts.tables.values(), expected_of(facts)
    strata = [*table.laws.strata.values()] or [table.laws.estimator]
    for group in expected.groups[:1]:
        assert group.off is not None
        for estimator in strata:
            assert estimator is not None
            rate = estimator.stratum.rate or 1.0
            values, masses, _ = published(estimator.law, rate, group.people)
            near = np.abs(values / rate - group.people) <= group.off
            assert masses[near].sum() / masses.sum() > 0.93
    assert expected.groups


def test_one_plan_and_one_of_several_tell_the_same_error_of_the_same_cell() -> None:
    facts = plan(POLICY).facts()
    expected = expected_of(facts)
    assert group_expectations(facts, tuple(one.people for one in expected.groups)) == expected.groups
    assert expected.to_dict()["cells"] == [{"size": one.people, "error": one.off} for one in expected.groups]


def test_a_cell_that_is_hardly_ever_shown_has_no_error() -> None:
    """Of 100 people at k = 62 and a rate of a half, one in a hundred would be shown, and then be off by 24 or more."""
    facts = plan(POLICY.replace(publish=cb.Table(k=62))).facts()
    (small,) = group_expectations(facts, (60,))
    assert (small.error, small.words()) == ("", "A group of 60 people will not be shown.")
    assert expected_of(facts).groups[0].shown > 0.9


def test_what_a_row_is_called_is_what_a_plan_counts() -> None:
    stops = plan(POLICY.replace(unit_word="stops"))
    assert stops.counted.many == "stops"
    assert group_expectations(stops.facts(), (1_000,))[0].words(stops.counted).startswith("A group of 1,000 stops will")
    assert "stops" in expected_of(stops.facts()).sentences(stops.counted)[0]
