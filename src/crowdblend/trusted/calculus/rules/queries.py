"""Accuracy of averages and of whole classes of queries, on samples and on synthetic rows (ZKP 3.1 and 4)."""

from __future__ import annotations

from flint import arb

from crowdblend.errors import NotApplicable
from crowdblend.trusted.calculus.assumptions import Assumption
from crowdblend.trusted.calculus.description import (
    DRAWN,
    LAPLACE,
    PROVED,
    SIMULATOR,
    STATISTIC,
    mechanism,
    same_release,
)
from crowdblend.trusted.calculus.theorem import Unmet, rule
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.utility import AVERAGE, QuerySampler, Sampler, Useful
from crowdblend.trusted.numerics.balls import log, minimum, round_up, sqrt


@rule(
    "sampler.average",
    source="ZKP 3.1, averages; Hoeffding's inequality without replacement",
    statement="The average of k of n people in an interval of length w is within δ of everybody's average except with "
    "probability 2e^{−2kδ²/w²}.",
    assumes=(Assumption.STATED_RANGE, Assumption.OWN_DATA_ONLY, Assumption.PUBLIC_SIZE),
    about=mechanism(STATISTIC, "population", "width", measure=AVERAGE, statistic=AVERAGE),
    free={"samples": SIMULATOR, "accuracy": PROVED},
)
def average_of_samples(*, samples: int, population: int, accuracy: float, width: float) -> Sampler:
    """Sampling without replacement concentrates at least as well as with it (Hoeffding 1963)."""
    failure = 2 * (-2 * samples * (arb(accuracy) / width) ** 2).exp()
    return Sampler(AVERAGE, accuracy, min(1.0, round_up(failure)), width, RandomSamples(samples, population))


@rule(
    "queries.vc-accuracy",
    source="ZKP Proposition 23, first part (Lemmas 21 and 22)",
    statement="For fraction queries of VC dimension d and k ≥ d/2, k of n random people answer every query within α = "
    "√(8/k)·√(d ln(2ek/d) + ln(4/β)), except with probability β.",
    assumes=(Assumption.DRAWN_PEOPLE, Assumption.FIXED_DIMENSION),
    about=mechanism(DRAWN, "samples", "dimension"),
    free={"failure": PROVED},
)
def samples_answer_a_class(*, samples: int, dimension: int, failure: float) -> QuerySampler:
    """The accuracy that a number of samples buys."""
    if 2 * samples < dimension:
        raise NotApplicable(f"samples must be at least dimension/2 = {dimension / 2:g}, got {samples}. Draw more.")
    _some_failure(failure)
    shatter = dimension * log(2 * arb.const_e() * samples / dimension)
    accuracy = sqrt(8 * (shatter + log(4 / arb(failure))) / samples)
    return QuerySampler(samples, round_up(accuracy), failure)


@rule(
    "queries.vc-samples",
    source="ZKP Proposition 23, second part",
    statement="For fraction queries of VC dimension d and α, β in (0, 1], k ≥ (16/α²)(2d ln(6/α) + ln(4/β)) random "
    "people answer every query within α, except with probability β.",
    assumes=(Assumption.DRAWN_PEOPLE, Assumption.FIXED_DIMENSION),
    about=mechanism(DRAWN, "samples", "dimension"),
    free={"accuracy": PROVED, "failure": PROVED},
)
def enough_samples_for_a_class(*, samples: int, dimension: int, accuracy: float, failure: float) -> QuerySampler:
    """The samples that an accuracy needs."""
    _some_failure(failure)
    if accuracy > 1:
        raise NotApplicable(f"accuracy must be at most 1 for fractions, got {accuracy:g}. Pass a share.")
    needed = 16 / arb(accuracy) ** 2 * (2 * dimension * log(6 / arb(accuracy)) + log(4 / arb(failure)))
    if not samples >= needed:
        raise NotApplicable(f"samples must be at least {round_up(needed.ceil()):.0f}, got {samples}. Draw more.")
    return QuerySampler(samples, accuracy, failure)


