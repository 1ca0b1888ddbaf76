"""What each theorem says, written again from the papers in 60 decimal digits, field by field.

A reference maps the premises and parameters of a rule to every field of its conclusion. Numbers are mpmath values,
everything else must match exactly. Suprema over class sizes are in `scans`.
"""

from collections.abc import Callable
from typing import Any

from mpmath import mp, mpf

from crowdblend.trusted.guarantees.aggregates import (
    Exploration,
    IidSampling,
    Neighbourhood,
    RandomSamples,
    RobustSampling,
)
from crowdblend.trusted.guarantees.privacy import Guarantee, Relation

from . import scans
from .network_references import NETWORK_REFERENCES
from .profile_references import PROFILE_REFERENCES
from .strata_examples import STRATA_REFERENCES
from .synopsis_references import SYNOPSES

mp.dps = 60

Fields = dict[str, Any]
ADD, SWAP, HIDE = Relation.ADD_REMOVE, Relation.REPLACE, Relation.CONCEAL


def _fields(promise: Guarantee, **changed: Any) -> Fields:
    return {**vars(promise), **changed}


def _capped(value: Any) -> Any:
    return min(mpf(1), value)


def _amplified(epsilon: float, share: Any) -> Any:
    return mp.log(1 + share * (mp.exp(mpf(epsilon)) - 1))


def _sampled(rate: float, epsilon: Any, delta: Any) -> Fields:
    return {"rate": rate, "epsilon": epsilon, "delta": delta, "relation": ADD}


def _differential(epsilon: Any, delta: Any, relation: Relation = ADD, people: int = 1, samplings: int = 0) -> Fields:
    return {**_promise(epsilon, delta, relation, people), "samplings": samplings}


def _promise(epsilon: Any, delta: Any, relation: Relation, people: int) -> Fields:
    return {"epsilon": epsilon, "delta": delta, "relation": relation, "people": people}


def _knowledge(epsilon: Any, delta: Any, aggregate: Any, relation: Relation = HIDE, people: int = 1) -> Fields:
    return {**_promise(epsilon, delta, relation, people), "aggregate": aggregate}


def _sampler(statistic: str, accuracy: float, failure: Any, width: Any, aggregate: Any) -> Fields:
    return {"statistic": statistic, "accuracy": accuracy, "failure": failure, "width": width, "aggregate": aggregate}


def _crowd(k: int, epsilon: Any) -> Fields:
    return {"k": k, "epsilon": epsilon}


def _noisy_crowd(k: int, noise_epsilon: float) -> Fields:
    return _crowd(k, noise_epsilon)


def _chain(premise: Any, people: int) -> Fields:
    """δ + e^ε δ + … along a chain of c neighbours, summed term by term."""
    delta = sum(mp.exp(i * mpf(premise.epsilon)) * mpf(premise.delta) for i in range(people))
    return _fields(premise, epsilon=people * mpf(premise.epsilon), delta=_capped(delta), people=people)


def _doubled(premise: Any) -> tuple[Any, Any]:
    epsilon = mpf(premise.epsilon)
    return 2 * epsilon, _capped(mpf(premise.delta) + mp.exp(epsilon) * mpf(premise.delta))


def _mixture(first: Any, second: Any, weight: float) -> Fields:
    delta = mpf(weight) * mpf(first.delta) + (1 - mpf(weight)) * mpf(second.delta)
    return _sampled(first.rate, max(first.epsilon, second.epsilon), delta)


def _robust(premise: Any, low: float, high: float, exceptions: int, max_rate: float, epsilon: float) -> Any:
    return scans.robust(premise.k, premise.epsilon, low, high, exceptions, max_rate, epsilon)


def _explicit(premise: Any, rate: float, epsilon: Any) -> Any:
    return scans.robust(premise.k, premise.epsilon, rate, rate, 0, rate, epsilon)


def _closed_form(premise: Any, rate: float) -> Fields:
    p = mpf(rate)
    epsilon = mp.log(p * (2 - p) / (1 - p) * mp.exp(mpf(premise.epsilon)) + 1 - p)
    return _sampled(rate, epsilon, _explicit(premise, rate, epsilon))


def _best(*premises: Any) -> Fields:
    return _fields(premises[0], delta=min(premise.delta for premise in premises))


def _sums(premises: tuple[Any, ...], **changed: Any) -> Fields:
    epsilon, delta = (sum(mpf(getattr(p, name)) for p in premises) for name in ("epsilon", "delta"))
    return _fields(premises[0], epsilon=epsilon, delta=_capped(delta), **changed)


