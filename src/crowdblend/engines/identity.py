"""Which people and which sample a release is about, for the ledger.

A table that was already drawn is one sample for ever: it is known by the people in it, whatever their order, the format
of the file or its place. A sample drawn for a release is known by its key, so a key that is used twice is noticed,
also for other people: the key draws the noise too, and the same noise twice cancels out. What is not noticed is a table
with a few people more or less; the ledger cannot know that either.
"""

from __future__ import annotations

import glob
import hashlib
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.policies.sampling import ExactSample, Sampling
from crowdblend.policies.source import STDIN, DataSource

BLOCK = 65_536
UNNAMED = "source:"


def population_of(data: DataSource) -> str:
    """The steward's name for the people, or one made from the source's content."""
    return data.population or source_of(data)


def source_of(data: DataSource) -> str:
    """Where the rows come from, by content; a stream comes from nowhere that could be recognized."""
    return "unknown" if data.source == STDIN else UNNAMED + fingerprint(data)


def sample_of(data: DataSource, sampling: Sampling | ExactSample, key: bytes, same_people: int | None) -> str:
    """The sample's name; same_people is what the engine makes of the persons of a table that was already drawn."""
    if not sampling.already_drawn:
        return "drawn:" + hashlib.sha256(b"the name of a sample" + key).hexdigest()[:32]
    if same_people is not None:
        return f"people:{same_people:032x}"
    if data.source == STDIN:
        raise InvalidInput(
            "a table that was already drawn must have a person column or be a file, to be known again. Save it first."
        )
    return UNNAMED + fingerprint(data)


def fingerprint(data: DataSource) -> str:
    """A short name for the source's content: sizes, and blocks from the beginning, middle and end of each file."""
    table = (data.table or "").lower().removeprefix("main.")
    state = hashlib.sha256(table.encode())
    files = sorted(file for file in _files(data.source) if file.is_file())
    if not files:
        state.update(data.source.partition("?")[0].encode())
    for file in files:
        size = file.stat().st_size
        state.update(str(size).encode())
        with file.open("rb") as opened:
            for place in (0, max(0, size // 2 - BLOCK // 2), max(0, size - BLOCK)):
                opened.seek(place)
                state.update(opened.read(BLOCK))
    return state.hexdigest()[:16]


def _files(source: str) -> list[Path]:
    if Path(source).is_dir():
        return list(Path(source).rglob("*"))
    return [Path(source)] if Path(source).exists() else [Path(found) for found in glob.glob(source, recursive=True)]
