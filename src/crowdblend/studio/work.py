"""What runs in the process of a job: `python -m crowdblend.studio.work FOLDER`. It says how far it is in a file."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crowdblend.errors import CrowdblendError
from crowdblend.studio.jobs import JOB, STATUS
from crowdblend.studio.pictures import draw_chart

_OFTEN = 0.2


class Status:
    """The file that says how far a job is; it is written whole, a few times a second at most."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / STATUS
        self._told: dict[str, Any] = {"state": "running", "phase": "starting", "rows": 0, "notes": []}
        self._last = 0.0
        self.write()

    def progress(self, phase: str, rows: int) -> None:
        """Say what is being done, and with how many rows it is done."""
        if phase != self._told["phase"] or time.monotonic() - self._last > _OFTEN:
            self._told |= {"phase": phase, "rows": rows}
            self.write()

    def note(self, sentence: str | None) -> None:
        """Remember something that the steward should read."""
        if sentence:
            self._told["notes"].append(sentence)

    def end(self, state: str, **told: Any) -> None:
        """Say what came of it."""
        self._told |= {"state": state, **told}
        self.write()

    def write(self) -> None:
        """Write the file."""
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self._told), encoding="utf-8")
        part.replace(self._path)
        self._last = time.monotonic()


def checked_policy(policy: str, root: str) -> Any:
    """A policy whose files lie under the root now, whatever was put in their place since the page looked."""
    from crowdblend.policies import load_policy  # noqa: PLC0415
    from crowdblend.studio.addresses import checked_address, is_address  # noqa: PLC0415
    from crowdblend.studio.model.choices import choices_of, paths_of  # noqa: PLC0415
    from crowdblend.studio.places import Root  # noqa: PLC0415

    place = Root.at(root)
    found = load_policy(place.inside(policy))
    for path in paths_of(choices_of(found)):
        place.inside(path)
    if is_address(str(found.source)):
        checked_address(place, str(found.source))
    else:
        place.inside(str(found.source))
    return found


def release(status: Status, policy: str, out: str, ledger: str | None, root: str) -> dict[str, Any]:
    """Publish, recorded in the ledger."""
    from crowdblend.api.ledger import Ledger  # noqa: PLC0415
    from crowdblend.publishing.release import release as publish  # noqa: PLC0415

    done = publish(
        checked_policy(policy, root),
        Path(out),
        ledger=Ledger(ledger),
        progress=status.progress,
        policy_file=Path(policy),
        before=lambda prospect: status.note(" ".join(prospect.warnings)),
    )
    return {"folder": str(done.folder), "entry": done.entry}


def resume(status: Status, entry: int, policy: str, ledger: str | None, root: str) -> dict[str, Any]:
    """Publish a release that was begun and stopped."""
    from crowdblend.api.ledger import Ledger  # noqa: PLC0415
    from crowdblend.publishing.release import resume as publish  # noqa: PLC0415

    done = publish(Ledger(ledger), entry, checked_policy(policy, root), progress=status.progress)
    return {"folder": str(done.folder), "entry": done.entry}


def rehearse(
    status: Status, policy: str, out: str, people: int | None, spread: str, data: str | None
) -> dict[str, Any]:
    """Publish about made-up people, or about a public file."""
    from crowdblend.studio.model.rehearsed_folder import rehearse_into  # noqa: PLC0415

    given: Any = spread
    return rehearse_into(policy, out, people=people, spread=given, data=data, progress=status.progress).to_dict()


def verify(status: Status, folder: str) -> dict[str, Any]:
    """Derive a certificate again, and hold the data against it."""
    from crowdblend.publishing.verification import verify_release  # noqa: PLC0415

    status.progress("verifying", 0)
    checked = verify_release(Path(folder))
    return {"uncovered": list(checked.uncovered)}


def attack(status: Status, name: str, runs: int) -> dict[str, Any]:
    """Run an attack."""
    from crowdblend.attacks import attack as named  # noqa: PLC0415

    status.progress("attacking", 0)
    attacked = named(name)
    found = attacked.launch(runs)
    return {
        "told": attacked.to_dict(found),
        "chart": draw_chart(found.chart),
        "held": found.ours_hold,
        "broken": found.target_broken,
    }


def paper(status: Status, name: str) -> dict[str, Any]:
    """Compute a table or figure of a paper again."""
    from crowdblend.papers import reproduce  # noqa: PLC0415

    status.progress("computing", 0)
    made = reproduce(name)
    rows = [[None if cell is None else cell for cell in row] for row in made.rows]
    return {
        "title": made.title,
        "source": made.source,
        "note": made.note,
        "columns": list(made.columns),
        "rows": rows,
        "chart": None if made.chart is None else draw_chart(made.chart),
    }


ACTIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "release": release,
    "resume": resume,
    "rehearse": rehearse,
    "verify": verify,
    "attack": attack,
    "paper": paper,
}


def main(folder: Path) -> None:
    """Do what the job's file says."""
    # Leave through the usual way out, so that whatever was written is removed.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    asked = json.loads((folder / JOB).read_text(encoding="utf-8"))
    status = Status(folder)
    try:
        result = ACTIONS[asked["action"]](status, **asked["arguments"])
        status.end("done", result=result)
    except CrowdblendError as refused:
        _remember_notes(status, refused)
        status.end("refused", error=refused.to_dict())
    except SystemExit as left:
        _remember_notes(status, left)
        status.end("cancelled")
        raise
    except BaseException as problem:
        _remember_notes(status, problem)
        # The text of an unforeseen error may hold data: only its type is shown.
        message = f"The job ended with an error that was not foreseen: {type(problem).__name__}."
        status.end(
            "refused", error={"message": message, "remedy": "The log in the job's folder says more.", "where": None}
        )
        raise


def _remember_notes(status: Status, problem: BaseException) -> None:
    for note in getattr(problem, "__notes__", ()):
        status.note(note)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
