"""Sanitizers that run on a sample of fixed size: their differential privacy with one person's data replaced.

Sample-and-sanitize (ZKP Proposition 16) starts from here. A concealed row ⊥ counts as a value like any other: synopses
let it satisfy no query, and an OpenDP measurement reads it as one fixed value of its domain.
"""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import TABLE, Assumption
from crowdblend.calculus.description import mechanism
from crowdblend.calculus.theorem import rule
from crowdblend.guarantees.privacy import Differential, Relation
from crowdblend.numerics.balls import round_up


@rule(
    "opendp.measurement",
    source="OpenDP's privacy map, docs/proofs.md#sanitizers-on-a-sample",
    statement="A measurement whose privacy map gives (ε, δ) at the distance of one replaced row is (ε, "
    "δ)-differentially private with one person's data replaced.",
    assumes=(Assumption.STATED_MAP, Assumption.ONE_ROW_PER_PERSON),
    about=mechanism("opendp.measurement", "epsilon", "delta"),
)
def opendp_measurement(*, epsilon: float, delta: float) -> Differential:
    """Replacing a row is one change to a metric that counts changes, and two steps to one that counts people."""
    return Differential(epsilon, delta, Relation.REPLACE)


@rule(
    "synopsis.exponential",
    source="BLR08 as used in ZKP Proposition 24, docs/proofs.md#sanitizers-on-a-sample",
    statement="Choosing among fixed tables of synthetic rows with probability proportional to e^{−ε·k·d/2}, where d is "
    "the largest difference between the shares of a query of the class in the candidate and among the k people, is "
    "ε-differentially private with one person's data replaced.",
    assumes=(*TABLE, Assumption.FIXED_CANDIDATES, Assumption.SYNOPSIS_WEIGHTS, Assumption.EXACT_CHOICE),
    about=mechanism("synopsis.exponential", "epsilon"),
)
def synopsis_exponential(*, epsilon: float) -> Differential:
    """One person of k moves every share, hence d, by at most 1/k."""
    return Differential(epsilon, 0.0, Relation.REPLACE)


@rule(
    "synopsis.counts",
    source="discrete Laplace mechanism, docs/proofs.md#sanitizers-on-a-sample",
    statement="Counts over fixed classes that replacing one person's data moves by at most s in total, each with "
    "discrete Laplace noise of loss ε₀, and whatever is computed from them alone, are sε₀-differentially private with "
    "one person's data replaced.",
    assumes=(
        *TABLE,
        Assumption.EXACT_NOISE,
        Assumption.DISCRETE_LAPLACE,
        Assumption.MOVED_COUNTS,
        Assumption.ALL_CELLS,
    ),
    about=mechanism("synopsis.counts", "noise_epsilon", "sensitivity"),
)
def noisy_counts(*, noise_epsilon: float, sensitivity: float) -> Differential:
    """Each count that moves by one costs a factor e^ε₀."""
    return Differential(round_up(arb(noise_epsilon) * sensitivity), 0.0, Relation.REPLACE)
