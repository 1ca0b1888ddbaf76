"""Made-up people whose statistics are released many times, each time with another key.

People are recoded once. For each key, those who are drawn, their totals, the noise and the files are made by what makes
them in a release.
"""

from __future__ import annotations

from crowdblend.kinds.statistics import Promise
from crowdblend.randomness import ReleaseKey
from crowdblend.rehearsal.files import Files
from crowdblend.rehearsal.table import Population, people_in_memory


class TotalsRehearsal:
    """What a policy of statistics publishes about made-up people, for any key; values are those of `wanted`."""

    def __init__(self, promised: Promise, population: Population) -> None:
        self._promised, self._files = promised, Files()
        self._engine = people_in_memory(promised.policy.data, promised.policy.wanted, population)

    def publish(self, key: bytes) -> dict[str, bytes]:
        """The files by name."""
        return self._files.of(self._promised.read(ReleaseKey(key), engine=self._engine).publish())
