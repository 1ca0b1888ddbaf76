"""Ids by which a source is recognized, sifted from the batches that are read anyway.

A sketch needs the few ids whose hash is small. With every id that is handed over for the coin, the database says
whether its hash is, so that it need not decode and hash all of them once more.
"""

from __future__ import annotations

import numpy as np

from crowdblend.engines.arrow_numbers import arrow_numbers
from crowdblend.ledger.identity import Anchor
from crowdblend.packages import pyarrow as pa


class IdSieve:
    """The ids of one column whose hash begins with `level` zeros; `small_sql` says of each whether it does."""

    def __init__(self, anchor: Anchor, level: int, small_sql: str) -> None:
        self.anchor, self.level, self.small_sql, self.complete = anchor, level, small_sql, False
        self._kept: list[pa.Array] = []

    def add(self, ids: pa.Array, small: pa.Array) -> None:
        """Keep the ids whose hash is small."""
        self._kept.append(ids.take(arrow_numbers(np.flatnonzero(small.to_numpy(zero_copy_only=False)))))

    def ids(self) -> pa.Table | None:
        """Return the ids that are left, in a column `id`; None unless all have been looked at."""
        return pa.table({"id": pa.chunked_array(self._kept)}) if self._kept and self.complete else None
