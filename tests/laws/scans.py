"""Suprema over class sizes by brute force: every n in turn, until Chernoff's bound ends the scan.

Divergences are summed outcome by outcome from their definition (THEORY 3.3 to 3.5 and 3.9), at 60 digits.
"""

from collections.abc import Callable, Iterator
from typing import Any

from mpmath import mp, mpf

from crowdblend.trusted.guarantees.programme import PartOfSample, PartWithNoise, PrivatePart

mp.dps = 60


def entropy(x: Any, p: Any) -> Any:
    """KL(x‖p) of two coins; an impossible x has no mass at all."""
    if not 0 < x < 1:
        return -mp.log(p) if x >= 1 else -mp.log(1 - p)
    return x * mp.log(x / p) + (1 - x) * mp.log((1 - x) / (1 - p))


def binomials(p: Any) -> Iterator[list[Any]]:
    """The pmf of Bin(0, p), Bin(1, p), …, each from the last by one more coin."""
    pmf = [mpf(1)]
    while True:
        yield pmf
        pmf = [(1 - p) * (pmf[j] if j < len(pmf) else 0) + p * (pmf[j - 1] if j else 0) for j in range(len(pmf) + 1)]


def divergence(here: list[Any], there: list[Any], growth: Any) -> Any:
    """Σ(here − growth·there)₊ over outcomes."""
    return sum((max(mpf(0), x - growth * y) for x, y in zip(here, there, strict=True)), mpf(0))


def both_ways(here: list[Any], there: list[Any], growth: Any) -> Any:
    return max(divergence(here, there, growth), divergence(there, here, growth))


def _rest(p: Any, growth: Any, n: int, k: int) -> Any:
    """A bound for every class larger than n (THEORY 3.3): the count itself is all that is published."""
    gamma, theta = 1 - (1 - p) / growth, 1 - growth * (1 - p)
    if growth == 1:
        return p * max(next(pmf for size, pmf in enumerate(binomials(p)) if size == n))
    up = mp.exp(-n * entropy(gamma, p))
    if theta <= 0:
        return up
    return mpf(1) if n * theta <= k else max(up, (1 / (1 - p) - growth) * mp.exp(-n * entropy(theta, p)))


def one_way(shown: Callable[[list[Any]], list[Any]], own: Any, others: Any, growth: Any, *, more: bool) -> Any:
    """The worst class for a person who is there with probability `own`, everybody else with probability `others`.

    What is published is computed from the count, whose divergence cannot grow with n: adding a coin to both sides is
    post-processing.
    """
    best = mpf(0)
    for n, pmf in enumerate(binomials(others)):
        without = [*pmf, mpf(0)]
        with_person = [(1 - own) * x + own * y for x, y in zip(without, [mpf(0), *pmf], strict=True)]
        here, there = (with_person, without) if more else (without, with_person)
        best = max(best, divergence(shown(here), shown(there), growth))
        rest = divergence(here, there, growth)
        if n >= 3 and (rest <= best or rest < mpf("1e-40")):
            return best
    raise AssertionError("sizes do not end")


def programme(parts: list[PartOfSample], rate: Any, epsilon: Any) -> Any:
    """The average over the parts of their divergences, in the direction in which it is larger."""
    growth, total = mp.exp(mpf(epsilon)), max(mpf(1), sum(mpf(part.share) for part in parts))
    rates = [mpf(rate) * mpf(part.share) / total for part in parts]
    b = sum(rates)
    return max(
        sum(
            own / b * term(part, b, own / (1 - b + own), growth, more=more)
            for part, own in zip(parts, rates, strict=True)
        )
        for more in (True, False)
    )


def term(part: Any, own: Any, others: Any, growth: Any, *, more: bool) -> Any:
    """One part where the person is there with probability `own` and everybody else with probability `others`."""
    if isinstance(part, PrivatePart):
        ((curve, _),) = [(use.curve, use.releases) for use in part.uses]
        most, lost = mp.exp(mpf(curve.epsilon)), mpf(curve.delta)
        here = [lost, mpf(0), (1 - lost) * most / (most + 1), (1 - lost) / (most + 1)]
        there = [mpf(0), lost, here[3], here[2]]
        mixed = [own * x + (1 - own) * y for x, y in zip(here, there, strict=True)]
        return divergence(mixed, there, growth) if more else divergence(there, mixed, growth)
    if isinstance(part, PartWithNoise):
        return one_way(
            lambda pmf: published_value(pmf, part.k, part.noise_epsilon, part.flag), own, others, growth, more=more
        )
    assert part.blend_epsilon == 0
    return one_way(lambda pmf: [sum(pmf[: part.k], mpf(0)), *pmf[part.k :]], own, others, growth, more=more)


