"""What a programme plans: the k of every part from a computation of our own, splits, series, shares, refusals."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats

import crowdblend as cb
from crowdblend.errors import CrowdblendError, Infeasible, InvalidInput
from crowdblend.kinds.programme.plan import _tries, compare_splits, shares_of, with_other_splits
from crowdblend.kinds.programme.programme import PlannedPublication
from crowdblend.methods.designs.design import differential_claim, differential_of
from crowdblend.methods.mechanisms.everywhere import NoiseEverywhere
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from tests.kinds.programme.programmes import COLUMNS, five, planned, two

EPSILON, DELTA = 1.0, 1e-6


def divergence(k: int, others: int, rate: float, person: float, epsilon: float) -> float:
    """The larger hockey-stick divergence of a class shown from k on, whose person is kept with another probability."""
    counts = np.arange(others + 2)
    law = stats.binom.pmf(counts, others, rate)
    shifted = np.concatenate([[0.0], law[:-1]])

    def shown(masses: np.ndarray) -> np.ndarray:
        return np.concatenate([[masses[:k].sum()], masses[k:]])

    without, with_person = shown(law), shown(shifted)
    mixed, growth = (1 - person) * without + person * with_person, math.exp(epsilon)
    up, down = np.maximum(mixed - growth * without, 0).sum(), np.maximum(without - growth * mixed, 0).sum()
    return float(max(up, down))


def worst(k: int, share: float, rate: float) -> float:
    """The worst class for a part with this share of a sample at this rate; all shares add up to 1."""
    others = rate * share / (1 - rate * (1 - share))
    return max(divergence(k, n, others, rate, EPSILON) for n in range(int(4 * k / others) + 10))


def test_the_k_of_every_part_is_the_smallest_by_an_enumeration_of_our_own():
    plan = planned(five())
    found = {one.name: (one.plan.k, one.share) for one in plan.planned}
    for name in ("people", "by_age"):
        k, share = found[name]
        assert k is not None
        assert share is not None
        assert worst(k, share, 0.5) <= DELTA < worst(k - 1, share, 0.5), name


def test_a_programme_keeps_its_budget_together():
    plan = planned(five())
    differential = next(
        one for one in plan.guarantees if isinstance(one, Differential) and one.relation is Relation.ADD_REMOVE
    )
    assert differential.epsilon == EPSILON
    assert 0 < differential.delta <= DELTA
    summary = plan.summary()
    assert summary["split"] == "people"
    assert summary["publications"]["by_age"]["shown_of_50"] == pytest.approx(stats.binom.sf(17, 50, 0.1), rel=1e-9)
    mean = math.sqrt(2 / math.pi * 100 * 0.9 / 0.1)  # of a normal error with that variance
    assert summary["publications"]["by_age"]["mean_error_of_100"] == pytest.approx(mean)


def test_what_is_left_open_is_planned_and_the_other_splits_are_compared():
    open_split = planned(two(sampling=cb.Poisson(0.1)))
    assert open_split.split == "fresh"
    assert list(open_split.others) == ["people"]
    by_people = planned(two(sampling=cb.Poisson(0.1), split="people"))
    assert not by_people.others
    assert with_other_splits(by_people).others == {"fresh": compare_splits(open_split)}
    shares = [one.share or 0 for one in by_people.planned]
    assert 0.99 < sum(shares) <= 1
    # 20 cells beside 16: shares so that cells have about the same relative error.
    assert shares[0] / shares[1] == pytest.approx(20 / 16, rel=0.01)
    heavier = planned(
        two(
            cb.Table("age", "sex", name="a", weight=3),
            cb.Microdata("district", "sex", name="b"),
            sampling=cb.Poisson(0.1),
            split="people",
        )
    )
    assert (heavier.planned[0].share or 0) > shares[0]


def test_a_sample_that_was_drawn_before_is_divided():
    plan = planned(two(sampling=cb.Coins(0.1)))
    assert plan.split == "people"
    with pytest.raises(InvalidInput, match="draws a sample"):
        planned(two(sampling=cb.Coins(0.1), split="fresh"))


def test_ten_years_need_larger_crowds_than_one():
    once, ten = (planned(two(sampling=cb.Poisson(0.1), split="people", releases=n)) for n in (1, 10))
    for one, many in zip(once.planned, ten.planned, strict=True):
        assert (one.plan.k or 0) < (many.plan.k or 0)


def test_crowds_of_a_series_are_tried_with_more_and_more_of_them_and_no_step_is_large() -> None:
    """ε of one release is divided by at most twice what is enough, until it is divided by their number."""
    for releases in (1, 2, 3, 8):
        tried = list(_tries(two(sampling=cb.Poisson(0.1), split="people"), releases))
        divided = [epsilon for epsilon, *_ in tried]
        assert divided[0] == 1
        assert divided[-1] == (releases if releases > 1 else 1)
        assert all(one <= later <= 2 * one for one, later in pairwise(divided))


def losses(one: PlannedPublication) -> float:
    (mechanism,) = one.plan.mechanisms
    assert isinstance(mechanism, NoiseEverywhere)
    return mechanism.noise_epsilon


REGISTER: dict[str, Any] = {"sampling": cb.Everybody(), "delta": None}


def test_the_budget_of_a_register_is_divided_by_weight_and_the_root_of_the_cells():
    tables = [cb.Table("age", "sex", name="a", weight=3), cb.Table("district", name="b")]
    plan = planned(two(*tables, **REGISTER))
    noise = [losses(one) for one in plan.planned]
    # 20 cells of age and sex, 8 of district: the mean error of a cell is smallest at the roots of 20 and 8.
    wanted = [3 * math.sqrt(20), math.sqrt(8)]
    assert noise == pytest.approx([one / sum(wanted) for one in wanted], rel=1e-9)
    assert sum(noise) <= 1

    def mean_error(part: float) -> float:
        return (20 / part + 8 / (1 - part)) / 28

    plain = losses(planned(two(*(cb.Table(*one.columns, name=one.name) for one in tables), **REGISTER)).planned[0])
    assert mean_error(plain) <= min(mean_error(part / 100) for part in range(1, 100))


@pytest.mark.parametrize("releases", [1, 10])
def test_the_thresholds_of_all_releases_share_half_of_delta(releases):
    tables = [cb.Table(*names, name=names[0], below_k="threshold") for names in (("age", "sex"), ("district",))]
    plan = planned(two(*tables, sampling=cb.Everybody(), releases=releases))
    alone = [differential_claim(one.plan.mechanisms[0]).conclusion.delta for one in plan.planned]
    assert all(0.5 * DELTA / 4 < releases * each <= DELTA / 4 for each in alone)


def test_many_noisy_tables_of_one_sample_are_composed_first_and_amplified_once():
    tables = [cb.Table("age", "sex", name="a", below_k="noise"), cb.Table("district", name="b", below_k="noise")]
    plan = planned(two(*tables, sampling=cb.Poisson(0.1), split="budget"))
    # Amplified once: both together may lose ln(1 + (e - 1)/0.1), and by curves a little more.
    whole = math.log1p((math.e - 1) / 0.1)
    assert whole * (1 - 1e-3) <= sum(map(losses, plan.planned)) <= 1.2 * whole


UNSTRATIFIED = [cb.Table("age", "sex", name="a"), cb.Microdata("district", name="b")]
REFUSED = {
    "no epsilon": ({"epsilon": None}, "epsilon is missing"),
    "no delta": ({"delta": None}, "delta is missing"),
    "strata that are not published": (
        {"sampling": cb.Strata("sex", {"female": 0.1, "male": 0.2}), "publish": UNSTRATIFIED},
        "not by strata",
    ),
    "a survey of which all are kept": ({"sampling": cb.Survey(100, of=1_000, thin=1), "split": "people"}, "thin=0.8"),
    "a survey that is left open": ({"sampling": cb.Survey(100, of=1_000)}, "thin=0.8"),
    "no rate": ({"sampling": cb.Poisson()}, "rate"),
    "no ids": ({"person": None, "rows_are_people": True, "split": "people"}, "Without ids"),
    "budget without noise": ({"split": "budget"}, "noise"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_programmes_without_a_theorem_are_refused_with_a_reason(name: str):
    changes, said = REFUSED[name]
    with pytest.raises(CrowdblendError) as refused:
        planned(two(**{"sampling": cb.Poisson(0.1), **changes}))
    assert said in str(refused.value)
    assert refused.value.remedy


def test_shares_above_the_sample_are_refused():
    tables = [cb.Table("age", "sex", name="a", share=0.7), cb.Table("district", name="b", share=0.4)]
    with pytest.raises(InvalidInput, match="nobody is in two parts"):
        planned(two(*tables))


def test_a_k_that_does_not_keep_the_budget_is_refused():
    tables = [cb.Table("age", "sex", name="a", share=0.5, k=5), cb.Table("district", name="b", share=0.5)]
    with pytest.raises(Infeasible, match="cannot be guaranteed") as refused:
        planned(two(*tables))
    assert (refused.value.code, refused.value.where) == ("plan.delta-out-of-reach", "delta")


def test_a_sample_has_at_most_100_parts():
    tables = [cb.Table("district", name=f"t{number}") for number in range(101)]
    assert math.fsum(shares_of(two(*tables[:100]))) == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match="at most 100 parts"):
        shares_of(two(*tables))


def test_noise_on_one_sample_needs_ids():
    tables = [cb.Table("age", "sex", name="a", below_k="noise"), cb.Table("district", name="b", below_k="noise")]
    with pytest.raises(InvalidInput, match="Without ids"):
        planned(two(*tables, split="budget", person=None, rows_are_people=True))


def test_what_a_programme_cannot_say_is_refused():
    income = {"income": cb.bounds(0, 200_000, resolution=100, outside="clamp"), "sex": ["female", "male"]}
    median = cb.Statistics(cb.median("income"), by="sex", name="income", group=3)
    with pytest.raises(InvalidInput, match="one person at a time"):
        five(columns=income, publish=[cb.Table("sex", name="sexes"), median])
    with pytest.raises(InvalidInput, match="factor"):
        two(cb.Table("sex", name="a"), cb.OutlierTable("age", limit=400, factor=3.0, name="b"))
    with pytest.raises(InvalidInput, match="weight"):
        two(cb.Table("sex", name="a", weight=2), cb.Table("age", name="b"), split="fresh")
    with pytest.raises(InvalidInput, match="share and weight exclude each other"):
        cb.Table("sex", name="a", weight=2, share=0.5)
    with pytest.raises(InvalidInput, match="beside the data"):
        cb.Table("sex", name="Totals")
    noisy = [cb.Table("age", name="a", below_k="noise", k=50), cb.Table("district", name="b", below_k="noise")]
    with pytest.raises(InvalidInput, match="would be ignored"):
        planned(two(*noisy, split="budget"))


def test_statistics_go_with_every_split_of_a_sample():
    columns = {"income": cb.bounds(0, 200_000, resolution=100, outside="clamp"), "sex": ["female", "male"]}
    listed = [cb.Table("sex", name="sexes"), cb.Statistics(cb.median("income"), by="sex", name="income")]
    for split in ("people", "fresh"):
        assert planned(five(columns=columns, publish=listed, split=split)).split == split


def test_open_labels_are_taken_to_be_as_many_as_the_largest_other():
    columns = {"sex": ["female", "male"], "town": cb.prefix(3)}
    listed = [cb.Table("sex", name="sexes"), cb.Table("town", name="towns")]
    assert shares_of(five(columns=columns, publish=listed)) == [0.5, 0.5]


@pytest.mark.parametrize(
    "sampling", [pytest.param(cb.Everybody(), marks=pytest.mark.slow), cb.Poisson(0.3)], ids=["register", "sample"]
)
def test_tables_medians_and_outlier_tables_share_the_budget_of_the_same_people(sampling: Any):
    below = {} if sampling.everybody else {"below_k": "noise"}
    columns = {name: COLUMNS[name] for name in ("sex", "age", "income")}
    listed = [
        cb.Table("age", "sex", name="ages", **below),
        cb.Statistics(cb.median("income"), by="sex", name="income"),
        cb.OutlierTable("age", name="outliers", limit=1000),
    ]
    plan = planned(five(columns=columns, publish=listed, sampling=sampling, split="budget"))
    each = [differential_claim(one) for one in plan.mechanisms]
    spent = [one.conclusion.epsilon for one in each]
    cells = [math.sqrt(20), math.sqrt(100), math.sqrt(10)]
    assert spent == pytest.approx([sum(spent) * one / sum(cells) for one in cells], rel=1e-6)
    whole = 1.0 if sampling.everybody else math.log1p((math.e - 1) / 0.3)
    assert whole * (1 - 1e-2) <= sum(spent) <= 1.2 * whole
    stated = differential_of(plan.derived_guarantees).conclusion
    assert stated.epsilon <= 1
    assert 0 < stated.delta <= 1e-6


def test_outlier_tables_of_a_register_without_delta_are_refused():
    with pytest.raises(CrowdblendError, match="delta"):
        planned(two(cb.Table("age", name="a"), cb.OutlierTable("sex", limit=400, name="b"), **REGISTER))


def test_a_register_has_years_too():
    tables = [cb.Table("age", "sex", name="a"), cb.Table("district", name="b")]
    plan = planned(two(*tables, sampling=cb.Everybody(), delta=None, releases=5))
    assert sum(losses(one) for one in plan.planned) * 5 == pytest.approx(1, rel=1e-9)


def test_a_column_with_two_uses_is_described_by_both():
    listed = [cb.Table("age", name="ages"), cb.Statistics(cb.median("age"), name="median")]
    columns = {"age": cb.intervals(0, 90, width=10, top=True)}
    facts = planned(five(columns=columns, publish=listed, split="people")).facts()
    classes, numbers = facts.declared_domains["age"]
    assert classes.labels is not None
    assert numbers.recoding == "measure"
