"""Evidence for every rule beside its written proof: theorems checked by Coq, enumerated worlds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crowdblend.trusted.calculus.theorem import RULES, Rule


class CoqProof(NamedTuple):
    """The theorems in proofs/ that a rule follows from, by file and name, and what they leave out beside rounding."""

    theorems: str
    not_covered: str = ""


MACHINE_CHECKED: Mapping[str, CoqProof] = {
    "sampling.amplification": CoqProof("sampling.amplification_at"),
    "dps.lower-rate": CoqProof("sampling.lower_rate"),
    "dps.postprocessing": CoqProof("hockey.hockey_push", "infinitely many outcomes"),
    "dps.random-choice": CoqProof("hockey.hockey_convex"),
    "differential.replace": CoqProof("hockey.hockey_chain"),
    "differential.group": CoqProof("composition.groups"),
    "suppression.exact": CoqProof(
        "sampling.exact_up sampling.exact_down sampling.rate_alone attained.attained_up attained.attained_down",
        "which class size is the worst, a hypothesis that tests find fulfilled",
    ),
    "blending.sharp": CoqProof(
        "sampling.blending_sharp_up sampling.blending_sharp_down sampling.rate_alone",
        "which class sizes are the worst, a hypothesis that tests find fulfilled",
    ),
    "blending.explicit": CoqProof(
        "explicit.explicit_up explicit.explicit_down sampling.rate_alone",
        "the suprema over class sizes, which are hypotheses",
    ),
    "histogram.suppressed": CoqProof("suppression.suppression_blends"),
    "generalization.suppressed": CoqProof("blending.recoded_blends"),
    "blending.postprocessing": CoqProof("blending.blending_push", "infinitely many outcomes"),
    "blending.differential": CoqProof("blending.differential_blends", "infinitely many outcomes"),
    "composition.differential": CoqProof(
        "composition.composition_sums", "infinitely many outcomes; of more than two releases the repetition"
    ),
    "composition.adaptive": CoqProof(
        "composition.composition_sums", "infinitely many outcomes; of more than two steps the repetition"
    ),
    "programme.parts": CoqProof(
        "parts.parts_up parts.parts_down crowds.crowd_more crowds.crowd_fewer",
        "infinitely many outcomes; noise below k, points, and crowds below the factor e^ε₀",
    ),
    "strata.worst": CoqProof("strata.strata_worst", "infinitely many outcomes"),
    "composition.profiles": CoqProof(
        "composition.products_dominate", "that a curve has a dominating pair, the convolution, infinitely many outcomes"
    ),
    "profile.crowds": CoqProof(
        "sampling.sampled_crowds_up sampling.sampled_crowds_down",
        "the suprema over class sizes, which are hypotheses; factors below 1 + β(e^ε − 1)",
    ),
    "profile.amplified": CoqProof(
        "sampling.person_more sampling.person_fewer", "that ε and δ at one factor bound the divergence at all of them"
    ),
}
"""What Coq has checked, by rule."""


class Worlds(NamedTuple):
    """The number of worlds that the tests enumerate for a rule, and the tests that do so."""

    quick: int
    every: int
    tests: str
    part: str = ""

    def __str__(self) -> str:
        """Return the numbers and the files in a line."""
        worlds = f"{self.quick:,} world{'s' * (self.quick > 1)}"
        slow = f", {self.every:,} in the slow suite" if self.every > self.quick else ""
        folders = [name if "/" in name else f"truth/{name}" for name in self.tests.split()]
        files = ", ".join(f"tests/{folder}/test_{name}.py" for folder, name in (one.rsplit("/", 1) for one in folders))
        return f"enumerated: {worlds}{slow} ({files}{self.part and '; '}{self.part})"


DEFINITION = "a definition: nothing to enumerate"
SMALLEST = "the smallest of several true numbers: nothing to enumerate"

ENUMERATED: Mapping[str, Worlds | str] = {
    "sampling.amplification": Worlds(5, 5, "sampling"),
    "dps.lower-rate": Worlds(5, 5, "sampling"),
    "dps.postprocessing": Worlds(5, 5, "sampling"),
    "dps.random-choice": Worlds(5, 5, "sampling"),
    "dps.differential": Worlds(5, 5, "sampling"),
    "dps.zero-knowledge": Worlds(4, 4, "sampling"),
    "differential.replace": Worlds(5, 5, "sampling"),
    "differential.group": Worlds(5, 5, "sampling"),
    "suppression.published": Worlds(9, 9, "exact_delta"),
    "suppression.exact": Worlds(34, 64, "exact_delta sampling"),
    "blending.sharp": Worlds(8, 8, "sampling"),
    "histogram.noisy-sampled": Worlds(12, 18, "noise_below_k"),
    "points.sampled": Worlds(6, 14, "points"),
    "choice.sampling": SMALLEST,
    "choice.differential": SMALLEST,
    "choice.zero-knowledge": SMALLEST,
    "blending.explicit": Worlds(8, 8, "sampling"),
    "blending.closed-form": Worlds(8, 8, "sampling"),
    "robust.differential": Worlds(6, 12, "sampling"),
    "robust.zero-knowledge": Worlds(6, 12, "sampling"),
    "composition.differential": Worlds(5, 5, "composition"),
    "composition.adaptive": Worlds(5, 125, "recoding strata_statistics"),
    "composition.random-samples": Worlds(2, 3, "composition"),
    "composition.iid-sampling": Worlds(5, 5, "composition"),
    "composition.blending-differential": Worlds(4, 4, "crowd_blending"),
    "composition.blending-differential-both": Worlds(4, 4, "crowd_blending"),
    "graph.sampler.connected": Worlds(3, 3, "graphs"),
    "graph.sampler.cycle-free": Worlds(3, 3, "graphs"),
    "graph.sampler.eulerian": Worlds(3, 3, "graphs"),
    "graph.sampler.average-degree": Worlds(2, 2, "graphs"),
    "graph.estimator.connected": Worlds(4, 4, "network_promises"),
    "graph.estimator.eulerian": Worlds(4, 4, "network_promises"),
    "graph.estimator.cycle-free": Worlds(8, 8, "network_promises"),
    "graph.estimator.average-degree": Worlds(8, 8, "network_promises"),
    "graph.estimator.light-ends": Worlds(4, 4, "network_promises"),
    "graph.estimator.average": Worlds(4, 4, "network_promises"),
    "graph.estimator.histogram": Worlds(4, 4, "network_promises"),
    "graph.estimator.degrees": Worlds(4, 4, "degrees"),
    "zero-knowledge.group": Worlds(2, 4, "zero_knowledge"),
    "zero-knowledge.group-distance": Worlds(2, 4, "zero_knowledge"),
    "zero-knowledge.group-samples": Worlds(2, 4, "zero_knowledge"),
    "zero-knowledge.differential": Worlds(2, 4, "zero_knowledge"),
    "differential.zero-knowledge": Worlds(2, 4, "zero_knowledge"),
    "laplace.sample-complexity": Worlds(2, 2, "zero_knowledge"),
    "laplace.random-samples": Worlds(1, 1, "zero_knowledge"),
    "laplace.everybody": Worlds(2, 2, "zero_knowledge"),
    "zero-knowledge.sampler": Worlds(3, 3, "zero_knowledge"),
    "sample-and-sanitize.plain": Worlds(4, 4, "zero_knowledge"),
    "sample-and-sanitize.doubled": Worlds(4, 4, "zero_knowledge"),
    "sample-and-sanitize.linear": Worlds(4, 4, "zero_knowledge"),
    "sample-and-sanitize.sharp": Worlds(9, 25, "zero_knowledge totals"),
    "sample-and-sanitize.differential": Worlds(7, 11, "zero_knowledge totals"),
    "graph.connected": Worlds(9, 9, "graphs", "the sensitivity alone"),
    "graph.cycle-free": Worlds(9, 9, "graphs", "the sensitivity alone"),
    "graph.eulerian": Worlds(9, 9, "graphs", "the sensitivity alone"),
    "graph.average-degree": Worlds(3, 3, "graphs", "the sensitivity alone"),
    "graph.published.distance": Worlds(1, 1, "network_promises"),
    "graph.sharp.distance": Worlds(3, 3, "network_promises"),
    "graph.sharp.degree": Worlds(1, 1, "network_promises"),
    "graph.sharp.histogram": Worlds(3, 3, "network_promises"),
    "graph.sharp.degrees": Worlds(4, 6, "degrees"),
    "graph.differential.distance": Worlds(3, 3, "network_edits", "the sensitivity alone"),
    "graph.differential.histogram": Worlds(3, 3, "network_promises"),
    "graph.differential.degrees": Worlds(4, 6, "degrees", "the sensitivity alone"),
    "histogram.suppressed": Worlds(4, 4, "crowd_blending"),
    "histogram.noisy": Worlds(2, 3, "crowd_blending"),
    "histogram.laplace": Worlds(2, 2, "crowd_blending"),
    "histogram.gaussian": Worlds(18, 18, "gaussian"),
    "histogram.threshold": Worlds(120, 1_008, "threshold"),
    "generalization.suppressed": Worlds(4, 4, "crowd_blending"),
    "points.noisy": Worlds(1, 1, "crowd_blending"),
    "blending.stated": DEFINITION,
    "blending.postprocessing": Worlds(3, 6, "crowd_blending"),
    "blending.differential": Worlds(4, 4, "crowd_blending"),
    "profile.gaussian": Worlds(120, 1_134, "gaussian"),
    "profile.threshold": Worlds(796, 1_684, "threshold"),
    "outlier.histogram": Worlds(4, 4, "noise_below_k"),
    "outlier.differential": Worlds(1, 1, "noise_below_k"),
    "synopsis.exponential": Worlds(2, 4, "synopses"),
    "synopsis.counts": Worlds(3, 4, "synopses"),
    "programme.part": DEFINITION,
    "programme.part-noise-below-k": DEFINITION,
    "programme.part-points": DEFINITION,
    "programme.part-private": DEFINITION,
    "programme.parts": Worlds(40, 1_000, "programme"),
    "profile.unequal-programme": Worlds(14, 4_000, "biased_parts"),
    "recoding.population": Worlds(3, 3, "recoding"),
    "recoding.split": Worlds(10, 10, "recoding"),
    "score.published": Worlds(8, 25, "trusted/numerics/expected_people", "one class"),
    "score.stated": DEFINITION,
    "selection.exponential": Worlds(2, 3, "methods/selection/exponential"),
    "profile.crowds": Worlds(4, 18, "profiles"),
    "profile.noise-below-k": Worlds(4, 4, "profiles"),
    "profile.points": Worlds(3, 318, "surveys", "with data replaced"),
    "profile.programme": Worlds(10, 36, "programme profiles"),
    "profile.steps": Worlds(6, 1_000, "programme"),
    "profile.one-sample": Worlds(6, 1_000, "programme"),
    "profile.one-unequal-sample": Worlds(6, 1_000, "programme"),
    "profile.biased": Worlds(4, 11, "profiles"),
    "profile.amplified": Worlds(2, 12, "profiles"),
    "profile.outliers": Worlds(1, 1, "profiles"),
    "profile.differential": Worlds(3, 11, "profiles"),
    "profile.recoding-split": Worlds(6, 14, "profiles"),
    "profile.replaced": Worlds(20, 2_560, "surveys"),
    "composition.profiles": Worlds(16, 46, "strata profiles"),
    "composition.repeated": Worlds(2, 2, "profiles"),
    "profile.delta": Worlds(16, 46, "strata profiles"),
    "profile.epsilon": Worlds(2, 2, "profiles"),
    "profile.replace": Worlds(8, 8, "profiles"),
    "profile.group": Worlds(8, 8, "profiles"),
    "sampler.average": Worlds(4, 4, "zero_knowledge"),
    "queries.finite-class": Worlds(4, 4, "synopses"),
    "synopsis.exponential-useful": Worlds(6, 6, "synopses"),
    "synopsis.counts-useful": Worlds(4, 4, "synopses"),
    "register.rows": Worlds(2, 3, "registers"),
    "register.total": Worlds(2, 2, "registers"),
    "rows.per-person": Worlds(4, 48, "registers"),
    "rows.own-coins": Worlds(20, 2_560, "row_coins"),
    "strata.at-one-rate": DEFINITION,
    "strata.between-rates": Worlds(29, 58, "strata"),
    "strata.worst": Worlds(60, 120, "strata"),
    "strata.together": Worlds(12, 240, "strata_together"),
    "strata.copies": Worlds(1, 121, "strata_statistics"),
    "strata.more-copies": Worlds(1, 121, "strata_statistics"),
    "strata.joint": Worlds(1, 121, "strata_statistics"),
    "profile.strata": Worlds(6, 6, "strata"),
    "survey.profile": Worlds(20, 2_560, "surveys"),
    "survey.strata-profile": Worlds(20, 2_560, "surveys"),
    "survey.groups-profile": Worlds(20, 2_560, "surveys"),
    "survey.zero-knowledge": Worlds(5, 801, "surveys"),
    "totals.sum": Worlds(3, 12, "totals"),
    "totals.histogram": Worlds(1, 9, "totals"),
    "totals.groups": Worlds(1, 3, "totals"),
    "totals.together": Worlds(3, 3, "totals"),
    "totals.differential": Worlds(3, 7, "totals"),
    "totals.add-remove": Worlds(1, 121, "strata_statistics"),
    "totals.zero-knowledge": Worlds(5, 21, "totals"),
    "quantile.everybody": Worlds(9, 9, "quantiles"),
    "quantile.groups": Worlds(6, 6, "quantiles"),
    "quantile.add-remove": Worlds(1, 121, "strata_statistics"),
}
"""The worlds in which tests hold a rule against the definition, or why there are none; else it is not enumerated."""


def evidence(rule: Rule) -> list[str]:
    """Return where a rule is proved in prose, what Coq has checked of it and what is enumerated, one line each."""
    checked = "not checked by Coq"
    if rule.id in MACHINE_CHECKED:
        theorems, not_covered = MACHINE_CHECKED[rule.id]
        checked = f"checked by Coq: {', '.join(theorems.split())}{not_covered and '; not covered: '}{not_covered}"
    return [f"proof in prose: {rule.theorem.source}", checked, str(ENUMERATED.get(rule.id, "not enumerated"))]


def in_short(rule: Rule) -> str:
    """Return whether Coq has checked a rule, and the number of worlds with the slow suite."""
    worlds = ENUMERATED.get(rule.id, "not enumerated")
    enumerated = f"{worlds.every:,} world{'s' * (worlds.every > 1)}" if isinstance(worlds, Worlds) else worlds
    return f"Coq, {enumerated}" if rule.id in MACHINE_CHECKED else enumerated


def summary() -> str:
    """Return how many rules Coq has checked and how many are enumerated, in a sentence."""
    enumerated = {rule for rule, worlds in ENUMERATED.items() if isinstance(worlds, Worlds)}
    nothing = {rule for rule, worlds in ENUMERATED.items() if worlds in (DEFINITION, SMALLEST)}
    alone = set(RULES) - enumerated - nothing - set(MACHINE_CHECKED)
    return (
        f"Of {len(RULES)} rules Coq has checked {len(MACHINE_CHECKED)}, and tests enumerate {len(enumerated)}. "
        f"{len(nothing)} are definitions or choices; {len(alone)} rest on their proofs in prose alone."
    )
