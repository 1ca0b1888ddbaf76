"""What every kind of release has in common: three steps, with a typed value between each two of them.

    policy ── plan ──▶ ReleasePlan ── read ──▶ Reading ── (ledger) ── publish ──▶ Publication ── write ──▶ files

A plan follows from the policy alone. A reading holds what the engine counted, added up or listed; nothing that could be
published is computed from it before the ledger has recorded the release. A publication holds what is written, which
mechanisms ran, and what only the steward may see.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeAlias, TypeVar

from crowdblend import __version__
from crowdblend.calculus import Assumption, Certificate, Derivation
from crowdblend.engines.engine import Engine, Progress
from crowdblend.policies.policy import Resources
from crowdblend.policies.sampling import ExactSample, Sampling
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    from crowdblend.kinds.outcome import ChosenRecoding, Misfit
    from crowdblend.kinds.outputs import Output
    from crowdblend.randomness import ReleaseKey

# What the data decided that is published beside the files: the chosen recoding, or how well synthetic rows fit.
Outcome: TypeAlias = "ChosenRecoding | Misfit | None"


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
class Reading:
    """What was read of the data. Secret: nothing of it is published as it is."""

    @property
    def internal(self) -> dict[str, int]:
        """What the steward may know of the reading, and nobody else."""
        return {}


@dataclass(frozen=True)
class Publication:
    """What is to be published: the files, the mechanisms that computed them, and what the data decided.

    `internal` is for the steward alone.
    """

    outputs: tuple[Output, ...]
    mechanisms: tuple[Any, ...]
    outcome: Outcome = None
    internal: Mapping[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write every file into a folder."""
        for output in self.outputs:
            output.write(folder)


PolicyT = TypeVar("PolicyT", bound=AnyPolicy)
ReadingT = TypeVar("ReadingT", bound=Reading)


class ReleasePlan(ABC, Generic[PolicyT, ReadingT]):
    """A policy with nothing left open: the mechanisms that will run, and what the certificate will say."""

    policy: PolicyT

    @property
    @abstractmethod
    def mechanisms(self) -> tuple[Any, ...]:
        """The mechanisms as planned; those that run guarantee the same."""

    @abstractmethod
    def derivations(self, mechanisms: tuple[Any, ...]) -> tuple[Derivation, ...]:
        """What these mechanisms guarantee: every derivation starts from the claim of one of them."""

    @property
    def stated_assumptions(self) -> tuple[Assumption, ...]:
        """What the steward says and nobody can check."""
        return (Assumption.ROWS_ARE_PEOPLE,) if self.policy.data.rows_are_people else ()

    def certificate(
        self, files: Mapping[str, str] | None = None, publication: Publication | None = None
    ) -> Certificate:
        """The certificate of the mechanisms that ran; before anything ran, that of the planned ones."""
        mechanisms = self.mechanisms if publication is None else publication.mechanisms
        outcome = None if publication is None else publication.outcome
        facts = {**self.facts(outcome), "files": dict(files or {})}
        return Certificate(self.derivations(mechanisms), self.stated_assumptions, facts)

    @abstractmethod
    def facts(self, outcome: Outcome = None) -> dict[str, Any]:
        """What a reader needs to know, as ids and numbers; nothing of it is read off the data but the outcome."""

    @abstractmethod
    def describe(self) -> list[tuple[str, str]]:
        """What would happen, from the policy alone: what is done, and how."""

    @abstractmethod
    def check_source(self, engine: Engine) -> None:
        """Refuse a source that is not there or lacks a column, without reading a row."""

    @abstractmethod
    def read(self, engine: Engine, key: ReleaseKey, progress: Progress | None = None) -> ReadingT:
        """Read the data; the key is the secret of everything random that follows."""

    @abstractmethod
    def publish(self, reading: ReadingT, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """Run the mechanisms on what was read; the same key gives the same publication."""


AnyPlan: TypeAlias = ReleasePlan[Any, Any]


def software() -> dict[str, str]:
    """The versions that a release was computed with, for its certificate."""
    return {"crowdblend": __version__, "python-flint": metadata.version("python-flint")}
