"""A release in sentences: what is guaranteed, how columns were recoded, and how to read the numbers.

Certificates hold ids and numbers; sentences are rendered here.
"""

from __future__ import annotations

import math

from crowdblend.calculus import Certificate
from crowdblend.designs import Everybody, InclusionRates
from crowdblend.guarantees import Differential, ZeroKnowledge
from crowdblend.guarantees.wording import at_most, three_digits
from crowdblend.kinds.microdata.facts import MicrodataFacts
from crowdblend.kinds.table.facts import TableFacts
from crowdblend.mechanisms.everywhere import NoiseEverywhere
from crowdblend.mechanisms.gaussian import GaussianEverywhere
from crowdblend.mechanisms.noisy import NoisyHistogram
from crowdblend.mechanisms.threshold import ThresholdHistogram
from crowdblend.reading.notes import (
    chosen_labels,
    missing_rows,
    probability,
    stratum_sentences,
    threshold_cells,
)
from crowdblend.recoding.domain import Domain
from crowdblend.releases.facts import DATA, CellTable
from crowdblend.reports.text import enumeration, one_in, round_up

MOST_NAMES = 5
_FEW = 6


def title(columns: tuple[str, ...], counted: bool, what: str = "people") -> str:
    """Return the title of the publication, by its columns."""
    if not columns:
        return f"A count of {what}"
    names = enumeration(columns) if len(columns) <= MOST_NAMES else f"{', '.join(columns[:MOST_NAMES])} and others"
    return f"{f'Counts of {what} by' if counted else f'Records of {what}:'} {names}"


def explanation(certificate: Certificate) -> str | None:
    """Return what the guarantee says of everything that may be published."""
    guarantee = certificate.differential() or certificate.zero_knowledge()
    if isinstance(guarantee, Differential):
        what, other = "is published here", "without your data"
    elif isinstance(guarantee, ZeroKnowledge):
        what = "anybody concludes about you from everything published here"
        other = f"from {guarantee.aggregate.words()}"
    else:
        return None
    # One part in 10^12 covers the rounding of exp.
    factor = round_up(math.exp(guarantee.epsilon) * (1 + 1e-12) if guarantee.epsilon else 1.0)
    if guarantee.epsilon > 30:
        factor = f"e^{at_most(guarantee.epsilon)}"
    slack = f", plus a probability of {one_in(guarantee.delta)}" if guarantee.delta > 0 else ""
    return (
        f"Whatever {what}, its probability is at most {factor} times what it would be {other}{slack}, and the other "
        "way round."
    )


def reading(facts: TableFacts | MicrodataFacts) -> list[str]:
    """Return how to read the numbers of tables and microdata, and how not to."""
    table = next(iter(facts.tables.values()))
    laws = table.laws
    if isinstance(facts.mechanism, NoiseEverywhere | GaussianEverywhere) and isinstance(facts, TableFacts):
        if isinstance(facts.design, Everybody):
            return _of_everybody(facts, facts.mechanism)
        off = three_digits(facts.mechanism.expected_error())
        return [
            _sample(facts.rate, 0.0, counted=True),
            f"Every cell is published with noise: its count is off by {off} on average, "
            "whatever its size. Noisy counts may be negative, and sums of cells are right on average.",
            *_population(table, counted=True),
        ]
    if isinstance(facts.mechanism, ThresholdHistogram):
        return _from_threshold(facts, facts.mechanism, table)
    if laws.stratum is not None:
        return stratum_sentences(facts, table)
    assert facts.mechanism is not None, "a release without strata has one mechanism"
    counted = facts.rows_are_counted
    share = facts.recoding.share or 0.0 if facts.recoding is not None else 0.0
    lines = [_sample(facts.rate, share, counted=counted, design=facts.design.inclusion)]
    if isinstance(facts.mechanism, NoisyHistogram):
        lines += _noisy("a cell", facts.mechanism)
    else:
        lines += missing_rows(table)
        lines.append("Published counts are exact." if counted else "Each of these people is one row.")
    lines += [*_population(table, counted), *chosen_labels(facts), *facts.rests_on]
    if not isinstance(facts.mechanism, NoisyHistogram):
        lines.append(
            "Sums of published cells are lower ends: cells that are missing are not in them. Groups of people who fall "
            "into many small cells lose more than others, so compare the intervals, not the sums."
        )
    return lines


def _from_threshold(facts: TableFacts | MicrodataFacts, noise: ThresholdHistogram, table: CellTable) -> list[str]:
    """Return sentences on cells that are shown because their noisy count reached a threshold."""
    sampled = not isinstance(facts.design, Everybody)
    who = _sample(facts.rate, 0.0, counted=True) if sampled else "No sample was drawn: everybody is counted."
    off = three_digits(noise.expected_error())
    estimator = table.laws.estimator
    missing = None if estimator is None else table.laws.largest_unpublished(estimator)
    return [
        who,
        f"Labels were not listed beforehand: which of them appear here is protected as their numbers are. The noise "
        f"moves a count by {off} on average.",
        *threshold_cells(noise.law, missing),
        *_population(table, counted=True),
        *facts.rests_on,
    ]


