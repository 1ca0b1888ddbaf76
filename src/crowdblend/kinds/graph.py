"""A network's policy with nothing left open, and how it is published."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.calculus import Certificate, Derivation
from crowdblend.calculus.rules.composition import compose
from crowdblend.engines.engine import Engine, default_engine
from crowdblend.engines.progress import Progress
from crowdblend.errors import InvalidInput
from crowdblend.guarantees.wording import at_most
from crowdblend.kinds.kind import Publication, Reading, software
from crowdblend.planning.networks import CONFIDENCE, NetworkPlan, least_people, plan_network, refuse_useless, trades
from crowdblend.policies.graph import Graph as GraphPolicy

if TYPE_CHECKING:
    from crowdblend.engines.network import NetworkData
    from crowdblend.mechanisms.networks import NoisyStatistic
    from crowdblend.randomness import ReleaseKey


@dataclass(frozen=True)
class Promise:
    """The planned statistics of a network, in the order of the policy."""

    policy: GraphPolicy
    plans: tuple[NetworkPlan, ...]

    @property
    def mechanisms(self) -> tuple[NoisyStatistic, ...]:
        """The noise on every statistic, as it is drawn and certified."""
        from crowdblend.mechanisms.networks import NoisyStatistic  # noqa: PLC0415  loads NumPy

        return tuple(NoisyStatistic(plan) for plan in self.plans)

    def together(self) -> Derivation:
        """All statistics in one promise."""
        return compose(*(mechanism.claim() for mechanism in self.mechanisms))

    def certificate(self, files: dict[str, str] | None = None, outcome: Any = None) -> Certificate:
        """The zero-knowledge promise, and the differential one against somebody who knows everybody else."""
        promises = (self.together(), compose(*(mechanism.claim_replaced() for mechanism in self.mechanisms)))
        return Certificate(promises, (), {**self.facts(outcome), "files": files or {}})

    def facts(self, outcome: Any = None) -> dict[str, Any]:
        """What a reader needs to know; nothing of it is read off the network."""
        bounds = self.policy.graph.bounds
        return {
            "kind": "graph",
            "parameters": {
                "epsilon": self.together().conclusion.epsilon,
                "people": bounds.people,
                "degree_bound": bounds.degree_bound,
                "average_bound": bounds.average_bound,
                "sampled_people": sum(plan.samples for plan in self.plans),
                "enough_people": least_people(self.plans),
                "confidence": CONFIDENCE,
            },
            "statistics": [
                {"statistic": statistic.label, "classes": list(statistic.classes), **_described(plan)}
                for statistic, plan in zip(self.policy.questions, self.plans, strict=True)
            ],
            "software": software(),
        }

    def told(self) -> list[tuple[str, str]]:
        """What would happen, from the policy alone."""
        policy, bounds = self.policy, self.policy.graph.bounds
        lines = [
            ("would read", f"{policy.graph.source} and {policy.graph.target} from {Path(policy.data.source).name}"),
            ("of a network", f"of {bounds.people:,} people with at most {bounds.degree_bound:,} links each"),
        ]
        for statistic, plan in zip(policy.questions, self.plans, strict=True):
            reached = f", {plan.seen.explored:,} reached from each" if plan.question.explores else ""
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

    def check_source(self) -> None:
        """Refuse a source that is not there or lacks a column, without reading a row."""
        from crowdblend.engines.network import check_network  # noqa: PLC0415  loads NumPy

        check_network(self.policy, default_engine())

    def read(self, key: ReleaseKey, progress: Progress | None = None, engine: Engine | None = None) -> Reading:
        """Read the links; nothing is computed of them but whether they keep to the bounds."""
        from crowdblend.engines.network import read_network  # noqa: PLC0415  loads NumPy

        with _in_memory():
            found = read_network(self.policy, engine or default_engine(), progress)
        return self.reading(found, key)

    def reading(self, found: NetworkData, key: ReleaseKey) -> Reading:
        """What is published of a network that was read."""
        from crowdblend.kinds.graph_numbers import publish  # noqa: PLC0415

        def published() -> Publication:
            with _in_memory():
                return publish(self.policy, self.plans, found, key)

        return Reading({"rows_read": found.rows}, published)


@contextmanager
def _in_memory() -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise InvalidInput(
            "the network must fit into memory, about 50 bytes a link, and does not. Use a larger machine."
        ) from None


def _described(plan: NetworkPlan) -> dict[str, Any]:
    described: dict[str, Any] = {
        "epsilon": plan.epsilon,
        "samples": plan.samples,
        "scale": plan.scale,
        "resolution": plan.resolution,
        "error": plan.error,
        "range": plan.width,
    }
    if plan.question.explores:
        described["explored"] = plan.seen.explored
    if plan.question.published:
        described |= {"accuracy": plan.question.accuracy, "failure_exponent": plan.question.failure_exponent}
    return described


def promise(policy: GraphPolicy) -> Promise:
    """Plan every statistic, and refuse what would show nothing."""
    plans = tuple(plan_network(statistic.question) for statistic in policy.questions)
    refuse_useless(plans)
    return Promise(policy, plans)
