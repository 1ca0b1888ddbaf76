"""Outlier-private tables as the audit sees them: bins around the size from which on the noise is constant."""

from __future__ import annotations

from crowdblend.kinds.outlier_table import plan
from crowdblend.policies.outlier_table import OutlierTable
from crowdblend.rehearsal.crowd_classes import ReleaseSubject
from crowdblend.rehearsal.made_up_people import drawn_here
from crowdblend.rehearsal.registry import AuditRequest


def subject(policy: OutlierTable, request: AuditRequest) -> ReleaseSubject:
    """The policy with bins of the hardest sizes; a stack would have other empty bins, so there is none."""
    request.leave_epsilon("the policy of an outlier-table", "the noise on its bins follows from it")
    parameters = plan(drawn_here(policy)).parameters
    rate = policy.sampling.rate or 1.0
    sizes = {**request.hard(parameters.limit - parameters.transition, rate, parameters.epsilon / request.understated)}
    return ReleaseSubject(policy, tuple(sizes.items()), request.name, request.people, request.understated)
