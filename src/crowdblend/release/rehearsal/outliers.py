"""Outlier-private tables as the audit sees them: bins around the size from which on the noise is constant."""

from __future__ import annotations

from crowdblend.errors import InvalidInput
from crowdblend.release.kinds import promise
from crowdblend.release.kinds.outliers.policy import OutlierPolicy
from crowdblend.release.rehearsal.registry import Hard
from crowdblend.release.rehearsal.subject import ReleaseSubject
from crowdblend.release.rehearsal.table import drawn_here


def subject(
    policy: OutlierPolicy,
    hard: Hard,
    *,
    name: str,
    people: int,
    understated: float = 1.0,
    stacked: bool = False,
    epsilon: float | None = None,
) -> ReleaseSubject:
    """The policy with bins of the hardest sizes; a stack would have other empty bins, so there is none."""
    del stacked
    if epsilon is not None:
        raise InvalidInput(
            "epsilon must be left to the policy of an outlier-table: the noise on its bins follows from it. Drop it."
        )
    plan = promise(drawn_here(policy)).plan  # type: ignore[attr-defined]
    rate = policy.sampling.rate or 1.0
    sizes = {**hard(plan.limit - plan.transition, rate, plan.epsilon / understated)}
    return ReleaseSubject(policy, tuple(sizes.items()), name, people, understated)
