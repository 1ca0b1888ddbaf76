"""Made-up people whose values are recoded once and who are then released many times, each time with another key.

Everything that depends on the key runs as it does in a release: the coin or the thinning, the count of the classes, the
choice of a recoding, the mechanism, and the writing of the files. What does not depend on it, recoding, is done once by
the engine that holds the people in memory.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from crowdblend.engines.engine import Engine
from crowdblend.engines.memory.engine import MemoryEngine
from crowdblend.engines.memory.table import MemoryTable
from crowdblend.errors import InvalidInput
from crowdblend.kinds import AnyPlan, Publication, plan
from crowdblend.kinds.kind import Outcome
from crowdblend.policies.sampling import ExactSample
from crowdblend.policies.source import DataSource
from crowdblend.randomness import ReleaseKey

# A run writes a few small files, and the disk would be most of its time.
_MEMORY = "/dev/shm"


class Files:
    """A folder that one publication after the other is written to."""

    def __init__(self) -> None:
        memory = _MEMORY if os.path.isdir(_MEMORY) and os.access(_MEMORY, os.W_OK) else None
        self._folder = Path(tempfile.mkdtemp(prefix="crowdblend-rehearsal-", dir=memory))
        # Unlike what is registered with atexit this also runs in the processes that an audit starts.
        Finalize(self, shutil.rmtree, (self._folder,), {"ignore_errors": True}, exitpriority=0)

    def of(self, published: Publication) -> dict[str, bytes]:
        """What the files of a publication hold, by name."""
        published.write(self._folder)
        held = {}
        for file in list(self._folder.iterdir()):
            held[file.name] = file.read_bytes()
            file.unlink()
        return held


MOST_PEOPLE = 1 << 17
Values = tuple[str | None, ...]


@dataclass(frozen=True)
class Crowd:
    """People who all have the same raw values, one for each column of the policy; None is a blank."""

    values: Values
    size: int


Population = tuple[Crowd, ...]


class Rehearsal:
    """What a policy publishes about made-up people, for any key.

    The policy is of a kind that is published from class counts. People who were drawn before are drawn here, at the
    rate that the policy assumes. A plan that is known saves the time of planning again: it does not depend on the
    people.
    """

    def __init__(self, policy: Any, population: Population, known: AnyPlan | None = None) -> None:
        here = drawn_here(policy)
        changed: Any = known
        self.plan: AnyPlan = plan(here) if known is None else replace(changed, policy=here)
        self._engine = people_in_memory(here.data, [column.name for column in here.columns], population)
        self._files = Files()

    def publish(self, key: bytes) -> tuple[dict[str, bytes], Outcome]:
        """The files by name, and what else is published: whatever the data decided, if they did."""
        return self.publish_with(ReleaseKey(key))

    def publish_with(self, key: ReleaseKey) -> tuple[dict[str, bytes], Outcome]:
        """The same for a key that was made before."""
        publication = self.plan.publish(self.plan.read(self._engine, key), key)
        return self._files.of(publication), publication.outcome


def publish_once(planned: AnyPlan, engine: Engine, key: bytes) -> Publication:
    """Read and publish as a release does."""
    release_key = ReleaseKey(key)
    return planned.publish(planned.read(engine, release_key), release_key)


def people_in_memory(data: DataSource, columns: Sequence[str], population: Population) -> MemoryEngine:
    """The population as an engine; its people are called 1, 2, 3, … where the policy has a person column."""
    people = sum(crowd.size for crowd in population)
    if not 1 <= people <= MOST_PEOPLE:
        raise InvalidInput(f"a rehearsal must have between 1 and {MOST_PEOPLE:,} people, got {people:,}. Take fewer.")
    table = MemoryTable.of_crowds(columns, [(crowd.values, crowd.size) for crowd in population])
    return MemoryEngine(table if data.person is None else table.with_persons(data.person))


def drawn_here(policy: Any) -> Any:
    """The policy with people who were drawn before drawn now, at the assumed rate or at the largest one."""
    sampling = policy.sampling
    if sampling.designed:
        design = getattr(policy, "design", None)
        listed = policy.kind in ("table", "microdata")
        if design is None or not listed or not design.published or not all(one.exact for one in design.strata.strata):
            raise InvalidInput(
                "The audit runs tables and microdata of published strata with one sampling rate each.",
                remedy="Audit each stratum as a policy of its own, with its rate.",
                where="[sampling] stratum",
                code="rehearsal.strata",
            )
        return replace(policy, sampling=replace(sampling, already_drawn=False), accept_delta=True)
    if isinstance(sampling, ExactSample):
        return policy
    rate = sampling.high if sampling.rate is None and sampling.biased else sampling.rate
    return replace(policy, sampling=replace(sampling, already_drawn=False, rate=rate), accept_delta=True)
