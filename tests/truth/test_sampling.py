"""What sampling does to promises (LQS Theorems 1 to 3, CBP Theorems 13 and 16), by enumerating every sample."""

import random
from fractions import Fraction

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.aggregates import IidSampling
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, DifferentialUnderSampling, Relation
from tests.cases import for_each

from .class_of_people import worst_class
from .definitions import add_remove_delta, crowd_blending, replace_delta
from .distributions import divergence, double_above, epsilon_above, growth_below, mix, pushed
from .mechanisms import noisy_histogram, random_blending_mechanism, random_mechanism, suppressed_histogram
from .worlds import Mechanism, Table, neighbours, sampled, samples, tables, without

VALUES, MOST = (0, 1), 4
SEEDS = range(5)


def one_class(value: int) -> int:
    return 0


def halves(value: int) -> int:
    return value // 2


def measured(mechanism: Mechanism, growth: Fraction, most: int = MOST) -> Differential:
    """The promise that a mechanism really keeps at a factor."""
    delta = add_remove_delta(mechanism, VALUES, most, growth)
    return Differential(epsilon_above(growth), double_above(delta), Relation.ADD_REMOVE)


def holds(promise: Differential | DifferentialUnderSampling, mechanism: Mechanism, values=VALUES, most=MOST) -> bool:
    return add_remove_delta(mechanism, values, most, growth_below(promise.epsilon)) <= Fraction(promise.delta)


@for_each("seed", SEEDS, daily=3)
@for_each("growth", [Fraction(1), Fraction(3, 2), Fraction(4)])
def test_amplification_lower_rates_and_postprocessing(seed: int, growth: Fraction) -> None:
    mechanism, rate, lower = random_mechanism(seed), 0.5, 0.125
    premise = measured(mechanism, growth)
    amplified = RULES["sampling.amplification"].conclude(premise, rate=rate)
    release = sampled(mechanism, Fraction(rate))
    assert holds(amplified, release)
    assert holds(RULES["dps.differential"].conclude(amplified), release)
    # What the sampled mechanism really keeps, carried to a lower rate.
    kept = measured(release, growth)
    under = DifferentialUnderSampling(rate, kept.epsilon, kept.delta)
    assert holds(RULES["dps.lower-rate"].conclude(under, rate=lower), sampled(mechanism, Fraction(lower)))
    after = RULES["dps.postprocessing"].conclude(under)
    assert holds(after, lambda table: pushed(release(table), lambda o: o == 1))


def test_amplification_is_attained_so_less_would_be_false() -> None:
    """Publishing the table is (0, 1)-private; sampled at β it is (0, β)-private and nothing less."""

    def everything(table: Table) -> dict:
        return {table: Fraction(1)}

    claimed = RULES["sampling.amplification"].conclude(measured(everything, Fraction(1)), rate=0.25)
    true = add_remove_delta(sampled(everything, Fraction(1, 4)), VALUES, MOST, Fraction(1))
    assert Fraction(claimed.delta) == true
    assert not Fraction(claimed.delta * 0.999999) >= true


@for_each("seed", SEEDS)
def test_a_coin_between_two_mechanisms(seed: int) -> None:
    rate, growth, weight = 0.25, Fraction(5, 4), 0.375
    one, other = (sampled(random_mechanism(f"{seed}{name}"), Fraction(rate)) for name in "ab")
    promises = [
        DifferentialUnderSampling(rate, m.epsilon, m.delta) for m in (measured(one, growth), measured(other, growth))
    ]
    chosen = RULES["dps.random-choice"].conclude(*promises, weight=weight)
    share = Fraction(weight)
    assert holds(
        chosen,
        lambda t: mix([(share, pushed(one(t), lambda o: ("a", o))), (1 - share, pushed(other(t), lambda o: ("b", o)))]),
    )


@for_each("seed", SEEDS)
def test_replacing_and_groups(seed: int) -> None:
    mechanism = sampled(random_mechanism(seed), Fraction(1, 4))
    premise = measured(mechanism, Fraction(9, 8))
    replaced = RULES["differential.replace"].conclude(premise)
    ordered = lambda rows: mechanism(tuple(sorted(rows)))  # noqa: E731
    assert replace_delta(ordered, VALUES, MOST, growth_below(replaced.epsilon)) <= Fraction(replaced.delta)
    for people in (1, 2, 3):
        group = RULES["differential.group"].conclude(premise, people=people)
        for table in tables(VALUES, MOST):
            for fewer in (table[:-people], table[people:]) if len(table) >= people else ():
                found = divergence(mechanism(table), mechanism(fewer), growth_below(group.epsilon))
                assert found <= Fraction(group.delta)


@for_each("k", [2, 3])
@for_each("rate", [0.25, 0.5])
def test_suppression_in_many_classes_is_no_worse_than_in_one(k: int, rate: float) -> None:
    """Two classes of two values each; the claim of the worst class holds for every table, and simulates it."""
    release = sampled(suppressed_histogram(halves, k), Fraction(rate))
    for growth in (Fraction(1), Fraction(5, 4), Fraction(2)):
        epsilon = epsilon_above(growth)
        claimed = RULES["suppression.exact"].conclude(CrowdBlending(k, 0.0), rate=rate, epsilon=epsilon)
        found = add_remove_delta(release, (0, 1, 2), MOST, growth_below(epsilon))
        assert found <= Fraction(claimed.delta)
        simulated = RULES["dps.zero-knowledge"].conclude(claimed)
        assert simulated.aggregate == IidSampling(rate)
        # The simulator samples everybody else and runs the mechanism: the same comparison, person by person.
        for table, others in neighbours((0, 1, 2), MOST):
            simulator = mix(
                (c, suppressed_histogram(halves, k)(s)) for c, s in samples(others, [Fraction(rate)] * len(others))
            )
            assert divergence(release(table), simulator, growth_below(simulated.epsilon)) <= Fraction(simulated.delta)


