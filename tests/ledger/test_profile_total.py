"""Totals by profile: what they come to, and how many more releases fit."""

from dataclasses import replace
from pathlib import Path

import pytest

from crowdblend import plan
from crowdblend.ledger import Ledger
from crowdblend.ledger.declarations import Limit
from crowdblend.publishing.pending import with_profile
from crowdblend.trusted.calculus.loss_curves import epsilon_of
from crowdblend.trusted.guarantees.privacy import Differential, Guarantee, Relation
from crowdblend.trusted.guarantees.profiles import (
    ClosenessCurve,
    CrowdCurve,
    LossCurve,
    OutlierCurve,
    Profile,
    ReplacedCurve,
    Uses,
)
from tests.ledger.spendings import spending

ADD = Relation.ADD_REMOVE


def release(k: int = 8, rate: float = 0.1) -> tuple[Guarantee, ...]:
    return with_profile(plan(k=k, rate=rate, epsilon=1.0).certificate())


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "ledger.sqlite")


def test_a_release_is_recorded_with_its_profile(ledger: Ledger) -> None:
    entry = ledger.begin(spending(guarantees=release()))
    made = ledger.entry(entry).spending.guarantees[-1]
    assert made == Profile((Uses(CrowdCurve(8, 0.0, 0.1), 1),), samplings=1)


def test_ten_releases_come_to_little_more_than_one(ledger: Ledger) -> None:
    for year in range(10):
        ledger.begin(spending(f"draw-{year}", guarantees=release()))
    added = ledger.budget("residents").differential
    assert added is not None
    assert added.epsilon == 10.0
    total = ledger.total("residents")
    assert (total.delta, total.releases) == (pytest.approx(added.delta), 10)
    assert total.epsilon is not None
    exact = epsilon_of(Profile((Uses(CrowdCurve(8, 0.0, 0.1), 10),)), total.delta)
    assert exact * (1 - 1e-6) <= total.epsilon <= exact * 1.001 < 1.09
    smaller = ledger.total("residents", 1e-6)
    assert smaller.epsilon is not None
    assert smaller.epsilon > total.epsilon
    assert [made.name for made in total.assumptions] == ["FIXED_SERIES"]


@pytest.mark.parametrize("guarantees", [release(), (Differential(0.4, 0.0, ADD),), (Differential(0.4, 1e-9, ADD),)])
def test_the_total_by_profile_is_never_above_the_sum(ledger: Ledger, guarantees: tuple[Guarantee, ...]) -> None:
    """Also of a single release, whose curve is a little larger on a grid than the number that it states."""
    for _ in range(2):
        ledger.begin(spending(f"draw-{len(ledger.entries())}", guarantees=guarantees))
        added, total = ledger.budget("residents").differential, ledger.total("residents")
        assert added is not None
        assert total.epsilon is not None
        assert (total.delta, total.epsilon <= added.epsilon) == (added.delta, True)


def test_pure_losses_come_to_their_sum_without_a_delta(ledger: Ledger) -> None:
    ledger.begin(spending("a", guarantees=(Differential(0.75, 0.0, ADD),)))
    ledger.begin(spending("b", guarantees=(Differential(0.25, 0.0, ADD),)))
    total = ledger.total("residents")
    assert (total.differential, total.tighter, total.assumptions) == (Differential(1.0, 0.0, ADD), None, ())
    assert ledger.total("residents", 1e-6).epsilon <= 1.0
    ledger.begin(spending("c", guarantees=(Differential(0.25, 1e-6, ADD),)))
    assert ledger.total("residents", 0.0).epsilon is None
    assert ledger.total("residents").delta == 1e-6


def test_releases_with_other_curves_are_composed_too(ledger: Ledger) -> None:
    for k in (8, 9, 10, 11):
        ledger.begin(spending(f"draw-{k}", guarantees=release(k)))
    total = ledger.total("residents", 1e-5)
    curves: list[LossCurve] = [CrowdCurve(k, 0.0, 0.1) for k in (8, 9, 10, 11)]
    exact = epsilon_of(Profile(tuple(Uses(curve, 1) for curve in curves)), 1e-5)
    assert total.epsilon is not None
    assert exact * (1 - 1e-6) <= total.epsilon <= exact * 1.005


def test_one_more_release_is_looked_at_without_being_kept(ledger: Ledger) -> None:
    ledger.begin(spending("draw-1", guarantees=release()))
    before = ledger.total("residents", 1e-5)
    after = ledger.total("residents", 1e-5, more=spending("draw-2", guarantees=release(9)))
    assert before.epsilon is not None
    assert after.epsilon is not None
    assert before.epsilon < after.epsilon
    assert ledger.total("residents", 1e-5) == before


def test_populations_that_overlap_are_composed_together(ledger: Ledger) -> None:
    ledger.begin(spending("draw-1", guarantees=release()))
    ledger.begin(spending("draw-2", "pupils", guarantees=release(30)))
    assert ledger.total("nobody", 1e-5).epsilon == 0.0
    alone = ledger.total("residents", 1e-5)
    ledger.overlap("residents", "pupils", why="children of residents")
    both = ledger.total("residents", 1e-5)
    assert (alone.releases, both.releases) == (1, 2)
    assert alone.epsilon is not None
    assert both.epsilon is not None
    assert both.epsilon > alone.epsilon


