"""Limits: what would exceed one is refused before anything is read, and a change says who and why."""

from pathlib import Path

import pandas as pd
import pytest

import crowdblend as cb
from crowdblend import plan
from crowdblend.errors import InvalidInput, Refused
from crowdblend.ledger import Ledger
from crowdblend.ledger import ledger as module
from crowdblend.ledger.declarations import Limit, last_day
from crowdblend.ledger.filters import order_for
from crowdblend.publishing.pending import with_profile
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from tests.cases import for_each
from tests.commands import crowdblend
from tests.ledger.spendings import spending


def plain(epsilon: float, delta: float = 1e-7) -> tuple[Differential, ...]:
    return (Differential(epsilon, delta, Relation.ADD_REMOVE),)


def profiled(epsilon: float = 0.5, delta: float = 1e-7) -> tuple:
    return with_profile(plan(rate=0.1, epsilon=epsilon, delta=delta).certificate())


def test_what_exceeds_it_is_refused_and_nothing_is_recorded(ledger: Ledger) -> None:
    ledger.limit("residents", epsilon=1.0, delta=1e-6)
    ledger.begin(spending("a", guarantees=plain(0.6)))
    for call in (ledger.begin, ledger.preview, ledger.check_spending):
        with pytest.raises(Refused) as refused:
            call(spending("b", guarantees=plain(0.6)))
        assert refused.value.code == "limit.exceeded"
        assert "the limit is epsilon 1 at delta 1e-06" in refused.value.message
    assert len(ledger.entries()) == 1
    ledger.begin(spending("b", guarantees=plain(0.4)))
    ledger.begin(spending("c", "others", guarantees=plain(3.0)))
    with pytest.raises(Refused, match="No further release fits"):
        ledger.begin(spending("d", guarantees=plain(0.1)))


def test_what_is_said_to_fit_fits(ledger: Ledger) -> None:
    ledger.limit("residents", epsilon=1.0, delta=1e-6)
    ledger.begin(spending("a", guarantees=plain(0.6)))
    with pytest.raises(Refused) as refused:
        ledger.begin(spending("b", guarantees=plain(0.9)))
    largest = float(refused.value.remedy.split("epsilon ")[1].split()[0])
    assert 0.39 <= largest <= 0.4
    ledger.begin(spending("b", guarantees=plain(largest)))


def releases_until_refused(ledger: Ledger, guarantees: tuple, series: int = 1) -> int:
    for number in range(100):
        try:
            ledger.begin(spending(f"draw-{number}", guarantees=guarantees, series=series))
        except Refused:
            return number
    return 100


def test_curves_decide_nothing_where_nothing_was_declared(ledger: Ledger) -> None:
    """By profile five such releases come to less than 0.42, which is true only if none reacts to another."""
    ledger.limit("residents", epsilon=1.1, delta=1e-5)
    assert releases_until_refused(ledger, profiled()) == 2
    assert ledger.total("residents", 1e-5).epsilon < 0.42


def test_renyi_divergence_of_one_order_allows_many_releases(ledger: Ledger) -> None:
    made = ledger.limit("residents", epsilon=1.5, delta=1e-5, renyi=True)
    assert (made.order, made.filter) == (order_for(1.5, 1e-5), "renyi")
    count = releases_until_refused(ledger, profiled())
    assert 30 < count < 100
    assert ledger.limits("residents") == (made,)
    with pytest.raises(
        Refused, match=r"would come to 10\d\.\d+ % of the limit \(Rényi divergence of order 17.8 of"
    ) as refused:
        ledger.begin(spending("next", guarantees=profiled()))
    largest = float(refused.value.remedy.split("epsilon ")[1].split()[0])
    ledger.begin(spending("next", guarantees=plain(largest, profiled()[1].delta)))


def test_a_limit_is_about_one_relation(ledger: Ledger) -> None:
    """Under another relation in every branch, the whole would keep it under none."""
    replaced = (Differential(0.25, 0.0, Relation.REPLACE),)
    ledger.limit("residents", epsilon=1.0, delta=1e-6)
    with pytest.raises(Refused, match="compares one person more or less") as refused:
        ledger.begin(spending("a", guarantees=replaced))
    assert refused.value.code == "limit.relation"
    made = ledger.limit("residents", epsilon=1.0, delta=1e-6, relation=Relation.REPLACE, why="a fixed number of people")
    assert "with one person's data replaced" in made.words()
    ledger.begin(spending("a", guarantees=replaced))
    ledger.begin(spending("b", guarantees=plain(0.25, 0.0)))  # removed and added again: 0.5
    with pytest.raises(Refused, match=r"come to epsilon 1\.02, delta 0 "):
        ledger.begin(spending("c", guarantees=(Differential(0.27, 0.0, Relation.REPLACE),)))
    ledger.begin(spending("c", guarantees=replaced))


