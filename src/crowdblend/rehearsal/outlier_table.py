"""Outlier-private tables as the audit sees them: bins around the size from which on the noise is constant."""

from __future__ import annotations

from crowdblend.kinds import promise
from crowdblend.policies.outlier_table import OutlierTable as OutlierPolicy
from crowdblend.rehearsal.registry import Asked
from crowdblend.rehearsal.subject import ReleaseSubject
from crowdblend.rehearsal.table import drawn_here


def subject(policy: OutlierPolicy, asked: Asked) -> ReleaseSubject:
    """The policy with bins of the hardest sizes; a stack would have other empty bins, so there is none."""
    asked.leave_epsilon("the policy of an outlier-table", "the noise on its bins follows from it")
    plan = promise(drawn_here(policy)).plan  # type: ignore[attr-defined]
    rate = policy.sampling.rate or 1.0
    sizes = {**asked.hard(plan.limit - plan.transition, rate, plan.epsilon / asked.understated)}
    return ReleaseSubject(policy, tuple(sizes.items()), asked.name, asked.people, asked.understated)
