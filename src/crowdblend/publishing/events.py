"""The events of a release: rows are read, recorded, and published with what it spent and what is left of its limit."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

from crowdblend.errors import CrowdblendError
from crowdblend.ledger import Ledger
from crowdblend.policies.resources import Resources
from crowdblend.sources.engines.temporary_files import temporary_room
from crowdblend.trusted.machine import observing
from crowdblend.trusted.machine.observing import Fact


def emit_reading(resources: Resources) -> None:
    """Emit that rows are about to be read, with the memory and the room on disk that this may take."""
    if observing.is_watched():
        room = temporary_room()
        facts: dict[str, Fact] = {"memory_bytes": resources.memory, "threads": resources.threads}
        facts |= {"temporary_folder": str(room.folder), "temporary_bytes": room.most_bytes}
        observing.emit("reading", facts)


def emit_recorded(ledger: Ledger, entry_id: int) -> None:
    """Emit that a release is recorded: it counts as spent, also where nothing follows."""
    if observing.is_watched():
        spending = ledger.entry(entry_id).spending
        facts: dict[str, Fact] = {"entry": entry_id, "population": spending.named_population, "kind": spending.kind}
        observing.emit("recorded", facts)


def emit_release(ledger: Ledger | None, entry_id: int | None, since: float) -> None:
    """Emit that a release appeared; a ledger that does not answer any more stops nothing."""
    if ledger is None or entry_id is None or not observing.is_watched():
        return
    with suppress(CrowdblendError):
        spending = ledger.entry(entry_id).spending
        loss = spending.loss
        facts: dict[str, Fact] = {"entry": entry_id, "population": spending.named_population, "kind": spending.kind}
        facts |= {"epsilon": None, "delta": None, "relation": None}
        if loss is not None:
            facts |= {"epsilon": loss.epsilon, "delta": loss.delta, "relation": loss.relation.value}
        observing.emit("release", facts | _left_of_limit(ledger, spending.population) | observing.used_resources(since))


def _left_of_limit(ledger: Ledger, population: str) -> dict[str, Fact]:
    """Return the share of the limit that is used, and what is left of one that counts sums."""
    accounts = ledger.accounts()
    limit = accounts.declared.limit(population)
    usage = None if limit is None else accounts.usage(limit)
    left: list[Fact] = [None, None]
    if usage is not None and usage.limit.order is None:
        pairs = zip(usage.allowed, usage.used, strict=True)
        left = [float(max(Fraction(0), allowed - used)) for allowed, used in pairs]
    used = None if usage is None else float(usage.share)
    return {"limit_used": used, "left_epsilon": left[0], "left_delta": left[1]}
