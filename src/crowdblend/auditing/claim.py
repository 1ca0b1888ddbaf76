"""A mechanism with what it claims, and the audit that goes with the kind of claim."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Protocol

from crowdblend.auditing.exact.definitions import (
    Aggregate,
    Counterexample,
    Pair,
    Simulator,
    crowd_blending,
    differential,
    order_free,
    outlier_private,
    under_sampling,
    zero_knowledge,
)
from crowdblend.auditing.exact.distributions import Mechanism, World
from crowdblend.auditing.statistical.run import Verdict, audit
from crowdblend.auditing.statistical.subject import Subject
from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.guarantees import CrowdBlending, Differential, DifferentialUnderSampling, OutlierPrivate, ZeroKnowledge
from crowdblend.guarantees.privacy import Guarantee

Finding = Counterexample | Verdict


class Claim(Protocol):
    """Anything that can be audited."""

    def finding(self) -> Finding | None:
        """Return what proves the claim wrong, or None."""


@dataclass(frozen=True)
class ExactClaim:
    """A mechanism with finite output distributions, audited on every table of a tiny world, or on some pairs."""

    guarantee: Guarantee
    mechanism: Mechanism
    world: World
    pairs: Iterable[Pair] = ()
    aggregate: Aggregate | None = None
    simulator: Simulator | None = None
    bin_of: Callable[[Hashable], Hashable] = lambda value: value

    def finding(self) -> Counterexample | None:
        """Return the worst counterexample to the guarantee, by its definition."""
        mechanism, world = self.mechanism, self.world
        match self.guarantee:
            case CrowdBlending() as guarantee:
                return crowd_blending(mechanism, guarantee, world)
            case Differential() as guarantee:
                return differential(mechanism, guarantee, None if self.pairs else world, self.pairs)
            case DifferentialUnderSampling() as guarantee:
                return under_sampling(mechanism, guarantee, world)
            case OutlierPrivate() as guarantee:
                return outlier_private(mechanism, guarantee, world, self.bin_of)
            case ZeroKnowledge() as guarantee:
                if self.aggregate is None or self.simulator is None:
                    raise InvalidInput(
                        "A zero-knowledge guarantee needs an aggregate and a simulator that sees it. Pass both."
                    )
                return zero_knowledge(mechanism, guarantee, world, self.aggregate, self.simulator)
        raise InvalidInput(
            f"{type(self.guarantee).__name__} is not audited by its definition. Use one of CrowdBlending, "
            "Differential, DifferentialUnderSampling, OutlierPrivate and ZeroKnowledge."
        )


@dataclass(frozen=True)
class OrderClaim:
    """A mechanism that claims that the order of people does not matter."""

    mechanism: Mechanism
    world: World

    def finding(self) -> Counterexample | None:
        """Return two orders that the output tells apart, or None."""
        return order_free(self.mechanism, self.world)


@dataclass(frozen=True)
class SampledClaim:
    """A black box that can only be run, audited by running it."""

    subject: Subject
    runs: int = 8_000
    error: float = 1e-6

    def finding(self) -> Verdict | None:
        """Return the verdict, if it is a finding."""
        verdict = audit(self.subject, runs=self.runs, error=self.error)
        return verdict if verdict.finding else None
