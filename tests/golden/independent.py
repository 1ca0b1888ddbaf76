"""What golden releases guarantee, computed once more from their facts alone.

Nothing here is the product's: laws of counts are tabulated and compared outcome by outcome, in floating point, at the
worst number of people. A release with (ε, δ) that are smaller than the truth would be smaller than these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import binom, norm

Facts = dict[str, Any]
# The laws of what is published with the person and without.
Pair = tuple[np.ndarray, np.ndarray]
Divergence = Callable[[float], tuple[float, float]]
FAR = 220


def hockey(p: np.ndarray, q: np.ndarray, factor: float) -> float:
    """The largest P(S) − factor·Q(S) of any event."""
    return float(np.maximum(p - factor * q, 0).sum())


def both_ways(pair: Pair, factor: float) -> tuple[float, float]:
    return hockey(*pair, factor), hockey(*pair[::-1], factor)


def worst(pairs: Sequence[Pair], factor: float) -> tuple[float, float]:
    """The larger divergence at the worst of several pairs, in each direction."""
    each = [both_ways(pair, factor) for pair in pairs]
    return max(up for up, _ in each), max(down for _, down in each)


def counts(n: int, rate: float) -> np.ndarray:
    return binom.pmf(np.arange(FAR * 4), n, rate)


def suppressed(k: int, law: np.ndarray) -> np.ndarray:
    """What is seen of a count that is shown from k on."""
    return np.array([law[:k].sum(), *law[k:]])


def sizes(k: int, rate: float) -> range:
    """Numbers of people around those at which a crowd of k just appears."""
    return range(1, int(4 * k / rate) + 2)


def crowd(k: int, rate: float, person: float | None = None) -> list[Pair]:
    """A crowd of which everybody is counted with `rate`, and the person with a probability of their own."""
    own = rate if person is None else person
    found = []
    for n in sizes(k, rate):
        without = counts(n - 1, rate)
        with_person = own * np.concatenate([[0.0], without[:-1]]) + (1 - own) * without
        found.append((suppressed(k, with_person), suppressed(k, without)))
    return found


def laplace(loss: float) -> np.ndarray:
    """Masses of discrete Laplace noise from −FAR to FAR."""
    ratio = math.exp(-loss)
    return (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-FAR, FAR + 1))


def noisy_below(k: int, loss: float, flag: bool, law: np.ndarray) -> np.ndarray:
    """Counts that are exact from k on and noisy below, which say so or not."""
    noise = np.convolve(law[:k], laplace(loss))
    exact = np.zeros(len(noise) if flag else max(len(noise), FAR + len(law)))
    if flag:
        return np.concatenate([noise, law[k:]])
    exact[: len(noise)] = noise
    exact[FAR + k : FAR + len(law)] += law[k:]
    return exact


def noisy_crowd(k: int, loss: float, flag: bool, rate: float, person: float | None = None) -> list[Pair]:
    own = rate if person is None else person
    found = []
    for n in sizes(k, rate):
        without = counts(n - 1, rate)
        with_person = own * np.concatenate([[0.0], without[:-1]]) + (1 - own) * without
        found.append((noisy_below(k, loss, flag, with_person), noisy_below(k, loss, flag, without)))
    return found


def shifted(loss: float) -> Pair:
    """Laplace noise on a count with the person and without: two sets of outcomes tell all."""
    more = 1 / (1 + math.exp(-loss))
    return np.array([more, 1 - more]), np.array([1 - more, more])


def threshold(loss: float, show_from: int) -> list[Pair]:
    """A noisy count that is shown from a threshold on, and never where nobody is."""
    found = []
    for people in range(1, 4 * show_from):
        laws = []
        for x in (people, people - 1):
            values = np.roll(np.pad(laplace(loss), (0, 4 * show_from)), x)  # the place FAR is the value 0
            shown = values[FAR + show_from :] if x else np.zeros_like(values[FAR + show_from :])
            laws.append(np.array([1 - shown.sum(), *shown]))
        found.append((laws[0], laws[1]))
    return found


def sized(epsilon: float, transition: int, limit: int) -> list[Pair]:
    """Bins with the more noise the smaller they are."""
    found, values = [], np.arange(-40 * limit, 41 * limit)
    for people in range(1, limit + 2):
        laws = []
        for x in (people, people - 1):
            loss = epsilon if x >= limit - transition else transition * epsilon / (limit - x)
            ratio = math.exp(-loss)
            laws.append((1 - ratio) / (1 + ratio) * ratio ** np.abs(values - x))
        found.append((laws[0], laws[1]))
    return found


def product(*pairs: Pair) -> Pair:
    """Independent outcomes together."""
    p, q = np.ones(1), np.ones(1)
    for one, other in pairs:
        p, q = np.outer(p, one).ravel(), np.outer(q, other).ravel()
    return p, q


def sampled(pairs: Sequence[Pair], rate: float, factor: float) -> tuple[float, float]:
    """The divergences where the person is in the sample with a rate, and what is seen of the sample as these laws."""
    return worst([(rate * p + (1 - rate) * q, q) for p, q in pairs], factor)


def amplified(loss: float, rate: float) -> float:
    """The loss to everybody of noise with this loss to the people of a sample."""
    return math.log1p(rate * math.expm1(loss))


def points(k: int, loss: float, rate: float, factor: float) -> tuple[float, float]:
    """Points of blocks of at least k, moved by noise: all that they tell is a likelihood ratio L, besides the count.

    Of k − 1 others each looks like both places with a chance of e^−loss, and then like one as often as like the other;
    of w points that look alike, u look like the one: L = (bu + v)/(u + bv), v = w − u.
    """
    blend = math.exp(loss)
    alike = binom.pmf(np.arange(k), k - 1, 1 / blend)
    ratios: list[tuple[float, float]] = []
    for w, chance in enumerate(alike, start=1):
        for u in range(w + 1):
            v = w - u
            mass = math.comb(w, u) / 2**w * 2 * (u + blend * v) / (w * (blend + 1)) * chance
            ratios.append(((blend * u + v) / (u + blend * v), mass))
    laws = [counts(n, rate) for n in range(k - 1, int(3 * k / rate))]
    pairs = [(suppressed(k, np.concatenate([[0.0], law[:-1]])), suppressed(k, law)) for law in laws]
    most, gain = 1 + (factor - 1) / rate, 1 - factor * (1 - rate)
    cells = {round(ratio, 2) for ratio, mass in ratios if mass > 1e-15}
    up = {cell: worst(pairs, most / cell)[0] for cell in cells}
    least = factor * rate / gain if gain > 0 else math.inf
    down = {cell: worst(pairs, least * cell)[1] if gain > 0 else 0.0 for cell in cells}
    kept = [(round(ratio, 2), ratio, mass) for ratio, mass in ratios if mass > 1e-15]
    return (
        rate * sum(mass * ratio * up[cell] for cell, ratio, mass in kept),
        max(gain, 0.0) * sum(mass * down[cell] for cell, _, mass in kept),
    )


def part(pairs: Sequence[Pair], together: float, factor: float) -> tuple[float, float]:
    """What a part costs a person who is in it with the probability of being in any."""
    return sampled(pairs, together, factor)


def gaussian(sigmas: Sequence[float], epsilon: float) -> float:
    """The δ of normal noise on many counts (Balle and Wang 2018, theorem 8)."""
    mean = math.sqrt(sum(1 / sigma**2 for sigma in sigmas))
    return float(norm.cdf(mean / 2 - epsilon / mean) - math.exp(epsilon) * norm.cdf(-mean / 2 - epsilon / mean))
