"""Facts of a programme: the budget and the sample once, and the facts of every publication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec
from msgspec.structs import replace

from crowdblend.kinds.shared.facts import (
    DATA,
    AnyDesign,
    CellTable,
    Delta,
    Epsilon,
    Fact,
    Parameters,
    ReleaseFacts,
    Share,
    check_budget,
    contradiction,
    read_facts,
)
from crowdblend.kinds.shared.series import check_totals
from crowdblend.methods.designs import Design
from crowdblend.methods.designs.design import Claims, differential_of
from crowdblend.methods.recoding.domain import Domain
from crowdblend.policies.publication import PUBLICATION_NAME
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.guarantees.parameters import MOST_PARTS

_TOGETHER = {
    "people": "Every publication was computed from a part of the sample of its own, and nobody is in two of them. "
    "Numbers of different publications are of different people: they need not add up, and their differences mean "
    "nothing. Compare their intervals.",
    "fresh": "Every publication was computed from a random sample of its own, drawn anew from everybody; somebody "
    "may be in several of them. Numbers of different publications need not add up. Compare their intervals.",
    "one sample": "Every publication was computed from one and the same random sample, with noise of its own, so that "
    "numbers of different publications need not add up. Compare their intervals.",
    "budget": "Every publication is about everybody, with noise of its own, so that numbers of different publications "
    "need not add up. Compare their intervals.",
}
_ROWS = (
    "Of people with several rows every publication keeps random ones by the columns that it has: numbers of different "
    "publications are not of the same rows."
)


class PublicationFacts(Fact, frozen=True, kw_only=True):
    """One publication: the share of the sample that it was computed from, if it has one, and its own facts."""

    share: Share | None = None
    facts: dict[str, Any]


class ProgrammeFacts(ReleaseFacts, frozen=True, kw_only=True, dict=True, tag="programme"):
    """Facts of a programme; epsilon and delta cover all publications and all `releases`.

    The facts of a publication have the sample as it sees it: a part of it has the rate of the sample times its share.
    """

    epsilon: Epsilon
    delta: Delta
    releases: Annotated[int, msgspec.Meta(ge=1, le=10**6)] = 1
    split: Literal["people", "fresh", "budget"]
    design: AnyDesign
    published: Annotated[dict[str, PublicationFacts], msgspec.Meta(min_length=2, max_length=MOST_PARTS)]

    @property
    def sample(self) -> Design:
        return self.design

    @property
    def planned_releases(self) -> int:
        return self.releases

    @cached_property
    def publications(self) -> Mapping[str, ReleaseFacts]:
        found: dict[str, ReleaseFacts] = {}
        if len({name.lower() for name in self.published}) < len(self.published):
            raise contradiction("two publications have one name")
        for name, one in self.published.items():
            if not PUBLICATION_NAME.fullmatch(name):
                raise contradiction("a publication has a name that no policy takes")
            own = read_facts(one.facts)
            if own.unit_word is not None:
                raise contradiction("a publication says of itself what its programme says")
            found[name] = replace(own, unit_word=self.unit_word)
            if isinstance(found[name], ProgrammeFacts):
                raise contradiction("a programme is a publication of itself")
        return found

    def derivations(self) -> tuple[Derivation, ...]:
        for facts in self.publications.values():
            person = None if facts.is_computed_from_others else self.person
            of_the_whole = (facts.files, facts.date, facts.run, facts.about, facts.software, facts.proposed)
            if facts.person != person or any(of_the_whole):
                raise contradiction("a publication says of itself what its programme says")
        # What is computed from what the others publish loses nothing.
        names = [name for name, facts in self.publications.items() if not facts.is_computed_from_others]
        mechanisms = [self._mechanisms(name) for name in names]
        if self.split == "people":
            parts = [part for name in names for part in self._parts(name)]
            derived = self.design.parts_derivations(
                [ran for ran, _ in parts], [share for _, share in parts], self.epsilon
            )
        elif any(one.share is not None for one in self.published.values()):
            raise contradiction("a share is of one sample for all publications")
        elif self.split == "fresh":
            if not self.design.draws_here:
                raise contradiction("fresh samples are drawn here")
            derived = self.design.fresh_derivations(mechanisms, self.epsilon)
        else:
            derived = self.design.together([one for each in mechanisms for one in each], self.epsilon)
        differential = differential_of(derived)
        check_budget(differential, self.epsilon, self.delta)
        check_totals(differential, self.releases, self.epsilon, self.delta)
        return tuple(derived)

    def _parts(self, name: str) -> list[tuple[Sequence[Claims], float]]:
        """Return what runs on the parts of a publication, with their shares: the choice of its recoding comes first."""
        share = self.published[name].share
        if share is None:
            raise contradiction("every part of a sample has a share")
        return self.publications[name].ran_on_parts(share)

    def _mechanisms(self, name: str) -> Sequence[Claims]:
        """The mechanisms of a publication, one for every stratum; refuses facts that are not about its own sample."""
        facts, share = self.publications[name], self.published[name].share
        if facts.sample != self.sample_of(share):
            raise contradiction("a publication is of another sample than its programme")
        facts.check()
        facts.check_among_others(self.epsilon, self.delta)
        if self.split != "people" and facts.labels_are_chosen:
            raise contradiction("a recoding is chosen by a part of one sample")
        if facts.unit.several and (self.split != "budget" or not (self.design.everybody or self.design.has_one_rate)):
            raise contradiction("several rows of a person are counted by noise that shares a budget, at one rate")
        return facts.claims

    @property
    def together(self) -> list[str]:
        one_sample = self.split == "budget" and not self.design.everybody
        others = [line for one in self.publications.values() if one.is_computed_from_others for line in one.together]
        rows = [_ROWS] if any(one.unit.several for one in self.publications.values()) else []
        return [*others, _TOGETHER["one sample" if one_sample else self.split], *rows]

    def sample_of(self, share: float | None) -> Design:
        """Return the sample as a publication with this share sees it."""
        return self.design if share is None else self.design.thin_by(share)

    @property
    def tables(self) -> Mapping[str, CellTable]:
        each = ((name, facts.tables.get(DATA)) for name, facts in self.publications.items())
        return {name: table for name, table in each if table is not None}

    @property
    def domains(self) -> Mapping[str, Domain]:
        return {name: domain for facts in self.publications.values() for name, domain in facts.domains.items()}

    @property
    def declared_domains(self) -> Mapping[str, tuple[Domain, ...]]:
        merged: dict[str, tuple[Domain, ...]] = {}
        for facts in self.publications.values():
            for name, domains in facts.declared_domains.items():
                known = merged.get(name, ())
                merged[name] = (*known, *(domain for domain in domains if domain not in known))
        return merged

    @property
    def crowds(self) -> Mapping[str, int]:
        each = ((name, facts.crowds.get(DATA)) for name, facts in self.publications.items())
        return {name: k for name, k in each if k is not None}

    @property
    def parameters(self) -> Parameters:
        found: Parameters = {"epsilon": self.epsilon, "delta": self.delta, "split": self.split}
        found |= {"releases": self.releases} if self.releases > 1 else {}
        return found | ({} if self.rate is None else {"rate": self.rate})