@rule(
    "queries.finite-class",
    source="Serfling's inequality (1974, Corollary 1.1) and the union bound",
    statement="k of n random people answer each of Q fraction queries within √((1 − (k−1)/n)·ln(2Q/β)/(2k)), except "
    "with probability β.",
    assumes=(Assumption.DRAWN_PEOPLE, Assumption.FIXED_QUERIES, Assumption.PUBLIC_SIZE),
    about=mechanism(DRAWN, "samples", "population", "queries"),
    free={"failure": PROVED},
)
def samples_answer_finitely_many(*, samples: int, population: int, queries: int, failure: float) -> QuerySampler:
    """Each query by itself errs rarely enough for all of them, the more so the fewer people are left out."""
    _some_failure(failure)
    if not 1 <= samples <= population:
        raise Unmet(f"needs between 1 and population = {population} samples, got {samples}. Draw as many.")
    left = 1 - arb(samples - 1) / population
    accuracy = sqrt(left * log(2 * queries / arb(failure)) / (2 * samples))
    return QuerySampler(samples, round_up(accuracy), failure)


@rule(
    "queries.useful",
    source="ZKP Proposition 20",
    statement="If k samples answer a class within α₁ except with probability β₁, and a sanitizer answers it on k "
    "people within α₂ except with probability β₂, then sampling and sanitizing answers it within α₁ + Lα₂ except with "
    "probability β₁ + β₂, L the Lipschitz constant of the converter.",
    assumes=(Assumption.DRAWN_PEOPLE, Assumption.CONVERTED_ANSWERS),
    about=same_release("lipschitz"),
)
def sanitized_samples_stay_useful(sampler: QuerySampler, sanitizer: Useful, *, lipschitz: float) -> Useful:
    """Sampling error plus sanitizing error."""
    accuracy = round_up(sampler.accuracy + arb(lipschitz) * sanitizer.accuracy)
    return Useful(accuracy, min(1.0, round_up(arb(sampler.failure) + sanitizer.failure)))


@rule(
    "laplace.accurate",
    source="ZKP 3.1, tail of the Laplace distribution",
    statement="A number released with Lap(λ) is published within λ ln(1/β) of its value except with probability β.",
    assumes=(Assumption.ONE_NUMBER, Assumption.EXACT_NOISE, Assumption.LAPLACE_NOISE),
    about=mechanism(STATISTIC, "scale", noise=LAPLACE, dimension=1),
    free={"failure": PROVED},
)
def laplace_noise_is_accurate(*, scale: float, failure: float) -> Useful:
    """The tails of Laplace noise fall off exponentially."""
    _some_failure(failure)
    return Useful(round_up(arb(scale) * log(1 / arb(failure))) if failure < 1 else 5e-324, failure)


def _some_failure(failure: float) -> None:
    if failure == 0:
        raise Unmet("needs a failure above 0, got 0. No finite sample is always right.")


_COUNTED = (
    Assumption.DRAWN_PEOPLE,
    Assumption.FIXED_QUERIES,
    Assumption.COUNTED_ANSWERS,
    Assumption.EXACT_NOISE,
    Assumption.DISCRETE_LAPLACE,
)
# Chernoff's bound holds for every tilt below ε₀; the best of these is at most a few thousandths worse than the best.
_TILTS = 64


@rule(
    "synopsis.exponential-useful",
    source="BLR08 as used in ZKP Proposition 24, docs/proofs.md#usefulness-of-synopses",
    statement="Among the N = C(X+m−1, m) tables of m rows out of X possible ones, the one chosen by "
    "synopsis.exponential answers Q fraction queries about k people within min(√(ln(2Q)/(2m)), X/(4m)) + "
    "(2/(kε))·ln(N/β), except with probability β.",
    assumes=(
        Assumption.DRAWN_PEOPLE,
        Assumption.FIXED_QUERIES,
        Assumption.CHOSEN_ROWS,
        Assumption.SYNOPSIS_WEIGHTS,
        Assumption.EXACT_CHOICE,
    ),
    about=mechanism(
        DRAWN, "samples", "queries", inside=mechanism("synopsis.exponential", "epsilon", "universe", "rows")
    ),
    free={"failure": PROVED},
)
def exponential_synopsis_is_useful(
    *, samples: int, universe: int, queries: int, rows: int, epsilon: float, failure: float
) -> Useful:
    """A table of m rows is close, and a much worse one is chosen with small probability."""
    _possible(samples, failure)
    if epsilon == 0:
        raise Unmet("needs epsilon above 0, got 0. A blind choice is of no use.")
    best = minimum(sqrt(log(arb(2 * queries)) / (2 * rows)), arb(universe) / (4 * rows))
    # ln C(X+m−1, m) by the gamma function, which takes no longer for large tables.
    candidates = arb(universe + rows).lgamma() - arb(rows + 1).lgamma() - arb(universe).lgamma()
    worse = 2 * (candidates.nonnegative_part() - log(arb(failure))) / (arb(epsilon) * samples)
    return Useful(round_up(best + worse), failure)


