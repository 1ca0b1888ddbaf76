"""Composition by profiles against exact products of small worlds, both ways, with releases that react to earlier ones.

A world says how many people of the changed person's class there are at each release, possibly depending on what was
published before. All outcomes of all releases are enumerated in exact fractions. The divergence is taken at a fraction
a little above e^ε, where it is a little smaller: a bound below it would be false.
"""

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
from flint import arb, ctx

from crowdblend.trusted.calculus.loss_curves import (
    delta_of,
    epsilon_of,
    grid_of,
    group_delta_of,
    pair_of,
    replaced_delta_of,
    together,
)
from crowdblend.trusted.guarantees.profiles import (
    AmplifiedCurve,
    BiasedCurve,
    ClosenessCurve,
    CrowdCurve,
    LossCurve,
    NoisyCountCurve,
    OutlierCurve,
    PointCurve,
    Profile,
    SplitCurve,
    Uses,
)
from crowdblend.trusted.guarantees.programme import PartInCrowds, ProgrammeCurve
from tests.cases import for_each

EPSILONS = (0.0, 0.05, 0.2, 0.5, 1.0, 2.0)
Outcomes = list[tuple[Fraction, Fraction]]
World = Callable[[LossCurve, random.Random], Outcomes]


def binomial(n: int, rate: Fraction) -> list[Fraction]:
    return [math.comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(n + 1)]


def claims(curves: list[LossCurve], epsilon: float) -> tuple[arb, arb]:
    """What is claimed at an ε with the person against without, and without against with."""
    uses = Profile(tuple(Uses(curve, 1) for curve in curves)).uses
    pair = together(uses, grid_of(uses), 1e-16)
    return pair.up.delta(epsilon).upper(), pair.down.delta(epsilon).upper()


def suppressed(curve: LossCurve, dice: random.Random) -> Outcomes:
    """Counts from k on, of n people with the person and of n − 1 without; n = 1: the person alone."""
    assert isinstance(curve, CrowdCurve)
    n, rate = dice.choice([1, curve.k, curve.k, dice.randint(1, 7)]), Fraction(curve.rate)
    with_person, without = binomial(n, rate), [*binomial(n - 1, rate), Fraction(0)]
    shown = list(zip(with_person, without, strict=True))[curve.k :]
    return [(1 - sum(p for p, _ in shown), 1 - sum(q for _, q in shown)), *shown]


def biased(curve: LossCurve, dice: random.Random) -> Outcomes:
    """Suppression where everybody has a probability of their own, a few any one at all."""
    assert isinstance(curve, BiasedCurve)
    low, high = Fraction(curve.low), Fraction(curve.high)
    others = [low + (high - low) * dice.randint(0, 4) / 4 for _ in range(dice.randint(0, 6))]
    others += [Fraction(dice.randint(0, 4), 4) for _ in range(curve.exceptions)]
    own = dice.choice([Fraction(curve.max_rate), high, low])
    counts = [Fraction(1)]
    for rate in others:
        counts = [
            a * (1 - rate) + b * rate for a, b in zip([*counts, Fraction(0)], [Fraction(0), *counts], strict=True)
        ]
    without = [*counts, Fraction(0)]
    pairs = [(own * (without[j - 1] if j else 0) + (1 - own) * without[j], without[j]) for j in range(len(without))]
    hidden = pairs[: curve.k]
    return [(sum((p for p, _ in hidden), Fraction(0)), sum((q for _, q in hidden), Fraction(0))), *pairs[curve.k :]]


def amplified(curve: LossCurve, dice: random.Random) -> Outcomes:
    """Some mechanism with two outcomes that is e^ε-close, in whichever direction, seen through sampling."""
    assert isinstance(curve, AmplifiedCurve)
    rate, most = Fraction(curve.rate), Fraction(math.exp(curve.epsilon) * (1 - 1e-12))
    q = Fraction(dice.randint(1, 19), 20)
    p = min(q * most, 1 - (1 - q) / most)
    return [
        (rate * a + (1 - rate) * b, b) for a, b in dice.choice([[(p, q), (1 - p, 1 - q)], [(q, p), (1 - q, 1 - p)]])
    ]


