"""Facts of synthetic rows: the releases that they were made from, and how well each published table is met.

A source is kept as its certificate has it: its facts, what it takes on trust, and its digest, which `verify` computes
again. What it guarantees is derived from its facts as it is for the source itself. Differential and zero-knowledge
privacy are statements about every event of the output, and an event of the rows is an event of what they were computed
from: both are carried over as they are. Several sources together have a guarantee where theirs compose.

Rows may also be a publication beside the tables that they are computed from: then they have no source of their own,
and the certificate is that of the tables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

import msgspec

from crowdblend.kinds.shared.facts import DATA, Count, Fact, Parameters, ReleaseFacts, contradiction, derive, read_facts
from crowdblend.methods.recoding.domain import Domain
from crowdblend.trusted.calculus import Assumption, Certificate, Derivation
from crowdblend.trusted.calculus.rules import composition, sampling
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge

TITLE = "Synthetic rows"
# The stem of the data file.
STEM = "synthetic"
MOST_SOURCES, MOST_ROWS = 50, 100_000_000
_MOST_NAMED = 10
_MISSED = "the rows are farther from it than its noise and whole rows explain."
_NOTES = (
    "The rows are synthetic: they are drawn from a model of published tables. No row is a person, and none was copied.",
    "Shares by columns that one published table has together are as good as that table. Shares by other columns are "
    "computed from the model, and nobody measured them.",
    "Read numbers from the tables that the rows were made from: they have intervals, and these rows have none.",
)


class Source(Fact, frozen=True, kw_only=True, dict=True):
    """A release that rows were made from: the digest of its certificate, and the facts and assumptions in it."""

    digest: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    stated: tuple[str, ...] = ()
    facts: dict[str, Any]

    @cached_property
    def release(self) -> ReleaseFacts:
        """The facts of the source; refuses rows that were made from rows."""
        found = read_facts(self.facts)
        if isinstance(found, SyntheticFacts):
            raise contradiction("its rows were made from synthetic rows")
        return found

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate of the source, made again; refuses one that has another digest."""
        try:
            stated = tuple(Assumption[name] for name in self.stated)
        except KeyError as problem:
            raise contradiction("a source states an assumption that is not known") from problem
        made = Certificate(derive(self.release), stated, self.facts)
        if made.to_dict()["digest"] != self.digest:
            raise contradiction("a source has another certificate than the one that is named")
        return made


class TableMet(Fact, frozen=True, kw_only=True):
    """A published table next to the rows: how far they are apart, as a share of all people, and what noise explains."""

    source: Annotated[int, msgspec.Meta(ge=0, lt=MOST_SOURCES)]
    name: str
    columns: tuple[str, ...]
    cells: Count
    apart: Annotated[float, msgspec.Meta(ge=0, le=1)]
    noise: Annotated[float, msgspec.Meta(ge=0)]

    def is_missed(self, rows: int) -> bool:
        """Return whether the rows are farther from the truth than the table, as far as what is published can tell.

        Rows whose errors are independent of the noise and as large as it are √2 times as far from the table as the
        truth is. Whole rows are off by about a quarter of a row in every cell.
        """
        return self.apart > math.sqrt(2) * self.noise + self.cells / (4 * rows)


