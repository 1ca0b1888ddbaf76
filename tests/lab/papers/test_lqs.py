"""LQS: every printed digit, and exact numbers that never exceed the published ones."""

from functools import cache
from itertools import pairwise

import pytest

from crowdblend.lab.papers import lqs, reproduce
from crowdblend.lab.papers.reproduction import agrees
from crowdblend.trusted.calculus.rules.sampling import suppression_exact, suppression_published
from crowdblend.trusted.guarantees.privacy import CrowdBlending
from tests.cases import for_each

CURVES = ("lqs-figure2", "lqs-figure3", "lqs-figure4", "lqs-figure5")
ROUNDING = 1 + 1e-12
reproduced = cache(reproduce)


def test_table1_left_half_as_printed():
    rows = reproduced("lqs-table1").rows[:3]
    assert [(row[1], row[2], row[4], row[6]) for row in rows] == [
        (1.0, "11", "2.40", "1e-5"),
        (0.1, "2", "0.69", "1e-6"),
        (0.01, "1.1", "0.095", "1e-7"),
    ]
    assert all(agrees(row[place], row[place + 1]) for row in rows for place in (2, 4, 6))


def test_table1_right_half_as_printed():
    rows = reproduced("lqs-table1").rows[3:]
    assert [(row[1], row[4]) for row in rows] == [(1.0, "1"), (0.1, "0.159"), (0.01, "0.017")]
    assert [f"{row[5]:.3f}" for row in rows] == ["1.000", "0.159", "0.017"]


def test_table1_says_that_it_matches():
    assert reproduced("lqs-table1").column("digits match") == (True,) * 6


def test_table2_has_every_cell():
    assert len(reproduced("lqs-table2").rows) == 18


@for_each("cell", range(18))
def test_table2_as_printed(cell):
    rate, epsilon, printed, published, exact, ratio, match = reproduced("lqs-table2").rows[cell]
    assert printed == lqs.TABLE2[rate][lqs.TABLE2_EPSILONS.index(epsilon)]
    assert f"{published:.2e}" == printed
    assert match is True
    assert exact < published == pytest.approx(ratio * exact)


def test_table2_known_exact_values():
    exact = {row[:2]: row[4] for row in reproduced("lqs-table2").rows}
    assert exact[0.1, 0.5] == pytest.approx(2.632e-11, rel=1e-3)
    assert exact[0.2, 0.25] == pytest.approx(5.092e-5, rel=1e-3)
    assert exact[0.05, 1.0] == pytest.approx(8.560e-21, rel=1e-3)


@for_each("name", CURVES)
def test_exact_never_exceeds_published(name):
    assert all(exact <= published * ROUNDING for *_, published, exact in reproduced(name).rows)


@for_each("name", CURVES)
def test_delta_falls_with_epsilon(name):
    curves: dict = {}
    for k, rate, *point in reproduced(name).rows:
        curves.setdefault((k, rate), []).append(point)
    for points in curves.values():
        assert points == sorted(points)
        for column in (1, 2):
            values = [point[column] for point in points]
            assert all(later <= earlier * ROUNDING for earlier, later in pairwise(values))


@for_each("name", CURVES)
def test_delta_is_at_least_rate_to_the_k(name):
    assert all(exact >= rate**k / ROUNDING for k, rate, _, _, exact in reproduced(name).rows)


def test_curves_have_the_parameters_of_the_paper():
    curves = {name: list(dict.fromkeys(row[:2] for row in reproduced(name).rows)) for name in CURVES}
    assert curves == {
        "lqs-figure2": [(k, 0.2) for k in (5, 10, 20, 30, 50)],
        "lqs-figure3": [(20, rate) for rate in (0.05, 0.1, 0.2, 0.3, 0.4)],
        "lqs-figure4": [(15, 0.05), (22, 0.1), (35, 0.2), (60, 0.4)],
        "lqs-figure5": [(k, 0.025) for k in (1, 2, 3, 4, 5)],
    }


def test_figure2_ten_more_people_gain_five_orders_of_magnitude():
    at = {row[0]: row[3] for row in reproduced("lqs-figure2").rows if row[2] == 2.0}
    assert all(1e-6 < at[k + 10] / at[k] < 1e-5 for k in (10, 20))


def test_figure5_as_the_text_describes_it():
    at = {row[0]: row[3] for row in reproduced("lqs-figure5").rows if row[2] == 2.0}
    assert at[1] == pytest.approx(0.025)
    assert all(at[k] < 0.001 for k in (2, 3, 4, 5))


@pytest.mark.slow  # a search for every point of the figure
def test_figure6_epsilons_hold_and_are_the_smallest():
    target = 1e-6
    for k, rate, *epsilons in reproduced("lqs-figure6").rows[::14]:
        for rule, epsilon in zip((suppression_published, suppression_exact), epsilons, strict=True):
            if epsilon is None:
                continue
            crowd = CrowdBlending(k, 0.0)
            assert rule.conclude(crowd, rate=rate, epsilon=epsilon).delta <= target
            smaller = epsilon * 0.9998
            if smaller > lqs.least_epsilon(rate):
                assert rule.conclude(crowd, rate=rate, epsilon=smaller).delta > target


def test_figure6_exact_is_smaller_and_falls_with_k():
    rows = reproduced("lqs-figure6").rows
    assert all(exact is not None and exact <= published for *_, published, exact in rows if published is not None)
    for rate in lqs.FIGURE6_RATES:
        reached = [row[3] for row in rows if row[1] == rate and row[3] is not None]
        assert len(reached) > 15
        assert reached == sorted(reached, reverse=True)


def test_figure6_leaves_out_what_no_epsilon_reaches():
    # δ is at least β^k, and 0.4^5 is far above 1e-6.
    assert next(row for row in reproduced("lqs-figure6").rows if row[:2] == (5, 0.4))[2:] == (None, None)
