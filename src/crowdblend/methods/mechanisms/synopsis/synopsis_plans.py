"""Plans of synopses: guarantees and accuracy, proved before data are touched."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.methods.designs import Survey
from crowdblend.methods.mechanisms.synopsis.queries import QueryClass
from crowdblend.methods.mechanisms.synopsis.rows import HAIR, slack_of
from crowdblend.methods.mechanisms.synopsis.synopses import (
    MOST_CANDIDATES,
    ExponentialSynopsis,
    FittedSynopsis,
    candidates_of,
)
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import mechanisms
from crowdblend.trusted.calculus.rules import queries as accuracy
from crowdblend.trusted.guarantees.utility import QuerySampler, Useful

FITTED, EXPONENTIAL = "fitted", "exponential"
# Of the probability that the planned error does not hold, the half that sampling may use.
_SPLIT = 2
_MOST_ROWS_TRIED = 64
# Errors proved to be within that factor count as equal; then the first way is taken.
_TIE = 1.1


@dataclass(frozen=True)
class PlannedSynopsis:
    """A mechanism about `samples` of `population` people, with its guarantee and its error; nothing depends on data.

    `failure` is the probability that sampling errs by more than planned, and that of sanitizing.
    """

    mechanism: FittedSynopsis | ExponentialSynopsis
    samples: int
    population: int
    failure: float

    @property
    def name(self) -> str:
        """The way in which the rows are made."""
        return FITTED if isinstance(self.mechanism, FittedSynopsis) else EXPONENTIAL

    def derivations(self) -> tuple[Derivation, Derivation, Derivation]:
        """Zero-knowledge and differential privacy from what the mechanism claims, and how well it answers."""
        return *Survey(self.samples, self.population).derive_drawn(self.mechanism.claim()), self.usefulness

    @property
    def usefulness(self) -> Derivation:
        """ZKP Definition 18 about everybody: the sampling error and the sanitizing error."""
        return accuracy.sanitized_samples_stay_useful(self._sampling(), self._sanitizing(), lipschitz=1.0)

    @property
    def about_sample(self) -> Useful:
        """The accuracy of the rows about the sample."""
        stated: Useful = self._sanitizing().conclusion
        return stated

    @property
    def about_everybody(self) -> Useful:
        """The accuracy of the rows about everybody."""
        stated: Useful = self.usefulness.conclusion
        return stated

    def _sanitizing(self) -> Derivation:
        queries, made = self.mechanism.queries, self.mechanism
        if isinstance(made, FittedSynopsis):
            measured = _measured_noise(queries, self.samples, made.noise_epsilon)
            slack = slack_of(accuracy.noisy_answers_are_useful(**measured, failure=self.failure).conclusion.accuracy)
            return accuracy.fitted_synopsis_is_useful(**measured, rows=made.rows, slack=slack, failure=self.failure)
        return accuracy.exponential_synopsis_is_useful(
            samples=self.samples,
            universe=queries.universe,
            queries=queries.size,
            rows=made.rows,
            epsilon=made.epsilon,
            failure=self.failure,
        )

    def _sampling(self) -> Derivation:
        """Return the better of the bounds for finite classes and for classes of bounded VC dimension."""
        queries = self.mechanism.queries
        found = [
            accuracy.samples_answer_finitely_many(
                samples=self.samples, population=self.population, queries=queries.size, failure=self.failure
            )
        ]
        if 2 * self.samples >= queries.dimension:
            found.append(
                accuracy.samples_answer_a_class(samples=self.samples, dimension=queries.dimension, failure=self.failure)
            )
        return min(found, key=_accuracy)


def fitted_synopsis(
    queries: QueryClass, samples: int, noise_epsilon: float, rows: int, failure: float
) -> FittedSynopsis:
    """Rows fitted to noisy counts, with the parts of the error that they are planned to keep to."""
    measured = _measured_noise(queries, samples, noise_epsilon)
    noise = accuracy.noisy_answers_are_useful(**measured, failure=failure).conclusion.accuracy
    # What the code keeps to is a hair less than what is stated, for its floating-point sums.
    rounding = math.sqrt(math.log(4 * queries.size) / (2 * rows)) * HAIR
    return FittedSynopsis(queries, noise_epsilon, rows, noise, slack_of(noise) * HAIR, rounding)


def _measured_noise(queries: QueryClass, samples: int, noise_epsilon: float) -> dict[str, float]:
    return {"samples": samples, "queries": queries.size, "addends": queries.parts, "noise_epsilon": noise_epsilon}


def plan_synopsis(
    variants: Iterable[QueryClass],
    *,
    samples: int,
    population: int,
    epsilon: float,
    failure: float,
    rows: int | None = None,
    mechanism: str | None = None,
) -> PlannedSynopsis:
    """Return the synopsis with the smallest proved error among the ways to measure the class, for a given epsilon.

    `variants` are the same class, measured differently: first the one with the least noise on each count, which errs
    less in practice and is taken unless another one is proved to be clearly better.
    """
    if not 1 <= samples <= population:
        message = f"sample must be between 1 and the {population} people there are, got {samples}. Lower it."
        raise InvalidInput(message, where="sample", code="plan.sample")
    if not 0 < epsilon <= 100:
        message = f"epsilon must be above 0 and at most 100 for a synopsis, got {epsilon:g}. Use 1, say."
        raise InvalidInput(message, where="epsilon", code="plan.epsilon")
    ways = []
    for queries in variants:
        way = _Way(queries, samples, population, epsilon, failure / _SPLIT, rows)
        ways += [way.plan_fitted()] if mechanism != EXPONENTIAL else []
        ways += way.exponential() if mechanism != FITTED else []
    if not ways:
        raise InvalidInput(
            f"The exponential mechanism must choose among at most {MOST_CANDIDATES:,} tables, and every number of "
            'rows gives more. Use `publish.mechanism = "fitted"`, or recode the columns more coarsely.',
            where="mechanism",
            code="synopsis.candidates",
        )
    least = min(way.about_sample.accuracy for way in ways)
    best = next(way for way in ways if way.about_sample.accuracy <= _TIE * least)
    if best.about_everybody.accuracy >= 1:
        raise Infeasible(
            f"The proved error of this synopsis is {best.about_everybody.accuracy:.3g}; at 1 or more it says "
            "nothing. Raise epsilon or sample, ask fewer queries, or recode the columns more coarsely.",
            where="epsilon",
            code="plan.error-out-of-reach",
        )
    return best


@dataclass(frozen=True)
class _Way:
    """One way to measure a class, within one epsilon."""

    queries: QueryClass
    samples: int
    population: int
    epsilon: float
    failure: float
    rows: int | None

    def plan_fitted(self) -> PlannedSynopsis:
        """Plan with the least noise on the counts."""
        moved = self.queries.sensitivity
        noise_epsilon = _largest(
            self._sanitizer_epsilon() / moved,
            lambda loss: self._keeps(mechanisms.noisy_counts(noise_epsilon=loss, sensitivity=float(moved))),
        )
        rows = self.rows or self.samples
        return self._plan(fitted_synopsis(self.queries, self.samples, noise_epsilon, rows, self.failure))

    def exponential(self) -> list[PlannedSynopsis]:
        """Plan the number of rows that errs least, if any leaves few enough candidates."""
        epsilon = _largest(
            self._sanitizer_epsilon(), lambda loss: self._keeps(mechanisms.synopsis_exponential(epsilon=loss))
        )
        tried = range(1, _MOST_ROWS_TRIED + 1) if self.rows is None else (self.rows,)
        found = []
        for rows in tried:
            if candidates_of(self.queries.universe, rows) > MOST_CANDIDATES:
                break
            found.append(self._plan(ExponentialSynopsis(self.queries, epsilon, rows)))
        return [min(found, key=lambda made: made.about_sample.accuracy)] if found else []

    def _plan(self, mechanism: FittedSynopsis | ExponentialSynopsis) -> PlannedSynopsis:
        return PlannedSynopsis(mechanism, self.samples, self.population, self.failure)

    def _sanitizer_epsilon(self) -> float:
        """Return about the sanitizer's ε', since sampling strengthens it: e^ε' = 1 + (e^ε − 1)·n/k."""
        return math.log1p(math.expm1(self.epsilon) * self.population / self.samples)

    def _keeps(self, leaf: Derivation) -> bool:
        kept: bool = Survey(self.samples, self.population).derive_drawn(leaf)[0].conclusion.epsilon <= self.epsilon
        return kept


def _accuracy(derivation: Derivation) -> float:
    stated: QuerySampler = derivation.conclusion
    return stated.accuracy


def _largest(guess: float, keeps: Callable[[float], bool]) -> float:
    """Return the guess, lowered by as little as it takes to hold."""
    lowered = guess
    for step in range(60):
        if keeps(lowered):
            return lowered
        lowered = guess * (1 - 2.0**-52 * 2**step)
    raise Infeasible(
        f"`epsilon = {guess:g}` leaves nothing for the noise. Raise it.", where="epsilon", code="plan.no-noise"
    )
