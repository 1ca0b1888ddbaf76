"""What can and what cannot be said about the population, in sentences that follow from the facts of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdblend.estimates import domain_sizes, estimator_of, strata_of
from crowdblend.estimates.estimator import CONFIDENCE
from crowdblend.reading.domain import Facts, Labels
from crowdblend.reading.strata import stratum_sentences, unpublished_design


def sentences(facts: Facts, domain: Mapping[str, Labels | None], margin: Sequence[str] | None = None) -> list[str]:
    """How to read counts and estimates of this release; of a margin, what its sums are."""
    strata = strata_of(facts)
    if strata is not None:
        return stratum_sentences(facts, strata)
    estimator = estimator_of(facts)
    if estimator is None:
        return ["The certificate does not say how people were sampled, so nothing is said about the population."]
    lines = [*_sample(facts), *unpublished_design(facts), *_cells(facts)]
    open_columns = [name for name, size in domain_sizes(facts).items() if size is None and name in domain]
    if open_columns and estimator.law.noiseless:
        lines.append(
            f"The labels of {', '.join(open_columns)} are not listed, so cells that are not published cannot be "
            "counted and sums over them have no upper end."
        )
    if margin is not None and estimator.law.noiseless:
        lines.append(
            "Sums over cells of which some are not published are given as a lower and an upper end, without an "
            "estimate: what is missing is not known."
        )
    return lines


def _sample(facts: Facts) -> list[str]:
    estimator = estimator_of(facts)
    assert estimator is not None
    design = estimator.design
    parameters = facts.get("parameters")
    rows = parameters.get("rows_per_person") if isinstance(parameters, Mapping) else None
    if rows is not None and isinstance(parameters, Mapping) and parameters.get("count") == "people":
        return [
            f"Counts are people: everybody is counted once in every class of theirs, in at most {rows} random ones. "
            "Who has several classes is counted in each, so sums over classes are not numbers of people; the number of "
            "people is in the table totals."
        ]
    if rows is not None:
        return [
            f"Counts are rows about everybody in the table: of each person at most {rows} random ones. The number of "
            "people is in the table totals."
        ]
    if design.least == design.most == 1:
        return ["Counts are about everybody in the table."]
    rate = f"{design.least:g}" if design.least == design.most else f"between {design.least:g} and {design.most:g}"
    lines = [f"count is about a random sample, which has each person with probability {rate}."]
    lines.append("estimate, low and high are about the population that the sample was drawn from.")
    if facts.get("already_drawn") is True:
        lines.append(
            "The sample was drawn before, and its rate is an assumption of the publisher: the estimates are only as "
            "good as that. How many people the population has in all is not known here."
        )
    if design.least < design.most:
        lines.append("People who had no chance to be sampled are not counted in the estimates.")
    return lines


def _cells(facts: Facts) -> list[str]:
    estimator = estimator_of(facts)
    assert estimator is not None
    law = estimator.law
    if law.noiseless:
        most = estimator.unpublished(confidence=CONFIDENCE)
        return [
            f"A cell is published when at least {law.shown_from:,} sampled people are in it. One that is missing is "
            f"not zero: it has up to {most:,} people of the population, 95 times in 100."
        ]
    if law.shown_from is None:
        which = "Small counts" if law.exact_from is not None else "Counts"
        return [
            f"Every cell is published. {which} carry noise and may be negative; sums of cells are right on average."
        ]
    return [
        f"Counts carry noise, and cells below {law.shown_from:,} are not published. Do not add cells up: the sums "
        "would be too large."
    ]
