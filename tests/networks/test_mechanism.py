"""Noise on a grid, and the simulator against the mechanism on a network too large to enumerate."""

import math
from fractions import Fraction

from crowdblend.mechanisms.networks import GridNoise, NoisyStatistic
from crowdblend.networks import Structure
from crowdblend.planning.networks.request import Bounds, NetworkRequest
from crowdblend.planning.networks.solve import plan_network
from crowdblend.randomness import SeededSource
from tests.cases import for_each

from .planted import DEGREE_BOUND, PEOPLE, TRUTH, planted
from .samplers import Adjacency, Concealed, simulate

NETWORK = planted()
BOUNDS = Bounds(PEOPLE, DEGREE_BOUND, 2.0)
RUNS = 600
# Hoeffding: a share of RUNS strays by more than this with probability 1e-6.
STRAY = math.sqrt(math.log(2e6) / (2 * RUNS))


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


def mechanism_below(mechanism: NoisyStatistic, name: str, step: int) -> float:
    """P[the release is at most a step], exactly."""
    ratio = mechanism.plan.resolution / mechanism.plan.scale
    a, far = math.exp(-ratio), step - mechanism.noise.round_to_grid(TRUTH[name])
    return 1 - a ** (far + 1) / (1 + a) if far >= 0 else a**-far / (1 + a)


@for_each("name", TRUTH, daily=1)
def test_the_simulator_cannot_be_told_from_the_release(name: str) -> None:
    """Run with the centre of a star concealed: events keep to the guaranteed factor, up to the error of counting."""
    mechanism = planned(name)
    hidden = PEOPLE - 7
    assert NETWORK.degrees[hidden] == DEGREE_BOUND
    source, view = SeededSource(11), Concealed(Adjacency.of(NETWORK), hidden)
    said = simulate(mechanism, view, source, RUNS)
    factor, there = math.exp(mechanism.plan.epsilon), mechanism.noise.round_to_grid(TRUTH[name])
    width = round(mechanism.plan.scale / mechanism.plan.resolution)
    for far in (-2, -1, 0, 1, 2):
        step = there + far * width
        real = mechanism_below(mechanism, name, step)
        seen = sum(value <= step for value in said) / RUNS
        for one, other in ((seen, real), (1 - seen, 1 - real)):
            assert one - STRAY <= factor * other
            assert other <= factor * (one + STRAY)