def close(curve: LossCurve, dice: random.Random) -> Outcomes:
    """The same without sampling, and with an outcome that happens in one of the worlds only."""
    assert isinstance(curve, ClosenessCurve)
    lost = Fraction(curve.delta)
    pairs = amplified(AmplifiedCurve(curve.epsilon, 0.0, 0.999), dice)
    rest = [((1 - lost) * p, (1 - lost) * q) for p, q in pairs]
    return [*rest, (lost, Fraction(0)), (Fraction(0), lost)]


def split(curve: LossCurve, dice: random.Random) -> Outcomes:
    """One other person may choose too; the choice says whether the recoding has one class or two."""
    assert isinstance(curve, SplitCurve)
    beta, share = Fraction(curve.rate), Fraction(curve.share)
    most = Fraction(math.exp(curve.epsilon) * (1 - 1e-12))
    n = dice.randint(curve.k, 6)
    apart = dice.randint(0, n - 1)

    def choice(deciding: int) -> Fraction:
        """The chance of one class: every person who decides raises it as far as allowed."""
        low = Fraction(1, 9)
        return [low, min(low * most, 1 - (1 - low) / most)][deciding % 2]

    def law(person: str) -> dict[tuple[int, int, int], Fraction]:
        found: dict[tuple[int, int, int], Fraction] = {}
        rest = beta * (1 - share) / (1 - beta * share)
        # The others are n − 1, of which the first may decide and all may be released.
        for decides, weight in ((1, beta * share), (0, 1 - beta * share)):
            others = n - 1 - decides
            near = min(apart, others)
            for a, pa in enumerate(binomial(near, rest)):
                for b, pb in enumerate(binomial(others - near, rest)):
                    merged = choice(decides + (person == "decides"))
                    mine = person == "released"
                    for one, chance in ((1, merged), (0, 1 - merged)):
                        counts = (a + b + mine, 0) if one else (a + mine, b)
                        shown = tuple(c if c >= curve.k else 0 for c in counts)
                        key = (one, *shown)
                        found[key] = found.get(key, Fraction(0)) + weight * pa * pb * chance  # type: ignore[index]
        return found

    without, deciding, released = law("out"), law("decides"), law("released")
    keys = {*without, *deciding, *released}
    zero = Fraction(0)
    return [
        (
            beta * share * deciding.get(key, zero)
            + beta * (1 - share) * released.get(key, zero)
            + (1 - beta) * without.get(key, zero),
            without.get(key, zero),
        )
        for key in keys
    ]


def parts(curve: LossCurve, dice: random.Random) -> Outcomes:
    """Two tables from two parts; others are in the person's class of the first, of the second, or of both."""
    assert isinstance(curve, ProgrammeCurve)
    first, second = (Fraction(curve.rate) * Fraction(part.share) for part in curve.publications)
    ks = [part.k for part in curve.publications if isinstance(part, PartInCrowds)]
    counts = {(0, 0): Fraction(1)}
    for _ in range(dice.randint(0, 6)):
        in_first, in_second = dice.choice([(1, 0), (0, 1), (1, 1), (1, 1)])
        moves = [((in_first, 0), first), ((0, in_second), second), ((0, 0), 1 - first - second)]
        counts = _moved(counts, moves)
    with_person = _moved(counts, [((1, 0), first), ((0, 1), second), ((0, 0), 1 - first - second)])
    shown: dict[tuple[int, ...], list[Fraction]] = {}
    for place, law in enumerate((with_person, counts)):
        for found, chance in law.items():
            key = tuple(count if count >= k else 0 for count, k in zip(found, ks, strict=True))
            shown.setdefault(key, [Fraction(0), Fraction(0)])[place] += chance
    return [(p, q) for p, q in shown.values()]


