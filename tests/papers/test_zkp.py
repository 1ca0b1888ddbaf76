"""ZKP Appendix A: the attack as printed, and the zero-knowledge release beside it."""

import math
from typing import Any

import pytest

from crowdblend.guarantees.aggregates import RandomSamples
from crowdblend.papers import reproduce
from crowdblend.papers.zkp import CLIQUE, POPULATION, SAMPLES, clique_guess, sampled_guarantee, sampled_guess
from tests.cases import for_each


def test_the_attack_as_printed():
    row = next(row for row in reproduce("zkp-politics").rows if row[0] == 0.1)
    assert (row[1], f"{row[2]:.3f}") == ("0.799", "0.799")
    assert (row[3], f"{row[4]:.3f}") == ("0.553", "0.553")
    assert row[-1] is True


def test_the_attack_at_a_tenth_of_the_noise_budget():
    assert f"{clique_guess(0.01):.3f}" == "0.580"


def test_only_what_the_paper_prints_is_compared():
    assert [row[0] for row in reproduce("zkp-politics").rows if row[-1] is not None] == [0.1]


@for_each("epsilon", [0.005, 0.1, 1.0])
def test_the_sampled_average_tells_little_more_than_a_coin(epsilon):
    guarantee = sampled_guarantee(epsilon)
    assert guarantee.epsilon == pytest.approx(math.log1p(SAMPLES / POPULATION * math.expm1(epsilon)))
    assert isinstance(guarantee.aggregate, RandomSamples)
    assert (guarantee.aggregate.samples, guarantee.aggregate.population) == (SAMPLES, POPULATION)
    # Whoever is not drawn cannot be told: the clique is met with probability at most CLIQUE·SAMPLES/POPULATION.
    assert 0.5 < sampled_guess(epsilon) <= 0.5 + CLIQUE * SAMPLES / POPULATION + guarantee.epsilon


def test_guesses_improve_with_epsilon():
    for name in ("cliques, at least", "sampled average, at most"):
        column: Any = reproduce("zkp-politics").column(name)
        assert list(column) == sorted(column)
