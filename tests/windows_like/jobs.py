"""What stewards and readers do, one command after the other: python -m tests.windows_like.jobs FOLDER"""

from __future__ import annotations

import http.cookiejar
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

import crowdblend as cb
from crowdblend.cli.main import main as command_line
from crowdblend.publishing.target import exclusive_use
from crowdblend.studio.jobs import Job, Jobs
from crowdblend.studio.places import Root
from crowdblend.trusted.machine import system
from tests.api.survey import KEY, survey, table


def run(*arguments: object, code: int = 0) -> None:
    """Run a command; a signal can only be handled by the main thread, as in a process of its own."""
    sys.argv = ["crowdblend", *map(str, arguments)]
    with pytest.raises(SystemExit) as leaving:
        command_line()
    assert (leaving.value.code or 0) == code, arguments


def reader(folder: Path) -> None:
    published = folder / "published"
    run("verify", published)
    run("read", published)
    run("report", published, "--out", folder / "page.html")
    cb.verify(published)
    assert cb.read(published).estimates().num_rows


def steward(folder: Path) -> None:
    source, policy, out = folder / "people.csv", folder / "policy.toml", folder / "published"
    cb.release(survey(), table(), ledger=None, key=KEY, out=folder / "same")
    people = survey()
    lines = zip(*(people.column(name).to_pylist() for name in people.column_names), strict=True)
    source.write_text("person_id,sex,age\n" + "".join(f"{a},{b},{c}\n" for a, b, c in lines), encoding="utf-8")
    policy.write_text(POLICY, encoding="utf-8")
    run("plan", policy)
    run("check", policy, "--out", folder / "checked.txt")
    run("ledger", "init")
    run("release", policy, "--out", out, "--yes")
    run("release", policy, "--out", out, "--yes", "--force")
    run("release", policy, "--out", out, "--yes", code=2)
    run("ledger", "list")
    run("ledger", "check")
    busy = threading.Event(), threading.Event()

    def hold() -> None:
        with exclusive_use(folder / "busy"):
            busy[0].set()
            busy[1].wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    busy[0].wait(60)
    run("release", policy, "--out", folder / "busy", "--yes", code=4)
    busy[1].set()
    holder.join()


def studio(folder: Path) -> None:
    jobs = Jobs(folder / "state")
    assert ended(jobs, jobs.start("verify", {"folder": str(folder / "published")})).state == "done"
    many = {"policy": "policy.toml", "people": 5_000_000, "spread": "even", "data": None, "out": "{folder}/out"}
    number = jobs.start("rehearse", many)
    jobs.cancel(number)
    assert ended(jobs, number).state == "cancelled"
    Root.at(folder).write("below/it/policy.toml", "text\n")
    assert (folder / "below" / "it" / "policy.toml").read_bytes() == b"text\n"
    command = [sys.executable, "-m", "crowdblend", "studio", "--root", str(folder), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, **system.own_group()) as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        with urllib.request.build_opener(cookies).open(address, timeout=60) as page:
            assert page.status == 200
        os.kill(process.pid, signal.SIGINT)  # Ctrl-C
        process.wait(60)


def ended(jobs: Jobs, number: str) -> Job:
    """Wait for the end of a job."""
    deadline = time.monotonic() + 120
    while jobs.get(number).running and time.monotonic() < deadline:
        time.sleep(0.05)
    return jobs.get(number)


POLICY = """
[data]
source = "people.csv"
person = "person_id"
population = "residents"

[sampling]
design = "poisson"
rate = 0.5

[privacy]
epsilon = 1.0
delta = 1e-4

[columns]
sex = { values = ["Female", "Male"] }
age = { from = 0, to = 40, width = 20 }

[[publish]]
kind = "table"
below_k = "suppress"
"""

if __name__ == "__main__":
    place = Path(sys.argv[1])
    system._RENAMES.clear()  # Windows exchanges no names
    steward(place)
    reader(place)
    studio(place)
    sys.stdout.write("all of it\n")
