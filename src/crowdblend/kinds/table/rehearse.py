"""Tables as the audit sees them: classes of the hardest sizes; where every cell is noisy, any size is as hard."""

from __future__ import annotations

from crowdblend.kinds.table.plan import method
from crowdblend.kinds.table.policy import TablePolicy
from crowdblend.kinds.table.threshold import ThresholdPlan
from crowdblend.lab.rehearsal.crowds import CrowdSubject, crowd_subject
from crowdblend.lab.rehearsal.made_up_people import drawn_here
from crowdblend.lab.rehearsal.subject import AuditRequest

# The noise does not depend on the size of a cell: someone who is alone in one, and someone among a few.
_SIZES = (("alone", 1), ("with one other", 2), ("among ten", 10))


def subject(policy: TablePolicy, request: AuditRequest) -> CrowdSubject:
    """Return the policy with people in the cells that are hardest for it."""
    if not policy.sampling.everybody and policy.publication.below_k != "threshold":
        return crowd_subject(policy, request)
    request.leave_epsilon("the policy of a noisy table", "the noise on its cells follows from it")
    here, sizes, stacked = drawn_here(policy), list(_SIZES), False
    planned = method(here).plan()
    if isinstance(planned, ThresholdPlan):
        # Cells of this many people are shown every other time, and their noise shows best.
        usual = round(planned.mechanism.show_from / (here.sampling.rate or 1.0))
        sizes[2:], stacked = [("at the threshold", usual), ("above it", 2 * usual)], request.stacked
    return CrowdSubject(here, request.name, request.understated, stacked, sizes=tuple(sizes), people=request.people)
