"""The policy of tables: counts by class, exact from k on, suppressed or noisy below; or noisy from a threshold on."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from crowdblend.methods.recoding.classes import MOST_CELLS_LISTED, MOST_LISTED, ComputedRecoding, WiderClasses
from crowdblend.policies.columns import Column, check_closed, check_names
from crowdblend.policies.crowd import Crowds, RecodedPolicy
from crowdblend.policies.key import Rule, key
from crowdblend.policies.publication import Publication
from crowdblend.policies.refusals import refusal
from crowdblend.policies.rules import conflicts, needs
from crowdblend.policies.sampling import designs_for
from crowdblend.policies.strata import DeclaredStrata
from crowdblend.policies.terms import Terms
from crowdblend.policies.unit import ROWS, Unit

# How many classes of one width a class of the next has, where ranges are counted.
_BRANCHES = 16


class Table(Crowds, frozen=True, kw_only=True):
    """A table of counts by class: exact from k on, suppressed or noisy below; or noisy from a threshold on.

    `noise_epsilon` None means the loss that fits epsilon, `show_from` None that every cell is shown where it can be, or
    with a threshold the smallest one that fits delta.
    """

    kind = "table"
    says_noise = '`publish.below_k = "noise"`'
    designs = designs_for("poisson")
    rows_are_counted = True
    audits_strata = True

    below_k: Annotated[
        Literal["suppress", "noise", "threshold"],
        key(
            'What happens to classes below k; "threshold" has no k: every class in which somebody is gets noise, and '
            "is shown from `publish.show_from` on, so that labels need not be declared."
        ),
    ] = "suppress"
    flag: Annotated[bool, key("Say which cells are exact; needs a larger k.")] = False
    noise_epsilon: Annotated[
        float | None, key("The privacy loss of the noise below k, before sampling.", "noise_epsilon")
    ] = None
    show_from: Annotated[
        int | None,
        key(
            "With noise: show only cells from this value on; all are shown unless there are over 1,000,000. With a "
            "threshold it is planned unless given.",
            (1, 10**15),
        ),
    ] = None
    count: Annotated[
        Literal["rows", "people"],
        key(
            'Where several rows of a person are kept: "rows" counts each of them; "people" counts each person once in '
            "every class, in at most as many random ones."
        ),
    ] = "rows"

    ranges: Annotated[
        bool,
        key(
            "Count the classes of one ordered column at several widths, so that sums of many neighbouring classes are "
            "precise: for money and dates of more than about 200 classes."
        ),
    ] = False
    join: Annotated[
        int | None, key("Join this many neighbouring classes of the one column; ranges plans it.", (2, 10**6))
    ] = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *columns: str,
            name: str | None = None,
            share: float | None = None,
            weight: float = 1.0,
            k: int | None = None,
            below_k: Literal["suppress", "noise", "threshold"] = "suppress",
            flag: bool = False,
            noise_epsilon: float | None = None,
            show_from: int | None = None,
            count: Literal["rows", "people"] = "rows",
            ranges: bool = False,
            join: int | None = None,
        ) -> None: ...

    @property
    def asks_for_noise(self) -> bool:
        return self.below_k != "suppress"

    def with_noise(self) -> Table:
        """Return the same with noise on every cell instead of a crowd size."""
        return self.replace(k=None, below_k="noise")

    def expand(self, terms: Terms, split: str | None) -> tuple[Publication, ...]:
        """Return a table for every width of its column where ranges are counted, else the table itself.

        Weights make the loss of all widths about the same: a range has a few cells of each. What could be published
        and not read as ranges is refused.
        """
        if not self.ranges:
            return (self,)
        finest = self._finest_classes(terms)
        classes = len(finest.own_labels)
        if finest.size > MOST_LISTED:
            message = f"The column has {finest.size:,} classes, and ranges are read from at most {MOST_LISTED:,}."
            raise refusal("ranges", message, "Declare wider classes, or remove ranges.", "`publish.ranges`")
        if split not in (None, "budget"):
            message = f'`privacy.split = "{split}"` counts other people at every width, whose numbers are no ranges.'
            raise refusal("ranges", message, 'Write `privacy.split = "budget"`, or remove ranges.', "`privacy.split`")
        if terms.sampling.biased:
            message = "Ranges are estimated where people have one sampling rate, and theirs may differ."
            raise refusal("ranges", message, "Remove ranges, or low and high.", "`publish.ranges`")
        widths = [_BRANCHES**level for level in range(1, 20) if _BRANCHES**level < classes]
        if not widths:
            message = f"The column has {classes} classes, whose sums are precise without ranges."
            raise refusal("ranges", message, "Remove ranges, or declare narrower classes.", "`publish.ranges`")
        name = self.name or "ranges"
        return tuple(
            self.replace(
                ranges=False,
                join=None if width == 1 else width,
                name=name if width == 1 else f"{name}-by-{width}",
                share=None,
                weight=self.weight / math.sqrt(math.ceil(classes / width)),
            )
            for width in (1, *widths)
        )

    def _finest_classes(self, terms: Terms) -> ComputedRecoding:
        """Return the recoding of its one column; refuse what has no neighbouring classes."""
        columns = super().columns_of(terms)
        found = columns[0].recoding if len(columns) == 1 and len(columns[0].recodings) == 1 else None
        if not isinstance(found, ComputedRecoding) or self.below_k == "threshold":
            message = "Ranges are counted of one column of intervals or dates, with noise on every class."
            remedy = "Name one column with from and to, or remove ranges."
            raise refusal("ranges", message, remedy, "`publish.ranges`")
        return found

    def columns_of(self, terms: Terms) -> tuple[Column, ...]:
        """Return the declared columns that it names; it may join neighbouring classes."""
        times = self.join
        if times is None:
            return super().columns_of(terms)
        beyond = {"other": (finest := self._finest_classes(terms)).other, "missing": finest.missing}
        return tuple(
            replace(column, recodings=(WiderClasses(finest, times, **beyond),)) for column in super().columns_of(terms)
        )

    def under_design(self, terms: Terms) -> Terms:
        """Return the terms; of everybody only a threshold takes delta."""
        return terms.replace(delta=None) if terms.sampling.everybody and self.below_k != "threshold" else terms

    def among_others(self, terms: Terms) -> Terms:
        """Return the terms; where it has a threshold, with the delta of all, of everybody too."""
        return terms if self.below_k == "threshold" else super().among_others(terms)


class TablePolicy(RecodedPolicy, frozen=True, kw_only=True):
    """Counts by class."""

    reserved = ("count", "sampled", "exact", "estimate", "low", "high")
    rules: ClassVar[tuple[Rule, ...]] = (
        needs(
            "count=people",
            ROWS,
            code="count",
            because="it says in how many classes a person may be counted",
        ),
        conflicts(
            *("sampling.everybody", "k", "delta", "recoding", "noise_epsilon", "show_from", "flag", "below_k=noise"),
            because="a table of everybody has noise on every cell",
            unless="below_k=threshold",
        ),
        conflicts(
            *("below_k=threshold", "k", "flag", "recoding"),
            code="threshold",
            because="every cell is noisy, and shown from `publish.show_from` on",
        ),
        needs("flag", "below_k=noise", code="needs-noise"),
        *(
            needs(name, "below_k=noise", "below_k=threshold", code="needs-noise")
            for name in ("noise_epsilon", "show_from")
        ),
    )

    publication: Table

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.publication.below_k == "noise":
            check_closed(
                self.columns,
                '`publish.below_k = "noise"`',
                or_else='`publish.below_k = "threshold"` takes it as it is.',
            )

    def _check_certified(self) -> None:
        """Refuse samples that crowds need coins for; noise from a threshold on does not."""
        if self.publication.below_k != "threshold" or self.sampling.thin != 1:
            super()._check_certified()

    def _check_planned(self) -> None:
        """Refuse a threshold without what it follows from."""
        if self.publication.below_k != "threshold":
            super()._check_planned()
            return
        given = {"epsilon": self.epsilon, "delta": self.delta}
        missing = next((name for name, value in given.items() if not value), None)
        if missing is not None:
            article = "an" if missing == "epsilon" else "a"
            message = f'`publish.below_k = "threshold"` needs {article} {missing} above 0.'
            remedy = f"Add `privacy.{missing}`, for example {'1.0' if missing == 'epsilon' else '1e-6'}."
            raise refusal("planned", message, remedy, f"`privacy.{missing}`")
        if not self.sampling.everybody and not self._rates_known:
            message = '`publish.below_k = "threshold"` needs to know how people are sampled.'
            remedy = 'Add `sampling.rate`, or write `sampling.design = "everybody"` for a register.'
            raise refusal("planned", message, remedy, "`sampling.rate`")

    def _check_everybody(self) -> None:
        """Refuse what a register cannot have: every cell of a closed domain is noisy, under a pure epsilon."""
        if self.publication.below_k == "threshold":
            self._check_planned()
            return
        if self.epsilon is None or self.epsilon <= 0:
            message = "A table of everybody needs an epsilon above 0."
            raise refusal("everybody", message, "Add `privacy.epsilon`, for example 1.0.", "`privacy.epsilon`")
        open_too = '`publish.below_k = "threshold"` takes it as it is.'
        check_closed(self.columns, '`sampling.design = "everybody"`', or_else=open_too)
        if self.unit.several:
            check_names(self.columns, None, ("total",))
        if not self.cells_are_listed:
            message = f"A table of everybody publishes every cell, and this one has more than {MOST_CELLS_LISTED:,}."
            raise refusal("cells", message, "Publish fewer columns, or coarser classes.", "`columns`")

    def _check_strata(self, strata: DeclaredStrata) -> None:
        super()._check_strata(strata)
        name, noisy, problem = strata.column_name, self.publication.below_k == "noise", None
        if noisy and not strata.published:
            problem = f"Noise is certified where a class has one rate, and column {name!r} is not published."
            remedy = f'Publish {name!r}, or write `publish.below_k = "suppress"`.'
        elif noisy and self.epsilon is None:
            problem = "The noise of every stratum follows from epsilon, which is missing."
            remedy = "Add `privacy.epsilon`."
        elif noisy and not self.cells_are_listed:
            problem = f"Noise in strata is certified where every cell is shown, up to {MOST_CELLS_LISTED:,} cells."
            remedy = 'Publish fewer columns, or coarser classes, or write `publish.below_k = "suppress"`.'
        if problem is not None:
            raise refusal(strata.key, problem, remedy, "`sampling.column`")

    @property
    def suppresses(self) -> bool:
        return self.publication.below_k == "suppress"

    @property
    def unit(self) -> Unit:
        if self.publication.below_k == "threshold":
            return super().unit.counted(coins=False)
        # A register counts rows, unless it is asked for people.
        return super().unit.counted(self.publication.count) if self.sampling.everybody else super().unit
