"""The definitions themselves, read literally on every table of a tiny world."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

from .distributions import divergence, largest_divergence
from .worlds import Mechanism, neighbours, rows, tables, with_value, without


def crowd_blending(mechanism: Mechanism, values: Sequence[int], most: int, k: int, growth: Fraction) -> bool:
    """CBP Definition 4: everybody blends with k people of the table, or can be removed, up to the factor growth."""
    blends = {
        pair
        for t, other in combinations_with_replacement(values, 2)
        for pair in ((t, other), (other, t))
        if all(
            divergence(mechanism(with_value(rest, t)), mechanism(with_value(rest, other)), growth) == 0
            for rest in tables(values, most - 1)
        )
    }
    return all(
        sum((t, other) in blends for other in table) >= k
        or divergence(mechanism(table), mechanism(without(table, index)), growth) == 0
        for table in tables(values, most)
        for index, t in enumerate(table)
    )


def add_remove_delta(mechanism: Mechanism, values: Sequence[int], most: int, growth: Fraction) -> Fraction:
    """The least δ of differential privacy with one person more or less."""
    return largest_divergence(((mechanism(a), mechanism(b)) for a, b in neighbours(values, most)), growth)


def replace_delta(mechanism: Mechanism, values: Sequence[int], n: int, growth: Fraction, people: int = 1) -> Fraction:
    """The least δ of differential privacy with the data of up to `people` rows replaced, on ordered tables of n."""
    everything = list(rows(values, n))
    pairs = (
        (mechanism(a), mechanism(b))
        for a in everything
        for b in everything
        if a < b and sum(x != y for x, y in zip(a, b, strict=True)) <= people
    )
    return largest_divergence(pairs, growth)
