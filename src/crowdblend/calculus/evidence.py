"""What stands behind a rule beside its proof in prose: theorems that Coq has checked, and enumerated worlds."""

from __future__ import annotations

from collections.abc import Mapping

MACHINE_CHECKED: Mapping[str, tuple[str, ...]] = {
    "sampling.amplification": ("sampling.amplification_at",),
    "dps.lower-rate": ("sampling.lower_rate",),
    "dps.postprocessing": ("hockey.hockey_push",),
    "dps.random-choice": ("hockey.hockey_convex",),
    "differential.replace": ("hockey.hockey_chain",),
    "differential.group": ("composition.groups",),
    "suppression.exact": (
        "sampling.exact_up",
        "sampling.exact_down",
        "sampling.rate_alone",
        "attained.attained_up",
        "attained.attained_down",
    ),
    "blending.sharp": ("sampling.blending_sharp_up", "sampling.blending_sharp_down", "sampling.rate_alone"),
    "blending.explicit": ("explicit.explicit_up", "explicit.explicit_down", "sampling.rate_alone"),
    "histogram.suppressed": ("suppression.suppression_blends",),
    "generalization.suppressed": ("blending.recoded_blends",),
    "blending.postprocessing": ("blending.blending_push",),
    "blending.differential": ("blending.differential_blends",),
    "composition.differential": ("composition.composition_sums",),
    "composition.adaptive": ("composition.composition_sums",),
    "programme.parts": ("parts.parts_up", "parts.parts_down", "crowds.crowd_more", "crowds.crowd_fewer"),
    "strata.worst": ("strata.strata_worst",),
    "composition.profiles": ("composition.products_dominate",),
    "profile.crowds": ("sampling.sampled_crowds_up", "sampling.sampled_crowds_down"),
    "profile.amplified": ("sampling.person_more", "sampling.person_fewer"),
}
"""For a rule the theorems in proofs/, by file and name, that its statement follows from."""

ENUMERATED: Mapping[str, int] = {
    "suppression.exact": 420,
    "programme.parts": 1400,
    "strata.worst": 120,
}
"""For a rule the number of worlds in which tests/truth holds it against the definition, in exact fractions."""


def evidence(rule_id: str) -> list[str]:
    """Return what has been checked of a rule, one line each; nothing where it rests on its proof in prose alone."""
    lines = []
    if rule_id in MACHINE_CHECKED:
        lines.append(f"checked by Coq: {', '.join(MACHINE_CHECKED[rule_id])}")
    if rule_id in ENUMERATED:
        lines.append(f"enumerated in exact fractions: {ENUMERATED[rule_id]:,} worlds")
    return lines