def _published_score(counted_from: int, rate: float, stands_for: int, parts: int) -> Fields:
    """Every class up to several times k/β, in 60 digits; a sixteenth of a unit and one more are for rounding."""
    k = counted_from
    p, most = mpf(rate), int(4 * (k + 10) / rate) + 2 * stands_for

    def published(n: int) -> Any:
        missing = mp.fsum(j * mp.binomial(n, j) * p**j * (1 - p) ** (n - j) for j in range(min(k, n + 1)))
        return n * p - missing

    values = [published(n) for n in range(most)]
    largest = max(after - before for before, after in zip(values, values[stands_for:], strict=False))
    return {"sensitivity": mpf(parts * (int(mp.floor(4096 * largest + mpf(1) / 16)) + 1)), "monotone": True}


def _more_samples(*premises: Any) -> Fields:
    n = premises[0].aggregate.population
    return _sums(premises, aggregate=RandomSamples(min(n, sum(p.aggregate.samples for p in premises)), n))


def _more_rounds(*premises: Any) -> Fields:
    rounds = sum(p.aggregate.rounds for p in premises)
    return _sums(premises, aggregate=IidSampling(premises[0].aggregate.rate, rounds))


def _by_distance(premise: Any, people: int) -> Fields:
    delta = (2 * people - 1) * (mp.exp(mpf(premise.epsilon)) - 1 + mpf(premise.delta))
    return _fields(premise, epsilon=mpf(0), delta=_capped(delta), people=people)


def _by_samples(premise: Any, people: int) -> Fields:
    met = mpf(people - 1) * premise.aggregate.samples / premise.aggregate.population
    delta = _capped(mpf(premise.delta) + mp.exp(mpf(premise.epsilon)) * met)
    return _fields(premise, delta=delta, people=people)


def _laplace(premise: Any, sensitivity: Any, scale: float) -> Fields:
    """ZKP Proposition 12; two values in the box are never further apart than the box is wide."""
    near = min(sensitivity + mpf(premise.accuracy), mpf(premise.width)) / mpf(scale)
    failure = mpf(premise.failure)
    epsilon = mp.log((1 - failure) * mp.exp(near) + failure * mp.exp(mpf(premise.width) / mpf(scale)))
    return _knowledge(epsilon, mpf(0), premise.aggregate)


def _sanitized(premise: Any, samples: int, population: int, form: str) -> Fields:
    q, e, d = mpf(samples) / population, mpf(premise.epsilon), mpf(premise.delta)
    gain = q * (mp.exp(e) - 1)
    epsilon, delta = {
        "plain": (e, d),
        "doubled": (2 * mp.log(1 + gain), (2 + gain) * q * d),
        "linear": (4 * q * e, 4 * q * d),
        "sharp": (mp.log(1 + gain), q * d),
    }[form]
    return _knowledge(epsilon, delta, RandomSamples(samples, population))


def _totals(step: Any, drift: Any, reach: Any) -> Fields:
    return {"step": step, "drift": drift, "reach": reach}


def _bins(bins: int, noise_epsilon: float) -> Fields:
    """Alone, a bin is a count; together they deviate most when each holds the same share."""
    m, loss = mpf(bins), mpf(noise_epsilon)
    share = 1 / m if bins > 1 else mpf(1) / 2
    deviation = m * mp.sqrt(share * (1 - share))
    return _totals((1 + m / 2) * loss, deviation * loss, min(m, mpf(2)) * loss)


def _groups(bins: int, grid_steps: int, noise_epsilon: float) -> Fields:
    """As bins, with every person standing for as many as there are steps; alone, a total is a sum."""
    one = _bins(bins, noise_epsilon)
    rounding = mpf(bins) / 2 * mpf(noise_epsilon)
    return _totals(
        grid_steps * (one["step"] - rounding) + rounding, grid_steps * one["drift"], grid_steps * one["reach"]
    )


def _quantile(numerator: int, denominator: int, noise_epsilon: float, joins: int) -> Fields:
    """Twice the rate η/2, times how far one person moves the losses of one choice, or of the two that they join."""
    share = mpf(numerator) / denominator
    moved = mpf(1) if joins == 1 else max(share, 1 - share)
    return _differential(2 * mpf(noise_epsilon) / 2 * joins * denominator * moved, mpf(0), SWAP)


