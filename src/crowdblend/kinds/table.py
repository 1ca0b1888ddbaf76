"""Tables and microdata: classes of people, exact from k on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.calculus import Certificate, Derivation
from crowdblend.calculus.rules import recoding, sampling
from crowdblend.engines.engine import Source
from crowdblend.engines.progress import Progress
from crowdblend.errors import Infeasible
from crowdblend.guarantees.wording import at_most
from crowdblend.kinds.counted import FromCounts
from crowdblend.kinds.delta_limit import check_delta
from crowdblend.kinds.kind import Publication, Reading, software
from crowdblend.kinds.labels import listed_labels
from crowdblend.kinds.outcome import Chosen, chosen_facts
from crowdblend.kinds.outputs import write_microdata, write_table
from crowdblend.mechanisms import NoisyHistogram, PublishedClasses, SampledClasses, SuppressedHistogram
from crowdblend.mechanisms.noisy import natural_threshold
from crowdblend.mechanisms.suppressed import SuppressedRecords
from crowdblend.planning import Plan
from crowdblend.planning.plan import answer
from crowdblend.planning.question import Question
from crowdblend.policies.choosing import Choosing
from crowdblend.policies.columns import Column
from crowdblend.policies.microdata import Microdata
from crowdblend.policies.offered import lattice_of
from crowdblend.policies.table import Table
from crowdblend.recoding import Recoding
from crowdblend.selection import Score

if TYPE_CHECKING:
    from crowdblend.randomness import ReleaseKey

_BELOW = {"suppress": "suppressed", "noise": "noisy"}


@dataclass(frozen=True)
class Promise(FromCounts):
    """A policy with nothing left open: the plan, and what the certificate will say."""

    policy: Table | Microdata
    plan: Plan

    def mechanism(self, outcome: Chosen | None = None) -> SuppressedHistogram | NoisyHistogram:
        """The sanitizer that the certificate speaks of; where it shows from depends on the chosen recoding."""
        if self.plan.noise_epsilon is None:
            return (SuppressedRecords if self.policy.kind == "microdata" else SuppressedHistogram)(self.plan.k)
        cells = self.policy.cells if outcome is None else self.policy.cells_at(outcome.node)
        assert cells is not None, "a noisy table has a closed domain"
        show_from = self.policy.show_from or natural_threshold(cells, self.plan.noise_epsilon)
        return NoisyHistogram(self.plan.k, self.plan.noise_epsilon, show_from, self.policy.flag)

    @property
    def rate(self) -> float | None:
        """The rate at which people are, or were, sampled; a part of them may choose the recoding."""
        split = self.policy.recoding is not None and self.policy.recoding.share is not None
        return self.policy.sampling.rate if split else self.plan.rate

    @property
    def draw_rate(self) -> float | None:
        """The rate at which the sample is drawn here; None when it was drawn before."""
        return self.rate if self.draws else None

    @cached_property
    def score(self) -> Score:
        """What the choice of the recoding goes by."""
        assert self.policy.recoding is not None
        assert self.rate is not None
        return self.policy.recoding.score_for(self.plan.k, self.rate)

    def certificate(self, files: dict[str, str] | None = None, outcome: Chosen | None = None) -> Certificate:
        """The certificate, complete once the recoding is chosen and the published files are hashed."""
        facts = {**self.facts(outcome), "files": files or {}}
        if self.policy.recoding is None:
            return self.plan.certify(self.mechanism(outcome), self.believed, facts)
        return Certificate(self._chosen(self.policy.recoding), self.believed, facts)

    def _chosen(self, choosing: Choosing) -> tuple[Derivation, ...]:
        """Choice and release together. That the release alone blends into crowds says nothing of the choice."""
        choice = choosing.derived(lattice_of(self.policy.columns), self.score)
        if choosing.share is None:
            together = recoding.recoding_from_population(choice, self.plan.under_sampling(self.mechanism()))
        else:
            together = recoding.recoding_from_split(
                choice, self.mechanism().claim(), rate=self.rate, share=choosing.share, epsilon=self.plan.epsilon
            )
        return together, sampling.replacing_is_removing_and_adding(together)

    def facts(self, outcome: Chosen | None = None) -> dict[str, Any]:
        """What a reader needs to know of the release, none of it read off the data but the chosen recoding."""
        facts: dict[str, Any] = {
            "kind": self.policy.kind,
            "below_k": self.policy.below_k,
            "already_drawn": self.policy.sampling.already_drawn,
            "person": self.policy.data.person,
            "tables": {table.name: list(table.columns) for table in self.policy.tables},
            "parameters": {**self.plan.to_dict()},
            "columns": _described(self.policy.columns, outcome),
            "labels": listed_labels(_recodings(self.policy.columns, outcome)),
            "software": software(),
        }
        mechanism = self.mechanism(outcome)
        if isinstance(mechanism, NoisyHistogram):
            facts["show_from"] = mechanism.show_from
        if self.policy.recoding is not None:
            whole = self._chosen(self.policy.recoding)[0].conclusion.epsilon
            facts["parameters"] |= {"epsilon": whole, "rate": self.rate, "released_epsilon": self.plan.epsilon}
            facts["recoding"] = chosen_facts(self.policy.recoding, self.policy.columns, self.score, outcome)
        return facts

    def told(self) -> list[tuple[str, str]]:
        """What would happen, from the policy alone."""
        policy, choosing = self.policy, self.policy.recoding
        drawn = "was already drawn at an assumed" if policy.sampling.already_drawn else "will be drawn at"
        rate = self.rate if self.rate is not None else "between low and high"
        what = "a table" if policy.kind == "table" else "rows"
        columns = ", ".join(column.name for column in policy.columns)
        lines = [
            ("would read", f"{columns} from {Path(policy.data.source).name}"),
            ("would sample", f"the sample {drawn} rate {rate}"),
            ("would publish", f"{what}, exact from k = {self.plan.k}, {_BELOW[policy.below_k]} below"),
        ]
        if choosing is not None:
            who = "everybody" if choosing.share is None else f"a share of {choosing.share} of the sample"
            lattice = lattice_of(policy.columns)
            steps = choosing.search_of(lattice).steps
            how = f", in {steps} steps" if steps > 1 else ""
            spent = f"decided by {who}{how}, with {choosing.epsilon} of epsilon"
            lines.append(("would choose", f"one of {lattice.size:,} recodings, {spent}"))
            if choosing.show_epsilon is not None:
                lines.append(("would show", f"noisy scores around the choice, with {choosing.show_epsilon} of epsilon"))
        mechanism = self.mechanism()
        if isinstance(mechanism, NoisyHistogram) and policy.cells and choosing is None:
            false = mechanism.expected_false_cells(policy.cells)
            lines.append(("", f"shown from {mechanism.show_from}; about {false:,.0f} empty cells as well"))
        return lines

    def read_source(self, source: Source, key: ReleaseKey, progress: Progress | None) -> Reading:
        """Count the sample's classes; where the data choose the recoding, they do so when it is published."""
        from crowdblend.kinds import chosen  # noqa: PLC0415

        if self.policy.recoding is None:
            return super().read_source(source, key, progress)
        reading = chosen.read(self, source, key)

        def publish() -> Publication:
            outcome = chosen.decide(self, reading.deciding, key, progress)
            return self.published(chosen.recoded(self, reading.released, outcome.node), key, outcome)

        return Reading(reading.facts, publish, reading.same_people)

    def published(self, sample: SampledClasses, key: ReleaseKey, outcome: Chosen | None = None) -> Publication:
        """What is shown of a sample, its classes as they are published."""
        mechanism = self.mechanism(outcome)
        if isinstance(mechanism, NoisyHistogram):
            published = mechanism.publish(sample, key)
        else:
            published = mechanism.publish(sample)
        return Publication(lambda folder: _write(self.policy, published, folder), outcome, _internal(sample, published))


