"""One studio: its root, its ledger, and what it keeps between two requests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdblend.errors import Refused
from crowdblend.studio.addresses import checked_address, is_address
from crowdblend.studio.drafts import Drafts
from crowdblend.studio.jobs import Jobs
from crowdblend.studio.model.choices import Choices, paths_of, policy_of
from crowdblend.studio.places import Root


@dataclass(frozen=True)
class Studio:
    """What every page works on; `state` is the folder of drafts and jobs."""

    root: Root
    state: Path
    ledger: str | None
    read_only: bool
    drafts: Drafts
    jobs: Jobs

    @classmethod
    def at(cls, root: Root, state: Path, *, ledger: str | None = None, read_only: bool = False) -> Studio:
        """The studio of a root, with its own files in another folder."""
        drafts = Drafts(state / "drafts")
        jobs = Jobs(state / "jobs", lambda: [job for draft in drafts.all() for job in draft.jobs.values()])
        return cls(root, state, ledger, read_only, drafts, jobs)

    def checked(self, choices: Choices) -> Choices:
        """The choices, where every file that they name lies under the root."""
        for path in paths_of(choices):
            self.root.inside(path)
        source = choices.text("data", "source")
        if is_address(source):
            checked_address(self.root, source)
        elif source:
            self.root.inside(source)
        return choices

    def policy(self, choices: Choices) -> Any:
        """The policy that the choices make, from files under the root alone."""
        return policy_of(self.checked(choices), self.root.folder)

    def refuse_when_read_only(self) -> None:
        """Refuse to change anything where the studio is for looking only."""
        if self.read_only:
            raise Refused(
                "This studio is for looking only.",
                remedy="Start it without --read-only to make a release.",
                where="--read-only",
                code="studio.read-only",
            )
