"""What a search in steps loses against scoring every node, and what it costs on lattices too large for that, as JSON.

Adult has 12,960 nodes, so both ways can be taken. Twenty columns of Census-Income with up to five levels each have
17,915,904,000 nodes; there the searches are compared with one that has ε = 1000 and goes round three times. The loss is
the share of all labels that a release is not expected to publish. Times are CPU seconds on one core.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
from pyarrow import parquet

from crowdblend.kinds.microdata.plan import MicrodataPlan, method
from crowdblend.kinds.microdata.policy import MicrodataPolicy
from crowdblend.methods.designs.draw import Everybody
from crowdblend.methods.recoding.code_rows import rolled_up
from crowdblend.methods.selection.lattice import Ladder, Lattice
from crowdblend.methods.selection.scores import Score, score
from crowdblend.methods.selection.search import Search, score_offer
from crowdblend.policies.load import load_policy
from crowdblend.policies.recoding_lattice import lattice_of
from crowdblend.sources.engines.choice import count_classes
from crowdblend.trusted.numerics.expected_people import UNITS
from crowdblend.trusted.randomness import SystemSource

EXAMPLE = Path(__file__).parents[1] / "examples" / "adult-choose.toml"
CENSUS = Path(__file__).parents[2] / "shared" / "data" / "census_income.parquet"
STEPS = {"age": (1, 5, 10, 20, 100), "weeks_worked": (1, 4, 12, 24, 53)}
CUT = {"wage_per_hour": 50, "capital_gains": 500}


def census() -> tuple[Lattice, np.ndarray, np.ndarray]:
    """Every column with its own values, thirds of thirds of them, and all in one."""
    table = parquet.read_table(CENSUS).drop_columns(["person_id", "weight"])
    ladders, codes = [], []
    for name in table.column_names:
        widths: tuple[int, ...]
        values = table.column(name).to_numpy(zero_copy_only=False)
        if name in CUT:
            found, widths = np.minimum(values // CUT[name], 199), (1, 10, 40, 200)
        elif name in STEPS:
            found, widths = np.minimum(values, STEPS[name][-1] - 1), STEPS[name]
        else:
            found = np.unique([str(value) for value in values], return_inverse=True)[1]
            size = int(found.max()) + 1
            widths = (*(3**power for power in range(9) if power == 0 or 3**power < size), size)
        ladders.append(Ladder(name, tuple(np.arange(widths[-1]) // width for width in widths)))
        codes.append(found)
    rows = np.stack(codes, axis=1).astype(np.int32)
    return Lattice(tuple(ladders)), *rolled_up(rows, np.ones(len(rows), np.int64), [len(x.maps[0]) for x in ladders])


def measure(
    what: str,
    lattice: Lattice,
    codes: np.ndarray,
    counts: np.ndarray,
    good: Score,
    search: Search,
    epsilon: float,
    runs: int,
) -> None:
    assert good.published is not None
    everything = UNITS * lattice.most * int(counts.sum()) * good.published.rate
    begun, losses = time.process_time(), []
    for _ in range(runs):
        (node,) = search.several(
            lattice, codes, counts, good, epsilon=epsilon / search.steps, source=SystemSource(), times=1
        )
        losses.append(
            1 - int(score_offer(lattice, tuple((level,) for level in node), codes, counts, good)[0]) / everything
        )
    told = {"lattice": what, "nodes": lattice.size, "choices": search.steps, "epsilon": epsilon, "runs": runs}
    told["scored"] = sum(int(np.prod([search.shape[column] for column in free])) for free in search.free)
    told |= {"mean_loss": round(float(np.mean(losses)), 4), "worst_loss": round(max(losses), 4)}
    told["seconds"] = round((time.process_time() - begun) / runs, 1)
    told["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(told), flush=True)


def main() -> None:
    runs = int(sys.argv[1]) if sys.argv[1:] else 5
    policy = load_policy(EXAMPLE).only
    assert isinstance(policy, MicrodataPolicy)
    everybody = count_classes(policy, Everybody()).classes
    lattice, planned = lattice_of(policy.columns), method(policy).plan()
    assert isinstance(planned, MicrodataPlan)
    good = planned.score
    for search in (Search.whole(lattice.shape), Search.in_steps(lattice.shape), Search.in_steps(lattice.shape, 6)):
        for epsilon in (0.1, 0.5):
            measure("adult", lattice, everybody.codes, everybody.counts, good, search, epsilon, runs)
    lattice, codes, counts = census()
    good, once = score("loss", k=35, rate=0.5), Search.once_around(lattice.shape)
    for steps in (None, once, 2 * once):
        for epsilon in (0.1, 0.5):
            measure("census", lattice, codes, counts, good, Search.in_steps(lattice.shape, steps), epsilon, runs)
    measure("census", lattice, codes, counts, good, Search.in_steps(lattice.shape, 3 * once), 1000.0, 1)


if __name__ == "__main__":
    main()
