"""Choosing the recoding: the section [recoding], how the lattice is searched, and how the budget is shared.

The choice never sees the sample that is published. It looks at the whole population, or at a part of the sample of
which nobody is published; docs/proofs.md#choosing-the-recoding shows why the same sample will not do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from msgspec.structs import force_setattr

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.policies.key import Rule, Section, key
from crowdblend.policies.refusals import refusal
from crowdblend.policies.rules import conflicts
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, DifferentialUnderSampling, Relation
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import flint

    from crowdblend.methods.selection import scores, search
    from crowdblend.methods.selection.lattice import Lattice
    from crowdblend.methods.selection.scores import Score
    from crowdblend.methods.selection.search import RecodingChoice, Search
    from crowdblend.policies.columns import Column
    from crowdblend.trusted.calculus.rules import recoding as recoding_rules
    from crowdblend.trusted.numerics import balls

_USUAL_SHARE = 0.1


class Choosing(Section, frozen=True):
    """The choice of the recoding: its part of epsilon, whom it sees, its score, its steps."""

    section = "recoding"
    rules: ClassVar[tuple[Rule, ...]] = (
        conflicts("share", "using=population", code="recoding", because="nobody of the sample decides"),
        conflicts("steps", "search=whole", code="recoding"),
    )

    epsilon: Annotated[float, key("The part of the release's epsilon that the choice may use.", "epsilon")]
    using: Annotated[
        Literal["population", "split"],
        key("Who decides: the whole population, or a part of the sample that is not published."),
    ]
    share: Annotated[
        float | None,
        key("With split: the share of the sample, or of each part of it, that decides; 0.1 unless given.", "share"),
    ] = None
    score: Annotated[Literal["loss", "published"], key("What a good recoding is.")] = "loss"
    search: Annotated[
        Literal["whole", "steps"] | None, key("Score all recodings at once, or choose column after column in steps.")
    ] = None
    steps: Annotated[
        int | None, key("With steps: among how many choices epsilon is divided; each column has one.", "steps")
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.epsilon:
            raise _refusal("`recoding.epsilon` is 0.", "Give the choice a budget, such as 0.1.", "epsilon")
        if self.using == "split" and self.share is None:
            force_setattr(self, "share", _USUAL_SHARE)

    def search_of(self, lattice: Lattice) -> Search:
        """Return the choices that are made, all of them settled by the shape of the `lattice`."""
        most, small = search.MOST_STEPS, lattice.size <= search.LARGEST_WHOLE
        if self.search == "whole" and not small:
            raise _refusal(
                f'`recoding.search = "whole"` takes at most {search.LARGEST_WHOLE:,} recodings, and the columns '
                f"offer {lattice.size:,}.",
                'Use `recoding.search = "steps"`, or offer fewer levels.',
                "search",
            )
        if self.search == "whole" or (self.search is None and self.steps is None and small):
            return search.Search.whole(lattice.shape)
        once = search.Search.once_around(lattice.shape)
        if once > most:
            message = f"Choosing every column takes {once} steps, more than {most}."
            raise _refusal(message, "Offer fewer levels, or fix some columns.")
        if self.steps is not None and self.steps < once:
            message = f"`recoding.steps` is {self.steps}, and choosing every column once takes {once}."
            raise _refusal(message, "Raise it, or leave it out.", "steps")
        return search.Search.in_steps(lattice.shape, self.steps)

    def choice(self, lattice: Lattice, score: Score) -> RecodingChoice:
        """Return the choice among the recodings of a `lattice` by their `score`, with what it claims."""
        return search.RecodingChoice(lattice, score, self.search_of(lattice), self.epsilon)

    def released_rate(self, rate: float) -> float:
        """Return the rate at which those outside the choosing part of a sample at `rate` are released, rounded up."""
        if self.share is None:
            return rate
        with balls.precision(128):
            drawn, share = flint.arb(rate), flint.arb(self.share)
            return balls.round_up(drawn * (1 - share) / (1 - drawn * share))

    def score_for(self, k: int, rate: float) -> Score:
        """Return the score of a release with this `k` and `rate`; the data have no part in it."""
        if self.share is None:
            return scores.score(self.score, k=k, rate=rate)
        return scores.score(self.score, k=k, rate=rate * (1 - self.share), share_seen=rate * self.share)

    def epsilon_left(self, epsilon: float, rate: float | None) -> float:
        """Return the largest ε₂ for the release at `rate` that keeps choice and release together within `epsilon`."""
        with balls.precision(256):
            rest = flint.arb(epsilon) - flint.arb(self.epsilon)
            if self.share is not None:
                assert rate is not None, "a split has a rate"
                chosen = flint.arb(rate) * flint.arb(self.share)
                grown = (flint.arb(epsilon).exp() - chosen * flint.arb(self.epsilon).exp()) / (1 - chosen)
                rest = grown.log() if grown > 0 else flint.arb(-1)
            if not rest > 0:
                message = f"The choice of the recoding costs {self.epsilon:g} and leaves no epsilon of {epsilon:g}."
                remedy = "Lower `recoding.epsilon`, or raise `privacy.epsilon`."
                raise Infeasible(message, remedy=remedy, where="`recoding.epsilon`", code="plan.choice-costs-all")
            found = balls.round_down(rest)
        while found > 0 and self.total(found, rate) > epsilon:
            found = math.nextafter(found, 0)
        return found

    def total(self, epsilon_released: float, rate: float | None) -> float:
        """Return what choice and release come to at most: a release at `rate` that loses `epsilon_released`."""
        choice = Differential(self.epsilon, 0.0, Relation.ADD_REMOVE)
        if self.share is None:
            premise = DifferentialUnderSampling(0.5, epsilon_released, 0.0)
            return _epsilon(recoding_rules.recoding_from_population.conclude(choice, premise))
        blending, given = CrowdBlending(2, 0.0), {"rate": rate, "share": self.share, "epsilon": epsilon_released}
        return _epsilon(recoding_rules.recoding_from_split.conclude(choice, blending, **given))


def refuse_no_choice(columns: Sequence[Column]) -> None:
    """Refuse a choice where no column offers one."""
    if not any(column.chooses for column in columns):
        message = "`recoding` has nothing to choose: no column offers several recodings."
        raise _refusal(message, 'Write `level = "choose"` for a hierarchy, or remove `recoding`.')


def check_choice(choosing: Choosing, columns: Sequence[Column], split: str | None) -> None:
    """Refuse a choice for several publications that no part of their sample makes, or that has nothing to choose."""
    refuse_no_choice(columns)
    if choosing.share is None or split not in (None, "people"):
        message = "The recodings of several publications are chosen by parts of their one sample."
        remedy = 'Write `recoding.using = "split"` and `privacy.split = "people"`, or name one level.'
        raise _refusal(message, remedy, "using")


def _epsilon(conclusion: object) -> float:
    assert isinstance(conclusion, DifferentialUnderSampling | Differential)
    return float(conclusion.epsilon)


def _refusal(message: str, remedy: str, name: str = "") -> InvalidInput:
    return refusal("recoding", message, remedy, f"`recoding.{name}`" if name else "`recoding`")