def _moved(
    counts: dict[tuple[int, int], Fraction], moves: list[tuple[tuple[int, int], Fraction]]
) -> dict[tuple[int, int], Fraction]:
    made: dict[tuple[int, int], Fraction] = {}
    for (a, b), chance in counts.items():
        for (x, y), weight in moves:
            made[a + x, b + y] = made.get((a + x, b + y), Fraction(0)) + chance * weight
    return made


WORLDS: dict[type[LossCurve], World] = {
    CrowdCurve: suppressed,
    BiasedCurve: biased,
    AmplifiedCurve: amplified,
    ClosenessCurve: close,
    SplitCurve: split,
    ProgrammeCurve: parts,
}


def products(curves: list[LossCurve], dice: random.Random, reacts: bool) -> Iterator[tuple[Fraction, Fraction]]:
    """Every outcome of all releases; where they react, the next world depends on the outcome so far."""
    if not curves:
        yield Fraction(1), Fraction(1)
        return
    first = WORLDS[type(curves[0])](curves[0], dice)
    if reacts:
        for p, q in first:
            for a, b in products(curves[1:], dice, reacts):
                yield p * a, q * b
        return
    rest = list(products(curves[1:], dice, reacts))
    for p, q in first:
        for a, b in rest:
            yield p * a, q * b


def divergence(outcomes: list[tuple[Fraction, Fraction]], epsilon: float, swapped: bool) -> Fraction:
    growth = Fraction(math.nextafter(math.exp(epsilon) * (1 + 1e-15), math.inf))
    pairs = ((q, p) for p, q in outcomes) if swapped else iter(outcomes)
    return sum((p - growth * q for p, q in pairs if p > growth * q), Fraction(0))


def random_curve(dice: random.Random) -> LossCurve:
    k, rate = dice.randint(1, 4), dice.choice([0.05, 0.1, 0.3, 0.5, 0.9])
    low = dice.choice([0.1, 0.3])
    return dice.choice(
        [
            CrowdCurve(k, 0.0, rate),
            CrowdCurve(k, 0.0, rate),
            AmplifiedCurve(dice.choice([0.3, 1.0, 3.0]), 0.0, rate),
            ClosenessCurve(dice.choice([0.1, 0.7]), dice.choice([0.0, 1e-3])),
            BiasedCurve(4, 0.0, low, low + 0.05, 1, dice.choice([low + 0.05, 0.6])),
            ProgrammeCurve(
                rate,
                (
                    PartInCrowds(0.5, dice.randint(1, 3), 0.0),
                    PartInCrowds(dice.choice([0.25, 0.5]), dice.randint(1, 3), 0.0),
                ),
            ),
            SplitCurve(dice.choice([0.5, 1.5]), dice.randint(2, 3), dice.choice([0.3, 0.6]), 0.25),
        ]
    )


def random_curves(dice: random.Random) -> list[LossCurve]:
    return [random_curve(dice) for _ in range(dice.randint(1, 3))]


SEEDS = range(40)


@for_each("seed", SEEDS, daily=10)
def test_no_product_of_small_worlds_exceeds_the_composed_profile(seed: int) -> None:
    dice = random.Random(seed)
    curves = random_curves(dice)
    for reacts in (False, True):
        outcomes = list(products(curves, dice, reacts))
        for epsilon in EPSILONS:
            for swapped, claimed in zip((False, True), claims(curves, epsilon), strict=True):
                truth = divergence(outcomes, epsilon, swapped)
                assert arb(truth.numerator) <= claimed * truth.denominator, (curves, epsilon, swapped)


