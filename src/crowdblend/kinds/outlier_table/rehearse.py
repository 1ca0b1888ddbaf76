"""Outlier-private tables as the audit sees them: bins around the size from which on the noise is constant."""

from __future__ import annotations

from crowdblend.kinds.outlier_table.plan import method
from crowdblend.kinds.outlier_table.policy import OutlierTablePolicy
from crowdblend.lab.rehearsal.crowds import CrowdSubject
from crowdblend.lab.rehearsal.made_up_people import drawn_here
from crowdblend.lab.rehearsal.subject import AuditRequest


def subject(policy: OutlierTablePolicy, request: AuditRequest) -> CrowdSubject:
    """Return the policy with bins of the hardest sizes; a batch would have other empty bins, so there is none."""
    request.leave_epsilon("the policy of an outlier-table", "the noise on its bins follows from it")
    here = drawn_here(policy)
    planned, rate = method(here).plan().parameters, here.sampling.rate or 1.0
    sizes = request.hard(planned.limit - planned.transition, rate, planned.epsilon / request.understated)
    return CrowdSubject(here, request.name, request.understated, sizes=tuple(sizes.items()), people=request.people)