def _write(policy: Table | Microdata, published: PublishedClasses, folder: Path) -> None:
    suffix = policy.format
    if policy.kind == "microdata":
        write_microdata(published, folder / f"data.{suffix}")
    elif policy.tables:
        for table in policy.tables:
            write_table(published.narrowed(table.columns), folder / f"{table.name}.{suffix}")
    else:
        write_table(published, folder / f"data.{suffix}")


def _internal(sample: SampledClasses, published: PublishedClasses) -> dict[str, Any]:
    """What the steward may want to know and nobody else may."""
    sampled, shown = sample.people, int(published.counts.sum())
    return {
        "people_sampled": sampled,
        "classes_sampled": len(sample.counts),
        "classes_published": len(published.counts),
        "published_total": shown,
        "difference": sampled - shown,
        "relative_difference": (sampled - shown) / sampled if sampled else 0.0,
    }


def _described(columns: tuple[Column, ...], outcome: Chosen | None) -> dict[str, str]:
    """Every column's classes in words, once they are known."""
    if outcome is not None:
        levels = zip(columns, outcome.node, strict=True)
        return {column.name: column.recodings[level].describe() for column, level in levels}
    return {
        column.name: f"one of {len(column.recodings)} recodings" if column.chooses else column.recoding.describe()
        for column in columns
    }


def _recodings(columns: tuple[Column, ...], outcome: Chosen | None) -> list[tuple[str, Recoding]]:
    """Every column's recoding, once it is known."""
    if outcome is not None:
        return [(column.name, column.recodings[level]) for column, level in zip(columns, outcome.node, strict=True)]
    return [(column.name, column.recoding) for column in columns if not column.chooses]


def promise(policy: Table | Microdata) -> Promise:
    """Plan what the policy leaves open, or check that what it states can be promised."""
    drawn, choosing = policy.sampling, policy.recoding
    rate, epsilon = drawn.rate, policy.epsilon
    if choosing is not None:
        epsilon = None if epsilon is None else choosing.left(epsilon, rate)
        rate = None if rate is None else choosing.released_rate(rate)
    question = Question(
        rate=rate,
        k=policy.k,
        epsilon=epsilon,
        delta=policy.delta if policy.planned else None,
        low=drawn.low,
        high=drawn.high,
        exceptions=drawn.exceptions,
        max_rate=drawn.max_rate,
        kind=policy.kind,
        below_k=policy.below_k,
        noise_epsilon=policy.noise_epsilon,
        flag=policy.flag,
    )
    planned = answer(question)
    if planned.k == 1:
        raise Infeasible(
            "k must be at least 2: a crowd of one hides nobody, and sampling alone promises as much. "
            "Lower delta, or state k."
        )
    if not policy.planned:
        assert policy.delta is not None
        if planned.delta > policy.delta:
            raise Infeasible(
                f"delta must be at least {at_most(planned.delta)} with these k, rate and epsilon, got "
                f"{policy.delta:g}. Raise k, epsilon or delta, or lower the rate; or leave one of them out to "
                "be planned."
            )
        planned = replace(planned, delta=policy.delta)
    check_delta(policy, planned.delta)
    return Promise(policy, planned)
