"""Kill releases at every step that the file system or the ledger can see, and at random moments, and look what is left.

    python -m tests.publishing.killing FOLDER KILLS SEED [MODES [URL]]

MODES say what is killed, such as release,resume. The ledger is a file in the folder, or the PostgreSQL database of the
URL.

A process that has done a release once forks a child for every kill: what a start would take is done. The child is
killed with SIGKILL before its n-th step (a file opened, renamed or removed, a step of the ledger, a statement that it
sends to PostgreSQL, a rename), n going through all of them and then at random moments. A second child looks at what is
left, and resumes it. The report's figures are left out, as they take most of the time of a release and touch nothing.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
from pyarrow import csv

from crowdblend.ledger import Ledger
from crowdblend.policies.load import load_policy
from crowdblend.publishing import committing
from crowdblend.publishing.committing import recover
from crowdblend.publishing.release import release
from crowdblend.publishing.resuming import resume
from crowdblend.publishing.staging import stagings_of
from crowdblend.publishing.target import exclusive_use
from crowdblend.reading.reports import write
from crowdblend.trusted.calculus import verify_file
from crowdblend.trusted.machine import system
from tests.policies.policies import policy_text

POLICY = policy_text(
    data='source = "people.csv"\nperson = "id"',
    sampling='design = "poisson"\nrate = 0.5',
    columns='sex = { values = ["a", "b"] }',
    privacy="epsilon = 2.0",
    release='format = "csv"',
    publish='kind = "table"\nk = 30',
)
EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "shutil.rmtree", "sqlite3.connect")
STEPS = ((Ledger, "begin"), (Ledger, "finish"), (system, "_rename"))
MODES = "release,force,journal,resume"
WHERE: str | None = None
"""The PostgreSQL database that has the ledger; None where it is a file."""


def ledger_of(folder: Path) -> Ledger:
    """The ledger of one place."""
    return Ledger.open(WHERE or folder / "ledger.sqlite")


def empty_server() -> None:
    """Begin anew on the server; what a killed release still holds there is ended first."""
    assert WHERE is not None
    with psycopg.connect(WHERE) as connection:
        others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
        connection.execute(f"SELECT pg_terminate_backend(pid) {others}")
        connection.execute("DROP SCHEMA IF EXISTS crowdblend CASCADE")
    Ledger.create(WHERE)


@dataclass
class Steps:
    """Counts what a process does that others can see, and ends the process before the n-th."""

    folder: str
    fatal: int | None = None
    done: int = 0

    def step(self) -> None:
        """One more."""
        if self.fatal is not None and self.done >= self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        self.done += 1

    def watch(self) -> None:
        """Every step from now on."""
        sys.addaudithook(self._event)
        if WHERE is not None:
            for name in ("execute", "commit"):
                setattr(psycopg.Connection, name, self._around(getattr(psycopg.Connection, name), also_after=False))
        for owner, name in STEPS:
            setattr(owner, name, self._around(getattr(owner, name)))

    def _event(self, event: str, arguments: tuple[Any, ...]) -> None:
        named = event in EVENTS and isinstance(arguments[0], str | bytes | os.PathLike)
        if named and self.folder in os.fsdecode(arguments[0]):
            self.step()

    def _around(self, function: Callable[..., Any], *, also_after: bool = True) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            self.step()
            done = function(*arguments, **named)
            if also_after:
                self.step()
            return done

        return run


def prepare(folder: Path) -> None:
    """People, a policy, an empty ledger and a release to be replaced."""
    folder.mkdir(parents=True)
    draw = random.Random(1)
    people = {"id": list(range(400)), "sex": [draw.choice("ab") for _ in range(400)]}
    csv.write_csv(pa.table(people), folder / "people.csv")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    Ledger.create(folder / "ledger.sqlite")
    release(load_policy(folder / "policy.toml"), folder / "old", key=bytes(32))


def place_for(template: Path, folder: Path, mode: str) -> None:
    """A fresh copy of everything for one kill."""
    shutil.copytree(template, folder, ignore=lambda *_: ["old"])
    if WHERE is not None:
        empty_server()
    if mode in ("force", "journal"):
        shutil.copytree(template / "old", folder / "out")


def run(folder: Path, mode: str) -> None:
    """What is killed."""
    ledger = ledger_of(folder)
    path = folder / "policy.toml"
    if mode == "resume":
        resume(ledger, 1, load_policy(path))
    else:
        release(load_policy(path), folder / "out", ledger=ledger, force=mode != "release", policy_file=path)


def look(folder: Path, mode: str, old: bytes) -> None:
    """Every claim about what a kill leaves."""
    out, ledger = folder / "out", ledger_of(folder)
    ledger.check()
    entries = ledger.entries()
    if mode == "journal":
        with exclusive_use(out):
            recover(out, ledger)
    if out.exists():
        verify_file(out)
        assert entries or (out / "data.csv").read_bytes() == old, "published before it was recorded"
    if mode in ("force", "journal"):
        assert out.is_dir(), "nothing is left under the name"
    if not entries:
        assert mode in ("force", "journal") or not out.exists(), "unspent, and something was published"
    elif entries[0].status == "finished":
        resume(ledger, 1)
        assert verify_file(out).to_dict()["digest"] == ledger.entry(1).certificate_digest
    else:
        key, policy = ledger.key(1), load_policy(folder / "policy.toml")
        if out.exists():
            assert (out / "data.csv").read_bytes() == old, "published before it was finished"
        other = Ledger.create(folder / "other.sqlite")
        expected = release(policy, folder / "expected", key=key, ledger=other)
        # Where no journal was written yet, the steward says again that something is to be replaced.
        done = resume(ledger, 1, policy, force=mode in ("force", "journal"))
        for name in ("data.csv", "certificate.json"):
            assert (done.folder / name).read_bytes() == (expected.folder / name).read_bytes(), name
        assert ledger.entry(1).status == "finished"
    if entries:
        assert not list(stagings_of(out)), "a private folder is left though everything is published"


def in_child(work: Callable[[], None], deadline: float | None = None) -> int:
    """Run something in a fork, kill it after a time if one is given; its wait status."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    if deadline is not None:
        time.sleep(deadline)
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


