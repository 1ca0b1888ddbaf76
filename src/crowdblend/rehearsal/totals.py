"""Made-up people whose statistics are released many times, each time with another key.

People are recoded once. For each key, those who are drawn, their totals, the noise and the files are made by what makes
them in a release.
"""

from __future__ import annotations

from crowdblend.kinds.statistics import StatisticsPlan
from crowdblend.rehearsal.files import Files
from crowdblend.rehearsal.made_up_people import Population, people_in_memory, publish_once


class TotalsRehearsal:
    """What a policy of statistics publishes about made-up people, for any key; values are those of `wanted`."""

    def __init__(self, planned: StatisticsPlan, population: Population) -> None:
        self._plan, self._files = planned, Files()
        self._engine = people_in_memory(planned.policy.data, planned.policy.wanted, population)

    def publish(self, key: bytes) -> dict[str, bytes]:
        """The files by name."""
        return self._files.of(publish_once(self._plan, self._engine, key))
