"""The memory and the threads that a process of crowdblend may use, and how the memory is divided.

memory ──┬─ the process itself: Python, libraries, rows on their way
         ├─ a quarter of the rest: the database, which spills to disk beyond
         └─ three quarters: arrays beside it, such as the marks by which a second row of a person is found
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crowdblend.policies.refusals import refusal

# What a process takes beside the database and the arrays: tests/engines/test_memory_bound.py measures it.
OWN_MEMORY = 250 * 10**6
LEAST_MEMORY = 400 * 10**6
# A database with less refuses to read some files; a thread with less gets in the way of the others.
_LEAST_OF_DATABASE, _OF_THREAD = 100 * 10**6, 50 * 10**6
_SIZE = re.compile(r"(?i)([0-9]+(?:\.[0-9]+)?)\s?([KMGT])(i?)B")
_UNITS = {"k": 1, "m": 2, "g": 3, "t": 4}
_WHERE = "`release.memory`"


@dataclass(frozen=True)
class Resources:
    """Resources of the engine, in bytes and threads: the whole machine where nothing is set."""

    memory: int | None = None
    threads: int | None = None

    @property
    def database_memory(self) -> int | None:
        """The bytes that the database may take before it spills to disk."""
        return None if self.memory is None else max(_LEAST_OF_DATABASE, (self.memory - OWN_MEMORY) // 4)

    @property
    def array_memory(self) -> int | None:
        """The bytes that the arrays beside the database may take together."""
        database = self.database_memory
        return None if self.memory is None or database is None else max(0, self.memory - OWN_MEMORY - database)

    def threads_of(self, cores: int) -> int | None:
        """Return how many threads the database runs on a machine with these `cores`; None where nothing is set."""
        database = self.database_memory
        if database is None:
            return self.threads
        return min(self.threads or cores, max(1, database // _OF_THREAD))


def memory_of(text: str) -> int:
    """Return a size such as "1.5GB" in bytes; refuse what is no size, and less than a release takes."""
    found = _SIZE.fullmatch(text)
    if found is None:
        message = f"`release.memory` is {text!r}, which is no size."
        raise refusal("memory", message, 'Write a number and its unit, such as "1GB".', _WHERE)
    number, unit, binary = found.groups()
    memory = int(float(number) * (1024 if binary else 1000) ** _UNITS[unit.lower()])
    if memory < LEAST_MEMORY:
        message = f"`release.memory` is {text!r}, and a release of a few rows takes {LEAST_MEMORY // 10**6} MB."
        raise refusal("memory", message, f'Write at least "{LEAST_MEMORY // 10**6}MB".', _WHERE)
    return memory
