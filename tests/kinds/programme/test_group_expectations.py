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
    sizes = [(people, error) for people, error in expected_of(facts).errors if people <= most]
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
    assert [people for people, _ in expected.visible] == [least, 100 * least]
    assert published(law, rate, least)[1].sum() > 0.9
    told = expected.sentences()[0]
    assert told.startswith(f"estimates of cells are off: one of {least:,} people by about ")
    assert told.endswith(f"; {end}")
