"""Facts of synopses: the class of queries, the mechanism that made the rows, and how many people were drawn."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated

import msgspec

from crowdblend.kinds.shared.facts import Count, Fact, Parameters, contradiction
from crowdblend.kinds.shared.series import RepeatedFacts
from crowdblend.methods.designs.design import claim_of_rows, differential_of
from crowdblend.methods.mechanisms.synopsis.conjunctions import Conjunctions
from crowdblend.methods.mechanisms.synopsis.queries import QueryClass, list_conjunctions, ranges
from crowdblend.methods.mechanisms.synopsis.synopses import CountedSynopsis, ExponentialSynopsis, FittedSynopsis
from crowdblend.methods.mechanisms.synopsis.synopsis_plans import PlannedSynopsis, fitted_synopsis
from crowdblend.methods.planning.drawable_noise import Loss
from crowdblend.methods.planning.statistics.strata_totals import Weights, share_error, weights_of_design
from crowdblend.methods.recoding.domain import Domain
from crowdblend.trusted.calculus import Derivation


class Queries(Fact, frozen=True, kw_only=True):
    """The class of queries that are answered: one of three.

    Of conjunctions, `add_up` is how many parts a cell of a table that is not measured may have.
    """

    conjunctions: Count | None = None
    add_up: Annotated[int, msgspec.Meta(ge=0)] = 0
    ranges: str | None = None
    listed: tuple[dict[str, str], ...] | None = None

    def words(self, sizes: Mapping[str, int]) -> str:
        """Return the queries in words, over columns of these sizes."""
        if self.conjunctions is not None:
            return f"all conjunctions of up to {self.conjunctions} of {len(sizes)} columns"
        if self.ranges is not None:
            return f"all ranges of one column of {sizes[self.ranges]} values"
        return f"{len(self.listed or ())} listed conjunctions"


class FittedRows(Fact, frozen=True, kw_only=True, tag_field="mechanism", tag="fitted"):
    """Rows fitted to noisy counts."""

    noise_epsilon: Loss
    rows: Count


class CountedRows(Fact, frozen=True, kw_only=True, tag_field="mechanism", tag="counted"):
    """Rows fitted to noisy counts of a sample by coins, whose number of people is noisy as well."""

    noise_epsilon: Loss
    rows: Count


class Exponential(Fact, frozen=True, kw_only=True, tag_field="mechanism", tag="exponential"):
    """Rows chosen by the exponential mechanism."""

    epsilon: Loss
    rows: Count


class SynopsisFacts(RepeatedFacts, frozen=True, kw_only=True, dict=True, tag="synopsis"):
    """Facts of a synopsis.

    `failure` is the probability with which sampling, and sanitizing, may err by more than planned; `misfit` is the
    largest difference between a share among the rows and its noisy answer. `size` is the noisy number of people of a
    sample by coins, in copies where rates differ.
    """

    mechanism: FittedRows | Exponential | CountedRows
    queries: Queries
    failure: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    columns: dict[str, Domain]
    misfit: float | None = None
    size: int | None = None

    @property
    def rows_are_synthetic(self) -> bool:
        return True

    def people_per_row(self, people: int, rows: int) -> float:
        return people / max(1, rows)

    @property
    def domains(self) -> Mapping[str, Domain]:
        return self.columns

    @property
    def sizes(self) -> dict[str, int]:
        """The number of labels of every column, the largest first: the order of the axes."""
        if any(domain.labels is None for domain in self.columns.values()):
            raise contradiction("it does not list the labels of its columns")
        sizes = {name: len(domain.labels or ()) for name, domain in self.columns.items()}
        return dict(sorted(sizes.items(), key=lambda item: -item[1]))

    @cached_property
    def query_class(self) -> QueryClass:
        """The class of queries, as it was measured; ranges are over the one column."""
        shape, queries = tuple(self.sizes.values()), self.queries
        if sum(one is not None for one in (queries.conjunctions, queries.ranges, queries.listed)) != 1:
            raise contradiction("it answers one class of queries")
        if queries.ranges is not None and [queries.ranges] != list(self.columns):
            raise contradiction("its queries are about other columns")
        if self.queries.conjunctions is not None:
            return Conjunctions(shape, self.queries.conjunctions, add_up=self.queries.add_up)
        return other_queries(self.queries, self.sizes, {name: own.labels or () for name, own in self.columns.items()})

    @cached_property
    def planned_synopsis(self) -> PlannedSynopsis:
        """The mechanism with its guarantee and its error."""
        made: FittedSynopsis | ExponentialSynopsis
        people, of, failure = self.design.people, self.design.of, self.failure
        assert people is not None, "a fixed number of people is drawn"
        assert of is not None, "of a known number"
        if isinstance(self.mechanism, CountedRows):
            raise contradiction("its rows were made in a way that its design does not have")
        if isinstance(self.mechanism, FittedRows):
            loss = self.mechanism.noise_epsilon
            made = fitted_synopsis(self.query_class, people, loss, self.mechanism.rows, failure)
        else:
            made = ExponentialSynopsis(self.query_class, self.mechanism.epsilon, self.mechanism.rows)
        return PlannedSynopsis(made, people, of, failure)

    @cached_property
    def counted_synopsis(self) -> CountedSynopsis:
        """The mechanism of a sample by coins."""
        if not isinstance(self.mechanism, CountedRows):
            raise contradiction("its rows were made in a way that its design does not have")
        ran, copies = self.mechanism, weights_of_design(self.design).copies
        return CountedSynopsis(self.query_class, ran.noise_epsilon, ran.rows, self.failure, copies)

    @property
    def mechanisms(self) -> tuple[CountedSynopsis, ...]:
        """The mechanism, where it may be one of several publications."""
        return () if self.design.counts_exactly else (self.counted_synopsis,)

    @property
    def errors(self) -> tuple[float, float, float]:
        """The largest errors of shares about everybody and about the sample, and the chance that they do not hold.

        Those of a sample by coins follow from its noisy number of people.
        """
        if self.design.counts_exactly:
            planned = self.planned_synopsis
            return planned.about_everybody.accuracy, planned.about_sample.accuracy, planned.about_everybody.failure
        ran, weights, size = self.counted_synopsis, weights_of_design(self.design, self.unit.most), self.size or 0
        return error_about_everybody(ran, weights, size), ran.sample_error(size), self.failure

    def check(self) -> None:
        """Refuse a sample whose errors cannot be stated."""
        if self.design.exceptions:
            raise contradiction("its errors do not hold with exceptions")

    def derivations(self) -> tuple[Derivation, ...]:
        """Zero-knowledge and differential privacy, and how well the class is answered about everybody."""
        if self.design.counts_exactly and not self.unit.several:
            return self.in_series(self.planned_synopsis.derivations())
        self.check()
        ran = self.counted_synopsis
        claim = claim_of_rows(ran.claim(), self.unit.most)
        return self.in_series(self.design.derivations_in_copies(claim, ran.copies))

    @property
    def notes(self) -> list[str]:
        return self.unit.rows_counted(self.noun_of_rows)

    @property
    def own_parameters(self) -> Parameters:
        found: Parameters = {"rows": self.mechanism.rows}
        return found | ({} if self.rate is None else {"rate": self.rate})

    @property
    def parameters(self) -> Parameters:
        if not self.design.counts_exactly:
            spent: Parameters = {"epsilon": differential_of(self.derivations()).conclusion.epsilon}
            return spent | self.own_parameters | self.series_parameters
        planned = self.planned_synopsis
        epsilon = planned.mechanism.claim().conclusion.epsilon
        people = {"sample": planned.samples, "people": planned.population, "rows": self.mechanism.rows}
        own: Parameters = {"epsilon": self.derivations()[0].conclusion.epsilon, **people, "sanitizer_epsilon": epsilon}
        return own | self.series_parameters


def other_queries(queries: Queries, sizes: Mapping[str, int], labels: Mapping[str, tuple[str, ...]]) -> QueryClass:
    """Return the class of ranges or listed conjunctions over columns of these sizes."""
    names, shape = list(sizes), tuple(sizes.values())
    if queries.ranges is not None:
        return ranges(shape[0])
    places = [
        {names.index(name): labels[name].index(label) for name, label in condition.items()}
        for condition in queries.listed or ()
    ]
    return list_conjunctions(shape, places)


def error_about_everybody(ran: CountedSynopsis, weights: Weights, size: int) -> float:
    """Return the largest error of shares about everybody, where the noisy number of people is this, in copies."""
    low, high = size - ran.size_error, size + ran.size_error
    if low < 1:
        return 1.0
    drawn = share_error(weights, 0.0, float(high), float(low), ran.failure / ran.queries.size)
    return min(1.0, ran.sample_error(size) + drawn)
