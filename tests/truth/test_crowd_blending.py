"""Which mechanisms are crowd-blending, and what may stand beside them: CBP Definition 4 on every small table."""

from fractions import Fraction

import pytest

from crowdblend.errors import DoesNotCompose, NotApplicable
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.calculus.rules.composition import compose
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, Relation
from tests.cases import for_each

from .definitions import add_remove_delta, crowd_blending
from .distributions import both, epsilon_above, growth_below, mix, pushed, surely
from .mechanisms import (
    generalized_records,
    noisy_histogram,
    random_blending_mechanism,
    random_gentle_mechanism,
    suppressed_histogram,
)
from .noise_below_k import blurred
from .worlds import Mechanism, Table, remembered

VALUES, MOST = (0, 1, 2, 3), 4
ONE = Fraction(1)


def halves(value: int) -> int:
    return value // 2


def growth_of(promise: CrowdBlending) -> Fraction:
    return growth_below(promise.epsilon)


def beside(one: Mechanism, other: Mechanism) -> Mechanism:
    return remembered(lambda table: both(one(table), other(table)))


@for_each("k", [1, 2, 3, 4])
def test_suppression_and_generalization(k: int) -> None:
    for rule_id, release in (
        ("histogram.suppressed", suppressed_histogram(halves, k)),
        ("generalization.suppressed", generalized_records(halves, k)),
    ):
        promise = RULES[rule_id].conclude(k=k)
        assert crowd_blending(release, VALUES, MOST, promise.k, growth_of(promise))
        # A threshold one lower would be seen through, and so would a promise of one more.
        assert not crowd_blending(release, VALUES, MOST, k + 1, ONE)


@for_each(("k", "ratio"), [(2, Fraction(1, 3)), (2, Fraction(3, 4)), (3, Fraction(1, 2))], daily=2)
def test_noise_below_k(k: int, ratio: Fraction) -> None:
    release = noisy_histogram((0, 1), halves, k, ratio, MOST)
    promise = RULES["histogram.noisy"].conclude(k=k, noise_epsilon=epsilon_above(1 / ratio))
    assert crowd_blending(release, VALUES, MOST, promise.k, growth_of(promise))
    assert not crowd_blending(release, VALUES, MOST, k, 1 / ratio * Fraction(999, 1000))
    assert not crowd_blending(release, VALUES, MOST, k + 1, 1 / ratio)


@pytest.mark.parametrize("ratio", [Fraction(1, 3), Fraction(3, 4)])
def test_noise_on_every_cell_is_differential(ratio: Fraction) -> None:
    release = noisy_histogram((0, 1), halves, MOST + 1, ratio, MOST)
    promise = RULES["histogram.laplace"].conclude(noise_epsilon=epsilon_above(1 / ratio))
    assert add_remove_delta(release, VALUES, MOST, growth_below(promise.epsilon)) == promise.delta == 0
    assert add_remove_delta(release, VALUES, MOST, 1 / ratio * Fraction(999, 1000)) > 0


def test_leaving_empty_cells_out_breaks_the_promise() -> None:
    """Trap: noise on the non-empty cells only shows who is alone."""
    ratio, k = Fraction(1, 3), 2
    whole = noisy_histogram((0, 1), halves, k, ratio, MOST)

    @remembered
    def only_present(table: Table) -> dict:
        cells = tuple(sorted({halves(value) for value in table}))
        return pushed(noisy_histogram(cells, halves, k, ratio, MOST)(table), lambda shown: (cells, shown))

    assert crowd_blending(whole, VALUES, MOST, k, 1 / ratio)
    assert not crowd_blending(only_present, VALUES, MOST, k, 1 / ratio)


def test_points_moved_within_their_block() -> None:
    """Points 0,1 | 2,3 in blocks of width 1; noise of loss ε per unit hides the place in the block."""
    ratio, k = Fraction(1, 2), 2

    @remembered
    def release(table: Table) -> dict:
        points = [v for v in table if sum(halves(u) == halves(v) for u in table) >= k]
        output = {(): ONE}
        for point in points:
            spread = blurred(point, ratio, 0, 3)
            output = mix(
                (p * q, surely(tuple(sorted((*o, x), key=str)))) for o, p in output.items() for x, q in spread.items()
            )
        return output

    promise = RULES["points.noisy"].conclude(k=k, noise_epsilon=epsilon_above(1 / ratio))
    assert crowd_blending(release, VALUES, 3, promise.k, growth_of(promise))
    assert not crowd_blending(release, VALUES, 3, k, 1 / ratio * Fraction(99, 100))


