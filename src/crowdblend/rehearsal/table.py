"""Tables as the audit sees them: classes of the hardest sizes; of a register, cells of any size are as hard."""

from __future__ import annotations

from typing import Any

from crowdblend.policies.table import Table
from crowdblend.rehearsal.crowd_classes import ReleaseSubject
from crowdblend.rehearsal.crowd_classes import subject as subject_of_crowds
from crowdblend.rehearsal.registry import AuditRequest

# The noise does not depend on the size of a cell: somebody who is alone in one, and somebody among a few.
_SIZES = (("alone", 1), ("with one other", 2), ("among ten", 10))


def subject(policy: Table, request: AuditRequest) -> Any:
    """The policy with people in the cells that are hardest for it."""
    if not policy.sampling.everybody:
        return subject_of_crowds(policy, request)
    request.leave_epsilon("the policy of a register", "the noise on its cells follows from it")
    return ReleaseSubject(policy, _SIZES, request.name, request.people, request.understated)
