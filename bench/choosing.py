"""What choosing costs in published information on Adult, as JSON: by everybody, by a part of the sample, in steps.

The loss is ARX's, people who are not published counted as lost whole, against the sample that was drawn. Beside it
stands the best of the thirty highest-scored nodes, taken as fixed beforehand, with all of ε for the release.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from crowdblend import plan
from crowdblend.kinds.microdata.plan import MicrodataPlan, method
from crowdblend.kinds.microdata.policy import MicrodataPolicy
from crowdblend.kinds.shared.recoding_choice import choice_of, choose_recoding, recode
from crowdblend.methods.designs.draw import Everybody
from crowdblend.methods.mechanisms import SampledClasses
from crowdblend.methods.selection.lattice import Node
from crowdblend.methods.selection.scoring import score_nodes
from crowdblend.policies.choosing import Choosing
from crowdblend.policies.load import load_policy
from crowdblend.policies.recoding_lattice import lattice_of
from crowdblend.sources.engines.choice import count_classes
from crowdblend.trusted.randomness import ReleaseKey, SystemSource, new_key, thin

EXAMPLE = Path(__file__).parents[1] / "examples" / "adult-choose.toml"
RATE, EPSILON, DELTA = 0.5, 2.0, 1e-6


def kept(planned: MicrodataPlan, sample: SampledClasses, node: Node, k: int) -> float:
    """How many people are published, each counted by what the labels keep."""
    lattice, published = lattice_of(planned.policy.columns), recode(planned.policy.columns, sample, node)
    shown = published.counts >= k
    parts = sum(
        (1 - ladder.loss(level))[published.codes[shown, place]]
        for place, (ladder, level) in enumerate(zip(lattice.ladders, node, strict=True))
    )
    return float(parts @ published.counts[shown]) / len(node)


def thinned(sample: SampledClasses, rate: float) -> tuple[SampledClasses, SampledClasses]:
    """Everybody goes to the first part with that probability, else to the second."""
    first = thin(sample.counts, rate, SystemSource())
    parts = (
        SampledClasses(sample.columns, sample.labels, sample.codes, part) for part in (first, sample.counts - first)
    )
    one, other = (part.where(part.counts > 0) for part in parts)
    return one, other


def losses(policy: MicrodataPolicy, everybody: SampledClasses, runs: int) -> list[float]:
    planned, found = method(policy).plan(), []
    assert isinstance(planned, MicrodataPlan)
    assert policy.recoding is not None
    choice = choice_of(policy, planned.score)
    for _ in range(runs):
        sample, _ = thinned(everybody, RATE)
        deciding, released = everybody, sample
        if policy.recoding.share is not None:
            deciding, released = thinned(sample, policy.recoding.share)
        node = choose_recoding(choice, policy.columns, deciding, ReleaseKey(new_key()))
        found.append(1 - kept(planned, released, node, planned.parameters.k) / sample.people)
    return found


def best_fixed(policy: MicrodataPolicy, everybody: SampledClasses, runs: int) -> float:
    planned, lattice = method(policy).plan(), lattice_of(policy.columns)
    assert isinstance(planned, MicrodataPlan)
    scores = score_nodes(lattice, everybody.codes, everybody.counts, planned.score)
    nodes = [lattice.node(int(place)) for place in np.argsort(scores)[::-1][:30]]
    k = plan(rate=RATE, epsilon=EPSILON, delta=DELTA, form="records").k
    samples = [thinned(everybody, RATE)[0] for _ in range(runs)]
    means = [np.mean([1 - kept(planned, sample, node, k) / sample.people for sample in samples]) for node in nodes]
    return float(min(means))


def main() -> None:
    runs = int(sys.argv[1]) if sys.argv[1:] else 20
    policy = load_policy(EXAMPLE).only
    assert isinstance(policy, MicrodataPolicy)
    everybody = count_classes(policy, Everybody()).classes
    print(json.dumps({"how": "best fixed node", "loss": round(best_fixed(policy, everybody, runs), 4)}), flush=True)
    for how in (
        Choosing(0.1, "population"),
        Choosing(0.1, "population", search="steps"),
        Choosing(0.1, "split", 0.1),
        Choosing(0.1, "split", 0.2),
        Choosing(0.5, "split", 0.1),
    ):
        found = losses(policy.replace(recoding=how), everybody, runs)
        told = {"how": how.using, "epsilon": how.epsilon, "share": how.share, "search": how.search or "whole"}
        print(json.dumps({**told, "loss": round(float(np.mean(found)), 4), "worst": round(max(found), 4)}), flush=True)


if __name__ == "__main__":
    main()