@for_each("seed", range(6), daily=3)
def test_random_blending_mechanisms_and_their_postprocessing(seed: int) -> None:
    most = Fraction(5, 4)
    release = random_blending_mechanism(seed, halves, 2, most)
    promise = RULES["blending.postprocessing"].conclude(CrowdBlending(2, epsilon_above(most**2)))
    assert crowd_blending(release, VALUES, MOST, 2, growth_of(promise))
    assert crowd_blending(lambda t: pushed(release(t), lambda o: o == 0), VALUES, MOST, 2, growth_of(promise))


def test_two_crowd_blending_releases_need_not_blend() -> None:
    """CBP Proposition 7: the refusal to compose is warranted, however large the ε that one would concede."""
    k, ratio = 2, Fraction(1, 3)
    first = noisy_histogram((0, 1), lambda v: int(v == 3), k, ratio, 3)
    second = noisy_histogram((0, 1), lambda v: int(v != 1), k, ratio, 3)
    values = (1, 2, 3)
    assert crowd_blending(first, values, 3, k, 1 / ratio)
    assert crowd_blending(second, values, 3, k, 1 / ratio)
    together = beside(first, second)
    for growth in (1 / ratio**2, Fraction(10**9)):
        assert not crowd_blending(together, values, 3, k, growth)
    promise = RULES["histogram.noisy"](k=k, noise_epsilon=epsilon_above(1 / ratio))
    with pytest.raises(DoesNotCompose, match="Proposition 7"):
        compose(promise, promise)


@for_each("seed", range(4))
def test_differential_mechanisms_blend_and_stand_beside_blending_ones(seed: int) -> None:
    """CBP Propositions 5 and 8 for random mechanisms, with the losses that they really have."""
    most, k, values = Fraction(6, 5), 2, (0, 1, 2)
    gentle = random_gentle_mechanism(seed, most)
    loss = most**2
    assert add_remove_delta(gentle, values, MOST, loss) == 0
    premise = Differential(epsilon_above(loss), 0.0, Relation.ADD_REMOVE)
    for crowd in (1, 3, 50):
        promise = RULES["blending.differential"].conclude(premise, k=crowd)
        assert crowd_blending(gentle, values, MOST, promise.k, growth_of(promise))
    blending = suppressed_histogram(halves, k)
    together = RULES["composition.blending-differential"].conclude(CrowdBlending(k, 0.0), premise)
    assert crowd_blending(beside(blending, gentle), values, MOST, k, growth_of(together))
    replacing = Differential(epsilon_above(loss), 0.0, Relation.REPLACE)
    known = RULES["composition.blending-differential-both"].conclude(CrowdBlending(k, 0.0), premise, replacing)
    assert known.epsilon < together.epsilon
    assert crowd_blending(beside(blending, gentle), values, MOST, k, growth_of(known))


def test_the_factor_two_beside_a_differential_release_is_needed() -> None:
    """A count of one value with integer noise loses ε for a removal and 2ε for a swap of two crowd members."""
    ratio, k = Fraction(1, 2), 2

    def difference(table: Table) -> dict:
        return blurred(table.count(0) - table.count(1), ratio, -3, 3)

    blending = suppressed_histogram(lambda value: 0, k)
    loss = 1 / ratio
    assert add_remove_delta(difference, (0, 1), 3, loss) == 0
    assert not crowd_blending(beside(blending, difference), (0, 1), 3, k, loss)
    promise = RULES["composition.blending-differential"].conclude(
        CrowdBlending(k, 0.0), Differential(epsilon_above(loss), 0.0, Relation.ADD_REMOVE)
    )
    assert crowd_blending(beside(blending, difference), (0, 1), 3, k, growth_of(promise))


def test_replace_only_promises_do_not_blend_in_small_tables() -> None:
    """Publishing the number of people is 0-differential under replacement, yet nobody blends when there are few."""

    def size(table: Table) -> dict:
        return surely(len(table))

    assert not crowd_blending(size, (0, 1), MOST, 2, Fraction(10**6))
    with pytest.raises(NotApplicable, match="add-remove"):
        RULES["blending.differential"].conclude(Differential(0.0, 0.0, Relation.REPLACE), k=2)
    with pytest.raises(NotApplicable, match="add-remove"):
        RULES["composition.blending-differential"].conclude(
            CrowdBlending(2, 0.0), Differential(0.0, 0.0, Relation.REPLACE)
        )
