"""Mechanisms with exact output distributions: the papers' examples, and random ones that test every corner."""

import random
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

from .distributions import Distribution, surely
from .noise_below_k import blurred
from .worlds import Mechanism, Table, counts, remembered

Classes = Callable[[int], Hashable]


def suppressed_histogram(classes: Classes, k: int) -> Mechanism:
    """CBP 3.1, first example: counts below k are not shown."""
    return lambda table: surely(frozenset((c, n) for c, n in counts(table, classes).items() if n >= k))


def generalized_records(recode: Classes, k: int) -> Mechanism:
    """CBP 3.1, third example: recoded records whose value occurs k times or more, in a fixed order."""

    def release(table: Table) -> Distribution:
        recoded = [recode(value) for value in table]
        return surely(tuple(sorted(value for value in recoded if recoded.count(value) >= k)))

    return release


def noisy_histogram(cells: Sequence[Hashable], classes: Classes, k: int, ratio: Fraction, most: int) -> Mechanism:
    """CBP 3.1, second example: every declared cell, exact from k on and with integer noise below."""

    def release(table: Table) -> Distribution:
        found = counts(table, classes)
        output: dict[Hashable, Fraction] = {(): Fraction(1)}
        for cell in cells:
            size = found.get(cell, 0)
            shown = surely(size) if size >= k else blurred(size, ratio, 0, most)
            output = {(*o, x): p * q for o, p in output.items() for x, q in shown.items()}
        return output

    return remembered(release)


def random_distribution(rng: random.Random, outcomes: int, zeros: float = 0.0) -> dict[Hashable, Fraction]:
    """Small whole weights, some of them 0."""
    weights = [0 if rng.random() < zeros else rng.randint(1, 9) for _ in range(outcomes)]
    if not any(weights):
        weights[rng.randrange(outcomes)] = 1
    return {o: Fraction(w, sum(weights)) for o, w in enumerate(weights)}


def tilted(base: Distribution, rng: random.Random, most: Fraction) -> dict[Hashable, Fraction]:
    """The base with each mass multiplied by 1 or `most` and rescaled: at most a factor most² from any other tilt."""
    raw = {o: mass * rng.choice((Fraction(1), most)) for o, mass in base.items()}
    total = sum(raw.values())
    return {o: mass / total for o, mass in raw.items()}


def random_mechanism(seed: Hashable, outcomes: int = 3, zeros: float = 0.2) -> Mechanism:
    """An arbitrary mechanism: an unrelated distribution for every table."""
    return remembered(lambda table: random_distribution(random.Random(f"{seed}{table}"), outcomes, zeros))


def random_gentle_mechanism(seed: Hashable, most: Fraction, outcomes: int = 3) -> Mechanism:
    """A mechanism that tells any two tables apart by at most a factor most²."""
    base = random_distribution(random.Random(f"{seed}"), outcomes)
    return remembered(lambda table: tilted(base, random.Random(f"{seed}{table}"), most))


def random_blending_mechanism(seed: Hashable, classes: Classes, k: int, most: Fraction, outcomes: int = 3) -> Mechanism:
    """An arbitrary function of the counts of at least k, tilted by everything else: (k, ln most²)-crowd-blending.

    Not even members of one class are treated alike, which is all that Definition 4 allows.
    """
    shown = suppressed_histogram(classes, k)

    def release(table: Table) -> Distribution:
        ((visible, _),) = shown(table).items()
        base = random_distribution(random.Random(f"{seed}{sorted(visible, key=str)}"), outcomes, 0.4)
        return tilted(base, random.Random(f"{seed}{table}"), most)

    return remembered(release)
