"""A mechanism with what it claims, and the audit that goes with the kind of claim."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from crowdblend.auditing.exact.blending import crowd_blending
from crowdblend.auditing.exact.counterexample import Counterexample
from crowdblend.auditing.exact.differential import Pair, differential, under_sampling
from crowdblend.auditing.exact.order import order_free
from crowdblend.auditing.exact.outliers import outlier_private
from crowdblend.auditing.exact.worlds import Mechanism, World
from crowdblend.auditing.exact.zero_knowledge import Aggregate, Simulator, zero_knowledge
from crowdblend.auditing.statistical.run import audit
from crowdblend.auditing.statistical.subject import Subject
from crowdblend.auditing.statistical.verdict import Verdict
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import CrowdBlending, Differential, DifferentialUnderSampling, OutlierPrivate, ZeroKnowledge
from crowdblend.guarantees.privacy import Guarantee

Finding = Counterexample | Verdict


class Claim(Protocol):
    """Anything that can be audited."""

    def finding(self) -> Finding | None:
        """What proves the claim wrong, or None."""


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
        """The worst counterexample to the guarantee, by its definition."""
        if type(self.guarantee) not in _DEFINITIONS:
            raise InvalidInput(
                f"{type(self.guarantee).__name__} is not audited by its definition. "
                f"Use one of {', '.join(kind.__name__ for kind in _DEFINITIONS)}."
            )
        return _DEFINITIONS[type(self.guarantee)](self)


def _simulated(claim: Any) -> Counterexample | None:
    if claim.aggregate is None or claim.simulator is None:
        raise InvalidInput("A zero-knowledge guarantee needs an aggregate and a simulator that sees it. Pass both.")
    return zero_knowledge(claim.mechanism, claim.guarantee, claim.world, claim.aggregate, claim.simulator)


_DEFINITIONS: dict[type[Guarantee], Callable[[Any], Counterexample | None]] = {
    CrowdBlending: lambda claim: crowd_blending(claim.mechanism, claim.guarantee, claim.world),
    Differential: lambda claim: differential(
        claim.mechanism, claim.guarantee, None if claim.pairs else claim.world, claim.pairs
    ),
    DifferentialUnderSampling: lambda claim: under_sampling(claim.mechanism, claim.guarantee, claim.world),
    ZeroKnowledge: _simulated,
    OutlierPrivate: lambda claim: outlier_private(claim.mechanism, claim.guarantee, claim.world, claim.bin_of),
}


@dataclass(frozen=True)
class OrderClaim:
    """A mechanism that claims that the order of people does not matter."""

    mechanism: Mechanism
    world: World

    def finding(self) -> Counterexample | None:
        """Two orders that the output tells apart."""
        return order_free(self.mechanism, self.world)


@dataclass(frozen=True)
class SampledClaim:
    """A black box that can only be run, audited by running it."""

    subject: Subject
    runs: int = 8_000
    error: float = 1e-6

    def finding(self) -> Verdict | None:
        """The verdict, if it is a finding."""
        verdict = audit(self.subject, runs=self.runs, error=self.error)
        return verdict if verdict.finding else None