@pytest.mark.parametrize(
    ("curve", "deltas"), [(CrowdCurve(3, 0.0, 0.3), (0.06, 0.11)), (CrowdCurve(4, 0.0, 0.5), (0.15, 0.2))]
)
def test_a_composed_epsilon_is_true_and_not_far_from_it(curve: CrowdCurve, deltas: tuple[float, ...]) -> None:
    """The worst of all pairs of class sizes is within a few percent: the curve takes the worst size at each ε."""
    twice = Profile((Uses(curve, 2),))
    for delta in deltas:
        epsilon = epsilon_of(twice, delta)
        sizes = range(1, 9)
        worst = Fraction(0)
        for n in sizes:
            for m in sizes:
                pair = [
                    list(
                        zip(
                            binomial(size, Fraction(curve.rate)),
                            [*binomial(size - 1, Fraction(curve.rate)), Fraction(0)],
                            strict=True,
                        )
                    )
                    for size in (n, m)
                ]
                shown = [
                    [(sum(p for p, _ in c[: curve.k]), sum(q for _, q in c[: curve.k])), *c[curve.k :]] for c in pair
                ]
                outcomes = [(p * a, q * b) for p, q in shown[0] for a, b in shown[1]]
                worst = max(worst, *(divergence(outcomes, epsilon, swapped) for swapped in (False, True)))
        assert delta * 0.6 <= worst <= delta


@for_each(("epsilon", "times"), [(0.5, 1), (0.5, 3), (1.0, 10), (0.125, 20), (0.3, 7)])
def test_pure_releases_compose_to_randomized_response(epsilon: float, times: int) -> None:
    """Σ C(m, j)·(e^{jε} − e^{ε' + (m−j)ε})₊/(1 + e^ε)^m, to within 1e-9 and never below."""
    repeated = Profile((Uses(ClosenessCurve(epsilon, 0.0), times),))
    with ctx.workprec(300):
        for share in (0.0, 0.13, 0.5, 0.9, 1.0):
            target = epsilon * times * share
            most = arb(epsilon).exp()
            truth = arb(0)
            for j in range(times + 1):
                gain = most**j - arb(target).exp() * most ** (times - j)
                truth += math.comb(times, j) * gain.nonnegative_part() / (1 + most) ** times
            claimed = arb(delta_of(repeated, target))
            assert claimed >= truth.lower()
            assert claimed - truth < 1e-9


@for_each("flag", [False, True])
@for_each(("k", "rate", "loss"), [(3, 0.3, 1.0), (2, 0.1, 2.0)])
def test_noise_below_k_composes_truly(k: int, rate: float, loss: float, flag: bool) -> None:
    """All pairs of class sizes, in balls: two releases of a count that is exact from k on and noisy below."""
    claimed = {e: claims([NoisyCountCurve(k, loss, rate, flag)] * 2, e) for e in (0.05, 0.5, 1.0)}
    with ctx.workprec(200):
        a, p = (-arb(loss)).exp(), arb(rate)
        reach = 16

        def counts(n: int) -> list[arb]:
            return [math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1)]

        def law(n: int) -> list[arb]:
            noisy = [arb(0)] * (2 * reach + 1)
            exact = [arb(0)] * (2 * reach + 1)
            for j, chance in enumerate(counts(n)):
                if j >= k:
                    exact[j + reach] += chance
                else:
                    for y in range(-reach, reach + 1):
                        noisy[y + reach] += chance * (1 - a) / (1 + a) * a ** abs(y - j)
            return noisy + exact if flag else [x + y for x, y in zip(noisy, exact, strict=True)]

        laws = [law(n) for n in range(6)]
        for n in (1, 2, k, 5):
            for m in (1, k):
                first, second = (list(zip(laws[size], laws[size - 1], strict=True)) for size in (n, m))
                for epsilon, bound in claimed.items():
                    growth = arb(epsilon).exp()
                    up = sum(((x * z - growth * y * w).nonnegative_part() for x, y in first for z, w in second), arb(0))
                    down = sum(
                        ((y * w - growth * x * z).nonnegative_part() for x, y in first for z, w in second), arb(0)
                    )
                    assert not up > bound[0]
                    assert not down > bound[1]


