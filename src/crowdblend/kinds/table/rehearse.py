"""Tables as the audit sees them: classes of the hardest sizes; of a register, cells of any size are as hard."""

from __future__ import annotations

from crowdblend.kinds.table.policy import TablePolicy
from crowdblend.rehearsal.crowds import CrowdSubject, crowd_subject
from crowdblend.rehearsal.made_up_people import drawn_here
from crowdblend.rehearsal.subject import AuditRequest

# The noise does not depend on the size of a cell: somebody who is alone in one, and somebody among a few.
_SIZES = (("alone", 1), ("with one other", 2), ("among ten", 10))


def subject(policy: TablePolicy, request: AuditRequest) -> CrowdSubject:
    """Return the policy with people in the cells that are hardest for it."""
    if not policy.sampling.everybody:
        return crowd_subject(policy, request)
    request.leave_epsilon("the policy of a register", "the noise on its cells follows from it")
    here = drawn_here(policy)
    return CrowdSubject(here, request.name, request.understated, sizes=_SIZES, people=request.people)
