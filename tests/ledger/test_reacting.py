"""A steward who reacts: parameters that depend on what was published keep a limit as a whole, not branch by branch."""

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import crowdblend as cb
from crowdblend import plan
from crowdblend.errors import InvalidInput, Refused
from crowdblend.ledger import Ledger
from crowdblend.ledger.budget import CUT, SpendingGroup, profile_total
from crowdblend.ledger.declarations import Limit
from crowdblend.ledger.filters import _cut, order_for, usage_of
from crowdblend.publishing.pending import with_profile
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.calculus.loss_curves import delta_of, spread, together
from crowdblend.trusted.guarantees.privacy import Differential, Guarantee, Relation
from crowdblend.trusted.guarantees.profiles import CrowdCurve, OutlierCurve, Profile, Uses
from tests.cases import for_each
from tests.ledger.spendings import spending

EPSILON, DELTA = 1.5, 1e-3
Law = dict[int, Fraction]
Pair = tuple[Law, Law]


def power(epsilon: float) -> Fraction:
    """e^ε to 60 digits, which is exact enough for numbers that differ in the second one."""
    term = total = Fraction(1)
    for step in range(1, 80):
        term = term * Fraction(epsilon) / step
        total += term
    return Fraction(round(total * 10**60), 10**60)


def divergence(with_person: Law, without: Law, epsilon: float) -> Fraction:
    """The hockey-stick divergence itself, by enumeration."""
    places = with_person.keys() | without.keys()
    zero, factor = Fraction(0), power(epsilon)
    return sum((max(with_person.get(y, zero) - factor * without.get(y, zero), zero) for y in places), zero)


def noisy_count(epsilon: float) -> Pair:
    """A count of 1 or 0 with discrete Laplace noise; what is beyond ±8 is published as ±8."""
    ratio = 1 / power(epsilon)

    def law(true: int) -> Law:
        found = {y: (1 - ratio) / (1 + ratio) * ratio ** abs(y - true) for y in range(-7, 8)}
        for end in (-8, 8):
            found[end] = ratio ** abs(end - true) / (1 + ratio)
        return found

    return law(1), law(0)


def suppressed_count(k: int, rate: float, people: int) -> Pair:
    """The count of a class of so many people with the person, sampled; 0 where it is below k."""

    def law(number: int) -> Law:
        found = {0: Fraction(1)}
        for _ in range(number):
            stay, come = 1 - Fraction(rate), Fraction(rate)
            found = {y: stay * found.get(y, 0) + come * found.get(y - 1, 0) for y in range(len(found) + 1)}
        shown = {y: mass for y, mass in found.items() if y >= k}
        return {0: 1 - sum(shown.values()), **shown}

    return law(people), law(people - 1)


def in_order(first: Pair, after: Callable[[int], Pair]) -> Pair:
    """Publish the first, look at it, and publish what follows."""

    def law(side: int) -> Law:
        return {1000 * y + z: mass * more for y, mass in first[side].items() for z, more in after(y)[side].items()}

    return law(0), law(1)


def noise(epsilon: float) -> tuple[Guarantee, ...]:
    made = RULES["histogram.laplace"](noise_epsilon=epsilon).conclusion
    return (made,)


def crowds(k: int, rate: float) -> tuple[Guarantee, ...]:
    return with_profile(plan(k=k, rate=rate, epsilon=1.0).certificate())


FIRST, IF_LARGE = 1.0, 0.5021
"""The noise of the first table, and of the second one where the first shows the person."""
RATE = 9.9e-4
"""Else a sample at this rate is published with k = 1: whoever is alone in a class is seen with this probability."""
BRANCHES = noisy_count(IF_LARGE), suppressed_count(1, RATE, 1)


def test_the_branches_together_exceed_what_each_of_them_keeps() -> None:
    whole = in_order(noisy_count(FIRST), lambda y: BRANCHES[0] if y >= 1 else BRANCHES[1])
    assert 1.22e-3 < divergence(*whole, EPSILON) < 1.23e-3
    for branch in BRANCHES:
        alone = in_order(noisy_count(FIRST), dict.fromkeys(noisy_count(FIRST)[0], branch).__getitem__)
        assert max(divergence(*alone, EPSILON), divergence(*alone[::-1], EPSILON)) <= DELTA