def _estimated(premise: Any, samples: int, population: int) -> Fields:
    """The larger of a moment (Hoeffding's lemma with Serfling's factor) and a mean deviation."""
    n, k, step, drift, reach = map(mpf, (population, samples, premise.step, premise.drift, premise.reach))
    drawn = RandomSamples(samples, population)
    if not samples:
        return _knowledge(step + n * reach, mpf(0), drawn)
    proxy = min(k * (1 - (k - 1) / n), (n - k) * (1 - (n - k - 1) / n))
    moment = (reach * n / k) ** 2 * proxy / 8
    mean = n * drift * mp.sqrt((n - k) / max(n - 1, mpf(1)) / k)
    return _knowledge(step + max(moment, mean), mpf(0), drawn)


def _hoeffding(samples: int, error: Any, spread: Any) -> Any:
    """2·exp(−2tδ²/w²): t independent terms in an interval of length w, the average off by δ."""
    return _capped(2 * mp.exp(-2 * samples * (error / spread) ** 2))


def _explorer(
    statistic: str, spread: Callable[[int], Any], width: Callable[[int], Any] = lambda d: 1
) -> Callable[..., Fields]:
    """Averages of terms worth n/M = 2/d each; exploring s vertices misses components worth 2/(sd)."""

    def reference(degree_bound: int, accuracy: float, samples: int, explored: int) -> Fields:
        left = mpf(accuracy) - mpf(2) / (explored * degree_bound)
        failure = _hoeffding(samples, left, spread(degree_bound) * 2 / degree_bound)
        return _sampler(statistic, accuracy, failure, width(degree_bound), Exploration(samples, explored))

    return reference


def _average_degree_sampler(degree_bound: int, accuracy: float, samples: int) -> Fields:
    failure = _hoeffding(samples, mpf(accuracy), mpf(degree_bound))
    return _sampler("average degree", accuracy, failure, degree_bound, Neighbourhood(samples, 1))


def _average(samples: int, population: int, accuracy: float, width: float) -> Fields:
    failure = _hoeffding(samples, mpf(accuracy), mpf(width))
    return _sampler("average", accuracy, failure, width, RandomSamples(samples, population))


def _vc_accuracy(samples: int, dimension: int, failure: float) -> Fields:
    inner = dimension * mp.log(2 * mp.e * samples / dimension) + mp.log(4 / mpf(failure))
    return {"samples": samples, "accuracy": mp.sqrt(mpf(8) / samples) * mp.sqrt(inner), "failure": failure}


def _vc_samples(samples: int, dimension: int, accuracy: float, failure: float) -> Fields:
    needed = 16 / mpf(accuracy) ** 2 * (2 * dimension * mp.log(6 / mpf(accuracy)) + mp.log(4 / mpf(failure)))
    assert samples >= needed
    return {"samples": samples, "accuracy": accuracy, "failure": failure}


def _useful(sampled: Any, sanitizer: Any, lipschitz: float) -> Fields:
    accuracy = mpf(sampled.accuracy) + mpf(lipschitz) * mpf(sanitizer.accuracy)
    return {"accuracy": accuracy, "failure": _capped(mpf(sampled.failure) + mpf(sanitizer.failure))}


def _outlier(epsilon: float, transition: int, limit: int, factor: float) -> Fields:
    delta = scans.outlier(epsilon, transition, limit, factor)
    return {
        "epsilon": epsilon,
        "transition": transition,
        "limit": limit,
        "factor": factor,
        "delta": delta,
        "relation": ADD,
    }


def _split(choice: Any, release: Any, rate: float, share: float, epsilon: float) -> Fields:
    b, s = mpf(rate), mpf(share)
    total = mp.log(b * s * mp.exp(mpf(choice.epsilon)) + (1 - b * s) * mp.exp(mpf(epsilon)))
    delta = scans.suppression(release.k, b * (1 - s) / (1 - b * s), epsilon)
    return _differential(total, delta, samplings=choice.samplings + 1)


def _programme(*premises: Any, rate: float, epsilon: float) -> Fields:
    return _sampled(rate, epsilon, scans.programme(list(premises), rate, epsilon))


def _register(noise_epsilon: float, rows_per_person: int) -> Fields:
    return _differential(rows_per_person * mpf(noise_epsilon), 0.0)


