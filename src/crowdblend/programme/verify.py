"""A programme: every publication's data checked against its own facts, and no other file."""

from __future__ import annotations

from crowdblend.policies.registry import part
from crowdblend.reading.release import PublishedRelease
from crowdblend.releases.facts import contradiction


def check(release: PublishedRelease) -> None:
    """Refuse a folder with other data files than its publications, and data that contradict what one says of itself."""
    if set(release.files) != set(release.publications):
        raise contradiction("its data files are not those of its publications")
    for one in release.publications.values():
        part(one.kind, "verify").check(one)
