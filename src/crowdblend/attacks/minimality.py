"""Merged only when needed: a recoder that merges no more than it must says what it saw (LQS 3.1)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crowdblend.attacks.attack import Attack, Finding
from crowdblend.attacks.chances import computed
from crowdblend.attacks.figure import chances_chart
from crowdblend.attacks.laws import at_least
from crowdblend.attacks.ours import our_table, repeated
from crowdblend.attacks.targets import Groups, clustered, mondrian
from crowdblend.attacks.trial import Pair, Trial, in_runs
from crowdblend.guarantees import Relation

K = 20
HEPATITIS, FLU = 0, 1
WORLDS = ("the patient has hepatitis", "has the flu")

Recoding = Callable[[NDArray[np.int64], int], Groups]


def stands_apart(published: Groups) -> bool:
    """The attacker's event: hepatitis is published as a group of its own, not merged with the flu."""
    return any(ranges == ((HEPATITIS, HEPATITIS),) for ranges, _ in published)


def patients(hepatitis: int, flu: int) -> NDArray[np.int64]:
    """A table of diagnoses."""
    return np.repeat(np.array([HEPATITIS, FLU], dtype=np.int64), [hepatitis, flu]).reshape(-1, 1)


def launch(runs: int) -> Finding:
    """k − 1 known cases of hepatitis, and as many of the flu; the patient is one of either."""
    ours = our_table()
    trials = (_target("Mondrian, k = 20", mondrian), _target("clustering, k = 20", clustered), _ours(runs))
    guarantee = ours.bound(Relation.REPLACE)
    chart = chances_chart(trials, guarantee, worlds=WORLDS, title="How often does hepatitis stand apart in the table?")
    remark = "Both tables have the same number of rows, and every group in either has at least 20."
    return Finding(trials, guarantee, chart, remark)


def _target(release: str, recoding: Recoding) -> Trial:
    """Nothing is random here: the target runs once in each world."""
    apart = Fraction(stands_apart(recoding(patients(K, K), K)))
    merged = Fraction(stands_apart(recoding(patients(K - 1, K + 1), K)))
    return Trial(release, False, None, Pair(computed(apart), computed(merged)))


def _ours(runs: int) -> Trial:
    """The classes are fixed: hepatitis is shown or missing, and never merged because of one person."""
    ours = our_table()
    rate = Fraction(ours.rate)
    exact = Pair(computed(at_least(K, rate, ours.k)), computed(at_least(K - 1, rate, ours.k)))

    def hits(hepatitis: bool) -> int:
        sizes = (K, K) if hepatitis else (K - 1, K + 1)
        return int((ours.publish(repeated(runs, *sizes))[:, 0] > 0).sum())

    return Trial(ours.name, True, ours.bound(Relation.REPLACE), exact, in_runs(runs, hits))


ATTACK = Attack(
    name="minimality",
    title="Merged only when needed",
    source="LQS 3.1",
    story="A clinic publishes diagnoses and merges two of them only when one has fewer than 20 patients, to keep as "
    "much detail as it can. You know of nineteen patients with hepatitis, and wonder about a twentieth person, who "
    "is in the table for certain. If hepatitis stands by itself in the publication, there were twenty, and that "
    "person is one of them. If it is merged with the flu, there were not. Either way every group has its twenty "
    "rows, and either way you know: the recoding was chosen by looking at the person.",
    event="hepatitis is published as a group of its own",
    worlds=WORLDS,
    launch=launch,
)
