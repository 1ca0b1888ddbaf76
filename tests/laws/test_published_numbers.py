"""The numbers that the papers print, and the worked numbers of the theory, come out digit for digit."""

import math

import pytest

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, Relation
from crowdblend.trusted.guarantees.programme import PartInCrowds
from tests.cases import for_each

LQS_TABLE_2 = {
    0.05: ("6.83e-10", "2.50e-14", "3.19e-17", "1.76e-19", "3.97e-22", "2.00e-24"),
    0.1: ("4.19e-06", "1.61e-09", "3.44e-12", "4.07e-14", "3.22e-16", "1.89e-18"),
    0.2: ("2.16e-03", "8.02e-06", "1.89e-07", "6.03e-09", "4.79e-11", "1.59e-12"),
}
LQS_EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


def _delta(rule_id: str, k: int, rate: float, epsilon: float, blend: float = 0.0) -> float:
    return RULES[rule_id].conclude(CrowdBlending(k, blend), rate=rate, epsilon=epsilon).delta


@for_each("rate", LQS_TABLE_2)
def test_lqs_table_2(rate: float) -> None:
    printed = tuple(f"{_delta('suppression.published', 20, rate, epsilon):.2e}" for epsilon in LQS_EPSILONS)
    assert printed == LQS_TABLE_2[rate]


@for_each(
    ("epsilon", "delta", "rate", "digits", "printed", "printed_delta"),
    [
        (math.log(11), 1e-5, 0.1, 2, "0.69", 1e-6),
        (math.log(11), 1e-5, 0.01, 3, "0.095", 1e-7),
        (1.0, 0.0, 0.1, 3, "0.159", 0.0),
        (1.0, 0.0, 0.01, 3, "0.017", 0.0),
    ],
)
def test_lqs_table_1(
    epsilon: float, delta: float, rate: float, digits: int, printed: str, printed_delta: float
) -> None:
    made = RULES["sampling.amplification"].conclude(Differential(epsilon, delta, Relation.ADD_REMOVE), rate=rate)
    assert f"{made.epsilon:.{digits}f}" == printed
    assert made.delta == pytest.approx(printed_delta, rel=1e-12)


@for_each(
    ("k", "rate", "epsilon", "published", "exact"),
    [
        (20, 0.1, 0.5, "1.606e-09", "2.632e-11"),
        (20, 0.2, 0.25, "2.158e-03", "5.092e-05"),
        (20, 0.05, 1.0, "1.760e-19", "8.560e-21"),
        # LQS Theorem 6 would claim the first for a recoding chosen on the same sample, where neither is true.
        (5, 0.1, 1.0, "1.765e-04", "2.782e-05"),
    ],
)
def test_published_and_exact_suppression(k: int, rate: float, epsilon: float, published: str, exact: str) -> None:
    assert f"{_delta('suppression.published', k, rate, epsilon):.3e}" == published
    assert f"{_delta('suppression.exact', k, rate, epsilon):.3e}" == exact


@pytest.mark.parametrize(("rule_id", "smallest"), [("suppression.published", 46), ("suppression.exact", 35)])
def test_smallest_k_of_suppression(rule_id: str, smallest: int) -> None:
    assert _delta(rule_id, smallest, 0.5, 1.0) <= 1e-6 < _delta(rule_id, smallest - 1, 0.5, 1.0)


@for_each(("rate", "hidden", "flagged"), [(0.5, 28, 35), (0.2, 8, 12), (0.1, 6, 8), (0.05, 4, 6)])
def test_smallest_k_of_noise_below_k(rate: float, hidden: int, flagged: int) -> None:
    noise = math.log1p(math.expm1(1.0) / rate)

    def delta(k: int, flag: bool) -> float:
        how = {"noise_epsilon": noise, "rate": rate, "epsilon": 1.0}
        return RULES["histogram.noisy-sampled"].conclude(k=k, flag=flag, **how).delta

    assert delta(hidden, False) <= 1e-6 < delta(hidden - 1, False)
    assert delta(flagged, True) <= 1e-6 < delta(flagged - 1, True)


@pytest.mark.parametrize(("rate", "smallest"), [(0.5, {10: 16, 5: 18, 2: 25}), (0.2, {10: 8, 5: 9, 2: 10})])
def test_smallest_k_of_tables_from_disjoint_parts(rate: float, smallest: dict[int, int]) -> None:
    def delta(tables: int, k: int) -> float:
        parts = [PartInCrowds(1 / tables, k, 0.0)] * tables
        return RULES["programme.parts"].conclude(*parts, rate=rate, epsilon=1.0).delta

    for tables, k in smallest.items():
        assert delta(tables, k) <= 1e-6 < delta(tables, k - 1)


def test_explicit_crowd_blending() -> None:
    assert f"{_delta('blending.explicit', 20, 0.1, 1.0, blend=0.5):.4e}" == "8.2489e-12"


@pytest.mark.parametrize(("transition", "limit", "printed"), [(50, 100, "1.65413e-07"), (5, 15, "1.40e-02")])
def test_outlier_histograms(transition: int, limit: int, printed: str) -> None:
    how = {"epsilon": 0.2, "transition": transition, "limit": limit, "factor": 2.0}
    digits = len(printed.split("e", maxsplit=1)[0]) - 2
    assert f"{RULES['outlier.histogram'].conclude(**how).delta:.{digits}e}" == printed
