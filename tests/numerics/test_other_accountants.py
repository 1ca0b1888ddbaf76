"""Composition against dp_accounting 0.6.0, computed once by its own code and kept here as numbers.

Discrete Laplace noise of loss ε that moves by one step, plain or after Poisson sampling, composed m times on a grid
of 1e-4: its optimistic and its pessimistic estimate of δ.
"""

from __future__ import annotations

import pytest

from crowdblend.calculus.loss_curves import delta_of
from crowdblend.guarantees import AmplifiedCurve, ClosenessCurve, LossCurve, Profile, Uses

# loss, sampling rate, releases, epsilon, optimistic, pessimistic
ESTIMATES = [
    (0.5, 1.0, 10, 1.0, 0.3316784829286979, 0.3316784829286979),
    (0.5, 1.0, 10, 2.0, 0.14546644644111778, 0.14546644644111778),
    (0.5, 1.0, 10, 3.0, 0.041028414609516776, 0.041028414609516776),
    (0.1, 1.0, 100, 1.0, 0.12568839024063844, 0.12568839024063844),
    (0.1, 1.0, 100, 2.0, 0.02014017842819375, 0.02014017842819375),
    (1.0, 0.1, 20, 0.5, 0.042295213145504724, 0.042501448120721826),
    (1.0, 0.1, 20, 1.0, 0.005313487996959748, 0.005352673711444841),
    (1.0, 0.1, 20, 2.0, 6.389422617115734e-06, 6.53940823538556e-06),
    (2.0, 0.2, 30, 1.0, 0.5842978190904277, 0.5847772456394963),
    (2.0, 0.2, 30, 3.0, 0.29668539222051854, 0.2970850775495236),
    (0.3, 1.0, 4, 0.3, 0.14815900535302068, 0.14827234272281564),
    (0.3, 1.0, 4, 0.6, 0.049105800746702316, 0.049161974813964546),
    (0.3, 1.0, 4, 0.9, 0.028189920553891187, 0.028222193960809643),
]


@pytest.mark.parametrize(("loss", "rate", "times", "epsilon", "optimistic", "pessimistic"), ESTIMATES)
def test_between_the_estimates_of_another_accountant(
    loss: float, rate: float, times: int, epsilon: float, optimistic: float, pessimistic: float
) -> None:
    curve: LossCurve = ClosenessCurve(loss, 0.0) if rate == 1.0 else AmplifiedCurve(loss, 0.0, rate)
    ours = delta_of(Profile((Uses(curve, times),)), epsilon)
    # Its floats are good to about nine digits.
    assert optimistic * (1 - 1e-9) <= ours <= pessimistic * (1 + 1e-9)
