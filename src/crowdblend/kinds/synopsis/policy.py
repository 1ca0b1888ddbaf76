"""The policy of a synopsis: which class of queries the synthetic rows shall answer, about which declared columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from crowdblend.policies.columns import check_closed, refuse_choice, refuse_numbers
from crowdblend.policies.exactly import ExactPolicy, ExactPublication
from crowdblend.policies.key import Rule, key
from crowdblend.policies.refusals import did_you_mean, refusal
from crowdblend.policies.rules import one_of
from crowdblend.policies.sampling import designs_for
from crowdblend.policies.terms import Terms
from crowdblend.policies.value_types import Conditions


class Synopsis(ExactPublication, frozen=True, kw_only=True):
    """Synthetic rows that answer a class of questions: one class of queries, and the way in which rows are made."""

    kind = "synopsis"
    designs = designs_for("survey")

    conjunctions: Annotated[int | None, key("Answer all conjunctions of up to this many columns.", (1, 10**6))] = None
    ranges: Annotated[str | None, key("Answer all ranges of this column, in the order of its classes.")] = None
    queries: Annotated[
        Conditions | None, key("Answer these conjunctions, each a table of columns with their labels.")
    ] = None
    rows: Annotated[int | None, key("How many synthetic rows; as many as people are drawn unless given.", "rows")] = (
        None
    )
    mechanism: Annotated[
        Literal["fitted", "exponential"] | None, key("How the rows are made; the better one unless given.")
    ] = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *columns: str,
            name: str | None = None,
            share: float | None = None,
            weight: float = 1.0,
            conjunctions: int | None = None,
            ranges: str | None = None,
            queries: Sequence[Mapping[str, str]] | None = None,
            rows: int | None = None,
            mechanism: Literal["fitted", "exponential"] | None = None,
            confidence: float = 0.95,
        ) -> None: ...

    def among_others(self, terms: Terms) -> Terms:
        return terms


class SynopsisPolicy(ExactPolicy, frozen=True, kw_only=True):
    """A synopsis of a fixed number of people, or of a sample."""

    largest_epsilon = 100
    rules: ClassVar[tuple[Rule, ...]] = (one_of("conjunctions", "ranges", "queries", code="query-class"),)

    publication: Synopsis

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_numbers(self.columns)
        refuse_choice(self.columns, "a synopsis")
        check_closed(self.columns, "a synopsis")
        self._check_named()
        if self.strata is not None and self.publication.mechanism == "exponential":
            message = "The exponential mechanism chooses by the shares of a public number of people."
            raise refusal("mechanism", message, 'Write `publish.mechanism = "fitted"`.', "`publish.mechanism`")

    def labels(self, name: str) -> tuple[str, ...]:
        """Return the classes of a column."""
        found = next(column for column in self.columns if column.name == name)
        return tuple(found.recoding.labels or ())

    def _check_named(self) -> None:
        names = [column.name for column in self.columns]
        ranges, queries = self.publication.ranges, self.publication.queries or ()
        columns = {"ranges": () if ranges is None else (ranges,), "queries": [name for one in queries for name in one]}
        for where, asked in columns.items():
            for name in asked:
                if name not in names:
                    message = f"`publish` asks about {name[:60]!r}, which `columns` does not declare."
                    raise refusal("unknown-column", message, did_you_mean(name, names), f"`publish.{where}`")
        if ranges is not None and len(names) > 1:
            message = f"`publish.ranges` needs one column, and `columns` declares {len(names)}."
            raise refusal("query-class", message, "Declare that one alone.", "`publish.ranges`")
        for condition in queries:
            for name, label in condition.items():
                if label not in self.labels(name):
                    message = f"Column {name!r} has no class {label[:60]!r}."
                    remedy = did_you_mean(label, self.labels(name))
                    raise refusal("unknown-label", message, remedy, "`publish.queries`")
