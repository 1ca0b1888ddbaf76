"""Democrats and Republicans, the running example of ZKP (1.1, 2.3 and Appendix A).

A network of cliques; in each, at least a share 1 − α votes alike, and which way is a fair coin for every clique by
itself. Publishing every clique's proportion with Laplace noise is ε-differentially private, and yet tells how a
member votes. A noisy average over people drawn at random from the whole network does not.
"""

from __future__ import annotations

import math

from crowdblend.lab.papers.reproduction import Cell, Reproduction, agrees
from crowdblend.reading.figures.charts import Axis, Line, LineChart
from crowdblend.trusted.calculus.rules.zero_knowledge import (
    group_by_chain,
    group_by_distance,
    group_by_samples,
    sample_and_sanitize_sharp,
)
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge

CLIQUE, DISSENT = 200, 0.2
SAMPLES, POPULATION = 1_000, 10_000_000
EPSILONS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# Printed in Appendix A: the attack, and the bound ½e^ε that one might hope for.
PRINTED = {0.01: ("0.580", "0.505"), 0.1: ("0.799", "0.553")}


def politics() -> Reproduction:
    """Return a differentially private release that tells how you vote, and a zero-knowledge one that does not."""
    drawn = f"{SAMPLES:,} of {POPULATION:,} people"
    return Reproduction(
        name="zkp-politics",
        title="How often a neighbour guesses your vote",
        source="ZKP, Appendix A",
        columns=(
            "epsilon",
            "printed, cliques",
            "cliques, at least",
            "printed, e^epsilon/2",
            "e^epsilon/2",
            "zero-knowledge epsilon",
            "sampled average, at most",
            "digits match",
        ),
        rows=tuple(_row(epsilon) for epsilon in EPSILONS),
        chart=_chart(drawn),
        note=f"Cliques of {CLIQUE}, at least {1 - DISSENT:.0%} of each alike. The sampled average shows {drawn} "
        "with noise of the same ε; it is another statistic, since noisy proportions of all cliques are not zero-"
        "knowledge private with respect to few random samples (ZKP Proposition 9). Its bound conceals the whole clique "
        "and assumes that cliques lean independently of one another.",
    )


def _row(epsilon: float) -> tuple[Cell, ...]:
    attack, hope = clique_guess(epsilon), independent_bound(epsilon)
    printed_attack, printed_hope = PRINTED.get(epsilon, (None, None))
    match = None
    if printed_attack and printed_hope:
        match = agrees(printed_attack, attack) and agrees(printed_hope, hope)
    zero_knowledge = (sampled_guarantee(epsilon).epsilon, sampled_guess(epsilon))
    return (epsilon, printed_attack, attack, printed_hope, hope, *zero_knowledge, match)


def clique_guess(epsilon: float) -> float:
    """Return the least chance that a clique's noisy proportion tells a vote (ZKP Appendix A)."""
    misled = math.exp(-(0.5 - DISSENT) * CLIQUE * epsilon) / 2
    return (1 - misled) * (1 - DISSENT)


def independent_bound(epsilon: float) -> float:
    """Return what differential privacy would allow if people were independent of each other."""
    return min(1.0, math.exp(epsilon) / 2)


def sampled_guarantee(epsilon: float) -> ZeroKnowledge:
    """Return what the sampled average guarantees to one person, with respect to as many samples."""
    sanitizer = Differential(epsilon, 0.0, Relation.REPLACE)
    guarantee = sample_and_sanitize_sharp.conclude(sanitizer, samples=SAMPLES, population=POPULATION)
    assert isinstance(guarantee, ZeroKnowledge)
    return guarantee


def sampled_guess(epsilon: float) -> float:
    """Return the largest chance that the sampled average tells a person's vote.

    Without the clique a simulator can only toss a coin, so the release is right with probability at most
    e^ε/2 + δ, where (ε, δ) is the guarantee to the clique as a whole: the best of the three group rules.
    """
    person = sampled_guarantee(epsilon)
    rules = (group_by_chain, group_by_distance, group_by_samples)
    groups = [group for rule in rules if isinstance(group := rule.conclude(person, people=CLIQUE), ZeroKnowledge)]
    return min(math.exp(group.epsilon) / 2 + group.delta for group in groups)


def _chart(how: str) -> LineChart:
    lines = {
        "from clique proportions: at least": clique_guess,
        "½e^ε, if people were independent": independent_bound,
        "from the sampled average: at most": sampled_guess,
    }
    grid = [EPSILONS[0] * (EPSILONS[-1] / EPSILONS[0]) ** (step / 48) for step in range(49)]
    return LineChart(
        [Line(name, [(epsilon, guess(epsilon)) for epsilon in grid]) for name, guess in lines.items()],
        x=Axis("ε", log=True),
        y=Axis("probability of guessing right"),
        title="ZKP Appendix A: how often a neighbour guesses your vote",
        subtitle=f"Cliques of {CLIQUE}, {1 - DISSENT:.0%} alike. Sampled: {how}. A coin is right half the time.",
    )
