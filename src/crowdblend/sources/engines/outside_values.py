"""Values outside a column's declared domain that went to its class `other`: for the steward, and nobody else.

Anyone who misspelt a value in the policy, or whose file has codes that the code book does not know, finds them here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from crowdblend.sources.engines.refusals import at_column, refusal, to_see

# This many different values of a column are counted one by one; of these, as many are listed.
_MOST_COUNTED = 10_000
_MOST_LISTED = 100


@dataclass(frozen=True)
class OutsideValues:
    """The rows of one column that went to `other`, among how many, and the values that they had, most frequent first.

    A value is None where the field was blank. `further` rows had values that are not listed. Secret.
    """

    rows: int
    among: int
    values: tuple[tuple[str | None, int], ...] = ()
    further: int = 0

    def facts(self) -> dict[str, Any]:
        """The same as JSON-ready data, for the ledger entry."""
        share = round(self.rows / self.among, 6) if self.among else None
        listed = [{"value": value, "rows": rows} for value, rows in self.values]
        return {"rows": self.rows, "share": share, "values": listed, "further_rows": self.further}


class OutsideCounter:
    """Counts the values of one column that go to `other`, in bounded memory."""

    def __init__(self) -> None:
        self._rows, self._among, self._values = 0, 0, Counter[str | None]()

    def add(self, among: int, values: Iterable[tuple[str | None, int]]) -> None:
        """Add rows, and the values among them that went to `other`, each with its rows."""
        self._among += among
        for value, rows in values:
            self._rows += rows
            if value in self._values or len(self._values) < _MOST_COUNTED:
                self._values[value] += rows

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON-ready data, for a counter in another process."""
        return {"rows": self._rows, "among": self._among, "values": list(self._values.items())}

    def take(self, document: Mapping[str, Any]) -> None:
        """Add what another counter has told."""
        rows = self._rows + document["rows"]
        self.add(document["among"], [(value, times) for value, times in document["values"]])
        # A counter that had too many values to count tells fewer rows of values than there were.
        self._rows = rows

    def counts(self) -> OutsideValues:
        """Return the counts."""
        order = sorted(self._values.items(), key=lambda item: (-item[1], item[0] or ""))[:_MOST_LISTED]
        return OutsideValues(self._rows, self._among, tuple(order), self._rows - sum(rows for _, rows in order))


def refuse_only_other(outside: Mapping[str, OutsideValues]) -> None:
    """Refuse a column of which every row that was read went to `other`: its domain is that of other data.

    Nothing is spent before this is known, and the message is for the steward, who has the rows.
    """
    for name, found in outside.items():
        if found.rows and found.rows == found.among:
            raise refusal(
                "only-other",
                f"Every value of column {name!r} that was read is outside its domain and would be published as other.",
                f"Compare the declared values with those in the data, or remove the column. {to_see('them')}",
                at_column(name),
            )
