"""A release in sentences: what is guaranteed, how columns were recoded, and how to read the numbers.

Certificates hold ids and numbers. Facts are not checked by anybody but the publisher, so nothing here takes their form
for granted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from crowdblend.calculus import Certificate
from crowdblend.estimates import estimator_of, strata_of
from crowdblend.guarantees import Differential, ZeroKnowledge
from crowdblend.guarantees.wording import at_most
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.strata import stratum_sentences, unpublished_design
from crowdblend.reports.parameters import crowd_size, deciding_share, fresh_samples, parts_of_sample, sampling_rate
from crowdblend.reports.text import enumeration, one_in, round_up

MOST_NAMES = 5
_FEW = 6
_ONE_SAMPLE = "All tables come from one sample: each is added up from the cells of their common, finest table."
_INTERVALS = (
    "The columns estimate, low and high are about the population: an interval covers the number of people 95 times "
    "in 100 among the cells of that size that are published."
)


def title(columns: tuple[str, ...], counted: bool) -> str:
    """What was published, by its columns."""
    if not columns:
        return "A count of people"
    names = enumeration(columns) if len(columns) <= MOST_NAMES else f"{', '.join(columns[:MOST_NAMES])} and others"
    return f"{'Counts of people by' if counted else 'Records of people:'} {names}"


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


def reading(folder: PublishedRelease, *, counted: bool, several: bool, flagged: bool) -> list[str]:
    """Return how to read the numbers of tables and microdata, and how not to."""
    if folder.facts.get("everybody") is True:
        return _of_everybody(folder)
    strata = strata_of(folder.facts)
    if strata is not None and (of_strata := stratum_sentences(folder.facts, strata)):
        return of_strata
    parts = parts_of_sample(folder)
    if parts:
        return _of_parts(parts, sampling_rate(folder))
    samples = fresh_samples(folder)
    if samples:
        return _of_fresh_samples(samples)
    k = crowd_size(folder)
    crowd = f"{k:,}" if k is not None else "k, the crowd size,"
    added_up = several or bool(folder.fact("tables", dict))
    lines = [_sample(sampling_rate(folder), deciding_share(folder), counted=counted)]
    if not counted:
        lines += _suppressed("combination of labels", "and each of them is one row", crowd, k)
    elif folder.facts.get("below_k") == "noise":
        cell = "a finest cell" if added_up else "a cell"
        lines += [_ONE_SAMPLE] if added_up else []
        lines += _noisy(cell, crowd, folder.facts.get("show_from"), flagged=flagged)
    elif added_up:
        lines += _added_up(crowd)
    elif folder.facts.get("below_k") == "suppress":
        lines += _suppressed("cell", "and its count is exact", crowd, k)
    else:
        lines.append("A cell that is missing is not zero: it may hold people, but too few to be published.")
    lines += [*_population(folder, counted), *unpublished_design(folder.facts)]
    if folder.facts.get("below_k") != "noise":
        lines.append(
            "Sums of published cells are lower ends: cells that are missing are not in them. Groups of people who fall "
            "into many small cells lose more than others, so compare the intervals, not the sums."
        )
    return lines


def _population(folder: PublishedRelease, counted: bool) -> list[str]:
    """What the figures and the columns beside the counts are about."""
    estimator = estimator_of(folder.facts)
    if estimator is None:
        return []
    columns = "The columns estimate, low and high and the figures" if counted else "The figures"
    lines = [
        f"{columns} are about the population: an interval covers the number of people 95 times in 100 among the cells "
        "of that size that are published."
    ]
    if estimator.law.noiseless:
        most = estimator.unpublished()
        lines.append(f"A cell that is missing has up to {most:,} people of the population, 95 times in 100.")
    return lines


def _of_everybody(folder: PublishedRelease) -> list[str]:
    """How to read a table of a register."""
    stated = folder.fact("parameters", dict)
    rows, loss = stated.get("rows_per_person"), stated.get("noise_epsilon")
    off = ""
    if isinstance(loss, float) and loss > 0:
        a = math.exp(-loss)
        off = f", {2 * a / (1 - a * a):.3g} on average, whatever the size of the cell"
    whom = "people" if rows is None else f"rows, of which at most {rows:,} random ones of each person were kept"
    if rows is not None and stated.get("count") == "people":
        whom = f"people, each counted once in every class, in at most {rows:,} random ones"
    return [
        f"No sample was drawn: everybody is counted. Counts are {whom}.",
        f"Every cell of the table is published with noise: its count is off by a few{off}. The noise is as often above "
        "the true count as below it, so that an empty cell can be negative, and sums of cells are right on average.",
        "The more cells are added up, the larger the noise of the sum; it grows like the square root of their number.",
        f"An interval from low to high holds the number of {'people' if rows is None else 'rows'} without the noise, "
        "95 times in 100.",
    ]


def _of_parts(parts: Mapping[str, tuple[float, int]], rate: float | None) -> list[str]:
    """How to read tables that were counted in different parts of one sample."""
    lines = [
        "Every table was counted in a part of the sample of its own; nobody is in two of them. Counts of different "
        "tables are of different people, so they need not add up, and their differences mean nothing."
    ]
    for name, (share, k) in parts.items():
        stands = f" One counted person stands for about {1 / (rate * share):.3g} people." if rate else ""
        lines.append(
            f"Table {name}: a share of {share:g} of the sample. Every published cell holds at least {k:,} people of "
            f"that part, and its count is exact; a cell that is missing holds between 0 and {k - 1:,}.{stands}"
        )
    return [*lines, _INTERVALS]


def _of_fresh_samples(samples: Mapping[str, tuple[float, int]]) -> list[str]:
    """How to read tables that were each counted in a sample of its own."""
    lines = [
        "Every table was counted in a random sample of its own, drawn anew from everybody. Counts of different tables "
        "are of different people, so they need not add up, and their differences mean nothing."
    ]
    for name, (rate, k) in samples.items():
        lines.append(
            f"Table {name}: the sample kept each person with probability {rate:g}, so one counted person stands for "
            f"about {1 / rate:.3g} people. Every published cell holds at least {k:,} people of that sample, and its "
            f"count is exact; a cell that is missing holds between 0 and {k - 1:,}."
        )
    return [*lines, _INTERVALS]


def _sample(rate: float | None, share: float, *, counted: bool) -> str:
    text = "Each row is one person of a random sample. The order of the rows means nothing."
    if counted:
        text = "Counts are people in a random sample, not in the whole population."
    if rate is None or not 0 < rate < 1:
        return text
    one = "one counted person" if counted else "one row"
    text = f"{text} The sample kept each person with probability {rate:g}"
    if share:
        text += f", and a share of {share:g} of it chose the labels and is left out of everything below"
    return f"{text}: {one} stands for about {1 / (rate * (1 - share)):.3g} people."


def _suppressed(what: str, meaning: str, crowd: str, k: int | None) -> list[str]:
    among = f"between 0 and {k - 1:,}" if k is not None else "perhaps 0"
    return [
        f"Every published {what} holds at least {crowd} sampled people, {meaning}.",
        f"A {what} that is missing is not zero. It holds fewer than {crowd} sampled people: {among}.",
    ]


def _added_up(crowd: str) -> list[str]:
    return [
        f"{_ONE_SAMPLE} Finest cells with fewer than {crowd} sampled people were left out before adding.",
        "A count can therefore be lower than the number of sampled people, never higher.",
        f"A cell that is missing is not zero. None of its finest cells reached {crowd} sampled people.",
    ]


def _noisy(cell: str, crowd: str, show_from: object, *, flagged: bool) -> list[str]:
    shown = (
        "Every cell is published. Noisy counts may be negative, and sums of cells are right on average."
        if show_from is None
        else f"Cells whose count is below {show_from} are not listed, which does not mean zero: among the small cells, "
        "the noise decides which of them appear. Sums of the listed cells would be too large."
    )
    hidden = "The data do not say which counts are noisy, on purpose: that would reveal more than is guaranteed."
    return [
        f"Where at least {crowd} sampled people fall into {cell}, its count is exact. Where fewer do, the count is "
        "noisy: a random number was added, and the true one may be larger, smaller or zero.",
        shown,
        "The column exact says which counts are exact." if flagged else hidden,
    ]


def describe_column(domain: Any) -> str:
    """Return how the values of a column became labels, from its declared domain or from several of them."""
    if isinstance(domain, list):
        return "; averaged as ".join(map(describe_column, domain))
    if not isinstance(domain, Mapping):
        return str(domain)
    if isinstance(domain.get("recodings"), list):
        return f"one of {len(domain['recodings'])} recodings"
    return _recoding(domain) or _labels(domain)


def _recoding(domain: Mapping[str, Any]) -> str | None:
    """Return what was done to values that did not become listed labels."""
    grid = f"{domain.get('from')} to {domain.get('to')}, rounded to {domain.get('resolution')}"
    match domain.get("recoding"):
        case "dates" if "labels" not in domain:
            return f"the {domain.get('period')}"
        case "prefix":
            return f"the first {domain.get('length')} characters"
        case "coordinate":
            return f"a coordinate from {grid}, then moved by noise"
        case "measure":
            clamped = domain.get("outside") == "clamp"
            beyond = "values beyond were moved to the bounds" if clamped else "no value lies beyond"
            blank = f", no value counted as {domain['blank']}" if "blank" in domain else ""
            return f"numbers from {grid}; {beyond}{blank}"
    return None


def _labels(domain: Mapping[str, Any]) -> str:
    labels = domain.get("labels")
    if labels is None and "width" in domain:
        return f"from {domain.get('from')} to {domain.get('to')} in intervals of {domain['width']}"
    known = [str(label) for label in labels] if isinstance(labels, list) else []
    if len(known) <= _FEW:
        return ", ".join(known)
    return f"{len(known)} classes: {known[0]}, {known[1]}, … {known[-1]}"
