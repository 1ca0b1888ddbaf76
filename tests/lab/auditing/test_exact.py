"""The exact audit: it finds what is wrong by definition, proves it, and lets pass what is right."""

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from flint import arb

from crowdblend.errors import InvalidInput
from crowdblend.lab.auditing.exact.definitions import (
    ExactClaim,
    crowd_blending,
    differential,
    iid_samples,
    outlier_private,
    under_sampling,
    zero_knowledge,
)
from crowdblend.lab.auditing.exact.distributions import (
    World,
    epsilon_above,
    growth_above,
    hockey_stick,
    poisson_sampled,
    surely,
)
from crowdblend.methods.mechanisms import SampledClasses, SuppressedHistogram
from crowdblend.trusted.guarantees.aggregates import IidSampling
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    OutlierPrivate,
    Relation,
    ZeroKnowledge,
)
from crowdblend.trusted.guarantees.utility import Sampler
from crowdblend.trusted.numerics.balls import precision
from tests.cases import for_each
from tests.lab.auditing.broken_mechanisms.parts import blurred, sampled_delta, suppressed

HALF = Fraction(1, 2)
LETTERS = World(("A", "B"), 5)


def real_suppression(k: int):
    """The mechanism that releases run, behind the audit's interface."""

    def publish(table):
        occurring = [letter for letter in "AB" if letter in table]
        codes = np.array([["AB".index(letter)] for letter in occurring], np.int32).reshape(-1, 1)
        counts = np.array([table.count(letter) for letter in occurring], np.int64)
        shown = SuppressedHistogram(k).publish(SampledClasses(("c",), (("A", "B"),), codes, counts))
        return surely(
            tuple((shown.labels[0][code[0]], int(n)) for code, n in zip(shown.codes, shown.counts, strict=False))
        )

    return publish


def test_the_event_is_the_best_of_all_events() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        weights = rng.integers(0, 9, (2, 5))
        weights[:, 0] += 1
        left, right = ({o: Fraction(int(w), int(sum(side))) for o, w in enumerate(side) if w} for side in weights)
        growth = Fraction(int(rng.integers(1, 4)))
        every = chain.from_iterable(combinations(range(5), size) for size in range(6))
        best = max(sum(left.get(o, 0) - growth * right.get(o, 0) for o in event) for event in every)
        gap = hockey_stick(left, right, growth)
        assert gap.delta == best == gap.left - growth * gap.right


def test_our_suppression_blends_into_crowds_and_not_into_larger_ones() -> None:
    assert crowd_blending(real_suppression(3), CrowdBlending(3, 0.0), LETTERS) is None
    found = crowd_blending(real_suppression(3), CrowdBlending(4, 0.0), LETTERS)
    assert found is not None
    assert found.excess == 1
    assert found.people.count(found.person) == 3
    assert "blends with 3 of them" in found.describe()


@for_each(("k", "epsilon"), [(2, 0.0), (2, 0.5), (3, 0.2), (3, 1.0)])
def test_our_suppression_after_sampling_has_exactly_the_promised_delta(k: int, epsilon: float) -> None:
    world = World(("A",), 8)
    delta = sampled_delta(k, HALF, epsilon)
    released = poisson_sampled(real_suppression(k), HALF)
    assert differential(released, Differential(epsilon, delta, Relation.ADD_REMOVE), world) is None
    assert under_sampling(real_suppression(k), DifferentialUnderSampling(0.5, epsilon, delta), world) is None
    less = Differential(epsilon, delta * (1 - 1e-9), Relation.ADD_REMOVE)
    found = differential(released, less, world)
    assert found is not None
    assert 0 < found.excess < Fraction(1, 10**8)
    assert under_sampling(real_suppression(k), DifferentialUnderSampling(0.5, epsilon, delta * 0.99), world)


def test_counterexamples_are_what_they_say() -> None:
    guarantee = Differential(0.5, 0.01, Relation.ADD_REMOVE)
    released = poisson_sampled(suppressed(2), HALF)
    found = differential(released, guarantee, LETTERS)
    here = released(found.people)
    assert sum((here.get(outcome, Fraction(0)) for outcome in found.event), Fraction(0)) == found.likely
    assert found.likely - growth_above(0.5) * found.unlikely - Fraction(0.01) == found.excess > 0
    assert "too much" in found.describe()
    assert found.to_dict()["person"] == found.person


def test_replaced_and_concealed_people_and_groups() -> None:
    def counted(table):
        return blurred(table.count("A"), HALF, 6)

    two = 0.6931471805599454
    for relation in Relation:
        assert differential(counted, Differential(two, 0.0, relation), World(("A", "B"), 3)) is None
    pair = Differential(two, 0.0, Relation.ADD_REMOVE, people=2)
    assert differential(counted, pair, World(("A", "B"), 3)).excess > 0
    assert differential(counted, Differential(2 * two, 0.0, Relation.REPLACE, people=2), World(("A", "B"), 3)) is None


def test_zero_knowledge_against_the_simulator_of_the_proof() -> None:
    """CBP Theorem 13: run the mechanism on a sample of the others. With suppression the exact δ is the same."""
    delta = sampled_delta(2, HALF, 1.0)
    world = World(("A",), 6)
    released, simulator = poisson_sampled(suppressed(2), HALF), lambda some, _: suppressed(2)(some)
    guarantee = ZeroKnowledge(1.0, delta, IidSampling(0.5, 1), Relation.ADD_REMOVE)
    assert zero_knowledge(released, guarantee, world, iid_samples(HALF), simulator) is None
    less = ZeroKnowledge(1.0, delta * 0.99, IidSampling(0.5, 1), Relation.ADD_REMOVE)
    assert zero_knowledge(released, less, world, iid_samples(HALF), simulator) is not None


