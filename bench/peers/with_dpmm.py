"""The work of bench/peers with dpmm: as many rows as people, by AIM and by MST, from the places of people's labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from dpmm.models.aim import AIMGM
from dpmm.models.mst import MSTGM

from bench.peers.work import TABLE_DELTA, TABLE_EPSILON, run


def rows(folder: Path, method: Any) -> list[list[int]]:
    """The settings are its own; the labels of every column are declared."""
    sizes = json.loads((folder / "adult.json").read_text(encoding="utf-8"))
    people = pd.DataFrame(np.load(folder / "adult.npy").astype(int), columns=list(sizes))
    made = method(TABLE_EPSILON, TABLE_DELTA, domain=sizes, random_state=np.random.RandomState(), n_jobs=1)
    made.fit(people)
    return made.generate(len(people))[list(sizes)].astype(int).to_numpy().tolist()


if __name__ == "__main__":
    run({"rows_aim": lambda folder: rows(folder, AIMGM), "rows_mst": lambda folder: rows(folder, MSTGM)})
