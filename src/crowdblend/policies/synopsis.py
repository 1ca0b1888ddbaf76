"""The policy of a synopsis: which class of queries the synthetic rows shall answer, about which declared columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from crowdblend.policies.columns import refuse_choice, refuse_numbers
from crowdblend.policies.exactly import ExactPolicy
from crowdblend.policies.key import did_you_mean, key, refusal

_CLASSES = ("conjunctions", "ranges", "half_planes", "queries")


@dataclass(frozen=True, kw_only=True)
class Synopsis(ExactPolicy):
    """What the steward decided: exactly one class of queries, and how the rows are made."""

    kind = "synopsis"
    largest_epsilon = 100

    conjunctions: int | None = key(
        "Answer all conjunctions of up to this many columns.", section="synopsis", between=(1, 10**6)
    )
    ranges: str | None = key("Answer all ranges of this column, in the order of its classes.", section="synopsis")
    half_planes: tuple[str, ...] | None = key(
        "Answer all half-planes over the grid of these two columns.", section="synopsis"
    )
    queries: tuple[Mapping[str, str], ...] | None = key(
        "Answer these conjunctions, each a table of columns with their labels.", section="synopsis", kind="conditions"
    )
    rows: int | None = key(
        "How many synthetic rows; as many as people are drawn unless given.", section="synopsis", ranged=True
    )
    mechanism: Literal["fitted", "exponential"] | None = key(
        "How the rows are made; the better one unless given.", section="synopsis"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sampling.designed:
            raise refusal(
                "stratum",
                "A synopsis is proved for exactly so many random people, not for strata and weights.",
                "Write sample in [sampling] instead of stratum, rates and weight.",
                "[sampling] stratum",
            )
        given = [name for name in _CLASSES if getattr(self, name) is not None]
        if len(given) != 1:
            raise refusal(
                "query-class",
                f"[synopsis] has {' and '.join(given) or 'no class of queries'}.",
                f"Give exactly one of {', '.join(_CLASSES)}, for example conjunctions = 3.",
                "[synopsis]",
            )
        refuse_numbers(self.columns)
        refuse_choice(self.columns, "a synopsis")
        for column in self.columns:
            if not column.recoding.closed:
                raise refusal(
                    "open-domain",
                    f"column {column.name!r} has an open domain, and a synopsis needs every class beforehand.",
                    "Declare it with values, width, breaks, or a hierarchy at one level.",
                    f"column {column.name!r}",
                )
        self._check_named()

    def labels(self, name: str) -> tuple[str, ...]:
        """The classes of a column."""
        found = next(column for column in self.columns if column.name == name)
        return tuple(getattr(found.recoding, "labels", ()))

    def _check_named(self) -> None:
        names = [column.name for column in self.columns]
        if self.ranges is not None and names != [self.ranges]:
            _check_known(self.ranges, names, "ranges")
            raise _grid_refusal("ranges", "one column", len(names))
        if self.half_planes is not None and (len(self.half_planes) != 2 or sorted(names) != sorted(self.half_planes)):
            for name in self.half_planes:
                _check_known(name, names, "half_planes")
            raise _grid_refusal("half_planes", "two columns", len(names))
        for condition in self.queries or ():
            for name, label in condition.items():
                _check_known(name, names, "queries")
                if label not in self.labels(name):
                    raise refusal(
                        "unknown-label",
                        f"column {name!r} has no class {label[:60]!r}.",
                        did_you_mean(label, self.labels(name)),
                        "[synopsis] queries",
                    )


def _grid_refusal(name: str, number: str, declared: int) -> Exception:
    return refusal(
        "query-class",
        f"{name} in [synopsis] needs {number}, and [columns] declares {declared}.",
        "Declare those alone, and name them.",
        f"[synopsis] {name}",
    )


def _check_known(name: Any, names: list[str], where: str) -> None:
    if name not in names:
        raise refusal(
            "unknown-column",
            f"[synopsis] asks about {name[:60]!r}, which [columns] does not declare.",
            did_you_mean(name, names),
            f"[synopsis] {where}",
        )
