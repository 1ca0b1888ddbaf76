"""References for the sanitizers that run on a sample and for synopses (see `references`)."""

from collections.abc import Callable
from typing import Any

from mpmath import mp, mpf

from crowdblend.trusted.guarantees.privacy import Relation

Fields = dict[str, Any]


def _replaced(epsilon: Any, delta: Any) -> Fields:
    return {"epsilon": epsilon, "delta": delta, "relation": Relation.REPLACE, "people": 1, "samplings": 0}


def _finite_class(samples: int, population: int, queries: int, failure: float) -> Fields:
    left = 1 - mpf(samples - 1) / population
    accuracy = mp.sqrt(left * mp.log(2 * queries / mpf(failure)) / (2 * samples))
    return {"samples": samples, "accuracy": accuracy, "failure": failure}


def _chosen(samples: int, universe: int, queries: int, rows: int, epsilon: float, failure: float) -> Fields:
    best = min(mp.sqrt(mp.log(2 * queries) / (2 * rows)), mpf(universe) / (4 * rows))
    worse = 2 * mp.log(mp.binomial(universe + rows - 1, rows) / mpf(failure)) / (samples * mpf(epsilon))
    return {"accuracy": best + worse, "failure": failure}


def _noise(queries: int, addends: int, noise_epsilon: float, failure: float) -> Any:
    loss = mpf(noise_epsilon)
    a = mp.exp(-loss)
    if addends == 1:
        beyond = next(t for t in range(1, 10**6) if queries * 2 * a**t / (1 + a) <= failure)
        return mpf(max(1, beyond - 1))
    tails = []
    for place in range(1, 64):
        s = loss * place / 64
        moment = (1 - a) ** 2 / ((1 - a * mp.exp(s)) * (1 - a * mp.exp(-s)))
        tails.append(mp.log(2 * queries / mpf(failure) * moment**addends) / s)
    return min(tails)


def _fitted(
    samples: int, queries: int, addends: int, noise_epsilon: float, rows: int, slack: float, failure: float
) -> Fields:
    noise = _noise(queries, addends, noise_epsilon, failure) / samples
    return {"accuracy": 2 * noise + mpf(slack) + mp.sqrt(mp.log(4 * queries) / (2 * rows)), "failure": failure}


def _noisy_answers(samples: int, queries: int, addends: int, noise_epsilon: float, failure: float) -> Fields:
    return {"accuracy": _noise(queries, addends, noise_epsilon, failure) / samples, "failure": failure}


def _sampled(sanitizer: Any, samples: int, population: int) -> Fields:
    share = mpf(samples) / population
    epsilon = mp.log(1 + share * (mp.exp(mpf(sanitizer.epsilon)) - 1))
    return {**_replaced(epsilon, share * mpf(sanitizer.delta)), "samplings": 1}


SYNOPSES: dict[str, Callable[..., Fields]] = {
    "queries.finite-class": _finite_class,
    "sample-and-sanitize.differential": _sampled,
    "opendp.measurement": lambda epsilon, delta: _replaced(mpf(epsilon), mpf(delta)),
    "synopsis.exponential": lambda epsilon: _replaced(mpf(epsilon), mpf(0)),
    "synopsis.counts": lambda noise_epsilon, sensitivity: _replaced(mpf(noise_epsilon) * mpf(sensitivity), mpf(0)),
    "synopsis.exponential-useful": _chosen,
    "synopsis.fitted-useful": _fitted,
    "synopsis.counts-useful": _noisy_answers,
}
