"""How long choosing a recoding takes, as JSON: Adult's 12,960 nodes, and as many for larger tables of its kind.

The larger tables draw rows of Adult and replace each value by that of another row with probability 0.15. Times are CPU
seconds on one core, for scoring all nodes and choosing one; counting the finest classes is the engine's work.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from crowdblend.kinds.microdata.plan import MicrodataPlan, method
from crowdblend.kinds.microdata.policy import MicrodataPolicy
from crowdblend.methods.designs.draw import Everybody
from crowdblend.methods.selection.exponential import choose
from crowdblend.methods.selection.scoring import score_nodes
from crowdblend.policies.load import load_policy
from crowdblend.policies.recoding_lattice import lattice_of
from crowdblend.sources.engines.choice import count_classes
from crowdblend.trusted.randomness import SystemSource

EXAMPLE = Path(__file__).parents[1] / "examples" / "adult-choose.toml"
CHANGED = 0.15


def larger(codes: np.ndarray, counts: np.ndarray, people: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes of so many people who resemble the given ones."""
    rng = np.random.default_rng(1)
    rows = np.repeat(codes, counts, axis=0)
    sizes = codes.max(axis=0).astype(np.int64) + 1
    key = np.zeros(people, np.int64)
    whom = rng.integers(0, len(rows), people)
    for place, size in enumerate(sizes):
        changed = rng.random(people) < CHANGED
        column = rows[np.where(changed, rng.integers(0, len(rows), people), whom), place]
        key = key * size + column
    keys, found = np.unique(key, return_counts=True)
    made = np.empty((len(keys), len(sizes)), np.int32)
    for place in range(len(sizes) - 1, -1, -1):
        keys, made[:, place] = np.divmod(keys, sizes[place])
    return made, found


def main() -> None:
    policy = load_policy(EXAMPLE).only
    assert isinstance(policy, MicrodataPolicy)
    everybody = count_classes(policy, Everybody()).classes
    lattice, planned = lattice_of(policy.columns), method(policy).plan()
    assert isinstance(planned, MicrodataPlan)
    score = planned.score
    for people in (everybody.people, *map(int, sys.argv[1:] or ["1000000"])):
        codes, counts = everybody.codes, everybody.counts
        if people != everybody.people:
            codes, counts = larger(codes, counts, people)
        begun = time.process_time()
        scores = score_nodes(lattice, codes, counts, score)
        scored = time.process_time()
        sensitivity = score.sensitivity(lattice.most)
        choose(scores.tolist(), epsilon=0.1, sensitivity=sensitivity, monotone=True, source=SystemSource())
        told: dict[str, float] = {"people": people, "finest_classes": len(counts), "nodes": lattice.size}
        told |= {"score_seconds": round(scored - begun, 2), "choose_seconds": round(time.process_time() - scored, 2)}
        told["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps(told))


if __name__ == "__main__":
    main()
