"""A studio in a process of its own, as a steward starts it, and a browser that tells which addresses it asked for."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyarrow import parquet

from crowdblend.lab.demo import town, write_friendships

TOWNS = ("town", "register", "rows", "map", "figures", "programme")


@dataclass
class Running:
    """A studio that runs: its root, its ledger, and the address it printed."""

    root: Path
    address: str
    process: subprocess.Popen[str]

    @property
    def origin(self) -> str:
        """Where its pages are."""
        return self.address.partition("/start")[0]

    @property
    def ledger(self) -> Path:
        """The ledger that it records in."""
        return self.root.parent / "ledger.db"


@contextmanager
def running(root: Path, *options: str) -> Iterator[Running]:
    """The studio of a folder, until the context ends; it leaves nothing running."""
    root.mkdir(parents=True, exist_ok=True)
    ledger = str(root.parent / "ledger.db")
    command = [sys.executable, "-m", "crowdblend", "studio", "--root", str(root), "--port", "0", "--json"]
    process = subprocess.Popen(
        [*command, "--ledger", ledger, *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ},
        # What runs in the background of a shell ignores Ctrl-C, and so would all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  nothing else forks here
    )
    assert process.stdout is not None
    try:
        yield Running(root, json.loads(process.stdout.readline())["address"], process)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def fill(root: Path, people: int = 4_000) -> None:
    """Made-up towns, who knows whom in one of them, and a code book."""
    root.mkdir(parents=True, exist_ok=True)
    whole = town(people * len(TOWNS))
    for number, name in enumerate(TOWNS):
        # Other people live in each: the ledger knows people again by their ids and by their rows.
        parquet.write_table(whole.slice(number * people, people), root / f"{name}.parquet")
    write_friendships(root / "friends.parquet")
    book = "column,value,label\nsex,female,women\nsex,male,men\neducation,none,\neducation,school,\n"
    (root / "code-book.csv").write_text(book, encoding="utf-8")
