"""Mechanisms of any kinds, each on a fresh sample: no small world exceeds the composition of their curves."""

from fractions import Fraction

from crowdblend.trusted.calculus.loss_curves import delta_of
from crowdblend.trusted.guarantees.profiles import (
    AmplifiedCurve,
    ClosenessCurve,
    CrowdCurve,
    LossCurve,
    NoisyCountCurve,
    PointCurve,
    Profile,
    Uses,
)
from crowdblend.trusted.guarantees.programme import PartInCrowds, PartOfPoints, PartOfSample, PartWithNoise, PrivatePart
from tests.cases import for_each, seeds

from .distributions import growth_below
from .programmes import ANY_KIND, Fading, World, random_world
from .test_programme import HAIR, MANY, truths

DAILY, EPSILONS = 20, (0.3, 1.0)
# The curve of noise that fades with the count is that of outlier tables, which test_profiles.py composes.
KINDS = tuple(kind for kind in ANY_KIND if kind is not Fading)


def curve_on_a_sample(part: PartOfSample, rate: float) -> LossCurve:
    """Return the curve of the mechanism of a part, where it runs on a whole sample."""
    if isinstance(part, PartInCrowds):
        return CrowdCurve(part.k, part.blend_epsilon, rate)
    if isinstance(part, PartWithNoise):
        return NoisyCountCurve(part.k, part.noise_epsilon, rate, part.flag)
    if isinstance(part, PartOfPoints):
        return PointCurve(part.k, part.noise_epsilon, rate)
    assert isinstance(part, PrivatePart)
    own = part.uses[0].curve
    assert isinstance(own, ClosenessCurve)
    return AmplifiedCurve(own.epsilon, 0.0, rate)


def claimed(world: World, epsilon: float, left_out: int = 0) -> Fraction:
    """Return the δ of all mechanisms, or of all but the first ones."""
    curves = [curve_on_a_sample(made.part(0.5), float(world.rate)) for made in world.mechanisms[left_out:]]
    return Fraction(delta_of(Profile(tuple(Uses(curve, 1) for curve in curves)), epsilon))


@seeds(DAILY, MANY, MANY)
def test_no_world_of_fresh_samples_exceeds_the_composition(seeds: range) -> None:
    for seed in seeds:
        world = random_world(seed, KINDS)
        laws = world.laws_of_fresh_samples()
        for epsilon in EPSILONS:
            assert max(truths(laws, growth_below(epsilon))) <= claimed(world, epsilon) * (1 + HAIR) + HAIR, world


@for_each("epsilon", EPSILONS)
def test_a_publication_that_is_not_counted_would_be_caught(epsilon: float) -> None:
    listed = [random_world(seed, KINDS) for seed in range(DAILY)]
    truth = [max(truths(world.laws_of_fresh_samples(), growth_below(epsilon))) for world in listed]
    assert any(true > claimed(world, epsilon, left_out=1) for true, world in zip(truth, listed, strict=True))
