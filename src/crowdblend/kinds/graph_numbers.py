"""Compute the statistics, add the noise, and write one row for each published number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from crowdblend.engines.network import NetworkData
from crowdblend.kinds.kind import Publication
from crowdblend.kinds.outputs import write_columns
from crowdblend.mechanisms.networks import NoisyStatistic
from crowdblend.networks import Structure
from crowdblend.planning.networks import CONFIDENCE, NetworkPlan
from crowdblend.policies.graph import Graph as GraphPolicy
from crowdblend.policies.graph import StatisticQuestion as Statistic
from crowdblend.randomness import ReleaseKey
from crowdblend.reports.network import network_page


@dataclass(frozen=True)
class Number:
    """One published number: which statistic, of which class, and what it may be off by."""

    statistic: str
    label: str | None
    value: float
    error: float


def publish(policy: GraphPolicy, plans: Sequence[NetworkPlan], found: NetworkData, key: ReleaseKey) -> Publication:
    """Every statistic with noise of its own; the same key gives the same numbers."""
    structure = found.structure
    numbers: list[Number] = []
    true: dict[str, Any] = {}
    for at, (statistic, plan) in enumerate(zip(policy.questions, plans, strict=True)):
        mechanism = NoisyStatistic(plan)
        values = exact_values(statistic, plan, found)
        noisy = mechanism.publish(values, key.source(b"noise of network statistic %d" % at))
        true[statistic.label] = [float(Fraction(statistic.low) + value) for value in values]
        numbers += [
            Number(statistic.label, label, _from(statistic.low, value), plan.error)
            for label, value in zip(_labels(statistic), noisy, strict=True)
        ]
    path = f"data.{policy.format}"
    internal = _internal(structure, true)
    return Publication(
        write=lambda folder: _write(numbers, folder / path),
        internal=internal,
        internal_page=lambda: network_page(internal),
    )


def exact_values(statistic: Statistic, plan: NetworkPlan, found: NetworkData) -> list[Fraction]:
    """The numbers of a statistic without noise, above the lower end of its range."""
    return [NoisyStatistic(plan).exact(found.structure)] if statistic.column is None else found.values(statistic)


def _from(low: float, value: float) -> float:
    """Where an average lies, in decimals, so that it is on the grid to the eye too."""
    return float(Decimal(repr(low)) + Decimal(repr(value)))


def _labels(statistic: Statistic) -> tuple[str | None, ...]:
    return statistic.classes or (None,)


def _write(numbers: Sequence[Number], path: Path) -> None:
    columns: dict[str, list[Any]] = {"statistic": [number.statistic for number in numbers]}
    if any(number.label is not None for number in numbers):
        columns["class"] = [number.label for number in numbers]
    columns |= {
        "value": [number.value for number in numbers],
        "error": [number.error for number in numbers],
        "confidence": [CONFIDENCE for _ in numbers],
    }
    write_columns(columns, path)


def _internal(structure: Structure, true: dict[str, Any]) -> dict[str, Any]:
    """What the steward may want to see and nobody else may: the network's own numbers."""
    degrees, people = np.unique(structure.network.degrees, return_counts=True)
    sizes, components = np.unique(np.bincount(structure.parts), return_counts=True)
    return {
        "links": structure.network.links,
        "statistics_without_noise": true,
        "people_by_degree": dict(zip(map(str, degrees.tolist()), people.tolist(), strict=True)),
        "components_by_size": dict(zip(map(str, sizes.tolist()), components.tolist(), strict=True)),
    }
