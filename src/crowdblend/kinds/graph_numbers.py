"""The published numbers of a network: the statistics, each with its noise, one row for each number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from crowdblend.engines.network import NetworkData
from crowdblend.kinds.kind import Publication
from crowdblend.kinds.outputs import NumbersOutput
from crowdblend.mechanisms.networks import NoisyStatistic
from crowdblend.networks import Structure
from crowdblend.planning.networks import CONFIDENCE
from crowdblend.policies.graph import Graph, NetworkStatistic
from crowdblend.randomness import ReleaseKey


@dataclass(frozen=True)
class Number:
    """One published number: which statistic, of which class, and what it may be off by."""

    statistic: str
    label: str | None
    value: float
    error: float


def publish_numbers(
    policy: Graph, mechanisms: tuple[NoisyStatistic, ...], network: NetworkData, key: ReleaseKey
) -> Publication:
    """Every statistic with noise of its own; the same key gives the same numbers."""
    exact = [exact_values(*one, network) for one in zip(policy.requests, mechanisms, strict=True)]
    (numbers,) = noisy_numbers(policy, mechanisms, exact, key)
    true = {
        statistic.label: [float(Fraction(statistic.low) + value) for value in values]
        for statistic, values in zip(policy.requests, exact, strict=True)
    }
    internal = _internal(network.structure, true)
    return Publication((numbers_output(policy, numbers),), mechanisms, internal=internal)


def noisy_numbers(
    policy: Graph,
    mechanisms: tuple[NoisyStatistic, ...],
    exact: Sequence[list[Fraction]],
    key: ReleaseKey,
    releases: int = 1,
) -> list[list[Number]]:
    """The numbers of so many releases of the same network, all with noise of their own."""
    found: list[list[Number]] = [[] for _ in range(releases)]
    for at, (statistic, mechanism, values) in enumerate(zip(policy.requests, mechanisms, exact, strict=True)):
        noisy = mechanism.publish(values * releases, key.source(b"noise of network statistic %d" % at))
        error = mechanism.plan.error
        for release, numbers in enumerate(found):
            own = noisy[release * len(values) : (release + 1) * len(values)]
            numbers += [
                Number(statistic.label, label, _from(statistic.low, value), error)
                for label, value in zip(_labels(statistic), own, strict=True)
            ]
    return found


def numbers_output(policy: Graph, numbers: Sequence[Number]) -> NumbersOutput:
    """The file of the numbers."""
    return NumbersOutput(f"data.{policy.format}", _columns(numbers))


def exact_values(statistic: NetworkStatistic, mechanism: NoisyStatistic, network: NetworkData) -> list[Fraction]:
    """The numbers of a statistic without noise, above the lower end of its range."""
    return [mechanism.exact(network.structure)] if statistic.column is None else network.values(statistic)


def _from(low: float, value: float) -> float:
    """Where an average lies, in decimals, so that it is on the grid to the eye too."""
    return float(Decimal(repr(low)) + Decimal(repr(value)))


def _labels(statistic: NetworkStatistic) -> tuple[str | None, ...]:
    return statistic.classes or (None,)


def _columns(numbers: Sequence[Number]) -> dict[str, list[str | float | None]]:
    columns: dict[str, list[str | float | None]] = {"statistic": [number.statistic for number in numbers]}
    if any(number.label is not None for number in numbers):
        columns["class"] = [number.label for number in numbers]
    return {
        **columns,
        "value": [number.value for number in numbers],
        "error": [number.error for number in numbers],
        "confidence": [CONFIDENCE for _ in numbers],
    }


def _internal(structure: Structure, true: dict[str, list[float]]) -> dict[str, object]:
    """What the steward may want to see and nobody else may: the network's own numbers."""
    degrees, people = np.unique(structure.network.degrees, return_counts=True)
    sizes, components = np.unique(np.bincount(structure.parts), return_counts=True)
    return {
        "links": structure.network.links,
        "statistics_without_noise": true,
        "people_by_degree": dict(zip(map(str, degrees.tolist()), people.tolist(), strict=True)),
        "components_by_size": dict(zip(map(str, sizes.tolist()), components.tolist(), strict=True)),
    }
