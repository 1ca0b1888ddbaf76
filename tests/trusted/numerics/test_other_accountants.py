"""Composition against dp_accounting, run by its own code on the mechanisms that both have, without Gaussian noise.

Its pessimistic estimate is above the truth and its optimistic one below it, up to its floats.
"""

import math

from dp_accounting.pld import privacy_loss_distribution as pld
from flint import arb

from crowdblend.trusted.calculus.loss_curves import delta_of
from crowdblend.trusted.guarantees.profiles import AmplifiedCurve, ClosenessCurve, LossCurve, Profile, Uses
from crowdblend.trusted.numerics.balls import precision, round_down
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
        (1.0, 0.1, 20, 0.5),
        (1.0, 0.1, 20, 2.0),
        (2.0, 0.2, 30, 1.0),
    ],
    daily=3,
)
def test_discrete_laplace_lies_between_its_estimates(loss: float, rate: float, times: int, epsilon: float) -> None:
    curve: LossCurve = ClosenessCurve(loss, 0.0) if rate == 1.0 else AmplifiedCurve(loss, 0.0, rate)
    ours = delta_of(Profile((Uses(curve, times),)), epsilon)
    optimistic, pessimistic = estimates(loss, rate, times, epsilon)
    assert optimistic * (1 - FLOATS) <= ours <= pessimistic * (1 + FLOATS)


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
