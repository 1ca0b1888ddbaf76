"""What every job of bench/peers has in common; it imports nothing but the standard library.

A job is called as `python with_PACKAGE.py WORK FOLDER REPEATS` and prints one JSON object. `released` has the repeats:
for a table each is a list of [sex, band, district, education, count], for several tables of [table, label, label,
count], for rows the places of their labels, else a number. `memory` is the largest in MB.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

SEXES = ("female", "male")
BANDS = tuple(f"{10 * band}s" for band in range(10))
DISTRICTS = ("Harbour", "Old Town", "Riverside", "Hillside", "Station", "Garden City", "University", "Mills")
EDUCATION = ("none", "school", "vocational", "bachelor", "master", "doctorate")
DOMAIN = {"sex": SEXES, "band": BANDS, "district": DISTRICTS, "education": EDUCATION}
CELLS = len(SEXES) * len(BANDS) * len(DISTRICTS) * len(EDUCATION)

# A register that is published in every table of two of its columns.
SOLDIERS = 1_414_593
SERVICE = {
    "branch": ("army", "navy", "air force", "marine corps"),
    "grade": ("enlisted", "officer", "warrant officer"),
    "gender": ("female", "male"),
    "race": ("american indian", "asian", "black", "multiple", "pacific islander", "white", "unknown"),
    "hispanic": ("no", "yes"),
}
PAIRS = {f"{one}-{other}": (one, other) for one, other in combinations(SERVICE, 2)}
PAIR_CELLS = {name: len(SERVICE[one]) * len(SERVICE[other]) for name, (one, other) in PAIRS.items()}

TABLE_EPSILON, TABLE_DELTA = 1.0, 1e-6
NUMBER_EPSILON = 0.1
PEOPLE, STEP, HIGHEST = 100_000, 500, 150_000
# Releases of a sample at rate 0.5 that are (ε', δ')-differentially private on the sample are (1, 1e-6) on everybody
# for e^ε' = 1 + (e − 1)/0.5 and δ' = 1e-6/0.5 (amplification by sampling; LQS Theorem 1).
SAMPLE_EPSILON, SAMPLE_DELTA = 1.4898, 2e-6


def run(jobs: dict[str, Callable[[Path], Any]]) -> None:
    """Do one kind of work as often as asked, and print what came out."""
    work, folder, repeats = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    released = [jobs[work](folder) for _ in range(repeats)]
    json.dump({"released": released, "memory": largest_memory()}, sys.stdout)


def largest_memory() -> float:
    """The most that this process ever held, in MB; what rusage says on Linux is at least what its parent held."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1e3
