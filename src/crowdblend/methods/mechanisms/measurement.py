"""OpenDP measurements as sanitizers of sample-and-sanitize (ZKP Proposition 16).

Exactly k of n rows are drawn without replacement, put in random order and handed to the measurement. Its privacy map,
read at the distance of one replaced row, says how private it is on the sample, and sampling strengthens that.

One replaced row is one change to metrics that count changes, and a removal and an addition to metrics that count
people. The theorem also wants a mechanism that accepts a concealed row ⊥. Read as one fixed value of the domain, ⊥ is a
value like any other, and replacing by it is a replacement, whether or not the domain fixes the number of rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.trusted.calculus import Certificate, Derivation
from crowdblend.trusted.calculus.rules import mechanisms, zero_knowledge
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.randomness import Source, SystemSource, distinct, permutation

with lazy_imports():
    # An optional extra.
    from opendp import combinators, mod
    from opendp.mod import Measurement

# How far apart two datasets of one size are that differ in one row.
ONE_REPLACED = {
    "SymmetricDistance()": 2,
    "InsertDeleteDistance()": 2,
    "ChangeOneDistance()": 1,
    "HammingDistance()": 1,
}
PURE, APPROXIMATE = "MaxDivergence", "Approximate(MaxDivergence)"
CONCENTRATED, SMOOTHED = "ZeroConcentratedDivergence", "SmoothedMaxDivergence"
_FAILED = object()


@dataclass(frozen=True)
class SanitizedAnswer:
    """The answer of a measurement about a random sample, and its guarantee to everybody."""

    value: Any
    certificate: Certificate


def sample_and_sanitize(
    data: Sequence[Any], k: int, measurement: Measurement, *, delta: float | None = None, source: Source | None = None
) -> SanitizedAnswer:
    """Run an OpenDP `measurement` on `k` random rows and certify zero-knowledge privacy relative to k random people.

    Every row of `data` is one person, and their number is public. `delta` is needed where the measurement has one ε for
    each δ (zero-concentrated or smoothed): OpenDP itself converts it. Another `source` of randomness is for tests.
    """
    n = len(data)
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= n:
        message = f"k must be a whole number between 1 and the {n} rows of the data, got {k!r}. Lower it."
        raise InvalidInput(message, where="k", code="mechanism.k")
    mechanism = SampledMeasurement(measurement, k, n, delta)
    claims = (mechanism.claim(), mechanism.claim_replaced())
    bits = source or SystemSource()
    value = mechanism.publish(data, bits)
    facts = {
        "kind": "measurement",
        "measurement": {
            "domain": str(measurement.input_domain),
            "metric": str(measurement.input_metric),
            "measure": str(measurement.output_measure),
        },
        "private_randomness": bits.private,
        "software": {"opendp": metadata.version("opendp")},
    }
    return SanitizedAnswer(value, Certificate(claims, (), facts))


@dataclass(frozen=True)
class SampledMeasurement:
    """An OpenDP measurement run on exactly `samples` of `population` random rows.

    `delta` is needed where the measurement has one ε for each δ (zero-concentrated or smoothed).
    """

    measurement: Measurement
    samples: int
    population: int
    delta: float | None = None

    @cached_property
    def privacy_map(self) -> Derivation:
        """The measurement's privacy map for one replaced row of the sample; no data are needed."""
        epsilon, least = _loss(self.measurement, self.delta)
        return mechanisms.opendp_measurement(epsilon=epsilon, delta=least)

    def claim(self) -> Derivation:
        """Zero-knowledge privacy relative to as many random people."""
        return zero_knowledge.sample_and_sanitize_sharp(
            self.privacy_map, samples=self.samples, population=self.population
        )

    def claim_replaced(self) -> Derivation:
        """Differential privacy with one person's data replaced, from the same argument."""
        return zero_knowledge.sample_and_sanitize_differential(
            self.privacy_map, samples=self.samples, population=self.population
        )

    def publish(self, data: Sequence[Any], source: Source) -> Any:
        """Return the measurement's answer about the rows that are drawn, in random order."""
        drawn = distinct(self.samples, self.population, source)[permutation(self.samples, source)]
        return _measure(self.measurement, _rows(data, drawn))


def _loss(measurement: Measurement, delta: float | None) -> tuple[float, float]:
    """ε and δ for one replaced row, as OpenDP rounds them: upward."""
    metric, measure = str(measurement.input_metric), str(measurement.output_measure)
    if metric not in ONE_REPLACED:
        raise InvalidInput(
            f"The measurement must compare datasets by one of {', '.join(name[:-2] for name in ONE_REPLACED)}, got "
            f"{metric}. Build it on rows of one person each.",
            where="measurement",
            code="mechanism.metric",
        )
    if measure in (PURE, APPROXIMATE) and delta is not None:
        message = f"delta must be left out for a measurement whose privacy map fixes it, got {delta!r}. Leave it out."
        raise InvalidInput(message, where="delta", code="mechanism.delta")
    if measure == PURE:
        return float(measurement.map(ONE_REPLACED[metric])), 0.0
    if measure in (CONCENTRATED, SMOOTHED):
        measurement = _at_fixed_delta(measurement, measure, delta)
    elif measure != APPROXIMATE:
        raise InvalidInput(
            f"The measurement must guarantee (ε, δ) or something that OpenDP converts into it, got {measure}. "
            "Use one of pure, approximate or zero-concentrated differential privacy.",
            where="measurement",
            code="mechanism.measure",
        )
    epsilon, least = measurement.map(ONE_REPLACED[metric])
    return float(epsilon), float(least)


def _at_fixed_delta(measurement: Measurement, measure: str, delta: float | None) -> Measurement:
    if delta is None or not 0 < delta < 1:
        raise InvalidInput(
            f"delta must be a number between 0 and 1 (exclusive) for a measurement that guarantees {measure}, got "
            f"{delta!r}. Pass the probability beyond epsilon, for example 1e-9.",
            where="delta",
            code="mechanism.delta",
        )
    smoothed = combinators.make_zCDP_to_approxDP(measurement) if measure == CONCENTRATED else measurement
    return combinators.make_fix_delta(smoothed, float(delta))


def _rows(data: Sequence[Any], places: Any) -> Any:
    if hasattr(data, "take"):  # arrays of NumPy
        return data.take(places, axis=0)
    return [data[place] for place in places.tolist()]


def _measure(measurement: Measurement, rows: Any) -> Any:
    """Return the measurement's answer; OpenDP's own words are kept back, because they may quote the rows.

    OpenDP guarantees nothing about rows outside the measurement's domain and does not check for them, so this does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inside = measurement.input_domain.member(rows)
        if not inside:
            raise InvalidInput(
                f"The drawn rows are outside the measurement's domain, {measurement.input_domain}. "
                "Convert, clamp or fill in the data first, and let a fixed size be k.",
                where="data",
                code="mechanism.domain",
            )
        try:
            value = measurement(rows)
        except (mod.OpenDPException, TypeError, ValueError, OverflowError):
            value = _FAILED
    if value is _FAILED:
        message = "The measurement failed on the drawn rows. Try it on made-up rows."
        raise InvalidInput(message, where="measurement", code="mechanism.failed")
    if isinstance(value, mod.Queryable):
        message = "The measurement does not answer at once: it waits for queries. Fix its queries."
        raise InvalidInput(message, where="measurement", code="mechanism.interactive")
    return value