class Killer:
    """Kills and looks, one place after the other."""

    def __init__(self, folder: Path, seed: int, modes: list[str]) -> None:
        self.folder, self.chance = folder, random.Random(seed)
        self.template = folder / "template"
        prepare(self.template)
        self.old = (self.template / "old" / "data.csv").read_bytes()
        self.steps: dict[str, int] = {}
        self.seconds: dict[str, float] = {}
        for mode in modes:
            self.steps[mode], self.seconds[mode] = self.measure(mode)

    def place(self, mode: str) -> Path:
        """Where the next kill happens; to resume something, it is killed before."""
        place = self.folder / "place"
        shutil.rmtree(place, ignore_errors=True)
        place_for(self.template, place, mode)
        while mode == "resume" and not ledger_of(place).unfinished_entries():
            shutil.rmtree(place)
            place_for(self.template, place, mode)
            self.kill(place, "release", self.chance.randrange(self.steps["release"]))
        return place

    def measure(self, mode: str) -> tuple[int, float]:
        """How many steps it takes, and how long, when nobody kills it."""
        place = self.place(mode)

        def count() -> None:
            begun, steps = time.perf_counter(), self.watched(place, mode, None)
            (place / "measured").write_text(json.dumps([steps.done, time.perf_counter() - begun]))

        assert in_child(count) == 0
        done, seconds = json.loads((place / "measured").read_text())
        return int(done), float(seconds)

    def watched(self, place: Path, mode: str, fatal: int | None) -> Steps:
        """Run it with every step counted."""
        if mode == "journal":
            committing.exchange = lambda *_: False  # type: ignore[assignment, attr-defined]
        steps = Steps(str(place), fatal)
        steps.watch()
        run(place, mode)
        return steps

    def kill(self, place: Path, mode: str, step: int) -> bool:
        """Kill before a step; whether that was in time."""
        return os.WIFSIGNALED(in_child(lambda: void(self.watched(place, mode, step))))

    def kill_after(self, place: Path, mode: str, seconds: float) -> bool:
        """Kill at a moment; whether that was in time."""
        return os.WIFSIGNALED(in_child(lambda: void(self.watched(place, mode, None)), seconds))

    def kills(self, number: int) -> dict[str, int]:
        """So many kills: before every step in turn, and from then on half of them at random moments."""
        modes = list(self.steps)
        todo = [(mode, step) for mode in modes for step in range(self.steps[mode])]
        self.chance.shuffle(todo)
        done = {f"{mode}, {how}": 0 for mode in modes for how in ("steps", "moments")}
        for at in range(number):
            mode, step = todo[at] if at < len(todo) else (modes[at % len(modes)], None)
            place = self.place(mode)
            if step is not None:
                killed = self.kill(place, mode, step)
            else:
                killed = self.kill_after(place, mode, self.chance.uniform(0, 1.2) * self.seconds[mode])
            status = in_child(lambda place=place, mode=mode: look(place, mode, self.old))  # type: ignore[misc]
            if status != 0:
                raise SystemExit(f"{mode}, killed before step {step} (None: at some moment): see above, and {place}")
            done[f"{mode}, {'moments' if step is None else 'steps'}"] += killed
            (self.folder / "progress").write_text(f"{at + 1} of {number}\n")
        return done


def void(_: Any) -> None:
    """Nothing."""


def main(folder: str, kills: str, seed: str, modes: str = MODES, url: str | None = None) -> None:
    """Print how many kills came in time, by what was killed."""
    global WHERE  # noqa: PLW0603 - one program, one server
    WHERE = url
    write.write_report = lambda where, **_: void((where / "report.html").write_text("left out"))  # type: ignore[assignment]
    killer = Killer(Path(folder), int(seed), modes.split(","))
    print(json.dumps({"steps": killer.steps, "killed": killer.kills(int(kills))}))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
