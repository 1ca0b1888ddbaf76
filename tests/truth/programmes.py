"""Small worlds of mechanisms of any kinds on parts of one sample, or all on one sample, enumerated in exact fractions.

A mechanism has the law of its output on a table of values, the term that the kernel uses for it, and the part that the
rules know it by. Integer noise is exact: beyond both ends of a window it is one outcome each (`noise_below_k.blurred`).
"""

import random
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod

from crowdblend.trusted.guarantees.profiles import ClosenessCurve, Uses
from crowdblend.trusted.guarantees.programme import PartInCrowds, PartOfPoints, PartOfSample, PartWithNoise, PrivatePart
from crowdblend.trusted.numerics.laplace import step_divergences
from crowdblend.trusted.numerics.programme import CrowdTerm, NoiseTerm, OwnTerm, PointTerm, Term

from . import fractions_arithmetic as exact
from .distributions import Distribution, both, epsilon_above, mix, surely
from .noise_below_k import blurred

ONE, ZERO = Fraction(1), Fraction(0)
# Integer noise is told apart up to here; no table has more people.
WINDOW = 6
Table = tuple[int, ...]


@dataclass(frozen=True)
class Mechanism:
    """What is computed from a part: `classes` says in which class a value is."""

    classes: tuple[int, ...]

    def law(self, table: Table, _earlier: tuple = ()) -> Distribution:
        raise NotImplementedError

    def term(self) -> Term:
        raise NotImplementedError

    def part(self, share: float) -> PartOfSample:
        raise NotImplementedError

    def counts(self, table: Table) -> list[int]:
        found = Counter(self.classes[value] for value in table)
        return [found[label] for label in sorted(set(self.classes))]


@dataclass(frozen=True)
class Suppressed(Mechanism):
    k: int

    def law(self, table: Table, _earlier: tuple = ()) -> Distribution:
        return surely(tuple(count if count >= self.k else 0 for count in self.counts(table)))

    def term(self) -> Term:
        return CrowdTerm(self.k, ONE)

    def part(self, share: float) -> PartOfSample:
        return PartInCrowds(share, self.k, 0.0)


@dataclass(frozen=True)
class NoiseBelow(Mechanism):
    """Exact from k on, integer noise below. Where it only blends, the kernel may know no more than that."""

    k: int
    ratio: Fraction
    flag: bool
    blends: bool = False

    def law(self, table: Table, _earlier: tuple = ()) -> Distribution:
        made: Distribution = surely(())
        for count in self.counts(table):
            made = both(made, self._cell(count))
        return made

    def _cell(self, count: int) -> Distribution:
        if count >= self.k:
            return surely(("exact", count) if self.flag else count)
        return blurred(count, self.ratio, 0, WINDOW)

    def term(self) -> Term:
        return CrowdTerm(self.k, 1 / self.ratio) if self.blends else NoiseTerm(self.k, self.ratio, self.flag)

    def part(self, share: float) -> PartOfSample:
        loss = epsilon_above(1 / self.ratio)
        return PartInCrowds(share, self.k, loss) if self.blends else PartWithNoise(share, self.k, loss, self.flag)


@dataclass(frozen=True)
class Moved(Mechanism):
    """Blocks of fewer than k are dropped; every other point says on which side it is, rightly with odds `blend`."""

    k: int
    blend: Fraction

    def law(self, table: Table, _earlier: tuple = ()) -> Distribution:
        made: Distribution = surely(())
        for label in sorted(set(self.classes)):
            block = [value for value in table if self.classes[value] == label]
            made = both(made, self._block(block) if len(block) >= self.k else surely(None))
        return made

    def _block(self, block: list[int]) -> Distribution:
        right = self.blend / (self.blend + 1)
        sides = {(0, 0): ONE}
        for value in block:
            moved: dict[tuple[int, int], Fraction] = {}
            for (left, other), chance in sides.items():
                for side, weight in ((value % 2, right), (1 - value % 2, 1 - right)):
                    key = (left + (side == 0), other + (side == 1))
                    moved[key] = moved.get(key, ZERO) + chance * weight
            sides = moved
        return sides  # type: ignore[return-value]

    def term(self) -> Term:
        return PointTerm(self.k, self.blend)

    def part(self, share: float) -> PartOfSample:
        return PartOfPoints(share, self.k, epsilon_above(self.blend))


@dataclass(frozen=True)
class _Private(Mechanism):
    ratio: Fraction

    def term(self) -> Term:
        return OwnTerm(lambda more, fewer: (closeness(1 / self.ratio, more), closeness(1 / self.ratio, fewer)))

    def part(self, share: float) -> PartOfSample:
        return PrivatePart(share, (self.use(),))

    def use(self) -> Uses:
        return Uses(ClosenessCurve(epsilon_above(1 / self.ratio), 0.0), 1)


