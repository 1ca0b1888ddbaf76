"""Synthetic rows as a publication: noisy tables under one budget, and rows that are computed from them alone."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace as replace_fields

from crowdblend.kinds.programme.facts import ProgrammeFacts, PublicationFacts
from crowdblend.kinds.programme.plan import plan as plan_programme
from crowdblend.kinds.programme.programme import ProgrammePlan, ProgrammeReading
from crowdblend.kinds.shared.facts import to_json
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.plan import Lines, ReleasePlan, Result
from crowdblend.methods.designs import Claims
from crowdblend.methods.designs.draw import Draw
from crowdblend.publishing.synthesis.facts import STEM, SyntheticFacts, TableMet
from crowdblend.publishing.synthesis.policy import SyntheticPolicy
from crowdblend.publishing.synthesis.synthesize import draw_from
from crowdblend.reading.release import PublishedRelease
from crowdblend.sources.engines.engine import Engine, Progress
from crowdblend.trusted.calculus import Certificate, Derivation, sha256_of
from crowdblend.trusted.randomness import ReleaseKey


@dataclass(frozen=True)
class SyntheticResult(Result):
    """The tables and the rows, and how well the rows meet every table."""

    met: tuple[TableMet, ...] = ()


@dataclass(frozen=True, repr=False)
class SyntheticPlan(ReleasePlan[SyntheticPolicy, ProgrammeReading]):
    """The plan of the tables; the rows follow from what is published of them, and lose nothing more."""

    policy: SyntheticPolicy
    tables: ProgrammePlan

    @property
    def mechanisms(self) -> tuple[Claims, ...]:
        return self.tables.mechanisms

    def facts(self, publication: Result | None = None) -> ProgrammeFacts:
        """Return the facts of the tables, and with them those of the rows, which no guarantee follows from."""
        found = self.tables.facts(publication)
        rows = SyntheticFacts(
            software={},
            rows=self.policy.publication.rows,
            columns={name: found.domains[name] for name in self.names},
            met=publication.met if isinstance(publication, SyntheticResult) else (),
        )
        return replace_fields(found, published={STEM: PublicationFacts(facts=to_json(rows)), **found.published})

    @cached_property
    def derived_guarantees(self) -> tuple[Derivation, ...]:
        """The guarantees of the tables, which are those of whatever is computed from them."""
        return self.tables.derived_guarantees

    def summary(self) -> dict[str, Any]:
        """Return the budget, every table with what to expect of it, and the number of rows."""
        return {**self.tables.summary(), "rows": self.policy.publication.rows}

    def describe(self) -> Lines:
        """Describe the plan from the policy alone: the tables, and the rows."""
        lines = self.tables.describe()
        said = (
            f"{self.policy.publication.rows:,} synthetic rows, drawn from a model of the tables; they cost no privacy"
        )
        reading = [line for line in lines if line[0] in ("would read", "would count")]
        return [*reading, ("would publish", said), *lines[len(reading) :]]

    @property
    def names(self) -> list[str]:
        """The columns of the policy, in its order."""
        return [column.name for column in self.policy.columns]

    @property
    def divides_people(self) -> bool:
        return self.tables.divides_people

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> ProgrammeReading:
        """Read the data for every table."""
        return self.tables.read(engine, key, progress, draw)

    def publish(self, reading: ProgrammeReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        """Run the mechanisms of all tables, and draw rows from the files that are published of them."""
        tables = self.tables.publish(reading, key, progress)
        seed = key.source(b"synthetic rows").bytes(32)
        random = np.random.Generator(np.random.PCG64(int.from_bytes(seed)))
        with tempfile.TemporaryDirectory(prefix="crowdblend-") as made:
            tables.write(Path(made))
            files = {output.file: sha256_of(Path(made) / output.file) for output in tables.outputs}
            facts = replace_fields(self.tables.facts(tables), files=files)
            certificate = Certificate(self.tables.derived_guarantees, (), to_json(facts))
            sample = draw_from([PublishedRelease(Path(made), certificate)], self.policy.publication.rows, random)
        return SyntheticResult(
            outputs=(sample.output(self.policy.file, self.names), *tables.outputs),
            mechanisms=tables.mechanisms,
            internal=tables.internal,
            parts=tables.parts,
            met=sample.met,
        )


class SyntheticMethod(Method[SyntheticPolicy]):
    """Tables under one budget, and rows from a model of them."""

    def plan(self) -> SyntheticPlan:
        """Plan the tables under one budget."""
        return SyntheticPlan(self.policy, plan_programme(self.policy.programme))


method = SyntheticMethod
