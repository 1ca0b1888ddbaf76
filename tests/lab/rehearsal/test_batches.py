"""A batch of releases is many releases: one of them has the bytes of a single one, and several are independent."""

import math
from collections import Counter
from dataclasses import is_dataclass, replace
from typing import Any

import pytest
from scipy.stats import chi2

from crowdblend.lab.auditing.statistical.run import audit
from crowdblend.lab.auditing.statistical.subject import hard_sizes
from crowdblend.lab.rehearsal.made_up_people import Files
from crowdblend.trusted.randomness import ReleaseKey, new_key
from tests.cases import for_each
from tests.lab.rehearsal.families import FAMILIES
from tests.lab.rehearsal.injected_bugs import INJECTED_BUGS

# Copies that choose alike are published with a key of their own.
CHOOSING = {"recoding by the population", "recoding by a part"}


@for_each("name", [name for name in FAMILIES if name not in CHOOSING])
def test_one_release_of_a_batch_is_the_release(name: str) -> None:
    subject = FAMILIES[name].subject(hard_sizes)
    pairs, key = subject.pairs(), new_key()
    population = pairs[min(3, len(pairs) - 1)].more
    batch = subject.batch(population)
    copies: Any = type(batch)
    single = replace(batch, releases=1) if is_dataclass(batch) else copies(subject.plan, population, 1, Files())
    assert list(single.show(single.draw(ReleaseKey(key)))) == [subject.publish(population, key)]


def even_outcomes(name: str, runs: int) -> list[str]:
    """What is seen of releases, on the pair and in the view whose commonest outcome is nearest to a third of them."""
    subject = FAMILIES[name].subject(hard_sizes)
    found: list[list[str]] = []
    for pair in subject.pairs()[:4][-2:]:
        looks = list(subject.looks(pair.more, runs))
        found += [[one[view] for one in looks] for view in looks[0]]
    return min(found, key=lambda seen: abs(Counter(seen).most_common(1)[0][1] - runs / 3))


def slow_but(*fast: str, of=FAMILIES) -> list:
    """All families, of which the named ones are in the fast suite."""
    return [name if name in fast else pytest.param(name, marks=pytest.mark.slow) for name in of]


ONE_OF_EACH = (
    *("suppressed table", "points", "stratified table", "recoding by a part"),
    *("statistics of a sample", "median in groups", "synopsis, chosen", "network"),
)


@pytest.mark.parametrize("name", slow_but(*ONE_OF_EACH))
def test_releases_of_a_batch_are_independent(name: str) -> None:
    """Whether one of two has an outcome of the more common half says nothing of the other.

    G² beyond its 1 − 1e-8 point, 33, is a failure. Two releases that share their coins or their noise have the same
    outcome: of 250 pairs with a rarer half of 3 % that is a G² of 50, of 30 % of 300.
    """
    found = even_outcomes(name, 500)
    common: set[Any] = set()
    half = 0
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


LAWS = (
    *("suppressed table", "recoding by a part", "noise below k, flagged", "points", "thinned table", "microdata"),
    *("recoding by the population", "median in groups"),
)


@pytest.mark.parametrize("name", slow_but("suppressed table", of=LAWS))
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


@pytest.mark.parametrize("name", slow_but("bare counts", "loose clipping", of=INJECTED_BUGS))
def test_injected_bugs_are_caught(name: str) -> None:
    """Those of the fast suite are found in the first round already, by more than eight standard deviations."""
    injected = INJECTED_BUGS[name].subject(hard_sizes)
    assert audit(injected, runs=100_000).finding
    honest = replace(injected, bug=None)
    assert honest.guarantee == injected.guarantee
    assert honest.plan.mechanisms == honest.honest_plan.mechanisms


def test_what_came_before_is_not_shown_again() -> None:
    subject = FAMILIES["suppressed table"].subject(hard_sizes)
    population, shown = subject.pairs()[0].more, []
    batch = subject.batch(population)

    class Watched:
        draw = batch.draw

        def show(self, drawn):
            shown.extend(drawn)
            return batch.show(drawn)

    object.__setattr__(subject, "batch", lambda _: Watched())
    assert len(list(subject.looks(population, 3_000))) == 3_000
    assert 1 < len(shown) == len(set(shown)) < 3_000