def test_outlier_tables_compose_truly() -> None:
    """Two releases of bins of any two sizes, in balls, up to a cut of the noise far out."""
    epsilon, transition, limit = 0.5, 3, 8
    claimed = {e: claims([OutlierCurve(epsilon, transition, limit)] * 2, e) for e in (0.2, 0.7, 1.0)}
    with ctx.workprec(128):

        def law(j: int) -> list[arb]:
            loss = arb(transition) * epsilon / (limit - j) if j < limit - transition else arb(epsilon)
            a = (-loss).exp()
            return [(1 - a) / (1 + a) * a ** abs(y - j) for y in range(-60, 80)]

        for j in (1, 4, 5, 7):
            first, second = (list(zip(law(size), law(size - 1), strict=True)) for size in (j, 5))
            for e, bound in claimed.items():
                growth = arb(e).exp()
                for swapped in (False, True):
                    total = arb(0)
                    for x, y in first:
                        for z, w in second:
                            p, q = (y * w, x * z) if swapped else (x * z, y * w)
                            total += (p - growth * q).nonnegative_part()
                    assert not total > bound[swapped]


@for_each("seed", range(8))
def test_replacing_and_groups_are_covered(seed: int) -> None:
    """Two classes, one loses a person and the other gains one; or both gain one."""
    dice = random.Random(seed)
    k, rate = dice.randint(1, 3), dice.choice([0.1, 0.3, 0.5])
    curve = CrowdCurve(k, 0.0, rate)
    once = Profile((Uses(curve, 1),))
    one, other = suppressed(curve, dice), suppressed(curve, dice)
    replaced = [(p * b, q * a) for p, q in one for a, b in other]
    both = [(p * a, q * b) for p, q in one for a, b in other]
    for epsilon in EPSILONS:
        for swapped in (False, True):
            assert divergence(replaced, epsilon, swapped) <= Fraction(replaced_delta_of(once, epsilon))
            assert divergence(both, epsilon, swapped) <= Fraction(group_delta_of(once, epsilon, 2))


def test_points_without_noise_and_unbiased_crowds_are_crowds() -> None:
    """Directions agree: what hides people completely has the curve of suppression, each way."""
    crowds = pair_of(CrowdCurve(6, 0.0, 0.2), 2.0**-8, 1e-16)
    for other in (PointCurve(6, 1e-9, 0.2), AmplifiedCurve(50.0, 0.0, 0.2)):
        pair = pair_of(other, 2.0**-8, 1e-16)
        for epsilon in (0.02, 0.1, 0.21):
            for law, least in ((pair.up, crowds.up), (pair.down, crowds.down)):
                assert law.delta(epsilon) >= least.delta(epsilon) * (1 - 1e-7)
        assert float(pair.down.delta(0.23)) < 1e-12 < float(pair.up.delta(0.23))
    points = pair_of(PointCurve(6, 1e-9, 0.2), 2.0**-8, 1e-16)
    for epsilon in (0.05, 0.15):
        assert float(points.up.delta(epsilon)) == pytest.approx(float(crowds.up.delta(epsilon)), rel=1e-2)
        assert float(points.down.delta(epsilon)) == pytest.approx(float(crowds.down.delta(epsilon)), rel=1e-2)


@for_each("loss", [0.5, 1.5])
@for_each(("rate", "share"), [(0.6, 0.25), (0.3, 0.5)])
def test_a_choosing_part_is_covered_when_the_person_is_missing(loss: float, rate: float, share: float) -> None:
    """The person alone, in a table without a threshold, and a choice that their vote makes as unlikely as it may."""
    curve = SplitCurve(loss, 1, rate, share)
    beta, part = Fraction(rate), Fraction(share)
    most = Fraction(math.exp(loss) * (1 - 1e-12))
    usual = most / (most + 1)
    released = beta * (1 - part)
    seldom = usual / most
    outcomes = []
    for without, deciding in ((usual, seldom), (1 - usual, 1 - seldom)):
        outcomes.append((beta * part * deciding + (1 - beta) * without, without))
        outcomes.append((released * without, Fraction(0)))
    for epsilon in (0.0, 0.02, 0.1, 0.2, 0.3):
        for swapped, claimed in zip((False, True), claims([curve], epsilon), strict=True):
            truth = divergence(outcomes, epsilon, swapped)
            assert arb(truth.numerator) <= claimed * truth.denominator, (epsilon, swapped)
            # Not far above it either, where anything is lost.
            assert epsilon > 0.02 or float(claimed) < 2.3 * float(truth)
