"""Suprema over n of binomial tails beyond a line, scanned tooth by tooth and cut off with Chernoff's bound.

The published bounds compare a count with a line through n. As n grows past a tooth the threshold jumps by one,
so the tail rises along each tooth and falls from tooth to tooth, though not monotonically. The scan ends when
a falling bound for everything that follows is below the best value so far. When that would take too many steps
the bound itself is returned: never too small, and loose only where the promise is weak anyway.
"""

from __future__ import annotations

from crowdblend.trusted.numerics.arithmetic import Arithmetic, Number, lower_tail, relative_entropy, upper_tail
from crowdblend.trusted.numerics.balls import UndecidedBall
from crowdblend.trusted.numerics.search import first_true

MOST_STEPS = 1_000
# Where the tails have not crossed by then, the promise is too weak to be worth a number.
LARGEST_CROSSING = 10**8


def robust_divergence(
    calc: Arithmetic, crowd: int, rates: tuple[Number, Number, Number], blend: Number, growth: Number
) -> Number:
    """Return the divergence that biased sampling leaves to crowds (docs/proofs.md#robust-sampling).

    sup over n of min(max(up(n), down(n)), few(n)) at e^ε' = growth, where blend = e^ε and `crowd` others are
    enough. The others are sampled with a probability between the first two rates, the person with at most the third.
    """
    p, q, most = rates
    r = (growth - 1 + most) / (most * blend)
    # Where ⌊(n+1)·slope⌋ < crowd, few(n) is the smaller and still rising: only later teeth matter.
    up = most * rising_tail(calc, crowd, p * r / (1 - p + p * r), q, person=1)
    gain = 1 - growth * (1 - most)
    if calc.surely(gain <= 0):
        return up
    if not calc.surely(gain > 0):
        raise UndecidedBall
    c = blend * gain / (growth * most)
    return crossing_tails(calc, up, (crowd, q, most), (c * q / (1 - q + c * q), p, gain))


def rising_tail(calc: Arithmetic, first: int, slope: Number, p: Number, person: int) -> Number:
    """sup of P[X + person > slope·(n + person)], X ~ Bin(n, p), over the n with ⌊slope·(n + person)⌋ ≥ first.

    person is 1 when the compared count includes one sure member and 0 otherwise. Within a tooth the tail rises
    with n, so only the last n of each tooth is evaluated.
    """
    if not calc.surely(slope > p):
        return calc.number(1)
    decay = relative_entropy(calc, slope, p)

    def rest(tooth: int) -> Number:
        # P[X + 1 > x]·p ≤ P[X + Bin(1, p) > x]: the sure member costs a factor 1/p; (tooth+1)/slope − 1 ≤ n + person.
        return _beyond(calc, (tooth + 1) / slope - 1, slope, p, decay) / p**person

    stop = first + _affordable(first)
    best = calc.number(0)
    if not calc.surely(rest(stop) < 0.1):
        return calc.minimum(calc.number(1), _beyond(calc, first / slope - 1, slope, p, decay) / p**person)
    for tooth in range(first, stop):
        n = calc.ceil((tooth + 1) / slope) - 1 - person
        least = tooth + 1 - person
        if n >= least:
            best = calc.maximum(best, upper_tail(calc, n, least, p))
        if calc.surely(rest(tooth) <= best):
            return best
    return calc.maximum(best, rest(stop - 1))


def _beyond(calc: Arithmetic, n: Number, slope: Number, p: Number, decay: Number) -> Number:
    """Return a bound on P[Bin(m, p) > slope·m] for every m ≥ n: Chernoff's, sharpened by Stirling's formula.

    With t the first whole number above slope·m the tail is at most P[X = t]/(1−ρ), ρ = p(1−slope)/(slope(1−p)), and
    P[X = t] ≤ e^{−m·KL}·√(m/(2πt(m−t))), where t(m−t)/m ≥ slope·((1−slope)m − 1). Both factors fall with m.
    """
    chernoff = calc.exp(-n * decay)
    room = slope * ((1 - slope) * n - 1)
    if not calc.surely(room > 0):
        return chernoff
    ratio = p * (1 - slope) / (slope * (1 - p))
    # 6.28 < 2π keeps this an upper bound.
    return calc.minimum(chernoff, chernoff / ((1 - ratio) * calc.sqrt(room * 6.28)))


def crossing_tails(
    calc: Arithmetic,
    floor: Number,
    rising: tuple[int, Number, Number],
    falling: tuple[Number, Number, Number],
) -> Number:
    """Return the larger of floor and sup over n of min(w·P[Bin(n, q) ≥ crowd], v·P[Bin(n, p) < line·(n+1)]).

    rising = (crowd, q, w) only grows with n; falling = (line, p, v) decays once line < p. Both are needed: a person
    with few companions is protected by the first, one with many by the second.
    """
    crowd, q, w = rising
    line, p, v = falling
    if not calc.surely(line < p):
        return calc.maximum(floor, calc.minimum(w, v))
    if not calc.surely(floor < w):
        return floor
    decay = relative_entropy(calc, 1 - line, 1 - p)

    def few(n: int) -> Number:
        return w * upper_tail(calc, n, crowd, q)

    def many(n: int) -> Number:
        return v * lower_tail(calc, n, min(calc.ceil(line * (n + 1)), n + 1) - 1, p)

    def rest(n: int) -> Number:
        # X < line·(n+1) says that n − X, plus one, exceeds (1−line)·(n+1): the case of `rising_tail`.
        return v * _beyond(calc, n + 1, 1 - line, 1 - p, decay) / (1 - p)

    # Up to the last n with few(n) ≤ many(n) the minimum is at most few(n), which is attained there.
    try:
        start = first_true(lambda n: not calc.surely(few(n) <= many(n)), crowd, crowd, LARGEST_CROSSING)
    except LookupError:
        return calc.maximum(floor, calc.minimum(w, v))
    best = calc.maximum(floor, few(start - 1)) if start > crowd else floor
    stop = start + _affordable(start)
    for n in range(start, stop):
        best = calc.maximum(best, calc.minimum(few(n), many(n)))
        if calc.surely(rest(n) <= best):
            return best
    return calc.maximum(best, rest(stop - 1))


def _affordable(n: int) -> int:
    """Return the number of steps to scan at a cost of √n each: many for crowds, few for millions."""
    return max(8, min(MOST_STEPS, 200_000 // max(n, 1)))
