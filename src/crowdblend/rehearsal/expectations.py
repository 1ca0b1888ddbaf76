"""What to expect of a release, measured on made-up people: cells shown, people hidden, errors, intervals, time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

NOT_REAL = (
    "These are made-up people of the declared domain. Nothing here is about your data, nothing was read of them, and "
    "nothing was spent or recorded."
)


@dataclass(frozen=True)
class TableExpectation:
    """One published file: averages over the rehearsed releases; None where a measure does not apply.

    `cells` is how many cells the declared domain has, `shown` how many rows are published. `hidden` is the share of the
    sampled people whose cells are not shown. `margin_error` is how far the estimated number of people with a label is
    from the true one, as a share of all people and on average over all labels. `interval` is the length of a 95 %
    interval for a cell, in people and in the middle of all cells.
    """

    file: str
    cells: int | None
    shown: float
    hidden: float | None
    margin_error: float | None
    interval: float | None


@dataclass(frozen=True)
class NumberExpectation:
    """One statistic: its error on average, the error that is stated, and how often that was kept, all groups at once.

    Errors of quantiles are shares of ranks.
    """

    statistic: str
    unit: str
    error: float
    stated: float
    kept: float


@dataclass(frozen=True)
class Expectation:
    """What a policy is expected to publish; nothing of it is about real people."""

    policy: str
    kind: str
    people: int
    times: int
    seconds: float
    epsilon: float
    delta: float
    k: int | None
    files: tuple[TableExpectation, ...] = ()
    numbers: tuple[NumberExpectation, ...] = ()
    note: str = NOT_REAL

    def to_dict(self) -> dict[str, Any]:
        """The expectation as JSON-ready data."""
        return asdict(self)

    def measures(self) -> dict[str, float | int | None]:
        """Every number by what it is called, in the order they are shown in."""
        found: dict[str, float | int | None] = {
            "people": self.people,
            "epsilon": self.epsilon,
            "delta": self.delta or None,
            "k": self.k,
            "seconds for a release": self.seconds,
        }
        for table in self.files:
            where = "" if len(self.files) == 1 else f" in {table.file}"
            found |= {
                f"cells of the domain{where}": table.cells,
                f"{'rows' if table.cells is None else 'cells'} shown{where}": table.shown,
                f"share of people hidden{where}": table.hidden,
                f"error of margins, share of people{where}": table.margin_error,
                f"interval of a cell, people{where}": table.interval,
            }
        for number in self.numbers:
            found |= {
                f"{number.statistic}: {number.unit}": number.error,
                f"{number.statistic}: stated {number.unit}": number.stated,
                f"{number.statistic}: stated error kept": number.kept,
            }
        return {name: value for name, value in found.items() if value is not None}


def side_by_side(expected: Sequence[Expectation]) -> list[tuple[str, list[float | int | None]]]:
    """Every measure of several policies, None where a policy has it not."""
    each: list[Mapping[str, float | int | None]] = [one.measures() for one in expected]
    names = dict.fromkeys(name for measures in each for name in measures)
    return [(name, [measures.get(name) for measures in each]) for name in names]
