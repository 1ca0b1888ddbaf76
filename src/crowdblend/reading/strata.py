"""How to read a release from a stratified sample or a weighted survey, in sentences and in datapackage.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdblend.estimates import Estimator, StrataFacts, strata_of
from crowdblend.reading.domain import Facts

_MOST_LISTED = 12


def stratum_sentences(facts: Facts, strata: StrataFacts) -> list[str]:
    """How to read counts and estimates of a stratified sample."""
    found = {label: own for label, own in strata.estimators().items() if own is not None}
    if len(found) < len(strata.facts):
        return ["The certificate does not say how people were sampled, so nothing is said about the population."]
    listed = ", ".join(f"{label}: {_rates(own)}" for label, own in [*found.items()][:_MOST_LISTED])
    more = len(found) - _MOST_LISTED
    lines = [
        f"count is about a stratified sample: people of each label of {strata.column} were sampled at a rate of their "
        f"own ({listed}{f', and {more} more, which datapackage.json lists' if more > 0 else ''}).",
        "Counts of different strata must not be added or compared: one person stands for more people where the rate is "
        "lower. Add estimates instead, or read a margin: crowdblend read DIR --margin COLUMN.",
        "estimate, low and high are about the population: each count is divided by the rate of its stratum.",
    ]
    if facts.get("already_drawn") is True:
        lines.append(
            "The sample was drawn before, and its rates are an assumption of the publisher: the estimates are only as "
            "good as that."
        )
    if any(own.design.least < own.design.most for own in found.values()):
        lines.append(
            "In a stratum of survey weights the estimate counts everybody with a middle weight of the stratum; low and "
            "high hold for every weight in it."
        )
    return [*lines, *_cells(found)]


def _cells(found: Mapping[str, Estimator]) -> list[str]:
    sizes = sorted({own.law.shown_from for own in found.values() if own.law.shown_from is not None})
    if not sizes:
        return [
            "Every cell is published. Small counts carry noise and may be negative; sums of estimates are right on "
            "average."
        ]
    least = f"{sizes[0]:,}" if len(sizes) == 1 else f"between {sizes[0]:,} and {sizes[-1]:,}"
    most = max(own.unpublished() for own in found.values() if own.law.shown_from is not None)
    return [
        f"A cell is published when enough sampled people are in it, {least} depending on its stratum. One that is "
        f"missing is not zero: it has up to {most:,} people of the population, 95 times in 100."
    ]


def unpublished_design(facts: Facts) -> list[str]:
    """What a design that is not published means for readers; nothing where people have one rate."""
    design = facts.get("design")
    if not isinstance(design, Mapping):
        return []
    if "weight" in design:
        return [
            "The survey has weights, which differ between people. They are not published, because they would tell "
            "people apart, so a count cannot be turned into an estimate here: low and high hold for every weight that "
            "was possible."
        ]
    rates = design.get("rates")
    named = [*rates.items()][:_MOST_LISTED] if isinstance(rates, Mapping) else []
    listed = ", ".join(f"{label}: {rate}" for label, rate in named)
    return [
        f"People were sampled by strata of {design.get('stratum')}, which is not published ({listed}). A cell may hold "
        "people of all strata, so there is no estimate: low and high hold for every mixture of them."
    ]


def strata_of_package(facts: Facts) -> dict[str, Any]:
    """The strata for datapackage.json: the column, and rate, k and unpublished cells of every label."""
    strata = strata_of(facts)
    if strata is None:
        return {}
    described = {}
    for label, own in strata.estimators().items():
        if own is not None:
            design, shown_from = own.design, own.law.shown_from
            one: dict[str, Any] = {"rate": design.rate, "least": design.least, "most": design.most}
            one["shown_from"] = shown_from
            if shown_from is not None:
                one["unpublished_cell"] = {"low": 0, "high": own.unpublished()}
            described[label] = one
    assumed = facts.get("already_drawn") is True
    return {"sampling": {"stratum": strata.column, "strata": described, "assumed": assumed}}


def _rates(own: Estimator) -> str:
    design = own.design
    return f"{design.least:g}" if design.least == design.most else f"{design.least:.3g} to {design.most:.3g}"
