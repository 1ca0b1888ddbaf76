"""Policies that publish crowds of at least k people: k, rate, epsilon and delta, of which one may be left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from crowdblend.methods.recoding.classes import MOST_CELLS_LISTED
from crowdblend.policies.choosing import refuse_no_choice
from crowdblend.policies.columns import Column, check_names, refuse_numbers
from crowdblend.policies.key import Rule, key
from crowdblend.policies.publication import Publication
from crowdblend.policies.publication_policy import SampledPolicy
from crowdblend.policies.refusals import refusal
from crowdblend.policies.rules import conflicts
from crowdblend.policies.sampling_section import Sampling
from crowdblend.policies.source import STDIN
from crowdblend.policies.strata import DeclaredStrata
from crowdblend.policies.unit import WHERE_ROWS, Unit
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.policies import recoding_lattice

# Of whom one row counts is known after the coin, and how many people were asked before it.
SURVEY_ROWS = conflicts(
    "sampling.people", "duplicates=one", code="survey", because="a survey has as many rows as people were asked"
)


def refuse_unseen_rates(design: DeclaredStrata, sampling: Sampling) -> None:
    """Refuse to thin a survey whose strata or weights are not published: nobody could carry counts to everybody."""
    if sampling.thin is not None and not design.published:
        message = f"Estimates of a survey that is thinned divide by the rates of {design.column_name!r}."
        remedy = (
            'Publish that column, or write `sampling.design = "poisson"` to publish '
            "about the people of the survey alone."
        )
        raise refusal("thin", message, remedy, "`sampling.thin`")


class Crowds(Publication, frozen=True, kw_only=True):
    """A publication of crowds."""

    k: Annotated[int | None, key("The crowd size, the person included; leave it out to have it planned.", "k")] = None


class CrowdPolicy(SampledPolicy, frozen=True, kw_only=True):
    """The common part of tables, microdata and points."""

    reserved: ClassVar[tuple[str, ...]] = ()
    rules: ClassVar[tuple[Rule, ...]] = (
        SURVEY_ROWS,
        *(
            conflicts(f"sampling.{design}", "flag", "show_from", because="they are not certified together")
            for design in ("stratum", "weight")
        ),
    )

    publication: Crowds

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_numbers(self.columns)
        check_names(self.columns, self.person, self.reserved)
        if self.strata is not None:
            self._check_strata(self.strata)
        if self.sampling.everybody:
            self._check_everybody()
        else:
            self._check_certified()
            self._check_planned()
            if self.unit.has_row_coins:
                self._check_rows()

    def _check_certified(self) -> None:
        """Refuse a survey of a fixed number of people whose crowds are not thinned: n minus the shown is hidden."""
        super()._check_certified()
        drawn = self.sampling
        if drawn.fixed_size and drawn.thin in (None, 1):
            message = (
                "Crowds of a fixed number of people hide nobody: the number minus the counts that are shown is what is "
                "hidden."
            )
            remedy = 'Write `sampling.thin = 0.8` if the table is the survey; else write `sampling.design = "poisson"`.'
            raise refusal("fixed-size", message, remedy, "`sampling.thin`")

    @property
    def suppresses(self) -> bool:
        return True

    def with_budget(self, epsilon: float, noise_loss: float, delta: float) -> Self:
        # Where k is given, delta follows from it.
        found = super().with_budget(epsilon, noise_loss, delta)
        return found if self.publication.k is None else found.replace(delta=None)

    @property
    def unit(self) -> Unit:
        return super().unit.counted(coins=True)

    def _check_rows(self) -> None:
        """Refuse crowds of several rows of a person that share a coin, and what is not certified with a coin each."""
        drawn, unseen = self.sampling, self.strata is not None and not self.strata.published
        said = ["recoding"] if self.recoding else []
        said += ['`publish.below_k = "noise"`'] if not self.suppresses else []
        if (drawn.already_drawn and drawn.thin is None) or drawn.exceptions or unseen:
            message = (
                f'`publish.kind = "{self.kind}"` hides several rows of a person where each '
                "has a coin of its own. With one coin "
                "for all, of two classes with the same people but one, the difference is that one, whatever k is."
            )
            remedy = 'Write `sampling.design = "poisson"`, which throws the coins here, or `data.duplicates = "one"`.'
        elif said or self.epsilon is None or self.delta is None:
            message = (
                f"Crowds of several rows of a person are certified without {said[0]}."
                if said
                else "Crowds of several rows of a person follow from epsilon and delta, and one of them is missing."
            )
            remedy = (
                f'Remove {said[0]}, or write `data.duplicates = "one"`.'
                if said
                else "Add `privacy.epsilon` and `privacy.delta`."
            )
        else:
            return
        raise refusal("rows-per-person", message, remedy, WHERE_ROWS)

    def _check_everybody(self) -> None:
        """Refuse a register where crowds are published: without a sample nobody is hidden in one."""
        message = (
            f'`publish.kind = "{self.kind}"` hides people in a sample, and `sampling.design = "everybody"` draws none.'
        )
        remedy = 'Write `sampling.design = "poisson"`, or `publish.kind = "table"`, which adds noise to every cell.'
        raise refusal("everybody", message, remedy, "`sampling.design`")

    def _check_strata(self, strata: DeclaredStrata) -> None:
        """Refuse what a table of strata or weights cannot have; nothing more for other kinds."""
        if strata.published:
            strata.check_rates()
        else:
            refuse_unseen_rates(strata, self.sampling)

    def _check_planned(self) -> None:
        k = self.publication.k
        given = {"k": k, "rate": self._rates_known or None, "epsilon": self.epsilon, "delta": self.delta}
        missing = [name for name, value in given.items() if value is None]
        if len(missing) > 1:
            message = f"Leave at most one of k, rate, epsilon and delta out; {' and '.join(missing)} are missing."
            remedy = "Give all but the one to be planned."
            if "rate" in missing:
                remedy = (
                    f"{remedy} Where `sampling` is missing, add it, such as "
                    '`sampling.design = "poisson"` and `sampling.rate = 0.5`.'
                )
            raise refusal("planned", message, remedy, "`privacy`")
        if k is not None and self.sampling.exceptions >= max(1, k - 1):
            message = f"`sampling.exceptions` is {self.sampling.exceptions}, and not below k - 1 = {k - 1}."
            raise refusal("exceptions", message, "Raise k, or lower exceptions.", "`sampling.exceptions`")

    @property
    def planned_parameter(self) -> Literal["k", "rate", "epsilon", "delta"] | None:
        """The one parameter that is left to the plan, or None when all are given."""
        if self.publication.k is None:
            return "k"
        if self.epsilon is None:
            return "epsilon"
        if self.delta is None:
            return "delta"
        return None if self._rates_known else "rate"

    @property
    def rate_range(self) -> tuple[float | None, float | None]:
        """The smallest and the largest rate of the people of one class, where they differ."""
        if self.strata is not None and not self.strata.published:
            return self.strata.low, self.strata.high
        return self.sampling.low, self.sampling.high

    @property
    def max_rate(self) -> float | None:
        """The largest rate of anyone who is protected; what rounding adds to the largest rate, it adds to this one."""
        stated, (_, high) = self.sampling.max_rate, self.rate_range
        return stated if stated is None or high is None else max(stated, high)

    @property
    def _rates_known(self) -> bool:
        return self.sampling.rate is not None or self.sampling.biased or self.sampling.designed

    @property
    def closed(self) -> bool:
        """True if every column's classes are known beforehand."""
        return all(column.recoding.closed for column in self.columns)

    @property
    def cells(self) -> int | None:
        """The number of cells of the finest table; None when a domain is open."""
        return self.cells_at([0] * len(self.columns))

    @property
    def cells_are_listed(self) -> bool:
        """True if the cells are few enough for all of them to be shown."""
        return self.cells is not None and self.cells <= MOST_CELLS_LISTED

    def cells_at(self, levels: Sequence[int]) -> int | None:
        """Return how many cells the table has at these levels of its columns."""
        sizes = [column.recodings[level].size for column, level in zip(self.columns, levels, strict=True)]
        return math.prod(size for size in sizes if size is not None) if None not in sizes else None

    def column(self, name: str) -> Column:
        """Return the column of that name."""
        return next(column for column in self.columns if column.name == name)


