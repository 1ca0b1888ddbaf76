"""Synopses of samples by coins: people are counted by the published columns, in copies where rates differ."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from crowdblend.errors import Infeasible
from crowdblend.kinds.shared.class_counts import (
    ClassCountsPlan,
    ClassCountsReading,
    check_survey,
    weight_columns,
)
from crowdblend.kinds.shared.outputs import RowsOutput
from crowdblend.kinds.shared.plan import Lines, Misfit, Result
from crowdblend.kinds.shared.series import one_of_series, series_of
from crowdblend.kinds.synopsis.facts import CountedRows, Queries, SynopsisFacts, error_about_everybody, other_queries
from crowdblend.kinds.synopsis.policy import SynopsisPolicy
from crowdblend.methods.designs import Design, Everybody
from crowdblend.methods.designs.design import claim_of_rows, differential_of
from crowdblend.methods.designs.draw import Draw
from crowdblend.methods.mechanisms.statistics import count_in_copies
from crowdblend.methods.mechanisms.synopsis.conjunctions import Conjunctions, conjunctions
from crowdblend.methods.mechanisms.synopsis.queries import QueryClass
from crowdblend.methods.mechanisms.synopsis.synopses import CountedSynopsis, Synopsis
from crowdblend.methods.planning.statistics.strata_totals import weights_of_design
from crowdblend.methods.recoding.classes import LARGEST_DOMAIN
from crowdblend.policies.columns import Column
from crowdblend.policies.strata import DeclaredStrata
from crowdblend.sources.engines.engine import Engine, Progress
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.randomness import ReleaseKey


@dataclass(frozen=True, repr=False)
class CountedSynopsisPlan(ClassCountsPlan[SynopsisPolicy]):
    """A policy with nothing left open: the noise on the counts of a sample by coins, or of everybody."""

    policy: SynopsisPolicy
    mechanism: CountedSynopsis

    @property
    def mechanisms(self) -> tuple[CountedSynopsis]:
        return (self.mechanism,)

    @property
    def _strata(self) -> DeclaredStrata:
        assert self.policy.strata is not None, "a sample by coins is one stratum, or has several"
        return self.policy.strata

    def facts(self, publication: Result | None = None) -> SynopsisFacts:
        policy = self.policy
        (ran,) = self.mechanisms if publication is None else publication.mechanisms
        assert isinstance(ran, CountedSynopsis)
        fit = None if publication is None else publication.outcome
        assert fit is None or isinstance(fit, Misfit)
        return SynopsisFacts(
            **self.common_facts(LARGEST_DOMAIN),
            mechanism=CountedRows(noise_epsilon=ran.noise_epsilon, rows=ran.rows),
            queries=asked_queries(policy, ran.queries),
            failure=policy.failure,
            misfit=None if fit is None else fit.value,
            size=None if fit is None else fit.size,
            series=series_of(policy),
        )

    def describe(self) -> Lines:
        facts = self.facts()
        error = at_most(self.expected_error)
        return [
            *self.describe_reading(),
            *self.sample.describe(),
            ("would publish", f"{self.mechanism.rows:,} synthetic rows, fitted to noisy counts"),
            ("would answer", f"{self.mechanism.queries.size:,} queries: {facts.queries.words(facts.sizes)}"),
            ("", f"about everybody within about {error} of the share, if there are {self.policy.people:,} people"),
        ]

    @property
    def expected_error(self) -> float:
        """The error of shares about everybody, where there are as many people as the policy says."""
        weights = weights_of_design(self.sample, self.policy.unit.most)
        return error_about_everybody(self.mechanism, weights, round(self.policy.people / weights.unit))

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(column.name for column in self._columns))

    @property
    def _columns(self) -> list[Column]:
        """The columns to count: strata that are not published, the published ones, and own weights last."""
        design, published = self._strata, list(self.policy.columns)
        if design.column is None:
            return published
        if all(column.name != design.column.name for column in published):
            published = [design.column, *published]
        return published + weight_columns(design, weights_of_design(self.sample))

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> ClassCountsReading:
        counted = self.count(self._columns, engine, key, progress, draw)
        check_survey(self.sample, counted, self.policy.unit)
        return ClassCountsReading(counted)

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        mechanism, design, sample = self.mechanism, self._strata, reading.sample
        stratum = None if design.column is None else design.column.name
        counted = count_in_copies(sample, stratum, mechanism.copies, own=design.weighted)
        places = [counted.columns.index(column.name) for column in self.policy.columns]
        codes = tuple(counted.codes[:, places[axis]] for axis in universe_order(self.policy))
        table = np.zeros(mechanism.queries.shape, np.int64)
        np.add.at(table, codes, counted.counts)
        rows, size = mechanism.publish(table, key.source(b"synopsis: noise, choice and rows"))
        assert rows.misfit is not None, "noisy counts are fitted"
        output = rows_output(self.policy, mechanism.queries.shape, rows)
        return Result((output,), (mechanism,), Misfit(rows.misfit, size), {"people_sampled": sample.people})


def plan_counted(policy: SynopsisPolicy) -> CountedSynopsisPlan:
    """Plan the least noise that keeps everybody within epsilon, whatever their stratum."""
    own = one_of_series(policy)
    sample = own.design
    if own.with_others:
        # What all publications lose is derived from the most that anyone counts, and the largest rate.
        return plan_rows(own, Everybody(), sample.largest_loss(own.epsilon))
    planned = replace(plan_rows(own, sample, own.epsilon), policy=policy)
    if (error := planned.expected_error) >= 1:
        message = f"The error of this synopsis is {error:.3g}; at 1 or more it says nothing."
        remedy = "Raise epsilon or the rate, ask fewer queries, or recode the columns more coarsely."
        raise Infeasible(message, remedy=remedy, where="epsilon", code="plan.error-out-of-reach")
    return planned


def plan_rows(policy: SynopsisPolicy, sample: Design, epsilon: float) -> CountedSynopsisPlan:
    """Plan the way to measure the class that errs least, where those of the sample may lose epsilon."""
    weights = weights_of_design(policy.design, policy.unit.most)
    strata = len(weights.copies)
    rates = [one.high for one in sample.coins] if sample.strata else [sample.largest_rate] * strata
    # A kept person may lose ln(1 + (e^ε − 1)/rate), divided among copies.
    scale = min(
        math.log1p(math.expm1(epsilon) / rate) / copies for rate, copies in zip(rates, weights.copies, strict=True)
    )
    middle = max(1, round(policy.people * math.sqrt(weights.rates[0][0] * weights.rates[-1][1])))
    found = []
    for queries in variants(policy):
        shrink, noise = 1e-15, scale / (weights.rows * (queries.depth + 1))
        while True:
            mechanism = CountedSynopsis(
                queries, noise, policy.publication.rows or middle, policy.failure, weights.copies
            )
            made = sample.derivations_in_copies(claim_of_rows(mechanism.claim(), weights.rows), weights.copies)
            if differential_of(made).conclusion.epsilon <= epsilon:
                break
            noise, shrink = noise * (1 - shrink), 2 * shrink
        found.append(CountedSynopsisPlan(policy, mechanism))
    return min(found, key=lambda one: one.expected_error)


def rows_output(policy: SynopsisPolicy, shape: tuple[int, ...], rows: Synopsis) -> RowsOutput:
    """Return the rows with their labels, columns in the order of the policy."""
    order, places = universe_order(policy), np.unravel_index(rows.cells, shape)
    codes = np.empty((len(rows.cells), len(order)), np.int32)
    for axis, place in enumerate(order):
        codes[:, place] = places[axis]
    names = tuple(column.name for column in policy.columns)
    return RowsOutput(policy.file, names, tuple(policy.labels(name) for name in names), codes)


def universe_order(policy: SynopsisPolicy) -> list[int]:
    """Return the columns by size, the largest first, so that sums over the universe run through memory in order."""
    sizes = [len(policy.labels(column.name)) for column in policy.columns]
    return sorted(range(len(sizes)), key=lambda place: -sizes[place])


def asked_queries(policy: SynopsisPolicy, queries: QueryClass | None = None) -> Queries:
    """Return the queries of the policy, and the way in which conjunctions are measured."""
    return Queries(
        conjunctions=policy.publication.conjunctions,
        add_up=queries.add_up if isinstance(queries, Conjunctions) else 0,
        ranges=policy.publication.ranges,
        listed=None
        if policy.publication.queries is None
        else tuple(dict(condition) for condition in policy.publication.queries),
    )


def variants(policy: SynopsisPolicy) -> list[QueryClass]:
    """Return the class of queries over the universe, in every way to measure it."""
    labels = {column.name: policy.labels(column.name) for column in policy.columns}
    names = [policy.columns[place].name for place in universe_order(policy)]
    sizes = {name: len(labels[name]) for name in names}
    if policy.publication.conjunctions is not None:
        return list(conjunctions(tuple(sizes.values()), policy.publication.conjunctions))
    return [other_queries(asked_queries(policy), sizes, labels)]
