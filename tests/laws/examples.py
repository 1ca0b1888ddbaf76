"""One table of applications for every registered rule; the laws run over all of it.

`moves` says which way the theory takes a number of the conclusion when a parameter is raised: +1 up, −1 down. Ties
are allowed, because bounds are capped and clipped.
"""

import math
from dataclasses import replace
from itertools import permutations
from typing import Any

from crowdblend.trusted.guarantees.aggregates import Exploration, IidSampling, Neighbourhood, RandomSamples
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    OutlierPrivate,
    Relation,
    ZeroKnowledge,
)
from crowdblend.trusted.guarantees.utility import (
    AVERAGE,
    AVERAGE_DEGREE,
    CONNECTED,
    CYCLE_FREE,
    EULERIAN,
    BoundedScore,
    NoisyTotals,
    QuerySampler,
    Sampler,
    Useful,
)

from .example import Example
from .network_examples import NETWORK_EXAMPLES
from .profile_examples import PROFILE_EXAMPLES
from .programme_examples import PROGRAMME_EXAMPLES
from .strata_examples import STRATA_EXAMPLES

ADD, SWAP, HIDE = Relation.ADD_REMOVE, Relation.REPLACE, Relation.CONCEAL


def _dp(epsilon: float, delta: float = 0.0, relation: Relation = ADD, people: int = 1) -> Differential:
    return Differential(epsilon, delta, relation, people)


def _dps(rate: float, epsilon: float, delta: float) -> DifferentialUnderSampling:
    return DifferentialUnderSampling(rate, epsilon, delta)


def _zk(epsilon: float, delta: float = 0.0, drawn: Any = None, relation: Relation = HIDE) -> ZeroKnowledge:
    return ZeroKnowledge(epsilon, delta, drawn or RandomSamples(50, 1000), relation)


_WEAKER_RATE = {("rate", "epsilon"): 1, ("rate", "delta"): 1}
_DELTA = {("rate", "delta"): 1, ("epsilon", "delta"): -1}
_ROBUST = {
    ("low", "delta"): -1,
    ("high", "delta"): 1,
    ("exceptions", "delta"): 1,
    ("max_rate", "delta"): 1,
    ("epsilon", "delta"): -1,
}
_ROBUST_CASES = [
    Example(
        (CrowdBlending(20, 0.3),), {"low": 0.08, "high": 0.1, "exceptions": 3, "max_rate": 0.2, "epsilon": 1.2}, _ROBUST
    ),
    Example(
        (CrowdBlending(6, 0.0),), {"low": 0.3, "high": 0.35, "exceptions": 1, "max_rate": 0.4, "epsilon": 0.35}, _ROBUST
    ),
    Example(
        (CrowdBlending(12, 0.2),),
        {"low": 0.4, "high": 0.45, "exceptions": 0, "max_rate": 0.45, "epsilon": 0.55},
        {key: sign for key, sign in _ROBUST.items() if key[0] not in {"high", "max_rate", "exceptions"}},
    ),
    Example(
        (CrowdBlending(8, 0.1),), {"low": 0.1, "high": 0.1, "exceptions": 2, "max_rate": 1.0, "epsilon": 0.9}, _ROBUST
    ),
]
_DRAWN = {
    ("samples", "epsilon"): 1,
    ("samples", "delta"): 1,
    ("population", "epsilon"): -1,
    ("population", "delta"): -1,
}
_SANITIZE = [
    Example((_dp(0.8, 1e-6, SWAP),), {"samples": 100, "population": 5000}, _DRAWN),
    Example((_dp(0.1, 0.0, SWAP),), {"samples": 7, "population": 7}, {}),
]
_GROUP = {("people", "epsilon"): 1, ("people", "delta"): 1}
_EXPLORER = {("samples", "failure"): -1, ("explored", "failure"): -1, ("accuracy", "failure"): -1}
_EXPLORED = Example(
    (),
    {"degree_bound": 5, "accuracy": 0.2, "samples": 400, "explored": 20},
    {**_EXPLORER, ("degree_bound", "failure"): -1},
)
_GRAPH = {("population", "epsilon"): -1, ("scale", "epsilon"): -1}
_LAPLACE = {("scale", "epsilon"): -1}
_DRAWN_SAMPLER = Sampler(AVERAGE, 0.1, 0.01, 2.0, RandomSamples(100, 1000))
_NOISY = NoisyTotals(0.001, 0.0004, 0.0009)
_TOTALS = {("grid_steps", "reach"): 1, ("noise_epsilon", "step"): 1, ("noise_epsilon", "drift"): 1}
_ESTIMATED = {("samples", "epsilon"): -1, ("population", "epsilon"): 1}