class RecodedPolicy(CrowdPolicy, frozen=True, kw_only=True):
    """The common part of tables and microdata: columns offer levels, [recoding] says the choice."""

    rules: ClassVar[tuple[Rule, ...]] = (
        *(
            conflicts(
                "recoding.using=population",
                f"sampling.{design}",
                code="recoding",
                because="a choice by everybody needs one rate, and a part of the sample can "
                'decide: `recoding.using = "split"`',
            )
            for design in ("low", "people", "stratum", "weight")
        ),
        conflicts(
            "recoding.using=population",
            "sampling.already_drawn",
            code="recoding",
            because='only the sample exists, of which a part can decide: `recoding.using = "split"`',
        ),
        conflicts(
            "recoding.using=split",
            "below_k=noise",
            code="recoding",
            because="the choice from a part of the sample is proved for suppression only",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        offers = [column.name for column in self.columns if column.chooses]
        if self.recoding is None and offers:
            message = f"Column {offers[0]!r} offers several recodings, and nothing says how to choose."
            remedy = 'Add `recoding.epsilon` and `recoding.using = "population" | "split"`, or name one level.'
            raise refusal("recoding", message, remedy, f"column {offers[0]!r}")
        if self.recoding is None:
            return
        refuse_no_choice(self.columns)
        if self.source == STDIN:
            message = "A recoding is chosen by reading the data twice, and stdin can be read once."
            raise refusal("recoding", message, "Save the data to a file.", "`data.source`")
        if self.recoding.share is not None and not self._rates_known:
            message = '`recoding.using = "split"` divides a sample, and `sampling.rate` is missing.'
            raise refusal("recoding", message, "Add `sampling.rate`.", "`sampling.rate`")
        self.recoding.search_of(recoding_lattice.lattice_of(self.columns))
