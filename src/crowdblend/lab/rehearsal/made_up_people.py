"""Made-up people whose values are recoded once and who are then released many times, each time with another key.

Everything that depends on the key runs as it does in a release: the coin or the thinning, the count of the classes, the
choice of a recoding, the mechanism, and the writing of the files. What does not depend on it, recoding, is done once by
the engine that holds the people in memory.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, TypeVar

from crowdblend.errors import InvalidInput
from crowdblend.kinds import AnyPlan, Result, method_of
from crowdblend.kinds.shared.outputs import Output
from crowdblend.kinds.table.threshold import ThresholdPlan
from crowdblend.lab.rehearsal.observers import ShownFile, shown_in
from crowdblend.policies.crowd import CrowdPolicy
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.sampling import Poisson
from crowdblend.sources.engines.engine import Engine
from crowdblend.sources.engines.memory import MemoryEngine
from crowdblend.trusted.machine.system import memory_folder
from crowdblend.trusted.randomness import ReleaseKey

MOST_PEOPLE = 1 << 17
Values = tuple[str | None, ...]
PolicyT = TypeVar("PolicyT", bound=PublicationPolicy)


class Files:
    """A folder that one publication after the other is written to."""

    def __init__(self) -> None:
        # A run writes a few small files, and the disk would be most of its time.
        self._folder = Path(tempfile.mkdtemp(prefix="crowdblend-rehearsal-", dir=memory_folder()))
        # Unlike what is registered with atexit this also runs in the processes that an audit starts.
        Finalize(self, shutil.rmtree, (self._folder,), {"ignore_errors": True}, exitpriority=0)

    def contents(self, result: Result) -> dict[str, bytes]:
        """Return the bytes of the files of a publication, by name."""
        result.write(self._folder)
        held = {}
        for file in list(self._folder.iterdir()):
            held[file.name] = file.read_bytes()
            file.unlink()
        return held

    def of(self, result: Result) -> dict[str, ShownFile]:
        """Return the files of a publication as they are read, by name."""
        return {name: shown_in(name, content) for name, content in self.contents(result).items()}

    def cut(self, output: Output, releases: int) -> list[dict[str, ShownFile]]:
        """Return the rows of each of several releases that are written into one file, one below the other."""
        ((name, whole),) = self.of(Result((output,), ())).items()
        each = len(whole.rows) // releases
        return [{name: ShownFile(whole.header, whole.rows[each * place :][:each])} for place in range(releases)]


@dataclass(frozen=True)
class Crowd:
    """People who all have the same raw values, one for each column of the policy; None is a blank."""

    values: Values
    size: int


Population = tuple[Crowd, ...]


def publish_once(plan: AnyPlan, engine: Engine, key: bytes) -> Result:
    """Read and publish as a release does."""
    release_key = ReleaseKey(key)
    return plan.publish(plan.read(engine, release_key), release_key)


def people_in_memory(columns: Sequence[str], population: Population) -> MemoryEngine:
    """Return the population as an engine; its people are called 1, 2, 3, … where the policy has a person column."""
    people = sum(crowd.size for crowd in population)
    if not 1 <= people <= MOST_PEOPLE:
        raise InvalidInput(f"A rehearsal must have between 1 and {MOST_PEOPLE:,} people, got {people:,}. Take fewer.")
    return MemoryEngine(columns, [(crowd.values, crowd.size) for crowd in population])


def drawn_here(policy: PolicyT) -> PolicyT:
    """Return the policy with people who were drawn before drawn now, at the assumed rate or at the largest one."""
    sampling = policy.sampling
    if sampling.designed:
        strata = policy.strata
        if (
            strata is None
            or not policy.publication.audits_strata
            or not strata.published
            or any(one.low < one.high for one in strata.by_label.values())
        ):
            message = "The audit runs tables and microdata of published strata with one sampling rate each."
            remedy = "Audit each stratum as a policy of its own, with its rate."
            raise InvalidInput(message, remedy=remedy, where="`sampling.column`", code="rehearsal.strata")
        exact: PolicyT = policy.replace(sampling=sampling.drawn_here(), accept_delta=True, **as_thinned(policy))
        return exact
    accepts = {} if "accept_delta" in policy.publication.lacks else {"accept_delta": True}
    drawn: PolicyT = policy
    if not sampling.fixed_size and accepts:
        drawn = policy.replace(sampling=sampling.drawn_here(), **accepts)
    elif sampling.fixed_size and sampling.thin is not None:
        # Crowds of the planned size, by coins of the survey's rate.
        now = Poisson(sampling.inclusion_rate) if accepts else sampling.drawn_here()
        drawn = policy.replace(sampling=now, **accepts, **as_thinned(policy))
    return drawn


def as_thinned(policy: Any) -> dict[str, Any]:
    """Return the crowds and the noise that are planned for a survey that is thinned here; nothing for other samples.

    Made-up people are drawn once, by coins that ask and keep them, which alone would need smaller crowds.
    """
    if policy.sampling.thin is None or not isinstance(policy, CrowdPolicy):
        return {}
    found: Any = method_of(policy).plan()
    if isinstance(found, ThresholdPlan):
        return {"noise_epsilon": found.mechanism.noise_epsilon, "show_from": found.mechanism.show_from}
    planned = found.parameters
    noise = {} if planned.noise_epsilon is None else {"noise_epsilon": planned.noise_epsilon}
    return {"k": planned.k, "delta": None, **noise}
