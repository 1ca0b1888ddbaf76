"""A programme: every publication's data checked against its own facts, and no other file."""

from __future__ import annotations

from crowdblend.kinds.programme.facts import ProgrammeFacts
from crowdblend.kinds.shared.facts import contradiction
from crowdblend.policies.registry import part
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.verification.shown_people import check_people


def check(release: PublishedRelease) -> None:
    """Refuse a folder with other data files than its publications, and data that contradict what one says of itself."""
    if set(release.files) != set(release.publications):
        raise contradiction("its data files are not those of its publications")
    facts = release.facts
    assert isinstance(facts, ProgrammeFacts)
    shown = [part(one.kind, "verify").check(one) or () for one in release.publications.values()]
    check_people(shown, apart=facts.split == "people")