def test_outlier_privacy_depends_on_the_size_of_the_bin() -> None:
    def same_for_all(table):
        return blurred(len(table), Fraction(1, 16), 12)

    four = 2.772588722239782
    world = World(("A",), 4)
    assert outlier_private(same_for_all, OutlierPrivate(four, 1, 1, 1.0, 0.0), world) is None
    found = outlier_private(same_for_all, OutlierPrivate(four, 1, 4, 1.0, 0.0), world)
    assert len(found.people) <= 2


def refusing(table):
    raise InvalidInput("nobody is welcome.")


def test_a_mechanism_that_refuses_every_table_is_not_said_to_keep_its_promise() -> None:
    simulator = lambda some, _: suppressed(2)(some)  # noqa: E731
    hidden = ZeroKnowledge(1.0, 0.1, IidSampling(0.5, 1), Relation.ADD_REMOVE)
    for claim in (
        ExactClaim(Differential(1.0, 0.0, Relation.ADD_REMOVE), refusing, LETTERS),
        ExactClaim(DifferentialUnderSampling(0.5, 1.0, 0.1), refusing, LETTERS),
        ExactClaim(OutlierPrivate(1.0, 1, 4, 1.0, 0.0), refusing, LETTERS),
        ExactClaim(hidden, refusing, LETTERS, aggregate=iid_samples(HALF), simulator=simulator),
    ):
        with pytest.raises(InvalidInput, match="refuses every table"):
            claim.finding()


def test_a_table_that_is_refused_is_passed_over() -> None:
    def few(table):
        return blurred(table.count("A"), HALF, 6) if len(table) < 3 else refusing(table)

    assert differential(few, Differential(0.6931471805599454, 0.0, Relation.ADD_REMOVE), LETTERS) is None
    assert differential(few, Differential(0.5, 0.0, Relation.ADD_REMOVE), LETTERS) is not None
    assert outlier_private(few, OutlierPrivate(0.6931471805599454, 1, 1, 1.0, 0.0), LETTERS) is None


@for_each("masses", [{}, {0: HALF}, {0: 0.5, 1: 0.5}, {0: Fraction(3, 2), 1: -HALF}])
def test_what_is_no_distribution_is_refused(masses) -> None:
    """What is the same on every table, and would be found to tell nothing."""
    for guarantee in (Differential(1.0, 0.0, Relation.ADD_REMOVE), CrowdBlending(2, 0.0)):
        with pytest.raises(InvalidInput, match="add up to 1"):
            ExactClaim(guarantee, lambda _: masses, LETTERS).finding()


def test_zero_knowledge_needs_its_simulator_and_one_person() -> None:
    guarantee = ZeroKnowledge(1.0, 0.1, IidSampling(0.5, 1), Relation.ADD_REMOVE)
    with pytest.raises(InvalidInput, match="needs an aggregate"):
        ExactClaim(guarantee, suppressed(2), LETTERS, aggregate=iid_samples(HALF)).finding()
    together = ZeroKnowledge(1.0, 0.1, IidSampling(0.5, 1), Relation.ADD_REMOVE, people=2)
    with pytest.raises(InvalidInput, match="got one for 2 people together"):
        zero_knowledge(suppressed(2), together, LETTERS, iid_samples(HALF), lambda some, _: suppressed(2)(some))


def silent_about_some(table):
    """Says that nobody is there half of the time when nobody is: with somebody in it, that is never said."""
    return surely("") if table else {"": HALF, "nobody": HALF}


def test_what_only_the_absence_of_a_person_shows_is_found() -> None:
    """1 against ½ is within e; ½ against 0 is not."""
    one = World(("A",), 1)
    for claim in (
        ExactClaim(Differential(1.0, 0.0, Relation.ADD_REMOVE), silent_about_some, one),
        ExactClaim(CrowdBlending(2, 1.0), silent_about_some, one),
        ExactClaim(OutlierPrivate(1.0, 1, 1, 1.0, 0.0), silent_about_some, one),
    ):
        found = claim.finding()
        assert (found.event, found.likely, found.unlikely) == ({"nobody"}, HALF, 0)


def always(said):
    return lambda *_: said


def test_zero_knowledge_is_compared_both_ways() -> None:
    """What the simulator says half of the time, and a release with the person never, tells that the person is there."""
    one, seen = World(("A",), 1), iid_samples(HALF)
    guarantee = ZeroKnowledge(1.0, 0.0, IidSampling(0.5, 1), Relation.ADD_REMOVE)
    talks, silent = {"": HALF, "nobody": HALF}, surely("")
    for released, simulated in ((silent, talks), (talks, silent)):
        found = zero_knowledge(always(released), guarantee, one, seen, always(simulated))
        assert found is not None
        assert (found.event, found.likely, found.unlikely) == ({"nobody"}, HALF, 0)


@for_each("epsilon", [1e-9, 0.3, 1.0, 20.0])
def test_the_growth_is_rounded_up(epsilon: float) -> None:
    growth = growth_above(epsilon)
    with precision(600):
        excess = arb(growth.numerator) / growth.denominator - arb(epsilon).exp()
        assert excess > 0
        assert excess < arb(10) ** -38
    assert epsilon_above(growth) >= epsilon


def test_other_promises_are_refused() -> None:
    accuracy = Sampler("average", 0.1, 0.1, 1.0, IidSampling(0.5, 1))
    with pytest.raises(InvalidInput, match="Sampler is not audited"):
        ExactClaim(accuracy, suppressed(2), LETTERS).finding()
