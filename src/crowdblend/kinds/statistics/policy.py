"""The policy of statistics: which numbers, about which declared columns, within which loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec.structs import force_setattr

from crowdblend.kinds.statistics.statistic import Statistic, group_columns
from crowdblend.methods.recoding.reading import exact
from crowdblend.policies.columns import Column, check_names, refuse_choice
from crowdblend.policies.domains import AxisDomain, NumberDomain
from crowdblend.policies.exactly import ExactPolicy, ExactPublication
from crowdblend.policies.key import Rule, key, part
from crowdblend.policies.refusals import did_you_mean, naming, refusal
from crowdblend.policies.rules import conflicts
from crowdblend.policies.sampling import designs_for
from crowdblend.policies.terms import Terms
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.methods.planning.statistics.ways import AnyShape
    from crowdblend.methods.recoding import bounded_recoding, intervals
    from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding

# Every guarantee derives from all of them, and a certificate has at most 500 steps.
_MOST_STATISTICS = 150
MOST_BINS = 1_000_000
# Totals stay whole numbers that a double holds exactly.
_LARGEST_TOTAL = 2**53
_DEFAULT_STEPS = 1_000
# Quantiles are chosen among all steps, and numbers of groups are counted step by step.
_MOST_STEPS = 1_000_000
# Between the labels of a group of several columns.


# Columns of the published file that are no labels, and those of its estimates.
_PUBLISHED = ("statistic", "value", "error", "rank_error", "estimate", "low", "high")


class Statistics(ExactPublication, frozen=True, kw_only=True):
    """Averages, sums, quantiles, shares, counts and histograms, each with its error.

    Parameters:
        by: The columns whose labels group every statistic that names no groups itself.
    """

    kind = "statistics"
    designs = designs_for("survey")
    has_numbers = True
    without = ("columns",)
    positional = "statistics"

    group: Annotated[int | None, key("Guarantee for this many people together as well.", (1, 10**12))] = None
    statistics: Annotated[tuple[Statistic, ...], part("The statistics to publish.")] = ()
    by: str | Sequence[str] | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *statistics: Statistic,
            by: str | Sequence[str] | None = None,
            name: str | None = None,
            share: float | None = None,
            weight: float = 1.0,
            confidence: float = 0.95,
            group: int | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by is not None:
            groups = (self.by,) if isinstance(self.by, str) else tuple(self.by)
            each = (one if one.by is not None else one.replace(by=groups) for one in self.statistics)
            force_setattr(self, "statistics", tuple(each))
            force_setattr(self, "by", None)

    def among_others(self, terms: Terms) -> Terms:
        """Return the terms; a programme guarantees to one person at a time."""
        if self.group is not None:
            message = "A programme guarantees to one person at a time, and `publish.group` to several together."
            raise refusal("group", message, "Remove group.", "`publish.group`")
        return terms

    def columns_of(self, terms: Terms) -> tuple[Column, ...]:
        """Return the columns that some statistic or the design needs; what else is asked for its policy refuses."""
        wanted: set[str | None] = {name for made in self.statistics for name in made.columns}
        wanted |= {terms.sampling.stratum, terms.sampling.weight}
        return tuple(column for column in terms.columns if column.name in wanted) or terms.columns


class StatisticsPolicy(ExactPolicy, frozen=True, kw_only=True):
    """Statistics of a fixed number of people, or of a sample."""

    sample_remedy = (
        "Say how many random people the guarantee is relative to, or give a statistic the error that is acceptable."
    )
    rules: ClassVar[tuple[Rule, ...]] = tuple(
        conflicts(
            *(f"sampling.{design}", "group", "statistics.error"),
            because="strata and weights say how people are drawn, and are certified for one person at a time",
        )
        for design in ("stratum", "weight")
    )

    publication: Statistics

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_choice(self.columns, "a policy of statistics")
        if self.publication.group is not None and self.publication.group > self.people:
            message = f"`publish.group` is {self.publication.group}, and `data.people` is {self.people}."
            raise refusal("range", message, "Lower group.", "`publish.group`")
        _ = self.measures
        self._check_statistics()
        if self.strata is not None:
            said = "group" if self.publication.group is not None else "error" if self.plans_sample else None
            if self.strata.column is None and said is not None:
                message = f"{said} plans or checks a number of people, and people are drawn by coins."
                raise refusal(
                    said, message, f'Remove {said}, or write `sampling.design = "survey"`.', f"`publish.{said}`"
                )

    def published_texts(self) -> Iterator[tuple[str, str]]:
        yield from super().published_texts()
        yield from (("`publish.statistics.name`", made.name) for made in self.publication.statistics)

    @cached_property
    def classes(self) -> tuple[Column, ...]:
        """The columns with labels, for conditions and histograms."""
        return tuple(column for column in self.columns if column.recodings)

    @cached_property
    def measures(self) -> dict[str, BoundedRecoding]:
        """The columns with bounds, for averages, sums and quantiles; intervals of equal width have both."""
        numbers = {column.name: column.domain for column in self.columns if isinstance(column.domain, NumberDomain)}
        found = {name: naming(f"column {name!r}", domain.bounds) for name, domain in numbers.items()}
        for column in self.classes:
            if isinstance(column.domain, AxisDomain):
                axis = column.domain
                found[column.name] = bounded_recoding.BoundedRecoding(axis.start, axis.stop, axis.resolution)
            elif isinstance(column.recoding, intervals.Intervals):
                # On a grid of a thousand steps; what has a class of its own beyond is moved in.
                some = column.recoding
                step = (exact("to", some.stop) - exact("from", some.start)) / _DEFAULT_STEPS
                beyond = some.top or some.bottom or some.other is not None
                found[column.name] = bounded_recoding.BoundedRecoding(
                    some.start, some.stop, step, "clamp" if beyond else "refuse"
                )
        return found

    @property
    def needed_columns(self) -> list[str]:
        """The columns that some statistic needs, each once."""
        columns = (name for made in self.publication.statistics for name in made.columns)
        return list(dict.fromkeys(columns))

    def bins(self, statistic: Statistic) -> tuple[tuple[str, ...], ...]:
        """Return the labels that a statistic counts by, or of its groups; none for a single number."""
        names = statistic.counted_by
        return tuple(product(*map(self.labels, names))) if names else ()

    @property
    def plans_sample(self) -> bool:
        """True if sample follows from the errors that are acceptable."""
        return any(made.error is not None for made in self.publication.statistics)

    def shapes(self) -> tuple[AnyShape, ...]:
        """Return the shape of every statistic, which its noise depends on."""
        weights = sum(statistic.weight for statistic in self.publication.statistics)
        return tuple(
            shape_of(
                made,
                self.measures.get(str(made.column)),
                len(self.bins(made)),
                designed=self.strata is not None,
                share=made.weight / weights,
            )
            for made in self.publication.statistics
        )

    def labels(self, name: str) -> tuple[str, ...]:
        """Return the labels of a column with classes."""
        return next(column.recoding.labels or () for column in self.classes if column.name == name)

    def _check_statistics(self) -> None:
        if not 1 <= len(self.publication.statistics) <= _MOST_STATISTICS:
            raise refusal(
                "statistics",
                f"The policy has {len(self.publication.statistics)} statistics; there can be 1 to {_MOST_STATISTICS}.",
                "Add one, or publish in two releases.",
                "`publish.statistics`",
            )
        names = [made.name for made in self.publication.statistics]
        for made in self.publication.statistics:
            if names.count(made.name) > 1:
                message = f"Two statistics are called {made.name[:60]!r}."
                raise refusal("statistic-twice", message, "Rename one.", "`publish.statistics.name`")
            naming(f"statistic {made.name[:60]!r}", partial(self._check_statistic, made))
        grouping = group_columns(self.publication.statistics)
        check_names([column for column in self.columns if column.name in grouping], self.data.person, _PUBLISHED)
        if sum(len(self.bins(made)) for made in self.publication.statistics) > MOST_BINS:
            raise refusal("bins", f"All histograms together have more than {MOST_BINS:,} bins.", "Use coarser classes.")
        self._check_sizes()
        shares = [shape.share for shape in self.shapes()]
        if not all(0 < share <= 1 for share in shares):
            message = "The weights of the statistics differ so much that one of them gets no part of epsilon."
            raise refusal("statistic", message, "Use weights of similar size.", "`publish.statistics.weight`")

    def _check_sizes(self) -> None:
        """Refuse what would take too long to count: all steps of a column for every group."""
        for made in self.publication.statistics:
            if made.needs_steps:
                cells = (self.measures[str(made.column)].steps + 1) * max(1, len(self.bins(made)))
                if cells > _MOST_STEPS:
                    message = (
                        f"Statistic {made.name[:60]!r} has more than {_MOST_STEPS:,} steps of its column and groups."
                    )
                    remedy = "Use a coarser resolution, or fewer groups."
                    raise refusal("steps", message, remedy, f"column {str(made.column)!r}")

    def _check_statistic(self, statistic: Statistic) -> None:
        if statistic.measured:
            self._check_measured(statistic)
        for name in statistic.counted_by:
            self._check_classes(name)
        for name, labels in statistic.among.items():
            self._check_classes(name)
            known = self.labels(name)
            for label in labels:
                if label not in known:
                    alike = [some for some in known if some.lower() == label.lower()] or known
                    raise refusal(
                        "unknown-label", f"Column {name!r} has no label {label[:60]!r}.", did_you_mean(label, alike)
                    )

    def _check_measured(self, statistic: Statistic) -> None:
        name = str(statistic.column)
        if name not in self.measures:
            self._check_declared(name)
            message = f"{statistic.estimand.article} {statistic.what} needs bounds, and column {name[:60]!r} has none."
            remedy = "Declare from, to and resolution: without bounds no noise hides a person."
            raise refusal("no-bounds", message, remedy)
        bounds = self.measures[name]
        if self.people * max(bounds.steps, bounds.from_zero or 0) > _LARGEST_TOTAL:
            message = f"Column {name!r} has too many steps for a total of this many people."
            raise refusal("total", message, "Use a coarser resolution.")

    def _check_classes(self, name: str) -> None:
        self._check_declared(name)
        found = next((column for column in self.classes if column.name == name), None)
        if found is None or not found.recoding.closed:
            message = f"Column {name!r} has no classes that are all known beforehand."
            raise refusal("open-domain", message, "Declare it with values, width, breaks or a hierarchy.")

    def _check_declared(self, name: str) -> None:
        declared = [column.name for column in self.columns]
        if name not in declared:
            raise refusal("unknown-column", f"`columns` does not declare {name[:60]!r}.", did_you_mean(name, declared))


def shape_of(
    statistic: Statistic, bounds: BoundedRecoding | None, bins: int, *, designed: bool, share: float = 1.0
) -> AnyShape:
    """Return what the noise has to know of a statistic with this many bins, of a column with these bounds."""
    if statistic.measured and bounds is None:
        raise refusal("no-bounds", f"Column {statistic.column!r} has no bounds.", "Declare from, to and resolution.")
    # How many people strata hold is not public, so that all people are a group like any other.
    return statistic.estimand.shape(bounds, max(1, bins), statistic.of_some or designed, share)
