"""Choosing the recoding: the section [recoding], how the lattice is searched, and how the budget is shared.

The choice never sees the sample that is published. It looks at the whole population, or at a part of the sample of
which nobody is published; docs/proofs.md#choosing-the-recoding shows why the same sample will not do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from crowdblend.errors import Infeasible
from crowdblend.policies.key import Section, key, refusal

if TYPE_CHECKING:
    from crowdblend.selection import Lattice, RecodingChoice, Score, Search

_USUAL_SHARE = 0.1


@dataclass(frozen=True)
class Choosing(Section):
    """How the recoding is chosen: with which part of epsilon, looking at whom, by which score, in how many steps.

    With `show_epsilon` the scores of the chosen recoding and of those around it are published, with noise.
    """

    section = "recoding"

    epsilon: float = key("The part of the release's epsilon that the choice may use.", required=True, ranged=True)
    using: Literal["population", "split"] = key(
        "Who decides: the whole population, or a part of the sample that is not published.", required=True
    )
    share: float | None = key("With split: the share of the sample that decides; 0.1 unless given.", ranged=True)
    score: Literal["loss", "published", "discernibility", "entropy"] = key("What a good recoding is.", default="loss")
    search: Literal["whole", "steps"] | None = key(
        "Score all recodings at once, or choose column after column in steps."
    )
    steps: int | None = key("With steps: among how many choices epsilon is divided; each column has one.", ranged=True)
    show_epsilon: float | None = key("A further part of epsilon, to show noisy scores around the choice.", ranged=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.epsilon:
            raise refusal(
                "recoding",
                "epsilon in [recoding] is 0.",
                "Give the choice a budget, such as 0.1.",
                "[recoding] epsilon",
            )
        if self.using == "population" and self.share is not None:
            raise refusal("recoding", 'share in [recoding] needs using = "split".', "Remove share.", "[recoding] share")
        if self.using == "split" and self.share is None:
            object.__setattr__(self, "share", _USUAL_SHARE)
        if self.steps is not None and self.search == "whole":
            raise refusal(
                "recoding", 'steps in [recoding] needs search = "steps".', "Remove one of them.", "[recoding] steps"
            )

    def search_of(self, lattice: Lattice) -> Search:
        """The choices that are made, all of them settled by the shape of the lattice."""
        from crowdblend.selection import LARGEST_WHOLE, MOST_STEPS, Search  # noqa: PLC0415  loads NumPy

        small = lattice.size <= LARGEST_WHOLE
        if self.search == "whole" and not small:
            raise refusal(
                "recoding",
                f'search = "whole" in [recoding] takes at most {LARGEST_WHOLE:,} recodings, and the columns offer '
                f"{lattice.size:,}.",
                'Use search = "steps", or offer fewer levels.',
                "[recoding] search",
            )
        if self.search == "whole" or (self.search is None and self.steps is None and small):
            return Search.whole(lattice.shape)
        once = Search.once_around(lattice.shape)
        if once > MOST_STEPS:
            raise refusal(
                "recoding",
                f"Choosing every column takes {once} steps, more than {MOST_STEPS}.",
                "Offer fewer levels, or fix some columns.",
                "[recoding]",
            )
        if self.steps is not None and self.steps < once:
            raise refusal(
                "recoding",
                f"steps in [recoding] is {self.steps}, and choosing every column once takes {once}.",
                "Raise it, or leave it out.",
                "[recoding] steps",
            )
        return Search.in_steps(lattice.shape, self.steps)

    def choice(self, lattice: Lattice, scored: Score) -> RecodingChoice:
        """The choice among the recodings of a lattice, with what it claims."""
        from crowdblend.selection import RecodingChoice  # noqa: PLC0415  loads NumPy

        return RecodingChoice(lattice, scored, self.search_of(lattice), self.epsilon, self.show_epsilon)

    @property
    def spent(self) -> float:
        """What choosing and showing may cost together, rounded up."""
        from flint import arb  # noqa: PLC0415

        from crowdblend.numerics.balls import precision, round_up  # noqa: PLC0415

        if self.show_epsilon is None:
            return self.epsilon
        with precision(128):
            return round_up(arb(self.epsilon) + arb(self.show_epsilon))

    def released_rate(self, rate: float) -> float:
        """The rate at which those outside the choosing part are released, rounded up."""
        from flint import arb  # noqa: PLC0415

        from crowdblend.numerics.balls import precision, round_up  # noqa: PLC0415

        if self.share is None:
            return rate
        with precision(128):
            return round_up(arb(rate) * (1 - arb(self.share)) / (1 - arb(rate) * arb(self.share)))

    def score_for(self, k: int, rate: float) -> Score:
        """The score of a release with these parameters; the data have no part in it."""
        from crowdblend.selection import score  # noqa: PLC0415

        if self.share is None:
            return score(self.score, k=k, rate=rate)
        return score(self.score, k=k, rate=rate * (1 - self.share), seen=rate * self.share)

    def left(self, epsilon: float, rate: float | None) -> float:
        """The largest ε₂ for the release that keeps choice and release together within epsilon."""
        from flint import arb  # noqa: PLC0415

        from crowdblend.numerics.balls import precision, round_down  # noqa: PLC0415

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
                    f"The choice of the recoding costs {self.spent:g} and leaves nothing of epsilon = {epsilon:g}.",
                    remedy="Lower epsilon in [recoding], or raise the one in [release].",
                    where="[recoding] epsilon",
                    code="plan.choice-costs-all",
                )
            found = round_down(rest)
        while found > 0 and self.total(found, rate) > epsilon:
            found = math.nextafter(found, 0)
        return found

    def total(self, released: float, rate: float | None) -> float:
        """What the rules make of the choice and a release with ε₂ together, at most."""
        from crowdblend.calculus.rules import recoding  # noqa: PLC0415
        from crowdblend.guarantees import (  # noqa: PLC0415
            CrowdBlending,
            Differential,
            DifferentialUnderSampling,
            Relation,
        )

        choice = Differential(self.spent, 0.0, Relation.ADD_REMOVE)
        if self.share is None:
            premise = DifferentialUnderSampling(0.5, released, 0.0)
            made: Any = recoding.recoding_from_population.conclude(choice, premise)
        else:
            made = recoding.recoding_from_split.conclude(
                choice, CrowdBlending(2, 0.0), rate=rate, share=self.share, epsilon=released
            )
        return float(made.epsilon)
