"""By what the ledger knows a source again: its exact content, its people, and its rows without their ids.

A table that was already drawn is one sample for ever, whatever policy, order, format or folder reads it. A sample drawn
for a release is known by its key, so a key that is used twice is noticed, also for other people: the key draws the
noise too, and the same noise twice cancels out.

Every source is known by its rows too, without the person column: so it is known again when its ids were numbered anew,
and when one of two policies says that ids number the rows of one table only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from crowdblend.ledger.identity import Identity, Wanted
from crowdblend.ledger.secrets import sample_name
from crowdblend.ledger.sketch import Anchor, Kind, sketch
from crowdblend.policies.sampling import ExactSample, Sampling
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    from crowdblend.engines.content import SomeRows
    from crowdblend.policies.strata import Design


@dataclass(frozen=True)
class Hashes:
    """The rows whose hash begins with `level` zeros: the hash that decides, the one that is compared, how often.

    `numbered` says of a single column that it looks like a table's own numbering, 1 to n.
    """

    level: int
    rows: list[tuple[int, int, int]]
    numbered: bool = False


class SourceHashes(Protocol):
    """What an engine has to say about a source so that it is known again."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, sorted."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

    @property
    def hashing(self) -> str:
        """A name for the hash function: those that hash differently have different ones."""

    @property
    def some_rows(self) -> SomeRows:
        """The hashes of all columns, of some rows."""

    def hashes(self, anchors: Sequence[Anchor]) -> list[Hashes]:
        """Enough hashes of every anchor for a sketch, whatever the number of rows and of different ones."""


def identity_from(hashes: SourceHashes, data: DataSource, wanted: Wanted, name: Callable[[], str]) -> Identity:
    """The identity of a source, with everything that the ledger wants to compare it by.

    Its name is asked for last: an engine may make it meanwhile.
    """
    anchors = _anchors(hashes, data, wanted)
    found = hashes.hashes([anchor for _, anchor in anchors])
    sketches, numbered = [], False
    for (kind, anchor), each in zip(anchors, found, strict=True):
        if kind == "person":
            numbered = each.numbered
        # What numbers the rows of a table is in every table; only an entry that knows nothing else is compared by it.
        known: Kind = "numbering" if kind == "column" and each.numbered else kind
        sketches.append(sketch(known, anchor, each.level, each.rows, wanted.secret))
    return Identity(name(), hashes.hashing, tuple(sketches), numbered=numbered)


def _anchors(hashes: SourceHashes, data: DataSource, wanted: Wanted) -> list[tuple[Kind, Anchor]]:
    """By what a source is known again, and by what earlier ones are that have these columns."""
    every = set(hashes.columns)
    anchors: list[tuple[Kind, Anchor]] = []
    if data.person is not None:
        anchors.append(("person" if data.ids == "people" else "numbering", _column(data.person)))
    anchors += [("column", _column(name)) for name in wanted.columns if name in every and name != data.person]
    rows = [anchor for anchor in wanted.rows if {*anchor.columns, *anchor.by} <= every]
    content = [name for name in hashes.columns if name != data.person]
    rows += _own_rows(hashes, content, rows)
    if data.person is None:
        # One of the columns may be the ids of another policy, and numbered anew there.
        for name in sorted({name for anchor in rows for name in hashes.some_rows.unique(anchor.columns)}):
            rows += _own_rows(hashes, [one for one in content if one != name], rows)
    return anchors + [("rows", anchor) for anchor in rows]


def _own_rows(hashes: SourceHashes, content: Sequence[str], known: Sequence[Anchor]) -> list[Anchor]:
    """By which of these columns rows are known again, unless that of an earlier source will do."""
    if not content or any(_suffices(hashes.some_rows, anchor, content) for anchor in known):
        return []
    telling = hashes.some_rows.telling(content)
    deciding = hashes.some_rows.deciding(telling, hashes.rows)
    return [Anchor(tuple(sorted(telling)), tuple(sorted(deciding)))]


def _column(name: str) -> Anchor:
    return Anchor((name,), (name,))


def _suffices(some: SomeRows, anchor: Anchor, content: Sequence[str]) -> bool:
    """Whether an earlier source's columns tell the rows of this one apart, without its ids."""
    return {*anchor.columns, *anchor.by} <= set(content) and some.enough(anchor.columns, content)


def sample_of(sampling: Sampling | ExactSample, source: str, key: bytes) -> str:
    """The sample's name: that of the table which is the sample, or a commitment to the key that draws it."""
    return source if sampling.already_drawn else sample_name(key)


def largest_rate(sampling: Sampling | ExactSample, design: Design | None = None) -> float | None:
    """The largest probability with which an already drawn table holds anybody."""
    if isinstance(sampling, ExactSample):
        return None if design is None else design.strata.high
    if design is not None:
        return max(design.strata.high, sampling.max_rate or 0.0)
    return max((rate for rate in (sampling.rate, sampling.high, sampling.max_rate) if rate is not None), default=None)