@dataclass(frozen=True)
class Laplace(_Private):
    """Integer noise on every count."""

    def law(self, table: Table, _earlier: tuple = ()) -> Distribution:
        made: Distribution = surely(())
        for count in self.counts(table):
            made = both(made, blurred(count, self.ratio, 0, WINDOW))
        return made


@dataclass(frozen=True)
class Response(_Private):
    """Whether the people of a class are odd in number, told rightly with odds 1/ratio."""

    def law(self, table: Table, _earlier: tuple = ()) -> Distribution:
        odd = self.counts(table)[0] % 2
        return {odd: 1 / (1 + self.ratio), 1 - odd: self.ratio / (1 + self.ratio)}


@dataclass(frozen=True)
class Fading(Mechanism):
    """Integer noise whose ratio depends on the count; the last one serves all larger counts."""

    ratios: tuple[Fraction, ...]

    def law(self, table: Table, _earlier: tuple = ()) -> Distribution:
        made: Distribution = surely(())
        for count in self.counts(table):
            made = both(made, self._cell(count))
        return made

    def _cell(self, count: int) -> Distribution:
        """Listed in a window; what is beyond is one outcome, so that a little less is told apart than there is."""
        ratio = self.ratio(count)
        listed = {y: (1 - ratio) / (1 + ratio) * ratio ** abs(y - count) for y in range(-3, WINDOW + 3)}
        return {**listed, "beyond": 1 - sum(listed.values())}

    def ratio(self, count: int) -> Fraction:
        return self.ratios[min(count, len(self.ratios) - 1)]

    def divergences(self, more: Fraction, fewer: Fraction) -> tuple[Fraction, Fraction]:
        steps = [(self.ratio(count), self.ratio(count - 1)) for count in range(1, len(self.ratios) + 1)]
        return (
            max(step_divergences(exact, *step, more)[0] for step in steps),
            max(step_divergences(exact, *step, fewer)[1] for step in steps),
        )

    def term(self) -> Term:
        return OwnTerm(self.divergences)


@dataclass(frozen=True)
class Chooses(Response):
    """A response that the next publication tabulates by."""


@dataclass(frozen=True)
class Chosen(Suppressed):
    """Suppression by one class for all, or by classes, as the first publication says."""

    def law(self, table: Table, earlier: tuple = ()) -> Distribution:
        merged = earlier[0] == 0
        recoded = replace(self, classes=(0,) * len(self.classes)) if merged else self
        return Suppressed.law(recoded, table)


@dataclass(frozen=True)
class Lists(Mechanism):
    """The exact count of the second class. It says nothing of people of the first."""

    def law(self, table: Table, _earlier: tuple = ()) -> Distribution:
        return surely(self.counts(table)[1])

    def term(self) -> Term:
        return OwnTerm(lambda _more, _fewer: (ZERO, ZERO))


def closeness(growth: Fraction, factor: Fraction) -> Fraction:
    return max(growth - factor, ZERO) / (growth + 1)


@dataclass(frozen=True)
class World:
    """A person and some others, each with a value, and mechanisms with their shares of one sample."""

    person: int
    others: Table
    mechanisms: tuple[Mechanism, ...]
    rate: Fraction
    shares: tuple[Fraction, ...]

    @property
    def parts(self) -> list[tuple[Fraction, Term]]:
        return [(share, made.term()) for share, made in zip(self.shares, self.mechanisms, strict=True)]

    def laws(self, rates: tuple[Fraction, ...] = ()) -> tuple[Distribution, Distribution]:
        """What is published with the person and without, each publication of its part; `rates` as below."""
        people, each = (*self.others, self.person), rates or (self.rate,) * (len(self.others) + 1)
        return self._law(people, each), self._law(self.others, each[:-1])

    def _law(self, people: Table, rates: tuple[Fraction, ...]) -> Distribution:
        chances = [[1 - rate * sum(self.shares), *(rate * share for share in self.shares)] for rate in rates]
        worlds: Counter = Counter()
        for places in product(range(len(self.shares) + 1), repeat=len(people)):
            tables = tuple(
                tuple(sorted(value for value, place in zip(people, places, strict=True) if place == part))
                for part in range(1, len(self.shares) + 1)
            )
            worlds[tables] += prod(own[place] for own, place in zip(chances, places, strict=True))
        return mix((chance, self._published(tables)) for tables, chance in worlds.items())

    def laws_of_one_sample(self, rates: tuple[Fraction, ...] = ()) -> tuple[Distribution, Distribution]:
        """The same where every mechanism sees the whole sample; the others, then the person, have `rates` of theirs."""
        people, each = (*self.others, self.person), rates or (self.rate,) * (len(self.others) + 1)
        return self._law_of_one_sample(people, each), self._law_of_one_sample(self.others, each[:-1])

    def _law_of_one_sample(self, people: Table, rates: tuple[Fraction, ...]) -> Distribution:
        tables = ((chance, (table,) * len(self.mechanisms)) for table, chance in _samples(people, rates).items())
        return mix((chance, self._published(each)) for chance, each in tables)

    def laws_of_fresh_samples(self) -> tuple[Distribution, Distribution]:
        """The same where every mechanism sees a sample of its own."""
        people = (*self.others, self.person)
        return self._law_of_fresh_samples(people), self._law_of_fresh_samples(self.others)

    def _law_of_fresh_samples(self, people: Table) -> Distribution:
        samples, made = _samples(people, (self.rate,) * len(people)), {(): ONE}
        for mechanism in self.mechanisms:
            laws: dict[tuple, Distribution] = {}
            known: dict[tuple, Fraction] = {}
            for before, chance in made.items():
                earlier = before if isinstance(mechanism, Chosen) else ()
                if earlier not in laws:
                    laws[earlier] = mix((part, _law(mechanism, table, earlier)) for table, part in samples.items())
                for outcome, weight in laws[earlier].items():
                    known[*before, outcome] = chance * weight
            made = known
        return made  # type: ignore[return-value]

    def _published(self, tables: tuple[Table, ...]) -> Distribution:
        made: dict[tuple, Fraction] = {(): ONE}
        for mechanism, table in zip(self.mechanisms, tables, strict=True):
            known: dict[tuple, Fraction] = {}
            for earlier, chance in made.items():
                law = _law(mechanism, table, earlier if isinstance(mechanism, Chosen) else ())
                for outcome, weight in law.items():
                    known[*earlier, outcome] = chance * weight
            made = known
        return made  # type: ignore[return-value]


