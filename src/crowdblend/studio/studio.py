"""One studio: its root, its ledger, and what it keeps between two requests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crowdblend.errors import CrowdblendError, Refused
from crowdblend.policies.policy import Policy
from crowdblend.policies.terms import Terms
from crowdblend.studio.drafts import Draft, Drafts
from crowdblend.studio.jobs import Job, Jobs
from crowdblend.studio.model.choices import Choices, policy_of, terms_of
from crowdblend.studio.places import Root, check_paths


@dataclass(frozen=True)
class Studio:
    """The objects that every page works on; `state` is the folder of drafts and jobs."""

    root: Root
    state: Path
    ledger: str | None
    read_only: bool
    drafts: Drafts
    jobs: Jobs

    @classmethod
    def at(cls, root: Root, state: Path, *, ledger: str | None = None, read_only: bool = False) -> Studio:
        """Return the studio of a root, with its own files in another folder."""
        drafts = Drafts(state / "drafts")
        jobs = Jobs(state / "jobs", lambda: [job for draft in drafts.all() for job in draft.jobs.values()])
        return cls(root, state, ledger, read_only, drafts, jobs)

    def check_choices(self, choices: Choices) -> Choices:
        """Return the choices, where every file that they name lies under the root."""
        check_paths(self.root, choices)
        return choices

    def policy(self, choices: Choices) -> Policy:
        """Return the policy that the choices make, from files under the root alone."""
        return policy_of(self.check_choices(choices), self.root.folder)

    def terms(self, choices: Choices) -> Terms:
        """Return what the choices say of data, people and columns, from files under the root alone."""
        return terms_of(self.check_choices(choices), self.root.folder)

    def last_job(self, draft: Draft, step: str) -> Job | None:
        """Return the last job of a step; None where there was none."""
        try:
            return self.jobs.get(draft.jobs[step]) if step in draft.jobs else None
        except CrowdblendError:
            return None

    def published(self, draft: Draft) -> bool:
        """Return whether a release of the draft was finished."""
        job = self.last_job(draft, "publish")
        return job is not None and job.state == "done"

    def refuse_when_read_only(self) -> None:
        """Refuse to change anything where the studio is for looking only."""
        if self.read_only:
            message = "This studio is for looking only."
            remedy = "Start it without --read-only to make a release."
            raise Refused(message, remedy=remedy, where="`--read-only`", code="studio.read-only")