class SyntheticFacts(ReleaseFacts, frozen=True, kw_only=True, dict=True, tag="synthetic"):
    """Facts of synthetic rows."""

    rows: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]
    sources: Annotated[tuple[Source, ...], msgspec.Meta(max_length=MOST_SOURCES)] = ()
    """The releases that the rows were made from; none where these are tables beside them in one release."""
    columns: Annotated[dict[str, Domain], msgspec.Meta(min_length=1)]
    met: tuple[TableMet, ...]

    def check(self) -> None:
        if not self.about.get("title", "").startswith(TITLE):
            raise contradiction("its title does not say that its rows are synthetic")
        known = [one.release.domains for one in self.sources]
        for name, domain in self.columns.items():
            if domain.labels is None or not any(name in one and one[name].labels == domain.labels for one in known):
                raise contradiction("its rows have a column that no source has")
        for table in self.met:
            if table.source >= len(self.sources) or not set(table.columns) <= set(self.columns):
                raise contradiction("it names a table that no source has")

    def derivations(self) -> tuple[Derivation, ...]:
        """Derive the guarantee of the rows: that of one source, or the sum over several."""
        self.check()
        each = [one.certificate for one in self.sources]
        if len(each) == 1:
            kept = [one for one in each[0].derivations if isinstance(one.conclusion, Differential | ZeroKnowledge)]
            return tuple(kept)
        if any(one.release.already_drawn for one in self.sources):
            raise contradiction("its sources may be of one sample, of which no two guarantees add up")
        losses = [_differential(one) for one in each]
        # Those about everybody are steps on one table.
        steps = all(getattr(one.conclusion, "samplings", 1) == 0 for one in losses)
        together = composition.steps_add_up(*losses) if steps else composition.compose(*losses)
        return together, sampling.replacing_is_removing_and_adding(together)

    @property
    def stated_assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions of the certificates of the sources."""
        return tuple(dict.fromkeys(assumed for one in self.sources for assumed in one.certificate.stated))

    @property
    def assumption(self) -> Assumption | None:
        each = {one.release.assumption for one in self.sources} - {None}
        return next(iter(each), None)

    @property
    def rows_are_people(self) -> bool:
        return any(one.release.rows_are_people for one in self.sources)

    @property
    def rows_are_synthetic(self) -> bool:
        return self.is_computed_from_others

    @property
    def is_computed_from_others(self) -> bool:
        return not self.sources

    @property
    def is_computed_from_releases(self) -> bool:
        return bool(self.sources)

    @property
    def planned_releases(self) -> int:
        return self.sources[0].release.planned_releases if len(self.sources) == 1 else 1

    @property
    def domains(self) -> Mapping[str, Domain]:
        return self.columns

    @property
    def unmet_tables(self) -> list[TableMet]:
        """The tables that the rows do not replace, the farthest first."""
        return sorted((one for one in self.met if one.is_missed(self.rows)), key=lambda one: -one.apart)

    @property
    def together(self) -> list[str]:
        names = [f"{one.name} ({', '.join(one.columns)})" for one in self.unmet_tables]
        more = f", and {len(names) - _MOST_NAMED} others that report.html lists" if len(names) > _MOST_NAMED else ""
        use = f"Use the published table, and not the rows, for {'; '.join(names[:_MOST_NAMED])}{more}: {_MISSED}"
        said = [*_NOTES, *([use] if names else [])]
        return list(dict.fromkeys([*said, *(line for one in self.sources for line in one.release.rests_on)]))

    @property
    def unused_publications(self) -> list[str]:
        """The publications that no model was fitted to; a folder of one publication is called by its place."""
        used = {(one.source, one.name) for one in self.met}
        places = {one.source for one in self.met}
        return [
            f"all of folder {at + 1}" if name == DATA else name
            for at, one in enumerate(self.sources)
            for name in one.release.publications
            if (at not in places if name == DATA else (at, name) not in used)
            and not one.release.publications[name].is_computed_from_others
        ]

    @property
    def labels_are(self) -> str:
        return "Synthetic: drawn from a model of published tables."

    @property
    def parameters(self) -> Parameters:
        return {"rows": self.rows, **({"sources": len(self.sources)} if self.sources else {})}


def _differential(certificate: Certificate) -> Derivation:
    """Return the derivation of the guarantee for one person more or less."""
    wanted = certificate.differential(Relation.ADD_REMOVE)
    found = next((one for one in certificate.derivations if one.conclusion == wanted), None)
    if found is None:
        raise contradiction("a source has no differential guarantee, and no others add up")
    return found
