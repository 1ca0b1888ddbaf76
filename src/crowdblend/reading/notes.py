"""Sentences on what can and cannot be said about the population, from the facts of a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdblend.kinds.shared.crowd_facts import CrowdFacts
from crowdblend.kinds.shared.facts import CellTable, ReleaseFacts
from crowdblend.methods.designs import Stratum
from crowdblend.methods.designs.design import MOST_LISTED
from crowdblend.methods.estimates.estimator import CONFIDENCE, Estimator
from crowdblend.methods.estimates.laws import GaussianOnEveryCell, Law, NoiseBelowK, NoiseFromThreshold, OutlierNoise
from crowdblend.methods.estimates.nouns import PEOPLE, Noun
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.guarantees.wording import three_digits

_UNKNOWN = "The certificate does not say how the sample was drawn, so nothing is said about the population."
_SELECTED = (
    "Of a cell that is barely large enough the estimate is too large on average: it is published only when many of its "
    "{many} happened to be sampled. low and high take that into account."
)
_REACHED = (
    "Of cells near that number the estimate is too large on average: they are published only where the noise was not "
    "too low. low and high take that into account."
)
_CHOSEN = (
    "A part of the sample chose the labels, and is in none of the numbers. The intervals are those of labels that were "
    "fixed before: they are not proved to cover as often after such a choice."
)
_LOWER_ENDS = (
    "Sums of published cells are lower ends: cells that are missing are not in them. Groups that fall into many "
    "small cells lose more than others, so compare the intervals, not the sums."
)
_CUT_SUMS = "Do not add cells up: some are missing, and of the others the small ones are too large."


def sentences(
    facts: ReleaseFacts, table: CellTable, margin: Sequence[str] | None = None, confidence: float = CONFIDENCE
) -> list[str]:
    """Return sentences on reading counts and estimates of a table; of a margin, on its sums."""
    laws, found = table.laws, _estimators(table)
    if not found:
        return _unknown(facts)
    lines = [
        *filter(None, [facts.counting_note]),
        *(_sample(facts, table, confidence) if laws.stratum is None else _strata(facts, table, confidence)),
        *facts.rests_on,
        *_cells(facts, table, confidence),
    ]
    lines += [_CHOSEN] if facts.chosen_by_the_sample else []
    noiseless = found[0].law.noiseless
    open_columns = [name for name, size in laws.sizes.items() if size is None]
    if open_columns and noiseless:
        lines.append(
            f"The labels of {', '.join(open_columns)} are not listed, so cells that are not published cannot be "
            "counted and sums over them have no upper end."
        )
    if margin is not None and noiseless:
        lines.append(
            "Sums over cells of which some are not published are given as a lower and an upper end, without an "
            "estimate: what is missing is not known."
        )
    return lines


def _estimators(table: CellTable) -> list[Estimator]:
    """Return the estimator of the sample, or those of all strata; none where one of them is not known."""
    laws = table.laws
    each = [laws.estimator] if laws.stratum is None else [*laws.strata.values()]
    return [] if None in each else [own for own in each if own is not None]


def _unknown(facts: ReleaseFacts) -> list[str]:
    """Return sentences on a release without estimates."""
    if facts.counting_note is None:
        return [_UNKNOWN]
    return [facts.counting_note, "How many there are in the population is not estimated.", *facts.rests_on]


def _counted(table: CellTable, noun: Noun) -> str:
    """Return what a number of the population is about."""
    if not table.laws.repeated:
        return f"{noun.many} of the population"
    return "people who count in it" if table.laws.classes_in_a_row == 1 else "points of people who count there"


def _rows_have_coins(facts: ReleaseFacts) -> bool:
    return isinstance(facts, CrowdFacts) and facts.unit.has_row_coins


def _covers(table: CellTable, noun: Noun, confidence: float) -> str:
    """Return what an interval covers how often."""
    many = "people who count in a cell" if table.laws.repeated else noun.many
    return (
        f"an interval covers the number of {many} {_times(confidence)} among the cells of that size that are published."
    )


def _sample(facts: ReleaseFacts, table: CellTable, confidence: float) -> list[str]:
    (estimator,), noun = _estimators(table), facts.counted
    stratum = estimator.stratum
    if stratum.low == stratum.high == 1:
        return [f"No sample was drawn: {'everybody is' if noun is PEOPLE else f'all {noun.many} are'} counted."]
    each, many = noun.one, noun.many
    if _rows_have_coins(facts):
        each, many = f"counted {'class' if table.laws.blocks == 1 else 'block'} of a person", "of these"
    what, one = "sampled is about", f"counted {noun.one}"
    if not facts.rows_are_counted:
        what, one = f"Each row is one {each} of", "row"
    stands = ""
    if stratum.low == stratum.high:
        stands = f": one {one} stands for about {three_digits(1 / stratum.low)} {many}"
    lines = [
        f"{what} a random sample, which has each {each} with probability {_probability(stratum, noun)}{stands}.",
        f"{_estimates(facts)} are about the population that the sample was drawn from: "
        f"{_covers(table, noun, confidence)}",
    ]
    if facts.assumption is Assumption.ASSUMED_RATE:
        lines.append(
            "The sample was drawn before, and its rate is an assumption of the publisher: the estimates are only as "
            f"good as that. How many {noun.many} the population has in all is not known here."
        )
    if stratum.low < stratum.high:
        if stratum.rate is not None:
            lines.append(
                f"Estimates divide by {stratum.rate:g}; low and high hold for every probability in that range."
            )
        lines.append(f"{noun.many.capitalize()} that had no chance to be sampled are not counted in the estimates.")
    return lines


def _estimates(facts: ReleaseFacts) -> str:
    """Return the names of the estimates, and where they are if not in the data."""
    in_data = facts.rows_are_counted or "estimate" in facts.meanings
    return f"estimate, low and high{'' if in_data else ', which crowdblend read computes,'}"


def _times(confidence: float) -> str:
    return f"{100 * confidence:.10g} times in 100"


def _probability(stratum: Stratum, noun: Noun) -> str:
    """Return the inclusion probability in words: a number, or a range with its exceptions."""
    if stratum.low == stratum.high:
        return f"{stratum.low:g}"
    others = f", but for at most {stratum.exceptions:,} {noun.many}, which have any" if stratum.exceptions else ""
    return f"between {stratum.low:g} and {stratum.high:g}{others}"


def _strata(facts: ReleaseFacts, table: CellTable, confidence: float) -> list[str]:
    """Return sentences on a stratified sample."""
    laws, found, noun = table.laws, _estimators(table), facts.counted
    rates = [f"{label}: {_rates(own)}" for label, own in zip(laws.strata, found, strict=True)]
    more = len(found) - MOST_LISTED
    listed = ", ".join(rates[:MOST_LISTED]) + (f", and {more} more, which datapackage.json lists" if more > 0 else "")
    about, each = (
        ("sampled is", f"number of sampled {noun.many}") if facts.rows_are_counted else ("Rows are", "number of rows")
    )
    instead = " Add estimates instead, or read a margin: crowdblend read DIR --margin COLUMN." if laws.add_up else ""
    who = "classes of people, as far as they count," if _rows_have_coins(facts) else noun.many
    lines = [
        f"{about} about a stratified sample: {who} of each label of {laws.stratum} were sampled at a rate of their own "
        f"({listed}).",
        f"Counts of different strata must not be added or compared: one {noun.one} stands for more {noun.many} where "
        f"the rate is lower.{instead}",
        f"{_estimates(facts)} are about the population: each {each} is divided by the rate of its stratum, and "
        f"{_covers(table, noun, confidence)}",
    ]
    if facts.already_drawn:
        lines.append(
            "The sample was drawn before, and its rates are an assumption of the publisher: the estimates are only as "
            "good as that."
        )
    if any(own.stratum.low < own.stratum.high for own in found):
        lines.append(
            "In a stratum of survey weights the estimate counts everybody with a middle weight of the stratum, so that "
            "it is too large where most weights are smaller, and too small where most are larger; low and high hold "
            "for every weight in it."
        )
    return lines


def _cells(facts: ReleaseFacts, table: CellTable, confidence: float) -> list[str]:
    """Return sentences on which cells are published, and how exact they are."""
    law, laws, noun = _estimators(table)[0].law, table.laws, facts.counted
    if law.noiseless:
        counter = laws.counter
        exact = [f"{counter} is exact: the number of {noun.many} in the sample."] if facts.rows_are_counted else []
        lower = [_LOWER_ENDS] if law.shown_from is not None and laws.blocks == 1 and laws.add_up else []
        return [*_missing_rows(table, noun, confidence), *exact, *lower]
    if isinstance(law, NoiseFromThreshold):
        return _threshold_cells(table, law, noun, confidence)
    lines, noise = [], f"Counts carry noise, {_off(table)}"
    if isinstance(law, NoiseBelowK):
        hidden = "The data do not say which counts are noisy, on purpose: that would reveal more than is guaranteed."
        enough = _enough([own.law.exact_from or 0 for own in _estimators(table)], noun)
        lines = [
            f"Where {enough} fall into a cell, its count is exact. Where fewer do, it is noisy: a random number was "
            "added, and the true one may be larger, smaller or zero.",
            "The column exact says which counts are exact." if law.flag else hidden,
        ]
        noise = f"Small counts carry noise, {_off(table)}"
    if law.shown_from is not None:
        return [
            *lines,
            f"{noise}. Cells whose count is below {law.shown_from:,} with the noise are not published, and one that is "
            f"missing is not zero{_missing(table, noun, confidence)}.",
            *_near_the_threshold(table),
            _CUT_SUMS,
        ]
    return [
        *lines,
        f"Every cell is published. {noise}. They may be negative, and so may estimates, below low{_noisy_sums(table)}.",
    ]


def _noisy_sums(table: CellTable) -> str:
    """Return what sums of noisy cells are, where they have a meaning."""
    if not table.laws.add_up:
        return ""
    unbiased = all(own.stratum.low == own.stratum.high for own in _estimators(table))
    what = "cells" if table.laws.stratum is None else "estimates"
    average = f"sums of {what} are right on average, and " if unbiased else ""
    return f"; {average}the more cells are added, the more noise there is"


def _off(table: CellTable) -> str:
    """Return how far noise moves a count on average; where that depends on its size, of large and of small ones."""
    each = [_distances(own.law) for own in _estimators(table)]
    (least, most), settled = map(max, zip(*each, strict=True)), _estimators(table)[0].law.settled_from
    if least == most or not isinstance(_estimators(table)[0].law, OutlierNoise):
        low = min(least for least, _ in each)
        spread = f"{three_digits(low)} to " if low < least else ""
        strata = ", depending on the stratum" if spread else ""
        return f"{spread}{three_digits(most)} on average{strata}"
    small, large = three_digits(most), three_digits(least)
    return f"{large} on average in cells of {settled:,} or more and up to {small} in smaller ones"


def _distances(law: Law) -> tuple[float, float]:
    """Return the mean distance of the noise from zero on large cells and on small ones."""
    if isinstance(law, GaussianOnEveryCell):
        low, high = law.reach(0, 0)
        values = np.arange(low, high + 1)
        far = float(abs(values) @ law.kernel(np.zeros(1, np.int64), values)[0])
        return far, far
    losses = (law.epsilon, law.widest_loss) if isinstance(law, OutlierNoise) else (law.widest_loss, law.widest_loss)
    # Of discrete Laplace noise.
    least, most = (1 / math.sinh(min(loss, 700.0)) for loss in losses)
    return least, most


def _threshold_cells(table: CellTable, law: NoiseFromThreshold, noun: Noun, confidence: float) -> list[str]:
    """Return sentences on cells that are shown because their noisy count reached a threshold."""
    unlisted = [name for name, size in table.laws.sizes.items() if size is None]
    listed = f"The labels of {', '.join(unlisted)} were not listed beforehand. " if unlisted else ""
    return [
        f"{listed}Which labels appear here is protected as their numbers are. The noise moves a count by "
        f"{_off(table)}.",
        f"Every count carries noise, and a cell is published where its noisy count is {law.shown_from:,} or more. One "
        "that is missing is not zero, and a label that is missing may well be somebody's"
        f"{_missing(table, noun, confidence)}.",
        *_near_the_threshold(table),
        _CUT_SUMS,
    ]


def _near_the_threshold(table: CellTable) -> list[str]:
    """Return a sentence on estimates of cells near a threshold, where there are any."""
    return [_REACHED] if any(own.stratum.rate is not None for own in _estimators(table)) else []


def _missing(table: CellTable, noun: Noun, confidence: float) -> str:
    """Return how much a cell can have that is not shown, and how often larger ones are."""
    ends = [table.laws.largest_unpublished(own, confidence=confidence) for own in _estimators(table)]
    if None in ends:
        return f": how many {noun.many} it has is not known"
    most = max(end for end in ends if end is not None)
    others = f"of larger ones fewer than {100 * (1 - confidence):.6g} in 100 are missing"
    anybody = ", and any number who have its labels" if table.laws.repeated else ""
    return f": it may have up to {most:,} {_counted(table, noun)}{anybody}; {others}"


def _enough(sizes: Sequence[int], noun: Noun) -> str:
    """Return a number of what was sampled, or its range over strata."""
    least, most = min(sizes), max(sizes)
    if least == most:
        return f"at least {least:,} sampled {noun.many}"
    return f"enough sampled {noun.many} (between {least:,} and {most:,}, depending on the stratum)"


def _missing_rows(table: CellTable, noun: Noun, confidence: float) -> list[str]:
    """Return sentences on rows of crowds that are not published, and on estimates; none where all are published."""
    laws, found = table.laws, _estimators(table)
    sizes = [own.law.shown_from for own in found if own.law.shown_from is not None]
    if not sizes:
        return []
    enough, held = _enough(sizes, noun), _missing(table, noun, confidence)
    lines = [f"A cell is published when {enough} are in it. One that is missing is not zero{held}."]
    if laws.blocks != 1 and not laws.sizes:
        # Without labels nothing can be missing but the points of a block, which the data need not name.
        of_a_block = _missing(replace(table, laws=replace(laws, blocks_shown=True)), noun, confidence)
        lines = [f"A point is published when {enough} are in its block. A block with fewer is not shown{of_a_block}."]
    elif laws.blocks != 1:
        what = "A block" if laws.blocks_shown else "A combination of labels"
        lines = [
            f"A point is published when {enough} have its labels and are in its block. {what} that is missing is not "
            f"empty{held}."
        ]
    estimated = laws.classes_in_a_row == 1 and any(own.stratum.rate is not None for own in found)
    return [*lines, *([_SELECTED.format(many=noun.many)] if estimated else [])]


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
    return {"rate": own.stratum.rate, "least": own.stratum.low, "most": own.stratum.high}


def _unpublished_cells(table: CellTable, own: Estimator) -> dict[str, Any]:
    shown_from = own.law.shown_from
    hidden = {"low": 0, "high": table.laws.largest_unpublished(own)}
    return {"shown_from": shown_from, **({} if shown_from is None else {"unpublished_cell": hidden})}


def _rates(own: Estimator) -> str:
    stratum = own.stratum
    return f"{stratum.low:g}" if stratum.low == stratum.high else f"{stratum.low:.3g} to {stratum.high:.3g}"