def _population(table: CellTable, counted: bool) -> list[str]:
    """Return sentences on the figures and the columns beside the counts."""
    if table.laws.estimator is None:
        return []
    columns = "The columns estimate, low and high and the figures" if counted else "The figures"
    return [
        f"{columns} are about the population: an interval covers the number of people 95 times in 100 among the cells "
        "of that size that are published."
    ]


def _of_everybody(facts: TableFacts, noise: NoiseEverywhere | GaussianEverywhere) -> list[str]:
    """Return sentences on reading a table of a register."""
    rows = facts.rows_per_person
    off = f"{three_digits(noise.expected_error())} on average, whatever the size of the cell"
    whom = "people" if rows is None else f"rows, of which at most {rows:,} random ones of each person were kept"
    if rows is not None and facts.count == "people":
        whom = f"people, each counted once in every class, in at most {rows:,} random ones"
    left_out = " What was left out is in none of the numbers, and in no interval." if rows is not None else ""
    held = "people" if rows is None else "rows that were kept"
    sums = [
        "The more cells are added up, the larger the noise of the sum; it grows like the square root of their number."
    ]
    if facts.tables[DATA].laws.repeated:
        held, sums = "people of a class", []
    return [
        f"No sample was drawn: everybody is counted. Counts are {whom}.{left_out}",
        f"Every cell of the table is published with noise: its count is off by a few, {off}. The noise is as often "
        f"above the true count as below it, so that an empty cell can be negative"
        f"{', and sums of cells are right on average' if sums else ''}.",
        *sums,
        f"An interval from low to high holds the number of {held} without the noise, 95 times in 100.",
    ]


def _sample(rate: float | None, share: float, *, counted: bool, design: InclusionRates | None = None) -> str:
    text = "Each row is one person of a random sample. The order of the rows means nothing."
    if counted:
        text = "Counts are people in a random sample, not in the whole population."
    if design is not None and design.least < design.most:
        return f"{text} The sample kept each person with probability {probability(design)}."
    if rate is None or not 0 < rate < 1:
        return text
    one = "one counted person" if counted else "one row"
    text = f"{text} The sample kept each person with probability {rate:g}"
    if share:
        text += f", and a share of {share:g} of it chose the labels and is left out of everything below"
    return f"{text}: {one} stands for about {three_digits(1 / (rate * (1 - share)))} people."


def _noisy(cell: str, noise: NoisyHistogram) -> list[str]:
    shown = (
        "Every cell is published. Noisy counts may be negative, and sums of cells are right on average."
        if noise.show_from is None
        else f"Cells whose count is below {noise.show_from} are not listed, which does not mean zero: among the small "
        "cells, the noise decides which of them appear. Sums of the listed cells would be too large."
    )
    hidden = "The data do not say which counts are noisy, on purpose: that would reveal more than is guaranteed."
    return [
        f"Where at least {noise.k:,} sampled people fall into {cell}, its count is exact. Where fewer do, the count is "
        "noisy: a random number was added, and the true one may be larger, smaller or zero.",
        shown,
        "The column exact says which counts are exact." if noise.flag else hidden,
    ]


def describe_column(domain: Domain) -> str:
    """Return how the values of a column became labels, from its declared domain."""
    if domain.recodings:
        return f"one of {len(domain.recodings)} recodings"
    return _recoding(domain) or _labels(domain)


def _recoding(domain: Domain) -> str | None:
    """Return what was done to values that did not become listed labels."""
    grid = f"{domain.start} to {domain.to}, rounded to {domain.resolution}"
    match domain.recoding:
        case "dates" if domain.labels is None:
            return f"the {domain.period}"
        case "prefix":
            return f"the first {domain.length} characters"
        case "coordinate":
            return f"a coordinate from {grid}, then moved by noise"
        case "measure":
            clamped = domain.outside == "clamp"
            beyond = "values beyond were moved to the bounds" if clamped else "no value lies beyond"
            blank = "" if domain.blank is None else f", no value counted as {domain.blank}"
            return f"numbers from {grid}; {beyond}{blank}"
    return None


def _labels(domain: Domain) -> str:
    if domain.labels is None and domain.width is not None:
        return f"from {domain.start} to {domain.to} in intervals of {domain.width}"
    known = domain.labels or ()
    if len(known) <= _FEW:
        return ", ".join(known)
    return f"{len(known)} classes: {known[0]}, {known[1]}, … {known[-1]}"
