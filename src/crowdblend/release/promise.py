"""From a policy to a plan: which mechanism will run, with which parameters, under which certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

from crowdblend import __version__
from crowdblend.calculus import Assumption, Certificate
from crowdblend.errors import Infeasible
from crowdblend.mechanisms import NoisyHistogram, SuppressedHistogram
from crowdblend.mechanisms.noisy import natural_threshold
from crowdblend.planning import Plan
from crowdblend.planning.plan import answer
from crowdblend.planning.question import Question
from crowdblend.release.policy import Policy


@dataclass(frozen=True)
class Promise:
    """A policy with nothing left open: the plan, and what the certificate will say."""

    policy: Policy
    plan: Plan

    @property
    def mechanism(self) -> SuppressedHistogram | NoisyHistogram:
        """The sanitizer that the certificate speaks of."""
        if self.plan.noise_epsilon is None:
            return SuppressedHistogram(self.plan.k)
        cells = self.policy.cells
        assert cells is not None, "a noisy table has a closed domain"
        show_from = self.policy.release.show_from or natural_threshold(cells, self.plan.noise_epsilon)
        return NoisyHistogram(self.plan.k, self.plan.noise_epsilon, show_from, self.policy.release.flag)

    @property
    def draw_rate(self) -> float | None:
        """The rate at which the sample is drawn here; None when it was drawn before."""
        return None if self.policy.sampling.already_drawn else self.plan.rate

    def certificate(self, files: dict[str, str] | None = None) -> Certificate:
        """The certificate, complete once the published files are hashed."""
        believed = {
            Assumption.ASSUMED_RATE: self.policy.sampling.already_drawn,
            Assumption.ROWS_ARE_PEOPLE: self.policy.data.rows_are_people,
        }
        stated = tuple(assumption for assumption, holds in believed.items() if holds)
        return self.plan.certificate(stated, {**self.facts(), "files": files or {}})

    def facts(self) -> dict[str, Any]:
        """What a reader needs to know of the release, none of it read off the data."""
        release = self.policy.release
        facts: dict[str, Any] = {
            "kind": release.kind,
            "below_k": release.below_k,
            "already_drawn": self.policy.sampling.already_drawn,
            "person": self.policy.data.person,
            "tables": {table.name: list(table.columns) for table in self.policy.tables},
            "parameters": {**self.plan.to_dict()},
            "columns": {column.name: column.recoding.words() for column in self.policy.columns},
            "software": {"crowdblend": __version__, "python-flint": metadata.version("python-flint")},
        }
        if isinstance(self.mechanism, NoisyHistogram):
            facts["show_from"] = self.mechanism.show_from
        return facts


def promise(policy: Policy) -> Promise:
    """Plan what the policy leaves open, or check that what it states can be promised."""
    release, sampling = policy.release, policy.sampling
    question = Question(
        rate=sampling.rate,
        k=release.k,
        epsilon=release.epsilon,
        delta=release.delta if policy.planned else None,
        low=sampling.low,
        high=sampling.high,
        exceptions=sampling.exceptions,
        max_rate=sampling.max_rate,
        kind=release.kind,
        below_k=release.below_k,
        noise_epsilon=release.noise_epsilon,
        flag=release.flag,
    )
    planned = answer(question)
    if not policy.planned:
        assert release.delta is not None
        if planned.delta > release.delta:
            raise Infeasible(
                f"delta must be at least {planned.delta:.6g} with these k, rate and epsilon, got {release.delta:g}. "
                "Raise k, epsilon or delta, or lower the rate; or leave one of them out to be planned."
            )
        planned = replace(planned, delta=release.delta)
    return Promise(policy, planned)
