"""Loss laws: they lie above the points they were made of, compose exactly, and lose nothing where they are cut."""

import math

import pytest
from flint import arb

from crowdblend.trusted.numerics import loss_law
from crowdblend.trusted.numerics.loss_law import GridTooFine, LossLaw, compose, dominating
from crowdblend.trusted.numerics.profile_curves import Closeness, ClosenessKernel, SampledKernel, loss_pair
from tests.cases import for_each


def law(masses: list[float], infinite: float = 0.0, *, first: int = 0, cut: float = 0.0) -> LossLaw:
    return LossLaw(0.5, cut, first, tuple(map(arb, masses)), arb(infinite))


def test_the_divergence_of_a_law_is_its_definition() -> None:
    made = law([0.25, 0.5, 0.2], 0.05, first=-1)
    for epsilon in (0.0, 0.1, 0.25, 0.5, 3.0):
        expected = 0.05 + sum(
            mass * max(0.0, 1 - math.exp(epsilon - loss)) for mass, loss in ((0.25, -0.5), (0.5, 0.0), (0.2, 0.5))
        )
        assert float(made.delta(epsilon)) == pytest.approx(expected, abs=1e-15)


def test_epsilon_is_where_delta_is_reached() -> None:
    made = law([0.25, 0.5, 0.2], 0.05, first=-1)
    for delta in (0.06, 0.1, 0.12):
        epsilon = made.epsilon(delta)
        assert epsilon is not None
        assert made.delta(epsilon) <= delta
        assert not made.delta(epsilon - 1e-9) <= delta
    assert made.epsilon(0.049) is None
    assert made.epsilon(0.5) == 0.0
    assert law([1.0], first=4).epsilon(0.0) == 2.0


def test_products_are_products() -> None:
    one, other = law([0.5, 0.4], 0.1, first=1), law([0.3, 0.5], 0.2, first=-2)
    both = one.beside(other)
    assert (both.first, len(both.masses)) == (-1, 3)
    assert [float(mass) for mass in both.masses] == pytest.approx([0.15, 0.37, 0.2])
    assert float(both.infinite) == pytest.approx(1 - 0.9 * 0.8)
    listed = compose([one] * 5)
    assert float(listed.delta(0.7)) == pytest.approx(float(one.times(5).delta(0.7)), rel=1e-15)
    with pytest.raises(ValueError, match="one grid"):
        one.beside(LossLaw(0.25, 0.0, 0, (arb(1),), arb(0)))


def test_what_is_cut_off_is_moved_up_and_nothing_is_lost() -> None:
    whole = law([1e-9, 1e-7, 0.5, 0.4, 1e-8, 1e-9], 0.1, cut=1e-6)
    rough = law([1.0], cut=1e-6).beside(whole)
    assert (rough.first, len(rough.masses)) == (2, 2)
    assert float(rough.masses[0]) == pytest.approx(0.5 + 1e-7 + 1e-9, rel=1e-15)
    assert float(rough.infinite) == pytest.approx(0.1 + 1e-8 + 1e-9, rel=1e-15)
    for epsilon in (0.0, 0.5, 1.2, 2.0, 4.0):
        assert rough.delta(epsilon) >= whole.delta(epsilon)


def test_a_law_that_would_be_too_long_loses_its_upper_end_to_infinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_law, "LONGEST", 4)
    long = law([0.2] * 4).beside(law([0.25] * 4))
    assert len(long.masses) == 4
    assert float(long.infinite + long.finite) == pytest.approx(0.8, rel=1e-12)
    with pytest.raises(GridTooFine):
        dominating(0.5, 0.0, [(-3, arb(0.9)), (0, arb(0.5)), (3, arb(0.1))])


def test_a_law_lies_above_its_points_and_bends_at_them_only() -> None:
    points = [(-2, arb(0.7)), (0, arb(0.3)), (1, arb(0.12)), (4, arb(0.01))]
    made = dominating(0.5, 0.0, points)
    for place, bound in points[1:]:
        assert made.delta(0.5 * place).upper() >= bound
        assert float(made.delta(0.5 * place)) == pytest.approx(float(bound), rel=1e-12)
    assert float(made.finite + made.infinite) == pytest.approx(1.0, rel=1e-12)
    assert {place for place, mass in enumerate(made.masses, made.first) if float(mass) > 1e-30} <= {-2, 0, 1, 4}


def test_points_above_a_chord_are_left_out() -> None:
    low = dominating(0.5, 0.0, [(0, arb(0.3)), (4, arb(0.01))])
    bump = dominating(0.5, 0.0, [(0, arb(0.3)), (2, arb(0.29)), (4, arb(0.01))])
    assert len(low.masses) == len(bump.masses)
    for epsilon in (0.1, 0.6, 1.1, 1.7):
        assert float(low.delta(epsilon)) == pytest.approx(float(bump.delta(epsilon)), rel=1e-15)


@for_each("spacing", [0.3, 0.01, 0.0007])
def test_any_grid_is_above_the_curve_and_a_finer_one_is_nearer(spacing: float) -> None:
    curve = SampledKernel(arb(0.2), ClosenessKernel(1.0, 1e-3))
    pair, finer = loss_pair(curve, spacing, 0.0), loss_pair(curve, spacing / 8, 0.0)
    for epsilon in (0.0, 0.05, 0.111, 0.2, 0.3, 1.0):
        up, down = curve.up(arb(epsilon).exp()), curve.down(arb(epsilon).exp())
        assert pair.up.delta(epsilon).upper() >= up.lower()
        assert pair.down.delta(epsilon).upper() >= down.lower()
        assert float(finer.up.delta(epsilon)) <= float(pair.up.delta(epsilon)) * (1 + 1e-12)


def test_losses_beyond_the_largest_are_infinite() -> None:
    pair = loss_pair(Closeness(1e4, 0.0), 1.0, 0.0)
    assert float(pair.up.infinite) > 0.999
