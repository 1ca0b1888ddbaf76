"""The common steps of all kinds of release, with a typed value between each two of them.

    policy ── plan ──▶ ReleasePlan ── read ──▶ Reading ── (ledger) ── publish ──▶ Result ── write ──▶ files

A plan follows from the policy alone. A reading holds what the engine counted, added up or listed; nothing that could be
published is computed from it before the ledger has recorded the release. A publication holds what is written, which
mechanisms ran, and what only the steward may see.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import flint
from msgspec.structs import replace

from crowdblend.kinds.shared.facts import ReleaseFacts, to_json, with_proposals
from crowdblend.methods.designs import Claims
from crowdblend.methods.designs.draw import Draw
from crowdblend.methods.estimates.nouns import Noun
from crowdblend.methods.planning.plan import Plan
from crowdblend.notation import PYTHON, spell
from crowdblend.policies.policy import Policy
from crowdblend.policies.proposed import read_proposals
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.sources.engines.engine import Engine, Progress, check_repeatable, check_source
from crowdblend.trusted.calculus import Assumption, Certificate
from crowdblend.trusted.machine.version import __version__

if TYPE_CHECKING:
    from crowdblend.kinds.shared.outputs import Output
    from crowdblend.methods.selection.lattice import Node
    from crowdblend.sources.engines.outside_values import OutsideValues
    from crowdblend.trusted.randomness import ReleaseKey

# What would happen, for the dry run: what is done, and how.
Lines: TypeAlias = list[tuple[str, str]]
# What the data decided that is published beside the files: the chosen recoding, or how well synthetic rows fit.
Outcome: TypeAlias = "Node | Misfit | None"


# Of one publication, or of several.
AnyPolicy: TypeAlias = Policy | PublicationPolicy


@dataclass(frozen=True)
class Reading:
    """The data read for a release. Secret: nothing of it is published as it is."""

    @property
    def internal(self) -> dict[str, int]:
        """Facts about the reading for the steward alone."""
        return {}

    @property
    def outside(self) -> Mapping[str, OutsideValues]:
        """Values that went to the class `other` of a column, by its name; for the steward alone."""
        return {}


@dataclass(frozen=True)
class Misfit:
    """The largest difference between a share among synthetic rows and its noisy answer; the noisy number of people."""

    value: float
    size: int | None = None


@dataclass(frozen=True)
class Result:
    """The files to publish, the mechanisms that computed them, and what the data decided.

    `internal` is for the steward alone; `parts` are those of a programme's publications, by their names.
    """

    outputs: tuple[Output, ...]
    mechanisms: tuple[Claims, ...]
    outcome: Outcome = None
    internal: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Result] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write every file into a folder."""
        for output in self.outputs:
            output.write(folder)


PolicyT = TypeVar("PolicyT", bound=AnyPolicy)
ReadingT = TypeVar("ReadingT", bound=Reading)


