"""Curves of what other tools state, against laws whose divergences are enumerated."""

import math
from itertools import product

import numpy as np
import pytest
from flint import arb

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.ledger.statements import concentrated_together
from crowdblend.trusted.calculus.loss_curves import curve_of, delta_of, epsilon_of, epsilon_of_one
from crowdblend.trusted.guarantees.profiles import LossCurve, Profile, Uses
from crowdblend.trusted.guarantees.statement_curves import ConcentratedCurve, PointsCurve
from crowdblend.trusted.numerics.balls import precision
from tests.cases import for_each

EPSILONS = (0.0, 0.05, 0.3, 1.0, 2.5)
Law = tuple[float, ...]


def divergence(more: Law, fewer: Law, epsilon: float) -> float:
    return math.fsum(max(p - math.exp(epsilon) * q, 0.0) for p, q in zip(more, fewer, strict=True))


def smallest_rho(more: Law, fewer: Law) -> float:
    """The largest D_a/a, both ways: over orders from just above 1 to where the largest loss alone decides."""
    orders = 1 + np.geomspace(1e-6, 1e4, 4000)
    found = []
    for p, q in ((more, fewer), (fewer, more)):
        loss = np.log(np.array(p) / np.array(q))
        terms = np.log(p)[None, :] + (orders[:, None] - 1) * loss[None, :]
        top = terms.max(axis=1)
        found.append(((top + np.log(np.exp(terms - top[:, None]).sum(axis=1))) / (orders - 1) / orders).max())
    return float(max(found)) * (1 + 1e-6)


def laws() -> list[tuple[Law, Law]]:
    """Randomized response, noise on a count, and laws by lot."""
    dice = np.random.default_rng(7)
    noise = np.exp(-0.4 * np.abs(np.arange(-30, 31)))
    shifted = np.exp(-0.4 * np.abs(np.arange(-30, 31) - 1))
    made = [((0.75, 0.25), (0.25, 0.75)), (tuple(noise / noise.sum()), tuple(shifted / shifted.sum()))]
    for size in (2, 3, 5):
        for _ in range(20):
            p, q = dice.dirichlet(np.full(size, 2.0)), dice.dirichlet(np.full(size, 2.0))
            made.append((tuple(map(float, p)), tuple(map(float, q))))
    return made


def at(curve: LossCurve, epsilon: float) -> float:
    with precision(128):
        return float(curve_of(curve).at(arb(epsilon).exp()).upper())


@for_each(("more", "fewer"), laws())
def test_a_rho_is_never_less_than_what_the_laws_lose(more: Law, fewer: Law) -> None:
    curve = ConcentratedCurve(smallest_rho(more, fewer))
    for epsilon in EPSILONS:
        truth = max(divergence(more, fewer, epsilon), divergence(fewer, more, epsilon))
        assert at(curve, epsilon) >= truth


@for_each("rho", [0.001, 0.05, 0.5, 4.0])
def test_a_rho_is_above_gaussian_noise_and_near_it(rho: float) -> None:
    """Gaussian noise with sensitivity/σ = √(2ρ) attains ρ; Balle and Wang 2018 have its divergence."""
    shift = math.sqrt(2 * rho)

    def tail(x: float) -> float:
        return math.erfc(x / math.sqrt(2)) / 2

    for epsilon in (0.0, 0.1, 0.5, 1.0, 3.0):
        truth = tail(epsilon / shift - shift / 2) - math.exp(epsilon) * tail(epsilon / shift + shift / 2)
        assert truth <= at(ConcentratedCurve(rho), epsilon) <= 1
    delta = 1e-6
    usual = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert epsilon_of_one(ConcentratedCurve(rho), delta) < usual


@for_each(("more", "fewer"), laws())
def test_a_few_points_are_never_less_than_the_laws_between_them(more: Law, fewer: Law) -> None:
    def truth(epsilon: float) -> float:
        return max(divergence(more, fewer, epsilon), divergence(fewer, more, epsilon))

    stated = [(epsilon, math.nextafter(truth(epsilon), 1)) for epsilon in (0.1, 0.7, 1.9)]
    falling = tuple(
        (epsilon, min(delta for _, delta in stated[: place + 1])) for place, (epsilon, delta) in enumerate(stated)
    )
    for epsilon in np.linspace(0, 2.5, 26):
        assert at(PointsCurve(falling), float(epsilon)) >= truth(float(epsilon)) - 1e-15


@for_each(("one", "other"), list(product(laws()[:6], repeat=2)))
def test_two_releases_of_different_kinds_are_never_less_than_their_product(
    one: tuple[Law, Law], other: tuple[Law, Law]
) -> None:
    """The first is stated by its ρ, the second by its points; a third one is another ρ."""
    points = tuple(
        (epsilon, max(divergence(*other, epsilon), divergence(other[1], other[0], epsilon))) for epsilon in (0.1, 1.0)
    )
    rho = smallest_rho(*one)
    uses = concentrated_together([Uses(ConcentratedCurve(rho), 2), Uses(PointsCurve(points), 1)])
    assert len(uses) == 2
    profile = Profile(uses)
    more, fewer = (tuple(map(math.prod, product(a, a, b))) for a, b in zip(one, other, strict=True))
    for epsilon in (0.0, 0.5, 1.5):
        truth = max(divergence(more, fewer, epsilon), divergence(fewer, more, epsilon))
        assert delta_of(profile, epsilon) >= truth * (1 - 1e-12)


def test_rhos_add_up_to_less_than_their_curves_do() -> None:
    apart = (Uses(ConcentratedCurve(0.02), 20),)
    (together,) = concentrated_together(apart)
    assert isinstance(together.curve, ConcentratedCurve)
    assert 0.4 <= together.curve.rho < 0.4 * (1 + 1e-12)
    assert epsilon_of_one(together.curve, 1e-6) < epsilon_of(Profile(apart), 1e-6)


def test_an_epsilon_of_one_curve_is_proved_there_and_hardly_below() -> None:
    curve = PointsCurve(((0.5, 1e-3), (1.0, 1e-6)))
    epsilon = epsilon_of_one(curve, 1e-4)
    assert at(curve, epsilon) <= 1e-4 < at(curve, epsilon * (1 - 1e-12))
    assert 0.5 < epsilon < 1.0
    assert epsilon_of_one(curve, 0.9) == 0.0
    with pytest.raises(Infeasible):
        epsilon_of_one(curve, 1e-7)


@for_each(
    "points",
    [(), ((1.0, 0.1, 0.2),), ((1.0, 0.1), (0.5, 0.01)), ((1.0, 0.1), (2.0, 0.2)), ((math.nan, 0.1),), ((1.0, -0.1),)],
)
def test_curves_that_are_none_are_refused(points: object) -> None:
    with pytest.raises(InvalidInput):
        PointsCurve(points)  # type: ignore[arg-type]
