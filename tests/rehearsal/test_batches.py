"""A batch of releases is many releases: one of them has the bytes of a single one, and several are independent."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest
from scipy.stats import chi2

from crowdblend.auditing.statistical import audit, hard_sizes
from crowdblend.errors import InvalidInput
from crowdblend.policies import parse_policy
from crowdblend.randomness import ReleaseKey, new_key
from crowdblend.rehearsal import FAMILIES, PLANTED
from crowdblend.rehearsal.batch import Known
from crowdblend.rehearsal.graph import GraphRehearsal
from crowdblend.rehearsal.looking import shown_in
from crowdblend.rehearsal.made_up_people import Rehearsal
from crowdblend.rehearsal.stack import Stack, shown_of
from crowdblend.rehearsal.statistics import TotalsRehearsal
from crowdblend.rehearsal.statistics_batch import StatisticsBatch
from crowdblend.rehearsal.synopsis_batch import SynopsisBatch

STATISTICS = [name for name, family in FAMILIES.items() if parse_policy(family.policy).kind == "statistics"]


@pytest.mark.parametrize("name", STATISTICS)
def test_one_release_of_a_batch_of_statistics_is_the_release(name: str) -> None:
    subject = FAMILIES[name].subject(hard_sizes)
    population, key = subject.pairs()[-1].more.people, new_key()
    ((file, content),) = TotalsRehearsal(subject.plan, population).publish(key).items()
    batch = StatisticsBatch(subject.plan, population, releases=1)
    assert batch.shown(batch.noisy(ReleaseKey(key))) == [shown_in(file, content)]


@pytest.mark.parametrize("name", ["synopsis, fitted", "synopsis, chosen"])
def test_one_release_of_a_batch_of_synopses_is_the_release(name: str) -> None:
    subject = FAMILIES[name].subject(hard_sizes)
    population, key = subject.pairs()[-1].more.people, new_key()
    files, outcome = Rehearsal(subject.policy, population, subject.plan).publish(key)
    ((file, content),) = files.items()
    (found,) = SynopsisBatch(subject.plan, population, releases=1).publish(ReleaseKey(key))
    assert found == (shown_in(file, content), None if outcome is None else outcome.value)


def test_one_release_of_a_batch_of_networks_is_the_release() -> None:
    subject = FAMILIES["network"].subject(hard_sizes)
    rehearsal, key = GraphRehearsal(subject.plan, subject.pairs()[0].more.web), new_key()
    ((file, content),) = rehearsal.publish(key).items()
    assert rehearsal.several(key, 1) == [shown_in(file, content)]


@pytest.mark.parametrize("name", ["suppressed table", "microdata", "stratified table", "parts of one sample"])
def test_one_copy_in_a_stack_is_the_release(name: str) -> None:
    subject = FAMILIES[name].subject(hard_sizes)
    population, key = subject.pairs()[3].more, new_key()
    files, _ = Rehearsal(subject.policy, population, subject.plan).publish(key)
    ((cut, chosen),) = Stack(subject.plan, population, 1).publish(ReleaseKey(key))
    assert chosen is None
    assert shown_of(cut) == {file: shown_in(file, content) for file, content in files.items()}


def test_a_stack_refuses_a_choice() -> None:
    subject = FAMILIES["recoding by a part"].subject(hard_sizes)
    with pytest.raises(InvalidInput, match="fixed recoding"):
        Stack(subject.plan, subject.pairs()[0].more, 2)


def even_outcomes(name: str, runs: int) -> list[str]:
    """What is seen of releases, on the pair and in the view whose commonest outcome is nearest to a third of them."""
    subject = FAMILIES[name].subject(hard_sizes)
    found: list[list[str]] = []
    for pair in subject.pairs()[:4][-2:]:
        looks = list(subject.looks(pair.more, runs))
        found += [[one[view] for one in looks] for view in looks[0]]
    return min(found, key=lambda seen: abs(Counter(seen).most_common(1)[0][1] - runs / 3))


ONE_OF_EACH = {
    "suppressed table",
    "points",
    "stratified table",
    "parts of one sample",
    "fresh samples",
    "recoding by a part",
    "statistics of a sample",
    "median in groups",
    "synopsis, chosen",
    "network",
}


@pytest.mark.parametrize(
    "name", [name if name in ONE_OF_EACH else pytest.param(name, marks=pytest.mark.slow) for name in FAMILIES]
)
def test_releases_of_a_batch_are_independent(name: str) -> None:
    """Whether one of two has an outcome of the more common half says nothing of the other.

    G² beyond its 1 − 1e-8 point, 33, is a failure. Two releases that share their coins or their noise have the same
    outcome: of 250 pairs with a rarer half of 3 % that is a G² of 50, of 30 % of 300.
    """
    found = even_outcomes(name, 500)
    common, half = set(), 0
    for outcome, count in Counter(found).most_common():
        if half + count > 300 and common:
            break
        common.add(outcome)
        half += count
    hits = [one in common for one in found]
    table = Counter(zip(hits[::2], hits[1::2], strict=True))
    g = 0.0
    for (one, other), count in table.items():
        rows, columns = table[one, True] + table[one, False], table[True, other] + table[False, other]
        g += 2 * count * math.log(count * 250 / (rows * columns))
    shared = sum(hits) / 500
    assert 0.03 < shared < 0.97, "an outcome that is worth comparing"
    assert g < chi2.isf(1e-8, 1)


@pytest.mark.parametrize(
    "name",
    [
        "suppressed table",
        "recoding by a part",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (
                "noise below k, flagged",
                "points",
                "thinned table",
                "microdata",
                "recoding by the population",
                "fresh samples",
                "median in groups",
            )
        ),
    ],
)
def test_a_batch_of_releases_looks_like_single_ones(name: str) -> None:
    """One law, in batches or not: G² of two samples beyond its 1 − 1e-7 point is a failure."""
    batched = FAMILIES[name].subject(hard_sizes)
    pairs = batched.pairs()
    population = pairs[min(3, len(pairs) - 1)].more
    seen, singly = (one.observe(population, 400) for one in (batched, replace(batched, stacked=False)))
    seen.pop("the files")
    view = min(seen, key=lambda one: abs(max(seen[one].values()) - 130))
    one, other = seen[view], singly[view]
    often = [outcome for outcome in one | other if one[outcome] + other[outcome] >= 20]
    rows = [(one[outcome], other[outcome]) for outcome in often]
    rows.append((400 - sum(row[0] for row in rows), 400 - sum(row[1] for row in rows)))
    expected = [sum(row) / 2 for row in rows]
    g = 2 * sum(x * math.log(x / e) for row, e in zip(rows, expected, strict=True) for x in row if x)
    assert len(often) >= 2
    assert g < chi2.isf(1e-7, len(rows) - 1)


@pytest.mark.parametrize(
    "name",
    [
        "bare counts",
        "loose clipping",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in PLANTED
            if name not in ("bare counts", "loose clipping")
        ),
    ],
)
def test_planted_mistakes_are_caught(name: str) -> None:
    """Those of the fast suite are found in the first round already, by more than eight standard deviations."""
    planted = PLANTED[name].subject(hard_sizes)
    assert audit(planted, runs=100_000).finding
    honest = replace(planted, mistake=None)
    assert honest.guarantee == planted.guarantee
    assert honest.plan.mechanisms == honest.honest_plan.mechanisms


def test_what_came_before_is_not_computed_again() -> None:
    known: Known[int] = Known()
    asked: list[list[int]] = []

    def squares(new: list[int]) -> list[int]:
        asked.append(new)
        return [given[place] ** 2 for place in new]

    given = [3, 4, 3]
    assert known.of_all(given, squares) == [9, 16, 9]
    given = [4, 5]
    assert known.of_all(given, squares) == [16, 25]
    assert [sorted(new) for new in asked] == [[0, 1], [1]]
    assert known.of(5, lambda: 0) == 25