def test_entries_without_a_profile_enter_with_their_loss(ledger: Ledger) -> None:
    plain = (Differential(0.5, 1e-7, ADD),)
    ledger.begin(spending("draw-1", guarantees=plain))
    ledger.begin(spending("draw-2", guarantees=plain))
    total = ledger.total("residents", 1e-5)
    assert total.epsilon == pytest.approx(epsilon_of(Profile((Uses(ClosenessCurve(0.5, 1e-7), 2),)), 1e-5), rel=1e-6)


def test_a_release_counts_with_all_its_uses_and_not_by_what_it_promises_to_groups(ledger: Ledger) -> None:
    thrice, of_groups = (
        Profile((Uses(CrowdCurve(8, 0.0, 0.1), times),), ADD, who, 1) for times, who in ((3, 1), (1, 2))
    )
    for year in range(2):
        ledger.begin(spending(f"draw-{year}", guarantees=(Differential(3.0, 1e-6, ADD), of_groups, thrice)))
    exact = epsilon_of(Profile((Uses(CrowdCurve(8, 0.0, 0.1), 6),)), 1e-5)
    total = ledger.total("residents", 1e-5).epsilon
    assert total is not None
    assert exact * (1 - 1e-6) <= total <= exact * 1.001


def test_the_worse_direction_counts(ledger: Ledger) -> None:
    """With one person more a table of outliers loses more than with one less; of crowds it is the other way round."""
    for at, curve in enumerate((OutlierCurve(0.2, 5, 15), CrowdCurve(8, 0.0, 0.1))):
        ledger.begin(spending(f"draw-{at}", str(at), guarantees=(Profile((Uses(curve, 3),)),)))
        total, exact = ledger.total(str(at), 1e-3).epsilon, epsilon_of(Profile((Uses(curve, 3),)), 1e-3)
        assert total is not None
        assert exact * (1 - 1e-6) <= total <= exact * 1.001


def test_one_release_under_another_relation_takes_all_there(ledger: Ledger) -> None:
    ledger.begin(spending("draw-1", guarantees=release()))
    ledger.begin(spending("draw-2", guarantees=(Differential(0.5, 0.0, Relation.REPLACE),)))
    assert ledger.total("residents", 1e-4).relation is Relation.REPLACE


def test_how_many_more_releases_of_a_declared_series_fit(ledger: Ledger) -> None:
    """As many as were declared, and as a plan for so many says: ten with k = 9, and not another ten."""
    assert plan(rate=0.1, epsilon=1.0, delta=1e-6, releases=10).k == 9
    limit, one = Limit("residents", 1.0, 1e-6, None, "ann"), spending(guarantees=release(9), series=10)
    assert ledger.releases_that_fit(one, limit) == 10
    assert ledger.releases_that_fit(replace(one, series=40), limit) == 0
    assert ledger.releases_that_fit(replace(one, series=1), limit) == 1
    for year in range(4):
        ledger.begin(spending(f"draw-{year}", guarantees=release(9), series=10))
    assert ledger.releases_that_fit(one, limit) == 6
    assert ledger.releases_that_fit(replace(one, series=1), limit) == 0
    assert ledger.releases_that_fit(replace(one, series=11), limit) == 0
    assert ledger.releases_that_fit(one, Limit("residents", 0.1, 1e-9, None, "ann")) == 0
    assert ledger.releases_that_fit(spending(guarantees=(Differential(1.0, 0.0, Relation.REPLACE),)), limit) is None


def test_under_the_replace_relation_every_release_has_a_profile_too(ledger: Ledger) -> None:
    """Below the composition of the (2, 6e-7) that follow from (1, 2.3e-7), and never below add-remove."""
    for year in range(5):
        ledger.begin(spending(f"draw-{year}", guarantees=release()))
    alone = ledger.total("residents", 1e-4)
    ledger.begin(spending("draw-9", guarantees=(Differential(0.1, 0.0, Relation.REPLACE),)))
    total = ledger.total("residents", 1e-4)
    replaced = spending(guarantees=release()).replacement_loss
    assert replaced is not None
    plain = (Uses(ClosenessCurve(replaced.epsilon, replaced.delta), 5), Uses(ClosenessCurve(0.1, 0.0), 1))
    added = epsilon_of(Profile(plain, Relation.REPLACE), 1e-4)
    curve = ReplacedCurve(CrowdCurve(8, 0.0, 0.1))
    composed = (Uses(curve, 5), Uses(ClosenessCurve(0.1, 0.0), 1))
    exact = epsilon_of(Profile(composed, Relation.REPLACE), 1e-4)
    assert total.relation is Relation.REPLACE
    assert total.epsilon is not None
    assert alone.epsilon is not None
    assert alone.epsilon < exact * (1 - 1e-6) <= total.epsilon <= exact * 1.005 < 0.2 * added
