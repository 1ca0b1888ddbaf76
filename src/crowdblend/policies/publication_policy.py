"""One publication under the terms of its policy: what kinds plan and publish by.

Terms                          what a policy says once for all its publications
└── PublicationPolicy          the same as one publication has them, with the publication
    ├── PeoplePolicy               the rows are people, or rows of people
    │   ├── SampledPolicy              of a sample, or of everybody
    │   │   ├── CrowdPolicy                k, epsilon, delta and a rate: one of the four may be left to the plan
    │   │   │   ├── PointsPolicy
    │   │   │   └── RecodedPolicy              the recoding may be chosen
    │   │   │       ├── TablePolicy
    │   │   │       └── MicrodataPolicy
    │   │   ├── OutlierTablePolicy
    │   │   └── ExactPolicy                a fixed number of people
    │   │       ├── StatisticsPolicy
    │   │       └── SynopsisPolicy
    │   └── SyntheticPolicy
    └── GraphPolicy

None of them has a key: they say which terms a kind needs, what terms and publication may not say together, and what
follows from both.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, ClassVar, Self

from crowdblend.policies.columns import Column
from crowdblend.policies.key import Rule, keys_of, parts_of
from crowdblend.policies.publication import Publication
from crowdblend.policies.refusals import refusal
from crowdblend.policies.rules import needs, one_of
from crowdblend.policies.sampling import Poisson
from crowdblend.policies.strata import DeclaredStrata
from crowdblend.policies.terms import Drawn, Terms
from crowdblend.policies.unit import RULES, Unit
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.methods.designs import Design


class PublicationPolicy(Terms, frozen=True, kw_only=True):
    """A publication, and the terms as it has them; complete and free of contradictions."""

    section = "publish"
    inner = "publication"

    publication: Publication
    sampling: Drawn = Poisson()
    # The declared column of strata or weights, where it is not published.
    beside: tuple[Column, ...] = ()
    # Whether it is one of several publications.
    with_others: bool = False

    @classmethod
    def of(cls, publication: Publication, terms: Terms, *, with_others: bool = False) -> Self:
        """Return a publication under these terms; refuses terms without what it needs."""
        lacks, drawn = publication.lacks, terms.sampling
        fields = (field for field in Terms.__struct_fields__ if field not in lacks and terms.gives(field))
        given: dict[str, Any] = {field: getattr(terms, field) for field in fields}
        if "columns" not in lacks:
            columns = given["columns"] = publication.columns_of(terms)
            named = {column.name for column in columns}
            found = [one for one in terms.columns if one.name in (drawn.stratum, drawn.weight)]
            given["beside"] = tuple(one for one in found if one.name not in named)
        if "people" not in lacks and drawn.population is not None:
            given["people"] = drawn.population
        drawing = parts_of(cls)["sampling"]
        if drawing.required and "sampling" not in given:
            remedy = 'Add it, such as `sampling.design = "poisson"`.'
            raise refusal("missing-section", "`sampling` is missing.", remedy, "`sampling`")
        for field, declared in keys_of(cls).items():
            if declared.required and field not in given:
                own = keys_of(type(drawn)).get("of") if field == "people" else None
                raise (own or declared).missing()
        return cls(**given, publication=publication, with_others=with_others)

    def replace(self, **changes: object) -> Self:
        """Return the same with other values for some terms, or for some keys of the publication."""
        own = {name: changes.pop(name) for name in list(changes) if name not in self.__struct_fields__}
        return super().replace(**changes, **({"publication": self.publication.replace(**own)} if own else {}))

    @property
    def kind(self) -> str:
        """The kind of the publication."""
        return self.publication.kind

    @property
    def needs_columns(self) -> bool:
        return "columns" not in self.publication.lacks

    @property
    def file(self) -> str:
        """The name of the file with the data."""
        return f"{self.publication.name or 'data'}.{self.format}"

    @property
    def strata(self) -> DeclaredStrata | None:
        """The strata or weights by which people are sampled; None where there is one rate, or low and high."""
        return None

    @property
    def design(self) -> Design:
        """The way in which people come into its sample, where the policy leaves no rate open."""
        return self.sampling.sample(self.strata)

    def with_budget(self, epsilon: float, noise_loss: float, delta: float) -> Self:
        """Return the same from a sample of its own, which may lose epsilon and delta, or this much by its noise."""
        said = {"epsilon": epsilon if self.suppresses else noise_loss, "delta": delta, "accept_delta": True}
        return self.replace(**{name: one for name, one in said.items() if name not in self.publication.lacks})

    @property
    def cells(self) -> int | None:
        """The number of cells of what is published; 100 are usual for kinds without any, None for open labels."""
        return 100

    @property
    def suppresses(self) -> bool:
        """True if small classes are left out, and nothing is added to the others."""
        return False


class PeoplePolicy(PublicationPolicy, frozen=True, kw_only=True):
    """A publication whose rows are people, or rows of people."""

    rules: ClassVar[tuple[Rule, ...]] = (
        one_of("person", "rows_are_people", code="person", because="they say who is protected"),
        needs("duplicates=one", "person", code="duplicates", because="without it rows of one person look like others"),
        needs("ids=table", "person", code="ids", because="without it there are no ids"),
    )

    def _check_certified(self) -> None:
        """Refuse a design that nothing is proved for with this kind."""
        designs = self.publication.designs
        if self.sampling.design not in designs:
            message = (
                f'`publish.kind = "{self.kind}"` is not certified for `sampling.design = "{self.sampling.design}"`.'
            )
            remedy = f"Use `sampling.design = {' | '.join(json.dumps(design) for design in designs)}`."
            raise refusal("design", message, remedy, "`sampling.design`")


class SampledPolicy(PeoplePolicy, frozen=True, kw_only=True):
    """The common part of all that is published about a sample, or about everybody."""

    rules: ClassVar[tuple[Rule, ...]] = RULES
    # Whether people with several rows are counted once in every class, and not by their rows.
    counts_once: ClassVar[bool] = True

    @cached_property
    def strata(self) -> DeclaredStrata | None:
        return self.sampling.declare(self.columns, self.beside)

    @property
    def unit(self) -> Unit:
        return super().unit.counted("people" if self.counts_once else "rows")
