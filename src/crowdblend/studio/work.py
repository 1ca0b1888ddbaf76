"""The process of a job: `python -m crowdblend.studio.work FOLDER`; a file has its progress."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from crowdblend.errors import CrowdblendError
from crowdblend.ledger import Ledger
from crowdblend.policies.policy import Policy
from crowdblend.studio.jobs import JOB, STATUS, Order, Status
from crowdblend.studio.model.rehearsed_folder import Spread, rehearse_into
from crowdblend.studio.pictures import draw_chart
from crowdblend.studio.places import Root, load_policy_inside
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.system import ending_signals
from crowdblend.trusted.machine.type_resolution import resolve

with lazy_imports():
    from crowdblend.lab import attacks
    from crowdblend.publishing import release as publishing
    from crowdblend.publishing import resuming
    from crowdblend.reading.verification import consistency

Result = dict[str, object]

_OFTEN = 0.2


class StatusFile:
    """The file that says how far a job is; it is written whole, a few times a second at most."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / STATUS
        self._status = Status(phase="starting")
        self._last = 0.0
        self._write()

    def progress(self, phase: str, rows: int) -> None:
        """Say what is being done, and with how many rows it is done."""
        if phase != self._status.phase or time.monotonic() - self._last > _OFTEN:
            self._status = replace(self._status, phase=phase, rows=rows)
            self._write()

    def note(self, *sentences: str) -> None:
        """Remember what the steward should read."""
        self._status = replace(self._status, notes=(*self._status.notes, *filter(None, sentences)))

    def end(self, state: str, *, result: Result | None = None, error: Mapping[str, object] | None = None) -> None:
        """Say what came of it."""
        self._status = replace(self._status, state=state, result=result or {}, error=error)
        self._write()

    def _write(self) -> None:
        part = self._path.with_suffix(".part")
        part.write_bytes(msgspec.json.encode(self._status))
        part.replace(self._path)
        self._last = time.monotonic()


def checked_policy(policy: str, root: str) -> Policy:
    """Return a policy whose files lie under the root now, whatever was put in their place since the page looked."""
    return load_policy_inside(Root.at(root), policy)


def release(status: StatusFile, policy: str, out: str, ledger: str | None, root: str) -> Result:
    """Publish, recorded in the ledger."""
    status.progress("planning", 0)
    done = publishing.release(
        checked_policy(policy, root),
        Path(out),
        ledger=Ledger(ledger),
        progress=status.progress,
        policy_file=Path(policy),
        confirm=lambda pending: status.note(*pending.warnings),
    )
    return {"folder": str(done.folder), "entry": done.entry}


def resume(status: StatusFile, entry: int, policy: str, ledger: str | None, root: str) -> Result:
    """Publish a release that was begun and stopped."""
    done = resuming.resume(Ledger(ledger), entry, checked_policy(policy, root), progress=status.progress)
    return {"folder": str(done.folder), "entry": done.entry}


def rehearse(status: StatusFile, policy: str, out: str, people: int | None, spread: Spread, data: str | None) -> Result:
    """Publish about made-up people, or about a public file."""
    status.progress("making" if data is None else "planning", 0)
    suppressed = rehearse_into(policy, out, people=people, spread=spread, data=data, progress=status.progress)
    return {"suppressed": suppressed}


def verify(status: StatusFile, folder: str) -> Result:
    """Derive a certificate again, and check the data against it."""
    status.progress("verifying", 0)
    return {"uncovered": list(consistency.verify_release(Path(folder)).uncovered)}


def attack(status: StatusFile, name: str, runs: int) -> Result:
    """Run an attack."""
    status.progress("attacking", 0)
    attacked = attacks.attack(name)
    found = attacked.launch(runs)
    document = {"held": found.ours_hold, "broken": found.target_broken, "chart": draw_chart(found.chart)}
    return {"told": attacked.to_dict(found), **document}


ACTIONS: dict[str, Callable[..., Result]] = {one.__name__: one for one in (release, resume, rehearse, verify, attack)}


def main(folder: Path) -> None:
    """Do what the job's file says."""
    # Leave through the usual way out, so that whatever was written is removed.
    for ending in ending_signals():
        if ending != signal.SIGINT:
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
    order = msgspec.json.decode((folder / JOB).read_bytes(), type=resolve(Order))
    status = StatusFile(folder)
    try:
        status.end("done", result=ACTIONS[order.action](status, **order.arguments))
    except BaseException as problem:
        status.note(*getattr(problem, "__notes__", ()))
        if isinstance(problem, CrowdblendError):
            status.end("refused", error=problem.in_notation(None).to_dict())
            return
        if isinstance(problem, SystemExit | KeyboardInterrupt):  # DuckDB makes the second of any signal
            status.end("cancelled")
        else:
            # The text of an unforeseen error may hold data: only its type is shown.
            message = f"Internal error ({type(problem).__name__}). Please report it."
            remedy = "The log in the job's folder says more."
            status.end("refused", error={"message": message, "remedy": remedy, "where": None})
        raise


if __name__ == "__main__":
    main(Path(sys.argv[1]))
