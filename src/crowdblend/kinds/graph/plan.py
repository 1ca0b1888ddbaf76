"""Statistics of a network, each with noise on a grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from crowdblend.errors import NoRoom
from crowdblend.kinds.graph.facts import GraphFacts, GraphStatisticFacts
from crowdblend.kinds.graph.network import NetworkReading, check_network, read_network
from crowdblend.kinds.graph.policy import GraphPolicy, GraphStatistic
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.outputs import NumbersOutput
from crowdblend.kinds.shared.plan import Lines, ReleasePlan, Result, software
from crowdblend.methods.designs.draw import Draw
from crowdblend.methods.mechanisms.networks import NoisyStatistic
from crowdblend.methods.networks.exact import degree_shares
from crowdblend.methods.planning.networks.solve import (
    CONFIDENCE,
    NetworkPlan,
    least_people,
    plan_network,
    refuse_useless,
    trades,
)
from crowdblend.sources.engines.engine import Engine, Progress
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.randomness import ReleaseKey


@dataclass(frozen=True, repr=False)
class GraphPlan(ReleasePlan[GraphPolicy, NetworkReading]):
    """The planned statistics of a network, in the order of the policy."""

    policy: GraphPolicy
    plans: tuple[NetworkPlan, ...]

    @property
    def mechanisms(self) -> tuple[NoisyStatistic, ...]:
        return tuple(NoisyStatistic(plan) for plan in self.plans)

    @property
    def stated_assumptions(self) -> tuple[Assumption, ...]:
        """None: rows are links, and people are known by their names."""
        return ()

    def facts(self, publication: Result | None = None) -> GraphFacts:
        bounds = self.policy.publication.graph.bounds
        ran = self.mechanisms if publication is None else publication.mechanisms
        mechanisms = [one for one in ran if isinstance(one, NoisyStatistic)]
        statistics = tuple(
            GraphStatisticFacts(
                name=statistic.name,
                scale=mechanism.noise.scale,
                resolution=mechanism.noise.resolution,
                samples=mechanism.plan.samples,
                explored=mechanism.plan.seen.explored,
                column=statistic.column,
                low=statistic.low,
                width=statistic.width,
                labels=statistic.classes if statistic.breaks is None else (),
                breaks=statistic.breaks or (),
                other=statistic.other,
            )
            for statistic, mechanism in zip(self.policy.publication.statistics, mechanisms, strict=True)
        )
        return GraphFacts(
            software=software(),
            people=bounds.people,
            degree_bound=bounds.degree_bound,
            average_bound=bounds.average_bound,
            statistics=statistics,
        )

    def describe(self) -> Lines:
        policy, bounds = self.policy, self.policy.publication.graph.bounds
        lines = [
            ("would read", f"{' and '.join(self.names)} from {policy.data.name}"),
            ("of a network", f"of {bounds.people:,} people with at most {bounds.degree_bound:,} links each"),
        ]
        for statistic, plan in zip(policy.publication.statistics, self.plans, strict=True):
            reached = f", {plan.seen.explored:,} reached from each" if plan.request.explores else ""
            lines.append(
                (
                    "would publish",
                    f"{statistic.label} within {plan.error:.3g} at {CONFIDENCE:.0%} (range {plan.width:.3g}), "
                    f"epsilon {at_most(plan.epsilon)}, relative to {plan.samples:,} random people{reached}",
                )
            )
            varied = "; ".join(f"with {what}, within {error:.3g}" for what, error in trades(plan).items())
            lines += [("", varied)] if varied else []
        enough = least_people(self.plans)
        lines.append(("would need", f"at least {enough:,} people to be meaningful" if enough else "more people"))
        return lines

    @property
    def names(self) -> list[str]:
        return [self.policy.publication.graph.source, self.policy.publication.graph.target]

    def check_source(self, engine: Engine) -> None:
        check_network(self.policy, engine)

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> NetworkReading:
        """Read the links; nothing is computed of them but whether they keep to the bounds."""
        with _in_memory():
            return read_network(self.policy, engine, progress)

    def publish(self, reading: NetworkReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        policy, mechanisms, structure = self.policy, self.mechanisms, reading.structure
        with _in_memory():
            exact = [exact_values(*one, reading) for one in zip(policy.publication.statistics, mechanisms, strict=True)]
            (numbers,) = noisy_numbers(policy, mechanisms, exact, key)
            true = {
                statistic.label: [float(Fraction(statistic.low) + value) for value in values]
                for statistic, values in zip(policy.publication.statistics, exact, strict=True)
            }
            degrees, people = np.unique(structure.network.degrees, return_counts=True)
            sizes, components = np.unique(np.bincount(structure.parts), return_counts=True)
        # The network's own numbers, for the steward alone.
        internal = {
            "links": structure.network.links,
            "statistics_without_noise": true,
            "people_by_degree": dict(zip(map(str, degrees.tolist()), people.tolist(), strict=True)),
            "components_by_size": dict(zip(map(str, sizes.tolist()), components.tolist(), strict=True)),
        }
        return Result((numbers_output(policy, numbers),), mechanisms, internal=internal)


@contextmanager
def _in_memory() -> Iterator[None]:
    try:
        yield
    except MemoryError:
        message = "The network does not fit into memory, at about 50 bytes a link."
        raise NoRoom(message, remedy="Use a larger machine.", where="`data.source`", code="data.memory") from None


class GraphMethod(Method[GraphPolicy]):
    """Figures of a network, each with its own noise."""

    def plan(self) -> GraphPlan:
        """Plan every statistic, and refuse what would show nothing."""
        plans = tuple(map(plan_network, self.policy.requests))
        refuse_useless(plans)
        return GraphPlan(self.policy, plans)


method = GraphMethod


@dataclass(frozen=True)
class Number:
    """One published number: which statistic, of which class, and what it may be off by."""

    statistic: str
    label: str | None
    value: float
    error: float


def noisy_numbers(
    policy: GraphPolicy,
    mechanisms: tuple[NoisyStatistic, ...],
    exact: Sequence[list[Fraction]],
    key: ReleaseKey,
    releases: int = 1,
) -> list[list[Number]]:
    """Return the numbers of this many releases of the same network, all with noise of their own."""
    found: list[list[Number]] = [[] for _ in range(releases)]
    for at, (statistic, mechanism, values) in enumerate(
        zip(policy.publication.statistics, mechanisms, exact, strict=True)
    ):
        noisy = mechanism.publish(values * releases, key.source(b"noise of network statistic %d" % at))
        error = mechanism.plan.error
        for release, numbers in enumerate(found):
            own = noisy[release * len(values) : (release + 1) * len(values)]
            # The lower end of an average is added in decimals, so that it is visibly on the grid.
            low, labels = Decimal(repr(statistic.low)), statistic.classes or (None,)
            numbers += [
                Number(statistic.label, label, float(low + Decimal(repr(value))), error)
                for label, value in zip(labels, own, strict=True)
            ]
    return found


def exact_values(statistic: GraphStatistic, mechanism: NoisyStatistic, network: NetworkReading) -> list[Fraction]:
    """Return the numbers of a statistic without noise, above the lower end of its range."""
    if statistic.breaks is not None:
        return degree_shares(network.structure, statistic.breaks)
    return [mechanism.exact(network.structure)] if statistic.column is None else network.values(statistic)


def numbers_output(policy: GraphPolicy, numbers: Sequence[Number]) -> NumbersOutput:
    """Return the file of the numbers."""
    columns: dict[str, list[str | float | None]] = {"statistic": [number.statistic for number in numbers]}
    if any(number.label is not None for number in numbers):
        columns["class"] = [number.label for number in numbers]
    columns["value"] = [number.value for number in numbers]
    columns["error"] = [number.error for number in numbers]
    columns["confidence"] = [CONFIDENCE] * len(numbers)
    return NumbersOutput(policy.file, columns)
