"""Sentences on what can and cannot be said about the population, from the facts of a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from crowdblend.calculus import Assumption
from crowdblend.designs import InclusionRates
from crowdblend.designs.design import MOST_LISTED
from crowdblend.estimates.estimator import CONFIDENCE, Estimator
from crowdblend.estimates.laws import GaussianOnEveryCell, Law, NoiseBelowK, NoiseFromThreshold, OutlierNoise
from crowdblend.guarantees.wording import three_digits
from crowdblend.releases.facts import CellTable, ReleaseFacts

_UNKNOWN = "The certificate does not say how people were sampled, so nothing is said about the population."
_SELECTED = (
    "Of a cell that is barely large enough the estimate is too large on average: it is published only when many of its "
    "people happened to be sampled. low and high take that into account."
)
_CHOSEN = (
    "A part of the sample chose the labels, and is in none of the numbers. The intervals are those of labels that were "
    "fixed before: they are not proved to cover as often after such a choice."
)


_LOWER_ENDS = (
    "Sums of published cells are lower ends: cells that are missing are not in them. Groups of people who fall into "
    "many small cells lose more than others, so compare the intervals, not the sums."
)


def sentences(
    facts: ReleaseFacts, table: CellTable, margin: Sequence[str] | None = None, confidence: float = CONFIDENCE
) -> list[str]:
    """Return sentences on reading counts and estimates of a table; of a margin, on its sums."""
    laws = table.laws
    if laws.stratum is not None:
        return stratum_sentences(facts, table, confidence)
    estimator = laws.estimator
    if estimator is None:
        return _unknown(facts)
    lines = [*_sample(facts, estimator, confidence), *facts.rests_on, *_cells(facts, table, estimator, confidence)]
    lines += [_CHOSEN] if facts.chosen_by_the_sample else []
    open_columns = [name for name, size in laws.sizes.items() if size is None]
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


def _unknown(facts: ReleaseFacts) -> list[str]:
    """Return sentences on a release without estimates."""
    if facts.counting_note is None:
        return [_UNKNOWN]
    return [facts.counting_note, "How many there are in the population is not estimated.", *facts.rests_on]


def _sample(facts: ReleaseFacts, estimator: Estimator, confidence: float) -> list[str]:
    if facts.counting_note is not None:
        return [facts.counting_note]
    design = estimator.design
    if design.least == design.most == 1:
        return ["No sample was drawn: everybody is counted."]
    what, one = "sampled is about", "counted person"
    if not facts.rows_are_counted:
        what, one = "Each row is one person of", "row"
    stands = (
        f": one {one} stands for about {three_digits(1 / design.least)} people" if design.least == design.most else ""
    )
    lines = [
        f"{what} a random sample, which has each person with probability {probability(design)}{stands}.",
        f"{_estimates(facts)} are about the population that the sample was drawn from: an interval covers the number "
        f"of people {_times(confidence)} among the cells of that size that are published.",
    ]
    if facts.assumption is Assumption.ASSUMED_RATE:
        lines.append(
            "The sample was drawn before, and its rate is an assumption of the publisher: the estimates are only as "
            "good as that. How many people the population has in all is not known here."
        )
    if design.least < design.most:
        if design.rate is not None:
            lines.append(f"Estimates divide by {design.rate:g}; low and high hold for every probability in that range.")
        lines.append("People who had no chance to be sampled are not counted in the estimates.")
    return lines


def _estimates(facts: ReleaseFacts) -> str:
    """Return the names of the estimates, and where they are if not in the data."""
    in_data = facts.rows_are_counted or "estimate" in facts.meanings
    return f"estimate, low and high{'' if in_data else ', which crowdblend read computes,'}"


def _times(confidence: float) -> str:
    return f"{100 * confidence:.10g} times in 100"


def probability(design: InclusionRates) -> str:
    """Return the inclusion probability in words: a number, or a range with its exceptions."""
    if design.least == design.most:
        return f"{design.least:g}"
    others = f", but for at most {design.exceptions:,} people, who have any" if design.exceptions else ""
    return f"between {design.least:g} and {design.most:g}{others}"


def _cells(facts: ReleaseFacts, table: CellTable, estimator: Estimator, confidence: float) -> list[str]:
    law = estimator.law
    if law.noiseless:
        exact = ["Published counts are exact."] if facts.rows_are_counted else []
        lower = [_LOWER_ENDS] if law.shown_from is not None and table.laws.blocks == 1 and table.laws.add_up else []
        return [*missing_rows(table, confidence), *exact, *lower]
    if isinstance(law, NoiseFromThreshold):
        most = table.laws.largest_unpublished(estimator, confidence=confidence)
        return _threshold_cells(
            law, "" if most is None else f"; it may have up to {most:,} people, {_times(confidence)}"
        )
    lines = []
    if isinstance(law, NoiseBelowK):
        hidden = "The data do not say which counts are noisy, on purpose: that would reveal more than is guaranteed."
        lines = [
            f"Where at least {law.k:,} sampled people fall into a cell, its count is exact. Where fewer do, it is "
            "noisy: a random number was added, and the true one may be larger, smaller or zero.",
            "The column exact says which counts are exact." if law.flag else hidden,
        ]
    if law.shown_from is not None:
        return [
            *lines,
            f"Counts carry noise, and cells below {law.shown_from:,} are not published, which does not mean zero. Do "
            "not add cells up: the sums would be too large.",
        ]
    which = f"Counts carry noise, {_off(law)}," if law.exact_from is None else "Small counts carry noise"
    sums = "; sums of cells are right on average, and the more cells, the more noise" if table.laws.add_up else ""
    return [*lines, f"Every cell is published. {which} and may be negative, and so may estimates, below low{sums}."]


def _off(law: Law) -> str:
    """Return how far noise moves a count on average; where that depends on its size, of large and of small ones."""
    if isinstance(law, GaussianOnEveryCell):
        low, high = law.reach(0, 0)
        values = np.arange(low, high + 1)
        return f"{three_digits(float(abs(values) @ law.kernel(np.zeros(1, np.int64), values)[0]))} on average"
    # The mean distance of discrete Laplace noise from zero.
    most = three_digits(1 / math.sinh(min(law.widest_loss, 700.0)))
    if not isinstance(law, OutlierNoise) or law.widest_loss == law.epsilon:
        return f"{most} on average"
    least = three_digits(1 / math.sinh(min(law.epsilon, 700.0)))
    return f"{least} on average in cells of {law.settled_from:,} or more and up to {most} in smaller ones"


def _threshold_cells(law: NoiseFromThreshold, size: str) -> list[str]:
    """Return sentences on cells that are shown because their noisy count reached a threshold."""
    return [
        "Labels were not listed beforehand: which of them appear here is protected as their numbers are. The noise "
        f"moves a count by {_off(law)}.",
        f"Every count carries noise, and a cell is published where its noisy count is {law.shown_from:,} or more. One "
        f"that is missing is not zero, and a label that is missing may well be somebody's{size}.",
        "Of cells near that number the estimate is too large on average: they are published only where the noise was "
        "not too low. low and high take that into account.",
        "Do not add cells up: some are missing, and of the others the small ones are too large.",
    ]


def missing_rows(table: CellTable, confidence: float = CONFIDENCE) -> list[str]:
    """Return sentences on rows that are not published, and on estimates; none where all are."""
    laws = table.laws
    found = [own for own in (laws.estimator, *laws.strata.values()) if own is not None and own.law.shown_from]
    if not found:
        return []
    sizes = sorted({own.law.shown_from or 0 for own in found})
    ends = [laws.largest_unpublished(own, confidence=confidence) for own in found]
    enough = f"at least {sizes[0]:,} sampled people"
    if len(sizes) > 1:
        enough = f"enough sampled people (between {sizes[0]:,} and {sizes[-1]:,}, depending on the stratum)"
    held = "how many people it has is not known"
    if None not in ends:
        most = max(end for end in ends if end is not None)
        others = f"of larger ones fewer than {100 * (1 - confidence):.6g} in 100 are missing"
        held = f"it may have up to {most:,} people of the population; {others}"
    lines = [f"A cell is published when {enough} are in it. One that is missing is not zero: {held}."]
    if laws.blocks != 1:
        what = "A block" if laws.blocks_shown else "A combination of labels"
        lines = [
            f"A point is published when {enough} have its labels and are in its block. {what} that is missing is not "
            f"empty: {held}."
        ]
    estimated = laws.classes_in_a_row == 1 and any(own.design.rate is not None for own in found)
    return [*lines, *([_SELECTED] if estimated else [])]


def stratum_sentences(facts: ReleaseFacts, table: CellTable, confidence: float) -> list[str]:
    """Return sentences on reading counts and estimates of a stratified sample."""
    laws = table.laws
    found = {label: own for label, own in laws.strata.items() if own is not None}
    if len(found) < len(laws.strata):
        return _unknown(facts)
    listed = ", ".join(f"{label}: {_rates(own)}" for label, own in [*found.items()][:MOST_LISTED])
    more = len(found) - MOST_LISTED
    about, each = (
        ("sampled is", "number of sampled people") if facts.rows_are_counted else ("Rows are", "number of rows")
    )
    instead = " Add estimates instead, or read a margin: crowdblend read DIR --margin COLUMN." if laws.add_up else ""
    lines = [
        *filter(None, [facts.counting_note]),
        f"{about} about a stratified sample: people of each label of {laws.stratum} were sampled at a rate of their "
        f"own ({listed}{f', and {more} more, which datapackage.json lists' if more > 0 else ''}).",
        "Counts of different strata must not be added or compared: one person stands for more people where the rate is "
        f"lower.{instead}",
        f"{_estimates(facts)} are about the population: each {each} is divided by the rate of its stratum.",
    ]
    if facts.already_drawn:
        lines.append(
            "The sample was drawn before, and its rates are an assumption of the publisher: the estimates are only as "
            "good as that."
        )
    lines += facts.rests_on
    if any(own.design.least < own.design.most for own in found.values()):
        lines.append(
            "In a stratum of survey weights the estimate counts everybody with a middle weight of the stratum, so that "
            "it is too large where most weights are smaller, and too small where most are larger; low and high hold "
            "for every weight in it."
        )
    if any(own.law.shown_from for own in found.values()):
        return [*lines, *missing_rows(table, confidence)]
    lines.append(
        "Every cell is published. Small counts carry noise and may be negative, and so may estimates, below low."
    )
    if laws.add_up and all(own.design.least == own.design.most for own in found.values()):
        lines.append("Sums of estimates are right on average.")
    return lines


def sampling_of(facts: ReleaseFacts, table: CellTable) -> dict[str, Any]:
    """Return the sampling, and the size of hidden cells, for datapackage.json."""
    assumed, laws = facts.already_drawn, table.laws
    if laws.stratum is not None:
        known = {label: own for label, own in laws.strata.items() if own is not None}
        strata = {label: {**_rates_of(own), **_unpublished_cells(table, own)} for label, own in known.items()}
        return {"sampling": {"stratum": laws.stratum, "strata": strata, "assumed": assumed}}
    if laws.estimator is None:
        return {}
    return {"sampling": {**_rates_of(laws.estimator), "assumed": assumed}, **_unpublished_cells(table, laws.estimator)}


def _rates_of(own: Estimator) -> dict[str, Any]:
    return {"rate": own.design.rate, "least": own.design.least, "most": own.design.most}


def _unpublished_cells(table: CellTable, own: Estimator) -> dict[str, Any]:
    shown_from = own.law.shown_from
    hidden = {"low": 0, "high": table.laws.largest_unpublished(own)}
    return {"shown_from": shown_from, **({} if shown_from is None else {"unpublished_cell": hidden})}


def _rates(own: Estimator) -> str:
    design = own.design
    return f"{design.least:g}" if design.least == design.most else f"{design.least:.3g} to {design.most:.3g}"
