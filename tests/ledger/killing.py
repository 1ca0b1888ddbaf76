"""Release after release from a child that is killed at a random moment, many times; run as a program of its own.

Arguments: the ledger, how many kills, and the seed of their moments.
Each child writes to a pipe what the ledger has acknowledged. Prints one JSON
object; the checks are in test_crashes.py.
"""

import json
import os
import random
import signal
import sys
import time

from crowdblend.errors import DoesNotCompose
from crowdblend.ledger import Ledger, Spending
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, Relation

MADE = (Differential(1.0, 1e-6, Relation.ADD_REMOVE), CrowdBlending(8, 0.0))


# How many of the first children are killed right after a step, so that every step is the last one of some child.
AFTER_STEPS = 4


def child(path: str, number: int, acknowledge: int) -> None:
    """Open, begin and finish, over and over, until killed."""
    ledger, steps = Ledger.open(path), 0

    def told(step: str, entry: int, sample: str) -> None:
        nonlocal steps
        os.write(acknowledge, f"{step} {entry} {sample}\n".encode())
        steps += 1
        if steps == number + 1 <= AFTER_STEPS:
            os.kill(os.getpid(), signal.SIGKILL)

    for attempt in range(10**6):
        sample = f"draw-{number}-{attempt}"
        entry = ledger.begin(Spending("residents", sample, True, "table", MADE, "out"), key=os.urandom(32), seal=True)
        told("begun", entry, sample)
        ledger.finish(entry, certificate_digest="ab" * 32, data_sha256="cd" * 32)
        told("finished", entry, sample)


def kill_one(path: str, number: int, chance: random.Random) -> list[str]:
    """Kill a child some milliseconds after a random one of its steps, so that slow disks are hit as well as fast; the
    first few kill themselves."""
    receive, acknowledge = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(receive)
        child(path, number, acknowledge)
    os.close(acknowledge)
    said: list[str] = []
    with os.fdopen(receive) as pipe:
        if number >= AFTER_STEPS:
            said = [pipe.readline().strip() for _ in range(chance.randrange(6))]
            time.sleep(chance.uniform(0.0, 0.03))
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return said + pipe.read().splitlines()


def main(path: str, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    Ledger.create(path)
    said: list[str] = []
    for number in range(kills):
        said += kill_one(path, number, chance)
        ledger = Ledger.open(path)
        ledger.check()
        for entry in ledger.entries()[-1:]:
            try:
                ledger.begin(entry.spending)
            except DoesNotCompose:
                continue
            raise AssertionError("a sample was used twice")
    print(json.dumps({"said": said}))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