def _samples(people: Table, rates: tuple[Fraction, ...]) -> dict[Table, Fraction]:
    """Return every sample of people, with its probability."""
    found: Counter = Counter()
    for kept in product((0, 1), repeat=len(people)):
        table = tuple(sorted(value for value, keep in zip(people, kept, strict=True) if keep))
        found[table] += prod(rate if keep else 1 - rate for rate, keep in zip(rates, kept, strict=True))
    return found


@lru_cache(maxsize=4096)
def _law(mechanism: Mechanism, table: Table, earlier: tuple) -> Distribution:
    return mechanism.law(table, earlier)


def random_mechanism(dice: random.Random, values: int, kinds: tuple[type[Mechanism], ...]) -> Mechanism:
    classes = tuple(dice.choice([0, 0, 1]) for _ in range(values))
    kind = dice.choice(kinds)
    k, ratio = dice.randint(1, 3), Fraction(1, dice.choice([2, 3, 5, 10]))
    if kind is Suppressed:
        return Suppressed(classes, k)
    if kind is NoiseBelow:
        return NoiseBelow((0,) * values, k, ratio, dice.random() < 0.5, dice.random() < 0.4)
    if kind is Moved:
        return Moved((0,) * values, k, 1 / ratio)
    if kind is Fading:
        return Fading((0,) * values, tuple(Fraction(1, dice.choice([2, 3, 4])) for _ in range(3)))
    return kind(classes, ratio)  # type: ignore[call-arg]


INTEGER_NOISE = (NoiseBelow, Fading, Laplace)
ANY_KIND = (Suppressed, NoiseBelow, Moved, Laplace, Response, Fading)
PRIVATE = (Laplace, Response)


def random_world(seed: int, kinds: tuple[type[Mechanism], ...] = ANY_KIND) -> World:
    """Two to four publications, of which the first may choose by what the second tabulates."""
    dice = random.Random(seed)
    parts, values = dice.choice([2, 2, 2, 3, 3, 4]), dice.choice([1, 2, 2])
    mechanisms = [random_mechanism(dice, values, kinds) for _ in range(parts)]
    if Suppressed in kinds and dice.random() < 0.2:
        mechanisms[0] = Chooses(tuple(dice.randrange(2) for _ in range(values)), Fraction(1, 3))
        mechanisms[1] = Chosen(tuple(range(values)), dice.randint(1, 3))
    # At most two publications have noise on whole numbers, so that outcomes stay few.
    noisy = [place for place, made in enumerate(mechanisms) if isinstance(made, INTEGER_NOISE)]
    for place in noisy[2 if parts == 2 else 1 :]:
        mechanisms[place] = Response((0,) * values, Fraction(1, 2))
    weights = [dice.randint(1, 5) for _ in mechanisms]
    unused = dice.choice([0, 0, dice.randint(1, 4)])
    return World(
        person=0,
        others=tuple(dice.randrange(values) for _ in range(dice.randint(0, {2: 4, 3: 3, 4: 2}[parts]))),
        mechanisms=tuple(mechanisms),
        rate=Fraction(dice.randint(1, 9), 10),
        shares=tuple(Fraction(weight, sum(weights) + unused) for weight in weights),
    )