def test_a_limit_does_not_accept_both_branches(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    ledger.limit("residents", epsilon=EPSILON, delta=DELTA)
    ledger.begin(spending("first", guarantees=noise(FIRST)))
    accepted = 0
    for guarantees in (noise(IF_LARGE), crowds(1, RATE)):
        with suppress(Refused):
            ledger.preview(spending("second", guarantees=guarantees))
            accepted += 1
    assert accepted < 2


@dataclass(frozen=True)
class Choice:
    """What a steward may publish next: the guarantees that the ledger sees, and the laws of a world they hold in."""

    guarantees: tuple[Guarantee, ...]
    pair: Pair
    series: int = 1


def best_attack(limit: Limit, menu: Sequence[Choice], steps: int) -> float:
    """The divergence at the limit's ε of the worst steward who reacts, among all that the limit allows: enumerated."""
    laws = [[(float(p), float(q)) for p, q in _pairs(choice.pair)] for choice in menu]

    @cache
    def allowed(counts: tuple[int, ...]) -> bool:
        groups = [
            SpendingGroup("residents", choice.guarantees, True, choice.series, count)
            for choice, count in zip(menu, counts, strict=True)
            if count
        ]
        usage = usage_of(limit, groups)
        return usage is not None and usage.fits

    @cache
    def value(counts: tuple[int, ...], threshold: float) -> float:
        found = max(0.0, 1 - threshold)
        for at in range(len(menu) if sum(counts) < steps else 0):
            more = (*counts[:at], counts[at] + 1, *counts[at + 1 :])
            if allowed(more):
                parts = [p * value(more, float(f"{threshold * q / p:.12g}")) for p, q in laws[at] if p]
                found = max(found, sum(parts))
        return found

    return value((0,) * len(menu), math.exp(limit.epsilon))


def _pairs(pair: Pair) -> list[tuple[Fraction, Fraction]]:
    """The probabilities with and without the person, of all values with one likelihood ratio together."""
    found: dict[Fraction | None, tuple[Fraction, Fraction]] = {}
    for y in pair[0].keys() | pair[1].keys():
        p, q = pair[0].get(y, Fraction(0)), pair[1].get(y, Fraction(0))
        ratio = None if not q else Fraction(round(p / q * 10**30), 10**30)
        known = found.get(ratio, (Fraction(0), Fraction(0)))
        found[ratio] = (known[0] + p, known[1] + q)
    return list(found.values())


def leak(chance: float) -> Choice:
    """With this probability everything is published: (0, δ)."""
    law = {0: 1 - Fraction(chance), 1: Fraction(chance)}
    return Choice((Differential(0.0, chance, Relation.ADD_REMOVE),), (law, {0: Fraction(1)}))


def table(k: int, rate: float, people: int, *, swapped: bool = False, series: int = 1) -> Choice:
    pair = suppressed_count(k, rate, people)
    return Choice(crowds(k, rate), pair[::-1] if swapped else pair, series)


MENUS = {
    "noise": [Choice(noise(epsilon), noisy_count(epsilon)) for epsilon in (0.25, 0.5, 1.0)] + [leak(0.01), leak(0.04)],
    "tables": [table(2, 0.2, people) for people in (2, 3)] + [table(2, 0.2, 3, swapped=True), leak(0.02)],
    "a declared series": [
        table(2, 0.1, 2, series=3),
        Choice(noise(0.5), noisy_count(0.5), series=2),
        Choice(noise(0.5), noisy_count(0.5)),
        leak(0.01),
    ],
}
LIMITS = [(1.0, 0.05), (1.5, 0.05), (2.0, 0.2), (2.6, 0.1)]


@for_each(("menu", "limit"), lambda: [(name, limit) for name in MENUS for limit in LIMITS])
def test_nobody_who_reacts_exceeds_a_limit(menu: str, limit: tuple[float, float]) -> None:
    for order in (None, order_for(*limit), 3.0):
        made = Limit("residents", *limit, None, "ann", order=order)
        assert best_attack(made, MENUS[menu], 5) <= limit[1] * (1 + 1e-9)


def test_such_an_attack_would_succeed_against_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack of the tests above finds what is wrong with a limit that is kept by curves in every branch."""

    def by_curves(limit: Limit, groups: Sequence[SpendingGroup]) -> object:
        total = profile_total("residents", groups, limit.delta)
        return SimpleNamespace(fits=total.epsilon is not None and total.epsilon <= limit.epsilon)

    monkeypatch.setattr(sys.modules[__name__], "usage_of", by_curves)
    menu = [Choice(noise(FIRST), noisy_count(FIRST)), Choice(noise(IF_LARGE), BRANCHES[0]), table(1, RATE, 1)]
    assert best_attack(Limit("residents", EPSILON, DELTA, None, "ann"), menu, 2) > 1.22e-3


def test_a_declared_series_is_charged_once_and_its_members_are_counted(tmp_path: Path) -> None:
    """Ten releases of k = 9 are (1, 1e-6) together; an eleventh, or one of another plan, is not of the series."""
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    limit = ledger.limit("residents", epsilon=1.0, delta=1e-6)
    for year in range(10):
        ledger.begin(spending(f"draw-{year}", guarantees=crowds(9, 0.1), series=10))
        usage = ledger.accounts().usage(limit)
        assert usage is not None
        assert (usage.series, usage.others, usage.used[0]) == (1, 0, 1)
        together = delta_of(Profile((Uses(CrowdCurve(9, 0.0, 0.1), 10),)), 1.0)
        assert usage.used[1] == Fraction(together) <= Fraction(1e-6)
        with pytest.raises(Refused, match="1 declared series, each as a whole by its curve"):
            ledger.preview(spending("other", guarantees=crowds(9, 0.1)))
        with pytest.raises(Refused):
            ledger.preview(spending("other", guarantees=crowds(10, 0.1), series=10))
        with pytest.raises(Refused):
            ledger.preview(spending("other", guarantees=crowds(9, 0.1), series=9))
    with pytest.raises(Refused, match="2 declared series"):
        ledger.begin(spending("eleventh", guarantees=crowds(9, 0.1), series=10))
    assert ledger.entry(10).to_dict()["series"] == 10


def test_a_series_of_people_in_common_is_charged_to_both(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    limit = ledger.limit("residents", epsilon=2.0, delta=1e-5)
    ledger.overlap("residents", "pupils")
    for year in range(3):
        ledger.begin(spending(f"draw-{year}", "pupils", guarantees=crowds(9, 0.1), series=10))
        ledger.begin(spending(f"own-{year}", guarantees=crowds(9, 0.1), series=10))
    usage = ledger.accounts().usage(limit)
    assert usage is not None
    assert (usage.series, usage.used[0]) == (2, 2)
    with pytest.raises(Refused):
        ledger.begin(spending("more", "pupils", guarantees=crowds(9, 0.1)))
    ledger.begin(spending("more", "pupils", guarantees=crowds(9, 0.1), series=10))


@for_each("series", [0, -1, True, 2.0, 10**6 + 1, "2"])
def test_what_is_no_series(series: object) -> None:
    with pytest.raises(InvalidInput):
        spending(series=series)  # type: ignore[arg-type]


def test_releases_in_a_policy_are_a_declared_series(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": range(400), "sex": ["f", "m"] * 200})
    policy = cb.Policy(
        person="id", population="residents", columns={"sex": cb.values("f", "m")}, sampling=cb.Poisson(0.5),
        epsilon=1.0, delta=1e-5, releases=3, publish=cb.Table(),
    )  # fmt: skip
    ledger = cb.Ledger.create(tmp_path / "ledger.sqlite")
    limit = ledger.limit("residents", epsilon=1.0, delta=1e-5)
    for _ in range(3):
        cb.release(frame, policy, ledger=ledger)
    assert [entry.spending.series for entry in ledger.entries()] == [3, 3, 3]
    usage = ledger.accounts().usage(limit)
    assert usage is not None
    assert (usage.series, usage.fits) == (1, True)
    with pytest.raises(Refused) as refused:
        cb.release(frame, policy, ledger=ledger)
    assert refused.value.code == "limit.exceeded"


def test_what_is_counted_by_renyi_divergence() -> None:
    """The moment of noise is that of randomized response; C is the largest value of (1 − e^−x)·e^−(a−1)x."""
    for epsilon, delta, order, loss in ((1.5, 1e-5, 17.8, 0.25), (3.0, 1e-6, 5.0, 1.0), (0.5, 0.01, 2.0, 0.1)):
        usage = usage_of(
            Limit("residents", epsilon, delta, None, "ann", order=order),
            [SpendingGroup("residents", noise(loss), True, count=3)],
        )
        assert usage is not None
        often = math.exp(loss) / (1 + math.exp(loss))
        moment = often * math.exp((order - 1) * loss) + (1 - often) * math.exp(-(order - 1) * loss)
        assert 3 * math.log(moment) * (1 - 1e-9) <= usage.used[0] <= 3 * math.log(moment) * 1.02 + 1e-3
        largest = max((1 - math.exp(-x / 1e4)) * math.exp(-(order - 1) * x / 1e4) for x in range(1, 40_000))
        allowed = (order - 1) * epsilon + math.log(delta / 2 / largest)
        assert float(usage.allowed[0]) == pytest.approx(allowed, abs=1e-4)
        assert usage.allowed[1] == Fraction(delta) / 2


def test_the_worse_direction_counts_by_renyi_divergence() -> None:
    """Whoever leaves an outlier table is seen more clearly than whoever joins it."""
    uses, limit = (Uses(OutlierCurve(1.0, 8, 60), 1),), Limit("residents", 1.0, 1e-3, None, "ann", order=9.0)
    group = SpendingGroup("residents", (Profile(uses, Relation.ADD_REMOVE),), True)
    usage, pair = usage_of(limit, [group]), together(uses, spread(uses).spacing, CUT)
    assert usage is not None
    allowed = float(usage.allowed[0]), float(usage.allowed[1])
    joining, leaving = (_cut(law, 9.0, allowed) for law in (pair.up, pair.down))
    assert joining[0] < leaving[0]
    assert usage.used == tuple(map(Fraction, leaving))


def test_mass_that_is_given_up_for_lost_is_counted() -> None:
    limit = Limit("residents", 1.0, 1e-3, None, "ann", order=order_for(1.0, 1e-3))
    leaks = SpendingGroup("residents", leak(1e-4).guarantees, True, count=5)
    usage = usage_of(limit, [leaks])
    assert usage is not None
    assert Fraction(5e-4) <= usage.used[1] <= Fraction(5.0001e-4)
    assert usage.fits == (usage.used[1] <= Fraction(5e-4))
    beyond = usage_of(limit, [SpendingGroup("residents", leak(1e-4).guarantees, True, count=6)])
    assert beyond is not None
    assert not beyond.fits
