"""Choosing the recoding: the section [recoding], how the lattice is searched, and how the budget is shared.

The choice never sees the sample that is published. It looks at the whole population, or at a part of the sample of
which nobody is published; docs/proofs.md#choosing-the-recoding shows why the same sample will not do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from flint import arb

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import composition, recoding, selection
from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.guarantees import CrowdBlending, Differential, DifferentialUnderSampling, Relation
from crowdblend.guarantees.parameters import check
from crowdblend.numerics.balls import precision, round_down, round_up
from crowdblend.policies.keys import RECODING, read_keys
from crowdblend.policies.offered import lattice_of
from crowdblend.selection import (
    LARGEST_WHOLE,
    MOST_STEPS,
    Lattice,
    Score,
    ScoreName,
    Search,
    most_around,
    noise_around,
    score,
)

__all__ = ["Choosing", "lattice_of", "read_choosing"]

_USUAL_SHARE = 0.1


@dataclass(frozen=True)
class Choosing:
    """How the recoding is chosen: with which part of epsilon, looking at whom, by which score, in how many steps.

    With `show_epsilon` the scores of the chosen recoding and of those around it are published, with noise.
    """

    epsilon: float
    using: Literal["population", "split"]
    share: float | None = None
    score: ScoreName = "loss"
    search: Literal["whole", "steps"] | None = None
    steps: int | None = None
    show_epsilon: float | None = None

    def __post_init__(self) -> None:
        check("epsilon", self.epsilon)
        if not self.epsilon:
            raise InvalidInput("epsilon in [recoding] must be above 0, got 0. Give the choice a budget, such as 0.1.")
        if self.using == "population" and self.share is not None:
            raise InvalidInput('share in [recoding] must come with using = "split", got "population". Drop share.')
        if self.using == "split":
            share = _USUAL_SHARE if self.share is None else self.share
            check("share", share)
            object.__setattr__(self, "share", share)
        if self.steps is not None:
            check("steps", self.steps)
            if self.search == "whole":
                raise InvalidInput(
                    'steps in [recoding] must come with search = "steps", got "whole". Drop one of them.'
                )
        if self.show_epsilon is not None:
            check("show_epsilon", self.show_epsilon)

    def search_of(self, lattice: Lattice) -> Search:
        """The choices that are made, all of them settled by the shape of the lattice."""
        small = lattice.size <= LARGEST_WHOLE
        if self.search == "whole" and not small:
            raise InvalidInput(
                f'search = "whole" in [recoding] must have at most {LARGEST_WHOLE:,} recodings, got {lattice.size:,}. '
                'Use search = "steps", or offer fewer levels.'
            )
        if self.search == "whole" or (self.search is None and self.steps is None and small):
            return Search.whole(lattice.shape)
        once = Search.once_around(lattice.shape)
        if once > MOST_STEPS:
            raise InvalidInput(
                f"[recoding] must choose every column within {MOST_STEPS} steps, got columns for {once}. Offer fewer "
                "levels, or fix some columns."
            )
        if self.steps is not None and self.steps < once:
            raise InvalidInput(
                f"steps in [recoding] must be at least {once}, so that every column is chosen once, got {self.steps}. "
                "Raise it, or leave it out."
            )
        return Search.in_steps(lattice.shape, self.steps)

    def step_epsilon(self, search: Search) -> float:
        """The loss of each choice; all of them together stay within epsilon."""
        if search.steps == 1:
            return self.epsilon
        with precision(128):
            return round_down(arb(self.epsilon) / search.steps)

    @property
    def spent(self) -> float:
        """What choosing and showing may cost together, rounded up."""
        if self.show_epsilon is None:
            return self.epsilon
        with precision(128):
            return round_up(arb(self.epsilon) + arb(self.show_epsilon))

    def derived(self, lattice: Lattice, scored: Score) -> Derivation:
        """What choosing and showing promise: one step for every choice, and one for the noisy scores."""
        bounded = _bounded(lattice, scored)
        search = self.search_of(lattice)
        choice = selection.exponential_choice(bounded, epsilon=self.step_epsilon(search))
        steps = [choice] * search.steps
        if self.show_epsilon is not None:
            noise_around(lattice, scored, self.show_epsilon)
            shown = most_around(lattice.shape)
            steps.append(selection.noisy_scores(bounded, epsilon=self.show_epsilon, dimension=shown))
        return composition.steps_add_up(*steps) if len(steps) > 1 else choice

    def released_rate(self, rate: float) -> float:
        """The rate at which those outside the choosing part are released, rounded up."""
        if self.share is None:
            return rate
        with precision(128):
            return round_up(arb(rate) * (1 - arb(self.share)) / (1 - arb(rate) * arb(self.share)))

    def score_for(self, k: int, rate: float) -> Score:
        """The score of a release with these parameters; the data have no part in it."""
        if self.share is None:
            return score(self.score, k=k, rate=rate)
        return score(self.score, k=k, rate=rate * (1 - self.share), seen=rate * self.share)

    def left(self, epsilon: float, rate: float | None) -> float:
        """The largest ε₂ for the release that keeps choice and release together within epsilon."""
        with precision(256):
            if self.share is None:
                rest = arb(epsilon) - arb(self.spent)
            else:
                assert rate is not None, "a split has a rate"
                chosen = arb(rate) * arb(self.share)
                grown = (arb(epsilon).exp() - chosen * arb(self.spent).exp()) / (1 - chosen)
                rest = grown.log() if grown > 0 else arb(-1)
            if not rest > 0:
                raise Infeasible(
                    f"epsilon in [release] must be more than the choice alone costs, got {epsilon:g} with "
                    f"{self.spent:g} for the choice. Lower epsilon in [recoding], or raise the one in [release]."
                )
            found = round_down(rest)
        while found > 0 and self.total(found, rate) > epsilon:
            found = math.nextafter(found, 0)
        return found

    def total(self, released: float, rate: float | None) -> float:
        """What the rules make of the choice and a release with ε₂ together, at most."""
        choice = Differential(self.spent, 0.0, Relation.ADD_REMOVE)
        if self.share is None:
            premise = DifferentialUnderSampling(0.5, released, 0.0)
            made: Any = recoding.recoding_from_population.conclude(choice, premise)
        else:
            made = recoding.recoding_from_split.conclude(
                choice, CrowdBlending(2, 0.0), rate=rate, share=self.share, epsilon=released
            )
        return float(made.epsilon)


def _bounded(lattice: Lattice, scored: Score) -> Derivation:
    """How far one person moves a score: computed where the score is known, else as it was read off the score."""
    known, moves = scored.published, scored.sensitivity(lattice.most)
    if known is None:
        return selection.score_is_stated(sensitivity=float(moves), monotone=scored.monotone)
    return selection.expected_people_bound_a_score(
        counted_from=known.counted_from, rate=known.rate, stands_for=known.stands_for, parts=scored.parts(lattice.most)
    )


def read_choosing(table: Any) -> Choosing:
    """The section [recoding]."""
    return Choosing(**read_keys("[recoding]", RECODING, table))