@for_each("wrong", [{"delta": 0.0}, {"epsilon": 0.0}, {"delta": -1.0}, {"epsilon": float("nan")}])
def test_renyi_needs_both(wrong: dict, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    with pytest.raises(InvalidInput):
        ledger.limit("residents", **{"epsilon": 1.0, "delta": 1e-6, **wrong}, renyi=True)
    for order in (1.0, 0.5, float("inf"), float("nan")):
        with pytest.raises(InvalidInput):
            Limit("residents", 1.0, 1e-6, None, "ann", order=order)


def test_a_limit_without_delta_adds_up_plainly(ledger: Ledger) -> None:
    ledger.limit("residents", epsilon=1.0, delta=0.0)
    ledger.begin(spending("a", guarantees=plain(0.5, 0.0)))
    ledger.begin(spending("b", guarantees=plain(0.5, 0.0)))
    with pytest.raises(Refused):
        ledger.begin(spending("c", guarantees=plain(0.001, 0.0)))


def test_a_change_is_an_entry_of_its_own_with_who_and_why(ledger: Ledger) -> None:
    first = ledger.limit(" residents ", epsilon=1.0, delta=1e-6, by="ann")
    with pytest.raises(InvalidInput) as refused:
        ledger.limit("residents", epsilon=2.0, delta=1e-6)
    assert refused.value.code == "limit.reason"
    raised = ledger.limit("residents", epsilon=2.0, delta=1e-6, why="a second survey", by="bob")
    assert ledger.limits("residents") == (first, raised)
    assert (raised.by, raised.why) == ("bob", "a second survey")
    assert raised.at
    ledger.begin(spending("a", guarantees=plain(1.5)))
    ledger.check()
    assert Ledger.open(ledger.location.path or ledger.location.url).limits("residents") == (first, raised)


@pytest.mark.parametrize(
    ("until", "last", "over"),
    [
        ("2030", "2030-12-31", "2031-01-01"),
        ("2030-06", "2030-06-30", "2030-07-01"),
        ("2030-06-15", "2030-06-15", "2030-06-16"),
    ],
)
def test_after_its_last_day_a_new_one_is_needed(
    until: str, last: str, over: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.limit("residents", epsilon=3.0, delta=1e-5, until=until)
    monkeypatch.setattr(module, "now", lambda: f"{last}T23:59:59+00:00")
    ledger.preview(spending())
    monkeypatch.setattr(module, "now", lambda: f"{over}T00:00:00+00:00")
    with pytest.raises(Refused) as refused:
        ledger.preview(spending())
    assert refused.value.code == "limit.ended"


def test_an_end_is_not_dropped_without_a_word(ledger: Ledger) -> None:
    ledger.limit("residents", epsilon=1.0, delta=1e-5, until="2030")
    with pytest.raises(InvalidInput, match="so far holds until 2030-12-31") as refused:
        ledger.limit("residents", epsilon=2.0, delta=1e-5, why="a second survey")
    assert refused.value.code == "ledger.until"
    assert ledger.limit("residents", epsilon=2.0, delta=1e-5, why="a survey", until="never").until is None
    assert ledger.limit("residents", epsilon=3.0, delta=1e-5, why="one more").until is None


@for_each("until", ["soon", "2030-13", "2030-02-30", "20300101", ""])
def test_what_is_no_day(until: str) -> None:
    with pytest.raises(InvalidInput):
        last_day(until)


def test_a_large_epsilon_is_said(ledger: Ledger) -> None:
    assert ledger.preview(spending("a", guarantees=plain(5.0))).high == ()
    (said,) = ledger.preview(spending("a", guarantees=plain(6.0))).high
    assert "epsilon 6 of this release is above 5" in said
    ledger.begin(spending("a", guarantees=plain(3.0, 0.0)))
    (said,) = ledger.preview(spending("b", guarantees=plain(3.0, 0.0))).high
    assert "All releases about 'residents' come to epsilon 6" in said


def test_before_a_row_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from crowdblend.publishing import pending

    ledger = cb.Ledger(tmp_path / "ledger.sqlite")
    with pytest.warns(UserWarning, match="No ledger"):
        ledger.limit("residents", epsilon=0.5, delta=1e-6)
    monkeypatch.setattr(pending, "identify", lambda *_: pytest.fail("the source was looked at"))
    policy = cb.Policy(
        person="id", population="residents", columns={"sex": cb.values("f", "m")},
        sampling=cb.Poisson(0.5), epsilon=1.0, delta=1e-6, publish=cb.Table(),
    )  # fmt: skip
    frame = pd.DataFrame({"id": range(100), "sex": ["f", "m"] * 50})
    with pytest.raises(Refused) as refused:
        cb.release(frame, policy, ledger=ledger)
    assert refused.value.code == "limit.exceeded"
    assert ledger.entries() == ()


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger.create(path)
    at = ("--ledger", path)
    limit = ("ledger", "limit", "residents", *at)
    assert "no limit" in crowdblend(*limit).stdout
    assert crowdblend(*limit, "--epsilon", "3").returncode == 2
    done = crowdblend(*limit, "--epsilon", "3", "--delta", "1e-5", "--until", "2030", "--by", "ann")
    assert "epsilon 3 at delta 1e-05 until 2030-12-31, set by ann" in done.stdout
    assert crowdblend(*limit, "--epsilon", "4", "--delta", "1e-5").returncode == 2
    assert crowdblend(*limit, "--epsilon", "4", "--delta", "1e-5", "--why", "more", "--json").returncode == 2
    raised = (*limit, "--epsilon", "4", "--delta", "1e-5", "--why", "more", "--until", "never", "--json")
    assert crowdblend(*raised).returncode == 0
    assert len(crowdblend(*limit).stdout.splitlines()) == 2
    Ledger.open(path).begin(spending())
    assert "limit     epsilon 4 at delta 1e-05" in crowdblend("ledger", "budget", *at).stdout
    assert '"limit": {"population": "residents", "epsilon": 4.0' in crowdblend("ledger", "budget", *at, "--json").stdout


CONFUSABLE = ["Residents", "RESIDENTS", "residents.", "_residents_", "residents-", "ｒesidents"]


@for_each("name", CONFUSABLE)
def test_a_name_that_is_taken_for_another_is_refused(name: str, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    ledger.limit("residents", epsilon=1.0, delta=1e-6)
    calls = [
        lambda: ledger.begin(spending("a", name)),
        lambda: ledger.preview(spending("a", name)),
        lambda: ledger.check_spending(spending("a", name)),
        lambda: ledger.limit(name, epsilon=9.0, delta=1e-3),
        lambda: ledger.overlap("pupils", name),
        lambda: ledger.describe(name, owner="x", description="x"),
    ]
    for call in calls:
        with pytest.raises(Refused, match="is easily taken for it") as refused:
            call()
        assert refused.value.code == "population.look-alike"
    assert ledger.head().records == 2


def test_names_that_read_differently_stand_beside_each_other(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    for name in ("ward 1", "ward 11", "ward 1 1", "ward 2", "wards 1", "résidents", "residents", "жители", "source:ab"):
        ledger.describe(name, owner="x", description="x")
    assert len(ledger.populations()) == 9


@for_each("name", ["résidents", "re\u0301sidents", " résidents ", "résidents\u00a0"])
def test_one_name_however_it_is_encoded(name: str, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    ledger.limit("résidents", epsilon=0.5, delta=1e-6)
    with pytest.raises(Refused, match="the limit is"):
        ledger.begin(spending("a", name, guarantees=plain(0.6)))


def test_a_clock_that_is_put_back_prolongs_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.limit("residents", epsilon=1.0, delta=1e-6, until="2030-06-30")
    monkeypatch.setattr(module, "now", lambda: "2030-07-01T08:00:00+00:00")
    ledger.begin(spending("x", "others", guarantees=plain(0.1)))
    monkeypatch.undo()
    for call in (ledger.begin, ledger.preview, ledger.check_spending):
        with pytest.raises(Refused) as refused:
            call(spending("a", guarantees=plain(0.1)))
        assert refused.value.code == "limit.ended"


def test_the_clock_of_the_server_counts(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.limit("residents", epsilon=1.0, delta=1e-6, until="2100")
    monkeypatch.setattr("crowdblend.ledger.database.Transaction.server_day", lambda _: "2101-01-01")
    with pytest.raises(Refused, match="ended on 2100-12-31"):
        ledger.begin(spending("a", guarantees=plain(0.1)))


def test_a_delta_above_that_of_the_limit_is_refused(ledger: Ledger) -> None:
    ledger.limit("residents", epsilon=5.0, delta=1e-6)
    with pytest.raises(Refused, match=r"come to epsilon 0\.1, delta 2e-06"):
        ledger.begin(spending("a", guarantees=plain(0.1, delta=2e-6)))
    ledger.begin(spending("a", guarantees=plain(0.1, delta=6e-7)))
    with pytest.raises(Refused, match="limit is"):
        ledger.begin(spending("b", guarantees=plain(0.1, delta=6e-7)))


@for_each("why", [None, "", "  ", "\u2028"])
def test_a_raise_says_why(why: str | None, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    ledger.limit("residents", epsilon=1.0, delta=1e-6, until=2020)
    with pytest.raises(InvalidInput):
        ledger.limit(" residents", epsilon=2.0, delta=1e-6, why=why)
    with pytest.raises(InvalidInput):
        ledger.limit("residents", epsilon=float("inf"), delta=1e-6, why="x")
    with pytest.raises(InvalidInput):
        ledger.limit("residents", epsilon=float("nan"), delta=1e-6, why="x")
    assert len(ledger.limits("residents")) == 1