def _found(statistic: str) -> Example:
    return Example(
        (Sampler(statistic, 0.05, 1e-4, 1.0, Exploration(400, 20)),), {"population": 1000, "scale": 0.2}, _GRAPH
    )


EXAMPLES: dict[str, list[Example]] = {
    "sampling.amplification": [
        Example((_dp(math.log(11), 1e-5),), {"rate": 0.1}, _WEAKER_RATE),
        Example((_dp(1.0),), {"rate": 0.01}, _WEAKER_RATE),
    ],
    "dps.lower-rate": [Example((_dps(0.5, 1.0, 1e-6),), {"rate": 0.2}, _WEAKER_RATE)],
    "dps.postprocessing": [Example((_dps(0.5, 1.0, 1e-6),))],
    "dps.random-choice": [
        Example((_dps(0.5, 1.0, 1e-6), _dps(0.5, 0.7, 1e-4)), {"weight": 0.3}, {("weight", "delta"): -1}),
        Example((_dps(0.5, 1.0, 1e-4), _dps(0.5, 0.7, 1e-6)), {"weight": 0.3}, {("weight", "delta"): 1}),
    ],
    "dps.differential": [Example((_dps(0.5, 1.0, 1e-6),))],
    "dps.zero-knowledge": [Example((_dps(0.5, 1.0, 1e-6),))],
    "differential.replace": [Example((_dp(0.7, 1e-6),)), Example((_dp(0.7, 1e-6, people=3),))],
    "differential.group": [
        Example((_dp(0.3, 1e-7),), {"people": 4}, _GROUP),
        Example((_dp(0.0, 1e-3, SWAP),), {"people": 5}, _GROUP),
        Example((_dp(0.1, 1e-9),), {"people": 1}, _GROUP),
    ],
    "suppression.published": [
        Example((CrowdBlending(20, 0.0),), {"rate": 0.1, "epsilon": 0.5}, {("epsilon", "delta"): -1}),
        Example((CrowdBlending(5, 0.0),), {"rate": 0.3, "epsilon": 0.8}, _DELTA),
        Example((CrowdBlending(1, 0.0),), {"rate": 0.025, "epsilon": 2.0}, _DELTA),
    ],
    "suppression.exact": [
        Example((CrowdBlending(20, 0.0),), {"rate": 0.1, "epsilon": 0.5}, _DELTA),
        Example((CrowdBlending(20, 0.0),), {"rate": 0.2, "epsilon": 0.25}, _DELTA),
        Example((CrowdBlending(5, 0.0),), {"rate": 0.6, "epsilon": 0.2}, _DELTA),
        Example((CrowdBlending(4, 0.0),), {"rate": 0.3, "epsilon": 0.0}, _DELTA),
        Example((CrowdBlending(1, 0.0),), {"rate": 0.3, "epsilon": 1.0}, _DELTA),
    ],
    "blending.sharp": [
        Example((CrowdBlending(20, 0.5),), {"rate": 0.1, "epsilon": 1.0}, _DELTA),
        Example((CrowdBlending(5, 0.1),), {"rate": 0.5, "epsilon": 0.4}, _DELTA),
        Example((CrowdBlending(10, 0.0),), {"rate": 0.2, "epsilon": 0.5}, _DELTA),
    ],
    "blending.explicit": [
        Example((CrowdBlending(20, 0.5),), {"rate": 0.1, "epsilon": 1.0}, {("epsilon", "delta"): -1}),
        Example((CrowdBlending(5, 0.1),), {"rate": 0.5, "epsilon": 0.4}, {("epsilon", "delta"): -1}),
        Example((CrowdBlending(10, 0.0),), {"rate": 0.2, "epsilon": 0.5}, {("epsilon", "delta"): -1}),
    ],
    "blending.closed-form": [
        Example((CrowdBlending(20, 0.5),), {"rate": 0.1}, {("rate", "epsilon"): 1}),
        Example((CrowdBlending(5, 0.0),), {"rate": 0.3}, {("rate", "epsilon"): 1}),
    ],
    "robust.differential": _ROBUST_CASES,
    "robust.zero-knowledge": _ROBUST_CASES,
    "histogram.noisy-sampled": [
        Example(
            (),
            {"k": 5, "noise_epsilon": 2.9, "rate": 0.1, "epsilon": 1.0, "flag": False},
            {("k", "delta"): -1, ("epsilon", "delta"): -1},
        ),
        Example(
            (),
            {"k": 5, "noise_epsilon": 0.6, "rate": 0.3, "epsilon": 0.6, "flag": True},
            {("k", "delta"): -1, ("epsilon", "delta"): -1, ("noise_epsilon", "delta"): 1},
        ),
    ],
    "points.sampled": [
        Example(
            (),
            {"k": 20, "noise_epsilon": 1.0, "rate": 0.1, "epsilon": 0.8},
            {**_DELTA, ("k", "delta"): -1, ("noise_epsilon", "delta"): 1},
        ),
        Example(
            (),
            {"k": 8, "noise_epsilon": 0.4, "rate": 0.5, "epsilon": 0.3},
            {**_DELTA, ("k", "delta"): -1, ("noise_epsilon", "delta"): 1},
        ),
    ],
    "choice.sampling": [Example((_dps(0.1, 1.0, a), _dps(0.1, 1.0, b))) for a, b in permutations((1e-6, 1e-7))],
    "choice.differential": [
        Example((_dp(1.0, a), _dp(1.0, b), _dp(1.0, c))) for a, b, c in permutations((1e-6, 1e-7, 1e-5))
    ],
    "choice.zero-knowledge": [Example((_zk(1.0, a), _zk(1.0, b))) for a, b in permutations((1e-6, 1e-7))],
    "composition.adaptive": [Example((_dp(0.025), _dp(0.025), _dp(0.05))), Example((_dp(0.5, 1e-7), _dp(0.25, 1e-6)))],
    "composition.differential": [
        Example((_dp(0.1, 1e-6), replace(_dp(0.2, 2e-6), samplings=2), replace(_dp(0.3, 0.0), samplings=1))),
        Example((_dp(0.1, 0.6, SWAP, 2), _dp(0.1, 0.6, SWAP, 2))),
        Example((_dp(0.1, 1e-6),)),
    ],
    "composition.random-samples": [
        Example((_zk(0.1, 1e-6), _zk(0.7, 1e-8, RandomSamples(10, 1000)))),
        Example((_zk(0.1, 0.0, RandomSamples(6, 9)), _zk(0.7, 0.0, RandomSamples(5, 9)))),
    ],
    "composition.iid-sampling": [
        Example((_zk(0.1, 1e-6, IidSampling(0.1), ADD), _zk(0.7, 1e-8, IidSampling(0.1, 3), ADD)))
    ],
    "composition.blending-differential": [Example((CrowdBlending(10, 0.1), _dp(0.7)))],
    "composition.blending-differential-both": [
        Example((CrowdBlending(10, 0.1), _dp(one), _dp(other, 0.0, SWAP))) for one, other in permutations((0.7, 0.9))
    ],
    "zero-knowledge.group": [Example((_zk(0.3),), {"people": 4}, _GROUP), Example((_zk(0.3),), {"people": 1}, _GROUP)],
    "zero-knowledge.group-distance": [Example((_zk(0.01, 1e-4),), {"people": 4}, _GROUP)],
    "zero-knowledge.group-samples": [
        Example((_zk(0.1, 1e-4, RandomSamples(5, 1000)),), {"people": 4}, _GROUP),
        Example((_zk(0.1, 1e-4, RandomSamples(5, 1000)),), {"people": 1}, _GROUP),
    ],
    "zero-knowledge.differential": [Example((_zk(0.4, 1e-5),)), Example((_zk(0.4, 1e-5, IidSampling(0.2), ADD),))],
    "differential.zero-knowledge": [Example((_dp(0.4, 1e-5, SWAP),), {"population": 100})],
    "laplace.sample-complexity": [
        Example((_DRAWN_SAMPLER,), {"sensitivity": 0.01, "scale": 0.5}, {**_LAPLACE, ("sensitivity", "epsilon"): 1}),
        Example(
            (Sampler(AVERAGE, 5.0, 0.1, 1.0, RandomSamples(100, 1000)),),
            {"sensitivity": 0.0, "scale": 0.3},
            {**_LAPLACE, ("sensitivity", "epsilon"): 1},
        ),
    ],
    "laplace.random-samples": [Example((_DRAWN_SAMPLER,), {"scale": 0.5}, _LAPLACE)],
    "laplace.everybody": [
        Example(
            (),
            {"sensitivity": 0.1, "scale": 0.3, "population": 50},
            {("sensitivity", "epsilon"): 1, ("scale", "epsilon"): -1},
        )
    ],
    "zero-knowledge.sampler": [Example((_zk(0.2), Useful(0.1, 0.05)), {"width": 3.0})],
    "sample-and-sanitize.plain": _SANITIZE,
    "sample-and-sanitize.doubled": _SANITIZE,
    "sample-and-sanitize.linear": _SANITIZE,
    "sample-and-sanitize.sharp": _SANITIZE,
    "sample-and-sanitize.differential": _SANITIZE,
    "totals.sum": [
        Example((), {"grid_steps": 100, "noise_epsilon": 0.01}, _TOTALS),
        Example((), {"grid_steps": 1, "noise_epsilon": 0.3}, _TOTALS),
    ],
    "totals.histogram": [
        Example((), {"bins": 12, "noise_epsilon": 0.1}, {("bins", "drift"): 1, ("noise_epsilon", "reach"): 1}),
        Example((), {"bins": 1, "noise_epsilon": 0.1}, {("bins", "drift"): 1, ("noise_epsilon", "reach"): 1}),
    ],
    "totals.groups": [
        Example((), {"bins": 6, "grid_steps": 100, "noise_epsilon": 0.01}, {("bins", "drift"): 1, **_TOTALS}),
        Example((), {"bins": 1, "grid_steps": 3, "noise_epsilon": 0.1}, {("bins", "drift"): 1, **_TOTALS}),
    ],
    "quantile.everybody": [
        Example(
            (),
            {"numerator": 1, "denominator": 2, "noise_epsilon": 0.3},
            {("denominator", "epsilon"): 1, ("noise_epsilon", "epsilon"): 1},
        )
    ],
    "quantile.groups": [
        Example((), {"numerator": 1, "denominator": 2, "noise_epsilon": 0.3}, {("noise_epsilon", "epsilon"): 1}),
        Example((), {"numerator": 9, "denominator": 10, "noise_epsilon": 0.3}, {("noise_epsilon", "epsilon"): 1}),
    ],
    "quantile.add-remove": [
        Example((), {"numerator": 9, "denominator": 10, "noise_epsilon": 0.3}, {("noise_epsilon", "epsilon"): 1})
    ],
    "totals.add-remove": [
        Example(
            (),
            {"bins": 6, "grid_steps": 100, "noise_epsilon": 0.01},
            {("grid_steps", "epsilon"): 1, ("noise_epsilon", "epsilon"): 1},
        )
    ],
    "totals.together": [Example((NoisyTotals(0.1, 0.04, 0.09), NoisyTotals(0.2, 0.3, 0.1))), Example((_NOISY,))],
    "totals.differential": [Example((_NOISY,))],
    "totals.zero-knowledge": [
        Example((_NOISY,), {"samples": 400, "population": 9000}, _ESTIMATED),
        Example((NoisyTotals(0.6, 0.25, 0.5),), {"samples": 900, "population": 1000}, _ESTIMATED),
        Example((NoisyTotals(0.6, 0.25, 0.5),), {"samples": 9, "population": 9}, {}),
        Example((NoisyTotals(0.6, 0.25, 0.5),), {"samples": 0, "population": 9}, {("population", "epsilon"): 1}),
    ],
    "graph.sampler.connected": [_EXPLORED],
    "graph.sampler.cycle-free": [
        Example((), {"degree_bound": 5, "accuracy": 0.2, "samples": 400, "explored": 20}, _EXPLORER)
    ],
    "graph.sampler.eulerian": [_EXPLORED],
    "graph.sampler.average-degree": [
        Example(
            (),
            {"degree_bound": 5, "accuracy": 0.3, "samples": 600},
            {("samples", "failure"): -1, ("accuracy", "failure"): -1, ("degree_bound", "failure"): 1},
        )
    ],
    "graph.connected": [_found(CONNECTED)],
    "graph.cycle-free": [_found(CYCLE_FREE)],
    "graph.eulerian": [_found(EULERIAN)],
    "graph.average-degree": [
        Example(
            (Sampler(AVERAGE_DEGREE, 0.05, 1e-4, 6.0, Neighbourhood(400, 1)),),
            {"degree_bound": 9, "population": 1000, "scale": 0.9},
            {**_GRAPH, ("degree_bound", "epsilon"): 1},
        )
    ],
    "histogram.suppressed": [Example((), {"k": 20})],
    "histogram.noisy": [Example((), {"k": 20, "noise_epsilon": 1.5}, {("noise_epsilon", "epsilon"): 1})],
    "histogram.laplace": [Example((), {"noise_epsilon": 0.5}, {("noise_epsilon", "epsilon"): 1})],
    "histogram.gaussian": [
        Example((), {"sigma": sigma, "epsilon": epsilon}, {("sigma", "delta"): -1, ("epsilon", "delta"): -1})
        for sigma, epsilon in ((20.0, 0.2), (1.5, 1.0), (300.0, 0.0))
    ],
    "histogram.threshold": [
        Example(
            (),
            {"noise_epsilon": 1.0, "show_from": show_from},
            {("noise_epsilon", "epsilon"): 1, ("show_from", "delta"): -1},
        )
        for show_from in (1, 15, 400)
    ],
    "generalization.suppressed": [Example((), {"k": 20})],
    "points.noisy": [Example((), {"k": 20, "noise_epsilon": 1.5}, {("noise_epsilon", "epsilon"): 1})],
    "blending.stated": [Example((), {"k": 12, "blend_epsilon": 0.3})],
    "blending.postprocessing": [Example((CrowdBlending(20, 0.5),))],
    "blending.differential": [Example((_dp(0.5),), {"k": 7})],
    "outlier.histogram": [
        Example((), {"epsilon": 0.2, "transition": 5, "limit": 15, "factor": 2.0}, {("factor", "delta"): -1}),
        Example((), {"epsilon": 1.0, "transition": 3, "limit": 10, "factor": 1.5}, {("factor", "delta"): -1}),
        Example((), {"epsilon": 0.5, "transition": 1, "limit": 2, "factor": 1.0}, {("factor", "delta"): -1}),
    ],
    "outlier.differential": [Example((OutlierPrivate(0.2, 50, 100, 2.0, 1e-6),))],
    "sampler.average": [
        Example(
            (),
            {"samples": 400, "population": 9000, "accuracy": 0.1, "width": 1.5},
            {("samples", "failure"): -1, ("accuracy", "failure"): -1, ("width", "failure"): 1},
        )
    ],
    "queries.vc-accuracy": [
        Example(
            (),
            {"samples": 5000, "dimension": 3, "failure": 0.05},
            {("samples", "accuracy"): -1, ("dimension", "accuracy"): 1, ("failure", "accuracy"): -1},
        )
    ],
    "queries.vc-samples": [Example((), {"samples": 60_000, "dimension": 3, "accuracy": 0.1, "failure": 0.05})],
    "queries.finite-class": [
        Example(
            (),
            {"samples": 500, "population": 9000, "queries": 40, "failure": 0.05},
            {("queries", "accuracy"): 1, ("population", "accuracy"): 1, ("failure", "accuracy"): -1},
        ),
        Example((), {"samples": 7, "population": 7, "queries": 1, "failure": 1.0}),
    ],
    "opendp.measurement": [
        Example((), {"epsilon": 0.5, "delta": 1e-7}, {("epsilon", "epsilon"): 1, ("delta", "delta"): 1})
    ],
    "synopsis.exponential": [Example((), {"epsilon": 0.5}, {("epsilon", "epsilon"): 1})],
    "synopsis.counts": [
        Example(
            (),
            {"noise_epsilon": 0.01, "sensitivity": 184.0},
            {("noise_epsilon", "epsilon"): 1, ("sensitivity", "epsilon"): 1},
        )
    ],
    "synopsis.exponential-useful": [
        Example(
            (),
            {"samples": 900, "universe": 8, "queries": 18, "rows": 10, "epsilon": 1.5, "failure": 0.05},
            {
                ("samples", "accuracy"): -1,
                ("universe", "accuracy"): 1,
                ("queries", "accuracy"): 1,
                ("epsilon", "accuracy"): -1,
                ("failure", "accuracy"): -1,
            },
        ),
        # So many possible rows that drawing is what brings the best table close.
        Example(
            (),
            {"samples": 90_000, "universe": 1000, "queries": 18, "rows": 12, "epsilon": 1.5, "failure": 0.05},
            {("samples", "accuracy"): -1, ("universe", "accuracy"): 1, ("queries", "accuracy"): 1},
        ),
    ],
    "synopsis.fitted-useful": [
        Example(
            (),
            {
                "samples": 9000,
                "queries": 18,
                "addends": 1,
                "noise_epsilon": 0.1,
                "rows": 9000,
                "slack": 0.01,
                "failure": 0.05,
            },
            {
                ("samples", "accuracy"): -1,
                ("queries", "accuracy"): 1,
                ("noise_epsilon", "accuracy"): -1,
                ("rows", "accuracy"): -1,
                ("slack", "accuracy"): 1,
                ("failure", "accuracy"): -1,
            },
        )
    ],
    "synopsis.counts-useful": [
        Example(
            (),
            {"samples": 9000, "queries": 18, "addends": addends, "noise_epsilon": 0.5, "failure": 0.05},
            {
                ("samples", "accuracy"): -1,
                ("queries", "accuracy"): 1,
                ("noise_epsilon", "accuracy"): -1,
                ("failure", "accuracy"): -1,
            },
        )
        for addends in (1, 9)
    ],
    "queries.useful": [
        Example((QuerySampler(5000, 0.1, 0.05), Useful(0.2, 0.01)), {"lipschitz": 1.0}, {("lipschitz", "accuracy"): 1})
    ],
    "laplace.accurate": [
        Example((), {"scale": 0.5, "failure": 0.05}, {("scale", "accuracy"): 1, ("failure", "accuracy"): -1}),
        Example((), {"scale": 0.5, "failure": 1.0}),
    ],
    "score.published": [
        Example(
            (),
            {"counted_from": 23, "rate": 0.5, "stands_for": 1, "parts": 9000},
            {("counted_from", "sensitivity"): 1, ("stands_for", "sensitivity"): 1, ("parts", "sensitivity"): 1},
        ),
        Example(
            (), {"counted_from": 12, "rate": 0.08, "stands_for": 50, "parts": 1}, {("stands_for", "sensitivity"): 1}
        ),
        Example((), {"counted_from": 1, "rate": 0.3, "stands_for": 2, "parts": 1}),
    ],
    "score.stated": [Example((), {"sensitivity": 7122.0, "monotone": False}, {("sensitivity", "sensitivity"): 1})],
    "selection.exponential": [
        Example((BoundedScore(7122.0, monotone=True),), {"epsilon": 0.1}, {("epsilon", "epsilon"): 1}),
        Example((BoundedScore(1.0, monotone=False),), {"epsilon": 0.0}, {("epsilon", "epsilon"): 1}),
    ],
    "recoding.population": [
        Example((_dp(0.5), _dps(0.1, 1.0, 1e-6))),
        Example((replace(_dp(0.5), samplings=1), _dps(0.1, 1.0, 1e-6))),
    ],
    "recoding.split": [
        Example(
            (_dp(1.0), CrowdBlending(10, 0.0)),
            {"rate": 0.2, "share": 0.25, "epsilon": 0.5},
            {("share", "delta"): -1, ("epsilon", "epsilon"): 1, ("epsilon", "delta"): -1, **_WEAKER_RATE},
        )
    ],
    "register.rows": [
        Example((), {"noise_epsilon": 0.1, "rows_per_person": 3}, {("noise_epsilon", "epsilon"): 1}),
        Example((), {"noise_epsilon": 1.0, "rows_per_person": 1}, {("rows_per_person", "epsilon"): 1}),
    ],
    "register.total": [Example((), {"noise_epsilon": 0.05, "rows_per_person": 7}, {("rows_per_person", "epsilon"): 1})],
    "rows.per-person": [
        Example((_dp(0.3, 1e-7),), {"rows_per_person": 4}, {("rows_per_person", "delta"): 1}),
        Example((_dp(0.0, 1e-3),), {"rows_per_person": 5}, {("rows_per_person", "delta"): 1}),
        Example((_dp(0.1),), {"rows_per_person": 2}, {("rows_per_person", "epsilon"): 1}),
    ],
    **NETWORK_EXAMPLES,
    **PROGRAMME_EXAMPLES,
    **PROFILE_EXAMPLES,
    **STRATA_EXAMPLES,
}

CASES = [(rule_id, number) for rule_id, examples in EXAMPLES.items() for number in range(len(examples))]