@rule(
    "synopsis.fitted-useful",
    source="crowdblend, docs/proofs.md#usefulness-of-synopses",
    statement="Let every answer of a class of Q fraction queries about k people be a sum of at most c counts with "
    "discrete Laplace noise of loss ε₀, and let A be the bound that all noisy answers keep to except with probability "
    "β. A distribution fitted to within A + τ of the noisy answers, and m rows drawn from it to within √(ln(4Q)/(2m)), "
    "answer the class within 2A + τ + √(ln(4Q)/(2m)), except with probability β.",
    assumes=(*_COUNTED, Assumption.FITTED_ROWS),
    about=mechanism(
        DRAWN, "samples", "queries", inside=mechanism("synopsis.counts", "noise_epsilon", "addends", "rows", "slack")
    ),
    free={"failure": PROVED},
)
def fitted_synopsis_is_useful(
    *, samples: int, queries: int, addends: int, noise_epsilon: float, rows: int, slack: float, failure: float
) -> Useful:
    """The truth fits within A, so a fit within A + τ exists and is found; noise and fit err by A each at most."""
    _possible(samples, failure)
    noise = noise_bound(queries, addends, noise_epsilon, failure) / samples
    return Useful(round_up(2 * noise + arb(slack) + sqrt(log(arb(4 * queries)) / (2 * rows))), failure)


@rule(
    "synopsis.counts-useful",
    source="crowdblend, docs/proofs.md#usefulness-of-synopses",
    statement="The noisy answers themselves, each a sum of at most c counts with discrete Laplace noise of loss ε₀, "
    "are within A of the truth, for all Q queries at once, except with probability β.",
    assumes=_COUNTED,
    about=mechanism(DRAWN, "samples", "queries", inside=mechanism("synopsis.counts", "noise_epsilon", "addends")),
    free={"failure": PROVED},
)
def noisy_answers_are_useful(
    *, samples: int, queries: int, addends: int, noise_epsilon: float, failure: float
) -> Useful:
    """The tail of discrete Laplace noise for single counts, Chernoff's bound for sums."""
    _possible(samples, failure)
    return Useful(round_up(noise_bound(queries, addends, noise_epsilon, failure) / samples), failure)


def noise_bound(queries: int, addends: int, noise_epsilon: float, failure: float) -> arb:
    """A: what the noise of Q sums of at most c counts stays within, in people, except with probability β.

    For single counts P[|Y| ≥ t] = 2a^t/(1+a) at whole t ≥ 1, a = e^{−ε₀}, and whatever is not at or beyond t is
    within t − 1. For sums, P[|Y₁+…+Y_c| ≥ t] ≤ 2e^{−st}M(s)^c with M(s) = (1−a)²/((1−ae^s)(1−ae^{−s})), for 0 < s < ε₀.
    """
    loss = arb(noise_epsilon)
    a = (-loss).exp()
    if addends == 1:
        beyond = log(2 * queries / ((1 + a) * arb(failure))) / loss
        return _within(beyond)
    wanted = log(2 * queries / arb(failure))
    sums = []
    for place in range(1, _TILTS):
        s = loss * place / _TILTS
        growth = 2 * log(1 - a) - log(1 - (s - loss).exp()) - log(1 - (-s - loss).exp())
        sums.append((wanted + addends * growth) / s)
    return minimum(*sums)


def _within(beyond: arb) -> arb:
    """Return the bound of whole noise that is below every whole t ≥ beyond: at least 1."""
    return (beyond.upper().ceil() - 1).max(arb(1))


def _possible(samples: int, failure: float) -> None:
    if samples < 1:
        raise Unmet(f"needs at least one person, got {samples}. Draw more.")
    if failure == 0:
        raise Unmet("needs a failure above 0, got 0. Noise has no bound that always holds.")
