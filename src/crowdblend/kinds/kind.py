"""What every kind of release has in common: a policy becomes a promise, data are read, and something is published.

    policy ── promise ──▶ Promised ── read ──▶ Reading ── (ledger) ── publish ──▶ Publication ── write ──▶ files

Nothing that could be published is computed before the ledger has recorded the promise; that is why reading and
publishing are two steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from crowdblend import __version__
from crowdblend.calculus import Certificate
from crowdblend.engines.engine import Engine
from crowdblend.engines.progress import Progress
from crowdblend.policies.policy import Resources
from crowdblend.policies.sampling import ExactSample, Sampling
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    from crowdblend.randomness import ReleaseKey


class AnyPolicy(Protocol):
    """What the ledger and the folder need to know of a policy, whatever it publishes."""

    @property
    def kind(self) -> str:
        """What is published."""

    @property
    def data(self) -> DataSource:
        """Where the people are."""

    @property
    def sampling(self) -> Sampling | ExactSample:
        """How they were, or will be, drawn."""

    @property
    def resources(self) -> Resources:
        """What the engine may use."""

    def with_source(self, data: DataSource) -> Self:
        """The same policy about rows that lie elsewhere."""


@dataclass(frozen=True)
class Publication:
    """What is to be published: how to write it, what the certificate says of it, and what only the steward may see."""

    write: Callable[[Path], None]
    outcome: Any = None
    internal: dict[str, Any] = field(default_factory=dict)
    internal_page: Callable[[], str] | None = None


@dataclass(frozen=True)
class Reading:
    """What was read of the data; nothing has been computed from it yet that could be published.

    `same_people` tells whether two tables that were already drawn hold the same people, where persons are known.
    """

    facts: dict[str, Any]
    publish: Callable[[], Publication]
    same_people: int | None = None


def software() -> dict[str, str]:
    """What made a release, for its certificate."""
    return {"crowdblend": __version__, "python-flint": metadata.version("python-flint")}


class Promised(Protocol):
    """A policy with nothing left open: what will run, and what the certificate will say."""

    @property
    def policy(self) -> AnyPolicy:
        """The policy it came from."""

    def certificate(self, files: dict[str, str] | None = None, outcome: Any = None) -> Certificate:
        """The certificate, complete once the files are hashed and whatever the data decided is known."""

    def facts(self, outcome: Any = None) -> dict[str, Any]:
        """What a reader needs to know of the release, none of it read off the data but what was published."""

    def told(self) -> list[tuple[str, str]]:
        """What would happen, from the policy alone: what is done, and how."""

    def check_source(self) -> None:
        """Refuse a source that is not there or lacks a column, without reading a row."""

    def read(self, key: ReleaseKey, progress: Progress | None = None, engine: Engine | None = None) -> Reading:
        """Read the data with an engine; the key is the secret of everything random that follows."""