class ReleasePlan(Plan, Generic[PolicyT, ReadingT]):
    """A policy with nothing left open: the mechanisms that will run, and what the certificate will say."""

    policy: PolicyT

    def __repr__(self) -> str:
        lines = (f"  {what}{': ' if what else '  '}{spell(how, PYTHON)}" for what, how in self.describe())
        return "\n".join([type(self).__name__, *lines])

    @property
    @abstractmethod
    def mechanisms(self) -> tuple[Claims, ...]:
        """The mechanisms as planned; those that run guarantee the same."""

    @property
    def stated_assumptions(self) -> tuple[Assumption, ...]:
        """The steward's statements that nobody can check, those about what proposed the domains included."""
        drawn = self.policy.sampling
        stated = {
            Assumption.ASSUMED_RATE: drawn.already_drawn and drawn.thin is None,
            Assumption.ASSUMED_SURVEY: drawn.already_drawn and drawn.thin is not None,
            Assumption.ROWS_ARE_PEOPLE: self.policy.data.rows_are_people,
            Assumption.IDS_OF_THE_TABLE: self.policy.data.ids == "table",
            Assumption.PROPOSED_DOMAINS: bool(self.policy.proposed),
        }
        carried = (assumption for one in read_proposals(self.policy.proposed) for assumption in one.stated)
        return tuple(dict.fromkeys((*(assumption for assumption, holds in stated.items() if holds), *carried)))

    def certificate(self, files: Mapping[str, str] | None = None, publication: Result | None = None) -> Certificate:
        """Return the certificate of the mechanisms that ran; before anything ran, that of the planned ones."""
        about = self.policy.about.texts() if self.policy.about else {}
        said = {"about": about, "unit_word": self.policy.unit_word, "files": dict(files or {})}
        facts = replace(self.facts_with_proposals(publication), **said)
        return Certificate(with_proposals(facts, facts.derivations()), self.stated_assumptions, to_json(facts))

    @property
    def counted(self) -> Noun:
        """The noun for what its numbers will count."""
        return replace(self.facts(), unit_word=self.policy.unit_word).counted

    def own_certificate(self) -> Certificate:
        """Return the certificate of the planned mechanisms, without proposed domains."""
        return Certificate(self.facts().derivations())

    def facts_with_proposals(self, publication: Result | None = None) -> ReleaseFacts:
        """Return the facts, with those of the releases that proposed domains of this one."""
        proposed = tuple(dict(one.facts) for one in read_proposals(self.policy.proposed))
        return replace(self.facts(publication), proposed=proposed)

    @property
    def k(self) -> int | None:
        """The crowd size, given or planned; None for kinds that have none."""
        found = self.facts().parameters.get("k")
        return found if isinstance(found, int) else None

    def summary(self) -> dict[str, Any]:
        """Return the planned parameters as JSON-ready data, by the names that a policy has for them."""
        return dict(self.facts_with_proposals().whole_parameters)

    @property
    def planned_releases(self) -> int:
        return self.facts().planned_releases

    @abstractmethod
    def facts(self, publication: Result | None = None) -> ReleaseFacts:
        """Return the facts of the mechanisms that ran, or of the planned ones before any ran."""

    @abstractmethod
    def describe(self) -> Lines:
        """Describe the plan from the policy alone: what is done, and how; keys of policies stand in backticks."""

    def describe_publication(self) -> Lines:
        """The same of one of several publications, which are read and sampled together."""
        return [
            line for line in self.describe() if line[0] not in ("would read", "would count", "would sample", "compared")
        ]

    def describe_reading(self, names: Iterable[str] | None = None) -> Lines:
        """Describe the reading; the columns are those of the release unless others are named."""
        read = f"{', '.join(self.names if names is None else names)} from {self.policy.data.name}"
        return [("would read", read), *(("would count", said) for said in self.policy.data.unit.describe_cut())]

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns that are read."""

    @property
    def divides_people(self) -> bool:
        """True if several readings must find the same people, since parts of a sample are disjoint."""
        return False

    def check_source(self, engine: Engine) -> None:
        """Refuse a source that does not exist or lacks a column, without reading a row."""
        if self.divides_people:
            check_repeatable(engine, self.policy.data)
        check_source(engine, self.policy.data, self.names, self.policy.resources)

    @abstractmethod
    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> ReadingT:
        """Read the data; the key is the secret of everything random that follows.

        `draw` says who is in the sample where that is not for this plan to say: one of several parts.
        """

    def read_parts(self, engine: Engine, key: ReleaseKey, progress: Progress | None, draws: Sequence[Draw]) -> ReadingT:
        """Read the data as one of several publications: by its part of the sample, or by the parts that it has."""
        return self.read(engine, key, progress, next(iter(draws), None))

    def alone(self) -> PolicyT:
        """Return one of several publications as a policy of its own, with the parameters that were planned for it."""
        return self.policy

    def cell_error(self) -> float | None:
        """Return the mean error of the noise on a cell, where it is the same on all of them."""
        return None

    @property
    def cells_are_apart(self) -> bool:
        """True if every cell is published in the same way, whatever other cells there are."""
        return True

    @abstractmethod
    def publish(self, reading: ReadingT, key: ReleaseKey, progress: Progress | None = None) -> Result:
        """Run the mechanisms on what was read; the same key gives the same publication."""


AnyPlan: TypeAlias = ReleasePlan[Any, Any]


def software() -> dict[str, str]:
    """Return the versions that a release was computed with, for its certificate."""
    return {"crowdblend": __version__, "python-flint": flint.__version__}
