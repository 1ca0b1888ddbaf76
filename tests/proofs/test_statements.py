"""Each machine-checked statement stands for a rule, and its constants are those that the rule computes."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, fmpq

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.calculus.evidence import MACHINE_CHECKED
from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.arithmetic import sampled_factors
from crowdblend.trusted.numerics.crowd_divergence import crowd_divergence, one_fewer, one_more
from crowdblend.trusted.numerics.programme import CrowdTerm, part_divergences
from crowdblend.trusted.numerics.tail_suprema import rising_tail
from tests.cases import for_each
from tests.truth import fractions_arithmetic as exact

from .test_sources import code, theorems

# The constants of the theorems, as Coq reads them; `constants` below computes the same.
DEFINITIONS = {
    "binomial": (
        "Definition pmf n m : R := 'C(n, m)%:R * p ^+ m * (1 - p) ^+ (n - m).",
        "Definition more_at n h s : R := pmf n h - (s - 1) * \\sum_(h.+1 <= j < n.+1) pmf n j.",
        "Definition fewer_at n h s : R := pmf n h - (s - 1) * \\sum_(0 <= j < h) pmf n j.",
        "Definition more_peak h s n0 := [/\\ (h <= n0)%N, h%:R * (1 - p) <= s * (n0 - h).+1%:R * p & n0 = h \\/ "
        "s * (n0 - h)%:R * p < h%:R * (1 - p)].",
        "Definition fewer_peak h s n0 := [/\\ (h <= n0)%N, s * h%:R * (1 - p) <= (n0 - h).+1%:R * p & n0 = h \\/ "
        "(n0 - h)%:R * p < s * h%:R * (1 - p)].",
    ),
    "sampling": (
        "Definition factor_up : R := 1 + (c - 1) / b.",
        "Definition gain : R := 1 - c * (1 - b).",
        "Definition factor_down : R := c * b / gain.",
    ),
    "linear_program": ("Definition corners (g : R -> R) : R := (B * g (s / B) + g (s * B)) / (1 + B).",),
    "crowds": (
        "Definition crowd_blending (k : nat) B M := forall A t, t \\in A -> "
        "(k <= #|[set u in A | blends B M t u]|)%N \\/ within B (M A) (M (A :\\ t)).",
    ),
    "explicit": (
        "Definition few n h : R := \\sum_(h <= j < n.+1) f n j.",
        "Definition many_up n s : R := \\sum_(0 <= j < n.+1 | n.+1%:R * (s * p) < j.+1%:R * (1 - p + s * p)) f n j.",
        "Definition many_down n s : R := \\sum_(0 <= j < n.+1 | j%:R * (p + s * (1 - p)) < n.+1%:R * p) f n j.",
    ),
    "parts": ("Definition rest_rate j : R := beta j / (1 - b + beta j).",),
}


def pmf(n: int, j: int, p: Fraction) -> Fraction:
    return math.comb(n, j) * p**j * (1 - p) ** (n - j) if 0 <= j <= n else Fraction(0)


def more_at(n: int, h: int, s: Fraction, p: Fraction) -> Fraction:
    return pmf(n, h, p) - (s - 1) * sum(pmf(n, j, p) for j in range(h + 1, n + 1))


def fewer_at(n: int, h: int, s: Fraction, p: Fraction) -> Fraction:
    return pmf(n, h, p) - (s - 1) * sum(pmf(n, j, p) for j in range(h))


def peak(h: int, reached: Fraction) -> int:
    """The first n, h at least, with n − h + 1 ≥ reached."""
    return h + max(0, math.ceil(reached) - 1)


def more(h: int, s: Fraction, p: Fraction) -> Fraction:
    n = peak(h, h * (1 - p) / (s * p))
    assert h * (1 - p) <= s * (n - h + 1) * p
    assert n == h or s * (n - h) * p < h * (1 - p)
    return more_at(n, h, s, p)


def fewer(h: int, s: Fraction, p: Fraction) -> Fraction:
    n = peak(h, s * h * (1 - p) / p)
    assert s * h * (1 - p) <= (n - h + 1) * p
    assert n == h or (n - h) * p < s * h * (1 - p)
    return fewer_at(n, h, s, p)


def test_every_rule_exists_and_every_statement_is_a_theorem() -> None:
    assert set(MACHINE_CHECKED) <= set(RULES)
    for statements, _ in MACHINE_CHECKED.values():
        for file, _, name in (statement.partition(".") for statement in statements.split()):
            assert name in theorems(file), (file, name)


def test_definitions_are_those_that_are_compared_here() -> None:
    for file, definitions in DEFINITIONS.items():
        text = " ".join(code(file).split())
        for definition in definitions:
            assert definition in text, definition


@for_each("rate", [Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(31, 32)])
@for_each("k", [1, 2, 3, 7])
def test_the_closed_forms_are_those_of_the_rules(k: int, rate: Fraction) -> None:
    h = k - 1
    for s in (Fraction(1), Fraction(21, 20), Fraction(3), Fraction(40)):
        assert one_more(exact, k, rate, s) == more(h, s, rate)
        assert one_fewer(exact, k, rate, s) == fewer(h, s, rate)


@for_each("blend", [Fraction(1), Fraction(3, 2), Fraction(4)])
@for_each("rate", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@for_each("k", [1, 2, 5])
def test_the_delta_of_crowds_is_that_of_the_theorem(k: int, rate: Fraction, blend: Fraction) -> None:
    for c in (1 + rate * (blend - 1), blend, 2 * blend):
        gain, up = 1 - c * (1 - rate), 1 + (c - 1) / rate
        proved = rate * (blend * more(k - 1, up / blend, rate) + more(k - 1, up * blend, rate)) / (1 + blend)
        if gain > 0:
            down = c * rate / gain
            halves = blend * fewer(k - 1, down / blend, rate) + fewer(k - 1, down * blend, rate)
            proved = max(proved, gain * halves / (1 + blend))
        assert crowd_divergence(exact, k, rate, blend, c) == proved
        assert sampled_factors(exact, rate, c)[1][0] == up


@for_each("rate", [Fraction(1, 8), Fraction(1, 2)])
@for_each("factor", [Fraction(3, 2), Fraction(3)])
def test_the_tails_are_those_of_the_explicit_rule(rate: Fraction, factor: Fraction) -> None:
    """The supremum that the rule computes in balls is that of the tails of the theorem, where the rule needs it."""
    h, line = 4, factor * rate / (1 - rate + factor * rate)
    tails = [
        sum(pmf(n, j, rate) for j in range(n + 1) if (n + 1) * factor * rate < (j + 1) * (1 - rate + factor * rate))
        for n in range(80)
        if math.floor(line * (n + 1)) >= h
    ]
    slope, p = (arb(fmpq(value.numerator, value.denominator)) for value in (line, rate))
    largest = max(tails)
    assert rising_tail(balls, h, slope, p, person=1).overlaps(arb(fmpq(largest.numerator, largest.denominator)))


def test_parts_are_weighed_as_in_the_theorem() -> None:
    rate, shares, c = Fraction(1, 2), (Fraction(1, 4), Fraction(1, 2)), Fraction(2)
    b = rate * sum(shares)
    for share in shares:
        beta = rate * share
        found = part_divergences(exact, CrowdTerm(3, Fraction(1)), share, sum(shares), rate, c)
        rest = beta / (1 - b + beta)
        gain = max(1 - c * (1 - b), Fraction(0))
        assert found[0] == b * more(2, 1 + (c - 1) / b, rest)
        assert found[1] == (gain * fewer(2, c * b / gain, rest) if gain else 0)