def published_value(pmf: list[Any], k: int, noise_epsilon: float, flag: bool) -> list[Any]:
    """Exact from k on, discrete Laplace noise below; outcomes so far out that e^−100 of the mass is left are cut."""
    a, top = mp.exp(-mpf(noise_epsilon)), max(len(pmf), k)
    reach = int(100 / noise_epsilon) + 1
    # Noise falls by the factor a per step outside 0 … k−1, so convolve there and extend.
    inside = [
        sum(((1 - a) / (1 + a) * a ** abs(y - j) * mass for j, mass in enumerate(pmf[:k])), mpf(0)) for y in range(k)
    ]
    left = [inside[0] * a**step for step in range(1, reach)]
    blurred = inside + [inside[-1] * a**step for step in range(1, top - k + reach)]
    exact = [*([mpf(0)] * k), *pmf[k:]]
    exact += [mpf(0)] * (len(blurred) - len(exact))
    if flag:
        return left + blurred + exact
    return left + [x + y for x, y in zip(blurred, exact, strict=True)]


def suppression(k: int, rate: Any, epsilon: Any) -> Any:
    """Classes below k look empty; classes from k on show their count."""
    p, growth, best, fewer = mpf(rate), mp.exp(mpf(epsilon)), mpf(0), None
    for n, pmf in enumerate(binomials(p)):
        shown = [sum(pmf[:k], mpf(0)), *pmf[k:]]
        if fewer is not None:
            best = max(best, both_ways(shown, fewer + [mpf(0)] * (len(shown) - len(fewer)), growth))
            if n > k and n % 5 == 0 and _rest(p, growth, n, k) <= best:
                return best
        fewer = shown
    raise AssertionError


def published(k: int, rate: float, epsilon: float) -> Any:
    """LQS Theorem 5 as printed."""
    p, best = mpf(rate), mpf(0)
    gamma = 1 - (1 - p) * mp.exp(-mpf(epsilon))
    for n, pmf in enumerate(binomials(p)):
        if n >= mp.ceil(k / gamma - 1):
            best = max(best, sum(pmf[int(mp.floor(gamma * n)) + 1 :], mpf(0)))
            if mp.exp(-n * entropy(gamma, p)) <= best:
                return best
    raise AssertionError


def robust(k: int, blend: float, low: float, high: float, exceptions: int, most: float, epsilon: Any) -> Any:
    """sup over n of min(max(up, down), few), THEORY 3.5; THEORY 3.4 when low = high = most and nobody is excepted."""
    p, q, P, blend, growth = mpf(low), mpf(high), mpf(most), mp.exp(mpf(blend)), mp.exp(mpf(epsilon))
    r, c = (growth - 1 + P) / (P * blend), blend * (1 / growth - 1 + P) / P
    line_up, line_down = p * r / (1 - p + p * r), c * q / (1 - q + c * q) if c > 0 else mpf(0)
    assert line_up > q
    assert line_down < p
    best = mpf(0)
    for n, (rare, often) in enumerate(zip(binomials(p), binomials(q), strict=False)):
        up = P * sum((often[j] for j in range(n + 1) if j + 1 > (n + 1) * line_up), mpf(0))
        down = (
            (1 - growth * (1 - P)) * sum((rare[j] for j in range(n + 1) if j < (n + 1) * line_down), mpf(0))
            if c > 0
            else mpf(0)
        )
        few = P * sum(often[max(0, k - exceptions - 1) :], mpf(0))
        best = max(best, min(max(up, down), few))
        rest = P / q * mp.exp(-(n + 2) * entropy(line_up, q))
        if c > 0:
            rest = max(rest, mp.exp(-(n + 2) * entropy(line_down, p)) / (1 - p))
        if best > 0 and rest <= best:
            return best
    raise AssertionError


def noisy(*, k: int, noise_epsilon: float, rate: float, epsilon: float, flag: bool) -> Any:
    """Exact from k on, discrete Laplace noise below, at the worst class size."""
    p, growth = mpf(rate), mp.exp(mpf(epsilon))
    best, previous = mpf(0), None
    for n, pmf in enumerate(binomials(p)):
        if previous is not None:
            shown = (published_value(found, k, noise_epsilon, flag) for found in (pmf, [*previous, mpf(0)]))
            best = max(best, both_ways(*shown, growth))
            if n > k and _rest(p, growth, n, 1) <= best:
                return best
        previous = pmf
    raise AssertionError


def outlier(epsilon: float, transition: int, limit: int, factor: float) -> Any:
    """Bins of j and j−1 people with their own discrete Laplace noise, at factor·ε(j), for every j."""

    def loss(j: int) -> Any:
        return transition * mpf(epsilon) / (limit - j) if j < limit - transition else mpf(epsilon)

    def noise(j: int, reach: int) -> list[Any]:
        a = mp.exp(-loss(j))
        powers = [(1 - a) / (1 + a)]
        for _ in range(reach + limit + 1):
            powers.append(powers[-1] * a)
        return [powers[abs(y - j)] for y in range(-reach, limit + reach)]

    reach = int(60 / loss(0))
    bins = [noise(j, reach) for j in range(limit - transition + 2)]
    return max(both_ways(bins[j], bins[j - 1], mp.exp(mpf(factor) * loss(j))) for j in range(1, limit - transition + 2))