def test_a_k_that_is_one_too_small_is_caught() -> None:
    """Claiming the δ of k = 3 for suppression below 2 fails the same comparison."""
    release, epsilon = sampled(suppressed_histogram(one_class, 2), Fraction(1, 2)), epsilon_above(Fraction(5, 4))
    right, wrong = (
        RULES["suppression.exact"].conclude(CrowdBlending(k, 0.0), rate=0.5, epsilon=epsilon) for k in (2, 3)
    )
    assert holds(right, release, (0,), 8)
    assert not holds(wrong, release, (0,), 8)
    assert Fraction(right.delta) >= worst_class(2, Fraction(1, 2), growth_below(epsilon)) > Fraction(wrong.delta)


@for_each("rate", [0.25, 0.5])
@for_each("seed", range(4))
def test_any_crowd_blending_mechanism_after_sampling(seed: int, rate: float) -> None:
    """Random (2, ε)-blending mechanisms and the noisy histogram, under every rule that speaks about them."""
    most, k = Fraction(6, 5), 2
    mechanisms = [(random_blending_mechanism(seed, one_class, k, most), most**2)]
    if seed == 0:
        mechanisms.append((noisy_histogram((0,), one_class, k, Fraction(3, 4), MOST), Fraction(4, 3)))
    for mechanism, blend in mechanisms:
        assert crowd_blending(mechanism, VALUES, MOST, k, blend)
        premise, release = CrowdBlending(k, epsilon_above(blend)), sampled(mechanism, Fraction(rate))
        assert holds(RULES["blending.closed-form"].conclude(premise, rate=rate), release)
        # Far above the least ε' for the paper's bound, whose scan is long near it; close to it for the sharp one.
        near, far = 1 + Fraction(rate) * (blend - 1) * Fraction(101, 100), 2 * blend
        for rule_id, growth in (("blending.sharp", near), ("blending.sharp", far), ("blending.explicit", far)):
            claimed = RULES[rule_id].conclude(premise, rate=rate, epsilon=epsilon_above(growth))
            assert holds(claimed, release)


@for_each("exceptions", [0, 1])
@for_each("seed", range(6), daily=3)
def test_robust_sampling_with_a_probability_for_everybody(seed: int, exceptions: int) -> None:
    """Own probabilities in {0} ∪ [p, p'], one exception with any; the person compared is kept with at most P."""
    rng, k, most = random.Random(seed), 3, Fraction(11, 10)
    low, high = 0.25, 0.4375
    mechanism = random_blending_mechanism(f"robust{seed}", one_class, k, most)
    if seed % 2:
        mechanism, most = suppressed_histogram(one_class, k), Fraction(1)
    premise = CrowdBlending(k, epsilon_above(most**2))
    ordinary = [Fraction(0), Fraction(low), Fraction(5, 16), Fraction(high)]
    for growth in (Fraction(11, 8), Fraction(2), Fraction(4)):
        epsilon = epsilon_above(growth)
        parameters = {"low": low, "high": high, "exceptions": exceptions, "max_rate": high, "epsilon": epsilon}
        claimed = RULES["robust.differential"].conclude(premise, **parameters)
        simulated = RULES["robust.zero-knowledge"].conclude(premise, **parameters)
        assert (simulated.epsilon, simulated.delta) == (claimed.epsilon, claimed.delta)
        for _ in range(6):
            table = tuple(rng.choice(VALUES) for _ in range(5))
            rates = [Fraction(high)] + [rng.choice(ordinary) for _ in range(4)]
            if exceptions:
                rates[-1] = rng.choice([Fraction(1), Fraction(15, 16), Fraction(1, 64)])
            present = mix((c, mechanism(tuple(sorted(s)))) for c, s in samples(table, rates))
            absent = mix((c, mechanism(tuple(sorted(s)))) for c, s in samples(without(table, 0), rates[1:]))
            assert divergence(present, absent, growth_below(epsilon)) <= Fraction(claimed.delta)


def test_an_uncounted_exception_is_caught() -> None:
    """One person who is always sampled, forgotten in the statement, breaks the claim for suppression below 2."""
    k, rates = 3, [Fraction(1, 2), Fraction(1, 2), Fraction(1)]
    mechanism, table = suppressed_histogram(one_class, k), (0, 0, 0)
    present = mix((c, mechanism(s)) for c, s in samples(table, rates))
    absent = mix((c, mechanism(s)) for c, s in samples(table[1:], rates[1:]))
    epsilon = epsilon_above(Fraction(64))
    found = divergence(present, absent, growth_below(epsilon))
    parameters = {"low": 0.5, "high": 0.5, "max_rate": 0.5, "epsilon": epsilon}
    premise = CrowdBlending(k, 0.0)
    forgotten = RULES["robust.differential"].conclude(premise, exceptions=0, **parameters)
    stated = RULES["robust.differential"].conclude(premise, exceptions=1, **parameters)
    assert Fraction(forgotten.delta) < found <= Fraction(stated.delta)
