"""Synthetic rows as the audit sees them: the tables that they are computed from, which show more."""

from __future__ import annotations

from crowdblend.lab.rehearsal.subject import AnySubject, AuditRequest
from crowdblend.policies.registry import part
from crowdblend.publishing.synthesis.policy import SyntheticPolicy


def subject(policy: SyntheticPolicy, request: AuditRequest) -> AnySubject:
    """Return the programme of the tables."""
    found: AnySubject = part("programme", "rehearse").subject(policy.programme, request)
    return found
