"""One studio: its root, its ledger, and what it keeps between two requests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crowdblend.errors import Refused
from crowdblend.studio.drafts import Drafts
from crowdblend.studio.jobs import Jobs
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
        return cls(root, state, ledger, read_only, Drafts(state / "drafts"), Jobs(state / "jobs"))

    def refuse_when_read_only(self) -> None:
        """Refuse to change anything where the studio is for looking only."""
        if self.read_only:
            raise Refused(
                "This studio is for looking only.",
                remedy="Start it without --read-only to make a release.",
                where="--read-only",
                code="studio.read-only",
            )
