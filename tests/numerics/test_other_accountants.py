"""Composition against dp_accounting, run by its own code on the mechanisms that both have, without Gaussian noise.

Its pessimistic estimate is above the truth and its optimistic one below it, up to its floats.
"""

import math

import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld
from flint import arb

from crowdblend.calculus.loss_curves import delta_of
from crowdblend.guarantees.profiles import AmplifiedCurve, ClosenessCurve, LossCurve, Profile, Uses
from crowdblend.numerics.balls import precision, round_down
from tests.cases import for_each

# Its floats are good to about nine digits.
FLOATS = 1e-9
INTERVAL = 1e-3


def estimates(loss: float, rate: float, times: int, epsilon: float) -> tuple[float, float]:
    """Its optimistic and its pessimistic δ for discrete Laplace noise that moves by one step."""
    lower, upper = (
        pld.from_discrete_laplace_mechanism(
            parameter=loss, sampling_prob=rate, pessimistic_estimate=pessimistic, value_discretization_interval=INTERVAL
        )
        .self_compose(times)
        .get_delta_for_epsilon(epsilon)
        for pessimistic in (False, True)
    )
    return float(lower), float(upper)


@for_each(
    ("loss", "rate", "times", "epsilon"),
    [
        (0.5, 1.0, 10, 1.0),
        (0.5, 1.0, 10, 3.0),
        (0.1, 1.0, 100, 1.0),
        (1.0, 0.1, 20, 0.5),
        (1.0, 0.1, 20, 2.0),
        (2.0, 0.2, 30, 1.0),
        (0.3, 1.0, 4, 0.3),
    ],
    daily=4,
)
def test_discrete_laplace_lies_between_its_estimates(loss: float, rate: float, times: int, epsilon: float) -> None:
    curve: LossCurve = ClosenessCurve(loss, 0.0) if rate == 1.0 else AmplifiedCurve(loss, 0.0, rate)
    ours = delta_of(Profile((Uses(curve, times),)), epsilon)
    optimistic, pessimistic = estimates(loss, rate, times, epsilon)
    assert optimistic * (1 - FLOATS) <= ours <= pessimistic * (1 + FLOATS)


@pytest.mark.parametrize(("loss", "delta", "times", "epsilon"), [(0.5, 1e-6, 10, 2.0), (0.1, 1e-9, 50, 1.0)])
def test_pairs_are_at_most_its_pessimistic_estimate(loss: float, delta: float, times: int, epsilon: float) -> None:
    made = pld.from_privacy_parameters(
        common.DifferentialPrivacyParameters(loss, delta), value_discretization_interval=INTERVAL
    )
    theirs = float(made.self_compose(times).get_delta_for_epsilon(epsilon))
    ours = delta_of(Profile((Uses(ClosenessCurve(loss, delta), times),)), epsilon)
    assert ours <= theirs * (1 + FLOATS)


@pytest.mark.parametrize(("loss", "times", "epsilon"), [(0.5, 4, 0.6), (0.25, 10, 1.0)])
def test_continuous_laplace_noise_loses_less_than_its_pair(loss: float, times: int, epsilon: float) -> None:
    """Of Laplace noise on any scale only ε-closeness is used here, which the discrete noise of one step attains."""
    made = pld.from_laplace_mechanism(parameter=1 / loss, value_discretization_interval=INTERVAL)
    theirs = float(made.self_compose(times).get_delta_for_epsilon(epsilon))
    assert theirs <= delta_of(Profile((Uses(ClosenessCurve(loss, 0.0), times),)), epsilon) * (1 + 1e-6)


def truth(loss: float, delta: float, times: int, epsilon: float) -> float:
    """The divergence of so many randomized responses that leak with probability δ, rounded down."""
    with precision(256):
        most, growth, kept = arb(loss).exp(), arb(epsilon).exp(), (1 - arb(delta)) ** times
        total = arb(0)
        for j in range(times + 1):
            gain = most**j - growth * most ** (times - j)
            total += math.comb(times, j) * gain.nonnegative_part() / (1 + most) ** times
        return round_down(1 - kept + kept * total)


@for_each("delta", [0.0, 1e-9, 1e-4])
@for_each(("loss", "times"), [(0.5, 10), (0.1, 100), (0.3, 3), (1.7, 40)])
@for_each("epsilon", [0.0, 0.25, 1.0, 2.5])
def test_never_below_the_truth_and_at_most_a_billionth_above(
    loss: float, delta: float, times: int, epsilon: float
) -> None:
    exact = truth(loss, delta, times, epsilon)
    ours = delta_of(Profile((Uses(ClosenessCurve(loss, delta), times),)), epsilon)
    assert exact <= ours <= exact + 1e-9
