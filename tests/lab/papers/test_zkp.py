"""ZKP Appendix A: the attack as printed, and the zero-knowledge release beside it."""

import math
from typing import Any

import pytest

from crowdblend.lab.papers import reproduce
from crowdblend.lab.papers.zkp import CLIQUE, POPULATION, SAMPLES, sampled_guarantee, sampled_guess
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from tests.cases import for_each

# The last two paragraphs of Appendix A print both numbers at two values of ε, and nothing at others.
PRINTED = {0.01: ("0.580", "0.505"), 0.1: ("0.799", "0.553")}


@for_each("epsilon", PRINTED)
def test_the_attack_as_printed(epsilon: float) -> None:
    row = next(row for row in reproduce("zkp-politics").rows if row[0] == epsilon)
    attack, hope = PRINTED[epsilon]
    assert (row[1], f"{row[2]:.3f}") == (attack, attack)
    assert (row[3], f"{row[4]:.3f}") == (hope, hope)
    assert row[-1] is True


def test_only_what_the_paper_prints_is_compared() -> None:
    compared = [row[0] for row in reproduce("zkp-politics").rows if row[-1] is not None]
    assert compared == [*PRINTED]


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
