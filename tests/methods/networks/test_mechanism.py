"""Noise on a grid, and the exact statistics of a network too large to enumerate."""

import math
from fractions import Fraction

from crowdblend.methods.mechanisms.networks import GridNoise, NoisyStatistic
from crowdblend.methods.networks import Structure
from crowdblend.methods.planning.networks.request import Bounds, NetworkRequest
from crowdblend.methods.planning.networks.solve import plan_network
from crowdblend.trusted.randomness import SeededSource
from tests.cases import for_each

from .planted import DEGREE_BOUND, PEOPLE, TRUTH, planted

NETWORK = planted()
BOUNDS = Bounds(PEOPLE, DEGREE_BOUND, 2.0)


def planned(name: str, **given: float) -> NoisyStatistic:
    asked = given or {"epsilon": 1.0, "samples": 60}
    return NoisyStatistic(plan_network(NetworkRequest(name, BOUNDS, **asked)))  # type: ignore[arg-type]


@for_each(("value", "step"), [("0", 0), ("0.124", 0), ("0.125", 1), ("0.3749", 1), ("0.375", 2), ("1", 4)])
def test_halves_are_rounded_up(value: str, step: int) -> None:
    noise = GridNoise(1.0, 0.25, 1.0)
    assert noise.round_to_grid(Fraction(value)) == step


def test_what_is_shown_lies_in_the_range() -> None:
    noise = GridNoise(1.0, 0.1, 1.0)
    assert [noise.clamp(step) for step in (-7, 0, 3, 10, 99)] == [0.0, 0.0, 0.3, 1.0, 1.0]


@for_each("name", TRUTH)
def test_the_exact_statistics_of_a_planted_network(name: str) -> None:
    assert planned(name).exact(Structure(NETWORK)) == TRUTH[name]


def test_noise_has_the_promised_size() -> None:
    """The stated error is exceeded in 1 of 20 releases, and not in many fewer."""
    mechanism = planned("connectivity")
    steps = mechanism.noisy([TRUTH["connectivity"]] * 20_000, SeededSource(5))
    there, resolution = TRUTH["connectivity"], Fraction(mechanism.plan.resolution)
    beyond = sum(abs(step * resolution - there) > Fraction(mechanism.plan.error) for step in steps) / 20_000
    assert abs(beyond - 0.05) <= math.sqrt(math.log(2e6) / (2 * 20_000))
