"""Jobs in a loop, killed at random moments and tried again until they are published: one entry, the first key's bytes.

    python -m tests.publishing.killing_jobs FOLDER KILLS SEED [ENGINE [URL]]

A job is `crowdblend release policy.toml --out out --yes` as a scheduler starts it, in a fork of a process that has
loaded what a start would load; Spark starts a Java of its own for every one. A job is tried until it is published.
Half of the kills come at any moment of a start, half between the ledger's entry and the folder, however long it took to
get there. The ledger is a file, or the PostgreSQL database of the URL.
"""

import json
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

from crowdblend.cli import release as _  # noqa: F401  what a start would load
from crowdblend.cli.main import main as command
from crowdblend.ledger import Ledger
from crowdblend.policies.load import load_policy
from crowdblend.publishing import release as publishing
from crowdblend.publishing.staging import stagings_of
from crowdblend.sources.engines.spark.session import session
from crowdblend.trusted.calculus import verify_file
from tests.publishing import killing
from tests.publishing.killing import empty_server, prepare
from tests.sources.engines.spark.conftest import SETTINGS

EPSILON = 2.0
PUBLISHED_ALREADY = 2


class Job:
    """A job in a place of its own, and what was seen of it."""

    def __init__(self, place: Path, engine: str, url: str | None) -> None:
        self.place, self.engine, self.books = place, engine, url or str(place / "ledger.sqlite")
        prepare(place)
        if url is not None:
            empty_server()
        self.key: bytes | None = None
        self.kills = 0

    def start(self) -> int:
        """Start it in a process group of its own."""
        pid = os.fork()
        if pid:
            return pid
        code = 70
        try:
            os.setsid()
            os.chdir(self.place)
            log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(log, 1)
            os.dup2(log, 2)
            begin = Ledger.begin

            def noted(*given: object, **named: object) -> int:
                number = begin(*given, **named)
                Path("begun").touch()
                return number

            Ledger.begin = noted  # type: ignore[assignment, method-assign]
            sys.argv = ["crowdblend", "release", "policy.toml", "--out", "out", "--yes", "--no-figures"]
            sys.argv += ["--ledger", self.books]
            if self.engine == "duckdb":
                command()
            sys.argv += ["--engine", "spark"]
            with session("local[1]", {**SETTINGS, "spark.eventLog.enabled": "false"}):
                command()
        except SystemExit as done:
            code = int(done.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    @property
    def recorded(self) -> bool:
        """Whether a start of it has made its entry."""
        return (self.place / "begun").exists()

    def run(self, deadline: float | None = None, *, once_recorded: bool = False) -> int | None:
        """Run it once; its exit code, or None where it was killed, so long after its start or its entry."""
        waits = once_recorded and not self.recorded
        pid, until = self.start(), None if deadline is None or waits else time.monotonic() + deadline
        while True:
            if waits and deadline is not None and self.recorded:
                waits, until = False, time.monotonic() + deadline
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            if until is not None and time.monotonic() > until:
                try:
                    os.killpg(pid, signal.SIGKILL)
                except ProcessLookupError:  # not yet the head of its group, or ended a moment ago
                    continue
                os.waitpid(pid, 0)
                self.kills += 1
                self.remember_key()
                return None
            time.sleep(0.002)

    def remember_key(self) -> None:
        """Keep the key of the first entry, which is gone once it is finished."""
        ledger = Ledger.open(self.books)
        if self.key is None and ledger.unfinished_entries():
            self.key = ledger.key(1)

    def check(self) -> None:
        """One entry, one folder, ε once, and the bytes of the first key."""
        ledger, out = Ledger.open(self.books), self.place / "out"
        ledger.check()
        (entry,) = ledger.entries()
        spent = ledger.budget(entry.spending.population).differential
        assert entry.status == "finished"
        assert spent is not None
        assert spent.epsilon == EPSILON
        assert verify_file(out).to_dict()["digest"] == entry.certificate_digest
        assert not list(stagings_of(out)), "a private folder is left though everything is published"
        if self.key is not None:
            expected, policy = self.place / "expected", load_policy(self.place / "policy.toml")
            publishing.release(policy, expected, key=self.key, figures=False)
            assert (out / "data.csv").read_bytes() == (expected / "data.csv").read_bytes()


def main(folder: str, kills: str, seed: str, engine: str = "duckdb", url: str | None = None) -> None:
    """Print how many kills there were, of how many jobs, and how many of these were recorded before a kill."""
    killing.WHERE = url
    chance, killed, jobs, recorded = random.Random(int(seed)), 0, 0, 0
    measured = Job(Path(folder) / "measured", engine, url)
    started = time.time()
    assert measured.run() == 0, (measured.place / "log").read_text()
    whole = time.time() - started
    # Between entry and folder: what comes after is the end of Spark, where nothing is left to lose.
    rest = (measured.place / "out").stat().st_ctime - (measured.place / "begun").stat().st_mtime
    while killed < int(kills):
        job = Job(Path(folder) / f"job-{jobs}", engine, url)
        code = None
        while code is None and killed + job.kills < int(kills):
            late, started = chance.random() < 0.5 and not job.recorded, time.time()
            code = job.run(chance.uniform(0, rest if late else whole), once_recorded=late)
            # The first start of all is the slowest.
            whole = whole if code is None else min(whole, time.time() - started)
        while code is None:
            code = job.run()
        assert code == 0 or (code == PUBLISHED_ALREADY and (job.place / "out").exists()), (
            job.place / "log"
        ).read_text()
        job.check()
        killed, jobs, recorded = killed + job.kills, jobs + 1, recorded + (job.key is not None)
        (Path(folder) / "progress").write_text(f"{killed} of {kills}\n")
    print(json.dumps({"killed": killed, "jobs": jobs, "recorded": recorded}))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
