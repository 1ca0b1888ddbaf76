"""The policy of a synopsis: which class of queries the synthetic rows shall answer, about which declared columns."""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar, Literal

from crowdblend.policies.columns import check_closed, refuse_choice, refuse_numbers
from crowdblend.policies.exactly import ExactPolicy
from crowdblend.policies.key import Conditions, Rule, Texts, conflicts, key, one_of
from crowdblend.policies.refusals import did_you_mean, refusal

_synopsis = partial(key, section="synopsis")


class Synopsis(ExactPolicy, frozen=True, kw_only=True):
    """What the steward decided: exactly one class of queries, and how the rows are made."""

    kind = "synopsis"
    largest_epsilon = 100
    rules: ClassVar[tuple[Rule, ...]] = (
        *(
            conflicts(f"sampling.{name}", code="stratum", because="a synopsis is proved for a fixed sample")
            for name in ("stratum", "weight")
        ),
        one_of("conjunctions", "ranges", "half_planes", "queries", code="query-class"),
    )

    conjunctions: Annotated[
        int | None, _synopsis("Answer all conjunctions of up to this many columns.", (1, 10**6))
    ] = None
    ranges: Annotated[str | None, _synopsis("Answer all ranges of this column, in the order of its classes.")] = None
    half_planes: Annotated[Texts | None, _synopsis("Answer all half-planes over the grid of these two columns.")] = None
    queries: Annotated[
        Conditions | None, _synopsis("Answer these conjunctions, each a table of columns with their labels.")
    ] = None
    rows: Annotated[
        int | None, _synopsis("How many synthetic rows; as many as people are drawn unless given.", "rows")
    ] = None
    mechanism: Annotated[
        Literal["fitted", "exponential"] | None, _synopsis("How the rows are made; the better one unless given.")
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_numbers(self.columns)
        refuse_choice(self.columns, "a synopsis")
        check_closed(self.columns, "a synopsis")
        self._check_named()

    def labels(self, name: str) -> tuple[str, ...]:
        """Return the classes of a column."""
        found = next(column for column in self.columns if column.name == name)
        return tuple(found.recoding.labels or ())

    def _check_named(self) -> None:
        names = [column.name for column in self.columns]
        grids = (("ranges", self.ranges and (self.ranges,), 1), ("half_planes", self.half_planes, 2))
        queries = tuple(name for condition in self.queries or () for name in condition)
        for where, asked, _ in (*grids, ("queries", queries, 0)):
            for name in asked or ():
                if name not in names:
                    message = f"[synopsis] asks about {name[:60]!r}, which [columns] does not declare."
                    raise refusal("unknown-column", message, did_you_mean(name, names), f"[synopsis] {where}")
        for where, asked, number in grids:
            if asked and (len(asked) != number or sorted(names) != sorted(asked)):
                message = f"{where} in [synopsis] needs {number} of the columns, and [columns] declares {len(names)}."
                raise refusal("query-class", message, "Declare those alone, and name them.", f"[synopsis] {where}")
        for condition in self.queries or ():
            for name, label in condition.items():
                if label not in self.labels(name):
                    message = f"column {name!r} has no class {label[:60]!r}."
                    remedy = did_you_mean(label, self.labels(name))
                    raise refusal("unknown-label", message, remedy, "[synopsis] queries")