def _gaussian(sigma: float, epsilon: float) -> Fields:
    """All outcomes that noise moved by one favours, one by one."""
    square, far = 2 * mpf(sigma) ** 2, int(40 * sigma)
    masses = {y: mp.exp(-mpf(y * y) / square) for y in range(-far, far + 2)}
    growth, whole = mp.exp(mpf(epsilon)), sum(masses.values())
    delta = sum(max(masses[y - 1] - growth * masses[y], mpf(0)) for y in range(1 - far, far + 2)) / whole
    return _differential(mpf(epsilon), delta)


REFERENCES: dict[str, Callable[..., Fields]] = {
    "sampling.amplification": lambda a, rate: _sampled(
        rate, _amplified(a.epsilon, mpf(rate)), mpf(rate) * mpf(a.delta)
    ),
    "dps.lower-rate": lambda a, rate: _sampled(
        rate, _amplified(a.epsilon, mpf(rate) / mpf(a.rate)), mpf(rate) / mpf(a.rate) * mpf(a.delta)
    ),
    "dps.postprocessing": _fields,
    "dps.random-choice": _mixture,
    "dps.differential": lambda a: _differential(a.epsilon, a.delta, samplings=1),
    "dps.zero-knowledge": lambda a: _knowledge(a.epsilon, a.delta, IidSampling(a.rate), ADD),
    "differential.replace": lambda a: _differential(*_doubled(a), SWAP, a.people, a.samplings),
    "differential.group": _chain,
    "suppression.published": lambda a, rate, epsilon: _sampled(rate, epsilon, scans.published(a.k, rate, epsilon)),
    "suppression.exact": lambda a, rate, epsilon: _sampled(rate, epsilon, scans.suppression(a.k, rate, epsilon)),
    "blending.explicit": lambda a, rate, epsilon: _sampled(rate, epsilon, _explicit(a, rate, epsilon)),
    "blending.closed-form": _closed_form,
    "robust.differential": lambda a, **how: _differential(how["epsilon"], _robust(a, **how), samplings=1),
    "robust.zero-knowledge": lambda a, **how: _knowledge(
        how["epsilon"], _robust(a, **how), RobustSampling(how["low"], how["high"], how["exceptions"]), ADD
    ),
    "histogram.noisy-sampled": lambda **how: _sampled(how["rate"], how["epsilon"], scans.noisy(**how)),
    "choice.sampling": _best,
    "choice.differential": _best,
    "choice.zero-knowledge": _best,
    "composition.differential": lambda *all_: _sums(all_, samplings=max(p.samplings for p in all_)),
    "composition.adaptive": lambda *all_: _sums(all_),
    "composition.random-samples": _more_samples,
    "composition.iid-sampling": _more_rounds,
    "composition.blending-differential": lambda a, b: _crowd(a.k, mpf(a.epsilon) + 2 * mpf(b.epsilon)),
    "composition.blending-differential-both": lambda a, b, c: _crowd(a.k, mpf(a.epsilon) + max(b.epsilon, c.epsilon)),
    "zero-knowledge.group": lambda a, people: _fields(a, epsilon=(2 * people - 1) * mpf(a.epsilon), people=people),
    "zero-knowledge.group-distance": _by_distance,
    "zero-knowledge.group-samples": _by_samples,
    "zero-knowledge.differential": lambda a: _differential(*_doubled(a), SWAP, a.people, 1),
    "differential.zero-knowledge": lambda a, population: _knowledge(
        a.epsilon, a.delta, RandomSamples(population, population)
    ),
    "laplace.sample-complexity": lambda a, sensitivity, scale: _laplace(a, mpf(sensitivity), scale),
    "laplace.random-samples": lambda a, scale: _laplace(a, 2 * mpf(a.accuracy), scale),
    "laplace.everybody": lambda sensitivity, scale, population: _knowledge(
        mpf(sensitivity) / mpf(scale), mpf(0), RandomSamples(population, population)
    ),
    "zero-knowledge.sampler": lambda a, b, width: _sampler(
        "released statistic",
        b.accuracy,
        (mpf(b.failure) + mp.exp(mpf(a.epsilon)) - 1) / mp.exp(mpf(a.epsilon)),
        width,
        a.aggregate,
    ),
    **{
        f"sample-and-sanitize.{form}": lambda a, samples, population, form=form: _sanitized(
            a, samples, population, form
        )
        for form in ("plain", "doubled", "linear", "sharp")
    },
    "graph.sampler.connected": _explorer("distance to connectedness", lambda d: mpf(1), lambda d: mpf(2) / d),
    "graph.sampler.cycle-free": _explorer("distance to cycle-freeness", lambda d: mpf(d) / 2),
    "graph.sampler.eulerian": _explorer("distance to an Euler path", lambda d: mpf(1) / 2, lambda d: mpf(1) / d),
    "graph.sampler.average-degree": _average_degree_sampler,
    "totals.sum": lambda grid_steps, noise_epsilon: _totals(
        (grid_steps + mpf(1) / 2) * mpf(noise_epsilon),
        grid_steps * mpf(noise_epsilon) / 2,
        grid_steps * mpf(noise_epsilon),
    ),
    "totals.histogram": _bins,
    "totals.groups": _groups,
    "quantile.everybody": lambda **a: _quantile(**a, joins=1),
    "quantile.groups": lambda **a: _quantile(**a, joins=2),
    "quantile.add-remove": lambda numerator, denominator, noise_epsilon: _differential(
        mpf(noise_epsilon) * max(numerator, denominator - numerator), mpf(0), ADD
    ),
    "totals.add-remove": lambda bins, grid_steps, noise_epsilon: _differential(
        grid_steps * mpf(noise_epsilon), mpf(0), ADD
    ),
    "totals.together": lambda *a: _totals(*(sum(mpf(getattr(p, f)) for p in a) for f in ("step", "drift", "reach"))),
    "totals.differential": lambda a: _differential(mpf(a.reach), mpf(0), SWAP),
    "totals.zero-knowledge": _estimated,
    "graph.connected": lambda a, population, scale: _laplace(a, mpf(2) / population, scale),
    "graph.cycle-free": lambda a, population, scale: _laplace(a, mpf(2) / population, scale),
    "graph.eulerian": lambda a, population, scale: _laplace(a, mpf(4) / population, scale),
    "graph.average-degree": lambda a, degree_bound, population, scale: _laplace(
        a, mpf(2) * degree_bound / population, scale
    ),
    "histogram.suppressed": lambda k: _crowd(k, mpf(0)),
    "histogram.noisy": _noisy_crowd,
    "histogram.gaussian": _gaussian,
    "histogram.threshold": lambda noise_epsilon, show_from: _differential(
        mpf(noise_epsilon), mp.exp(-mpf(noise_epsilon) * (show_from - 1)) / (1 + mp.exp(-mpf(noise_epsilon)))
    ),
    "histogram.laplace": lambda noise_epsilon: _differential(mpf(noise_epsilon), mpf(0)),
    "generalization.suppressed": lambda k: _crowd(k, mpf(0)),
    "points.noisy": _noisy_crowd,
    "blending.stated": lambda k, blend_epsilon: _crowd(k, mpf(blend_epsilon)),
    "blending.postprocessing": _fields,
    "blending.differential": lambda a, k: _crowd(k, a.epsilon),
    "outlier.histogram": _outlier,
    "outlier.differential": lambda a: _differential(mpf(a.factor) * mpf(a.epsilon), a.delta),
    "sampler.average": _average,
    "queries.vc-accuracy": _vc_accuracy,
    "queries.vc-samples": _vc_samples,
    "queries.useful": _useful,
    "laplace.accurate": lambda scale, failure: {"accuracy": mpf(scale) * -mp.log(mpf(failure)), "failure": failure},
    "score.published": _published_score,
    "score.stated": lambda sensitivity, monotone: {"sensitivity": mpf(sensitivity), "monotone": monotone},
    "selection.exponential": lambda a, epsilon: _differential(mpf(epsilon), mpf(0)),
    "recoding.population": lambda a, b: _differential(
        mpf(a.epsilon) + mpf(b.epsilon), b.delta, samplings=a.samplings + 1
    ),
    "recoding.split": _split,
    "programme.part": lambda a, share: {"share": share, "k": a.k, "blend_epsilon": a.epsilon},
    "programme.part-noise-below-k": lambda **how: how,
    "programme.part-points": lambda **how: how,
    "programme.part-private": lambda a, share: {"share": share, "uses": a.uses},
    "programme.parts": _programme,
    "register.rows": _register,
    "register.total": _register,
    "rows.per-person": lambda a, rows_per_person: {**_chain(a, rows_per_person), "people": 1},
    **NETWORK_REFERENCES,
    **PROFILE_REFERENCES,
    **STRATA_REFERENCES,
    **SYNOPSES,
}
