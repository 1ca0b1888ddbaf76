"""What can and what cannot be said about the population, in sentences that follow from the facts of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdblend.designs.design import MOST_LISTED
from crowdblend.estimates import Estimator
from crowdblend.kinds.facts import CellTable, ReleaseFacts

_UNKNOWN = "The certificate does not say how people were sampled, so nothing is said about the population."


def sentences(facts: ReleaseFacts, table: CellTable, margin: Sequence[str] | None = None) -> list[str]:
    """How to read counts and estimates of a table; of a margin, what its sums are."""
    laws = table.laws
    if laws.stratum is not None:
        return stratum_sentences(facts, table)
    estimator = laws.estimator
    if estimator is None:
        return [_UNKNOWN]
    lines = [*_sample(facts, estimator), *hidden_design(facts), *_cells(table, estimator)]
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


def hidden_design(facts: ReleaseFacts) -> list[str]:
    """What a design that is not published means for readers; nothing where people have one rate."""
    return [] if facts.sample is None else facts.sample.sentences()


def _sample(facts: ReleaseFacts, estimator: Estimator) -> list[str]:
    if facts.counted is not None:
        return [facts.counted]
    design = estimator.design
    if design.least == design.most == 1:
        return ["Counts are about everybody in the table."]
    rate = f"{design.least:g}" if design.least == design.most else f"between {design.least:g} and {design.most:g}"
    what, estimates = "count is about", "estimate, low and high"
    if not facts.rows_are_counted:
        what, estimates = "Every row is one person of", "Estimates"
    lines = [f"{what} a random sample, which has each person with probability {rate}."]
    lines.append(f"{estimates} are about the population that the sample was drawn from.")
    if facts.drawn_before:
        lines.append(
            "The sample was drawn before, and its rate is an assumption of the publisher: the estimates are only as "
            "good as that. How many people the population has in all is not known here."
        )
    if design.least < design.most:
        lines.append("People who had no chance to be sampled are not counted in the estimates.")
    return lines


def _cells(table: CellTable, estimator: Estimator) -> list[str]:
    law = estimator.law
    if law.noiseless:
        return [
            missing_row(table, f"at least {law.shown_from:,} sampled people", table.laws.unpublished(table.columns))
        ]
    if law.shown_from is None:
        exact = law.exact_from is not None and table.laws.rows_inside(table.columns) == 1
        which = "Small counts" if exact else "Counts"
        return [
            f"Every cell is published. {which} carry noise and may be negative; sums of cells are right on average."
        ]
    return [
        f"Counts carry noise, and cells below {law.shown_from:,} are not published. Do not add cells up: the sums "
        "would be too large."
    ]


def missing_row(table: CellTable, enough: str, most: int | None) -> str:
    """What it means that a row is not published; a row of sums is shown where one of its finest cells is."""
    inside = table.laws.rows_inside(table.columns)
    held = "how many people it has is not known"
    if most is not None:
        held = f"it has up to {most:,} people of the population, 95 times in 100"
    if table.laws.blocks != 1:
        what = "A block" if table.laws.blocks_shown else "A combination of labels"
        return (
            f"A point is published when {enough} have its labels and are in its block. {what} that is missing is not "
            f"empty: {held}."
        )
    if inside == 1:
        return f"A cell is published when {enough} are in it. One that is missing is not zero: {held}."
    several = "its finest cells" if inside is None else f"the {inside:,} finest cells in it"
    return (
        f"Every row adds up finest cells, and is published when one of {several} has {enough}; smaller ones are not in "
        f"the sum. A row that is missing is not zero: {held}."
    )


def stratum_sentences(facts: ReleaseFacts, table: CellTable) -> list[str]:
    """How to read counts and estimates of a stratified sample."""
    laws = table.laws
    found = {label: own for label, own in laws.strata.items() if own is not None}
    if len(found) < len(laws.strata):
        return [_UNKNOWN]
    listed = ", ".join(f"{label}: {_rates(own)}" for label, own in [*found.items()][:MOST_LISTED])
    more = len(found) - MOST_LISTED
    lines = [
        f"count is about a stratified sample: people of each label of {laws.stratum} were sampled at a rate of their "
        f"own ({listed}{f', and {more} more, which datapackage.json lists' if more > 0 else ''}).",
        "Counts of different strata must not be added or compared: one person stands for more people where the rate is "
        "lower. Add estimates instead, or read a margin: crowdblend read DIR --margin COLUMN.",
        "estimate, low and high are about the population: each count is divided by the rate of its stratum.",
    ]
    if facts.drawn_before:
        lines.append(
            "The sample was drawn before, and its rates are an assumption of the publisher: the estimates are only as "
            "good as that."
        )
    if any(own.design.least < own.design.most for own in found.values()):
        lines.append(
            "In a stratum of survey weights the estimate counts everybody with a middle weight of the stratum; low and "
            "high hold for every weight in it."
        )
    return [*lines, *_cells_of_strata(table, found)]


def _cells_of_strata(table: CellTable, found: Mapping[str, Estimator]) -> list[str]:
    sizes = sorted({own.law.shown_from for own in found.values() if own.law.shown_from is not None})
    if not sizes:
        return [
            "Every cell is published. Small counts carry noise and may be negative; sums of estimates are right on "
            "average."
        ]
    least = f"{sizes[0]:,}" if len(sizes) == 1 else f"between {sizes[0]:,} and {sizes[-1]:,}"
    ends = [table.laws.unpublished(table.columns, own) for own in found.values() if own.law.shown_from is not None]
    most = None if None in ends else max(end for end in ends if end is not None)
    return [missing_row(table, f"enough sampled people ({least}, depending on the stratum)", most)]


def sampling_of(facts: ReleaseFacts, table: CellTable) -> dict[str, Any]:
    """How people were sampled, and what a cell that is not published may hold, for datapackage.json."""
    assumed, laws = facts.drawn_before, table.laws
    if laws.stratum is not None:
        known = {label: own for label, own in laws.strata.items() if own is not None}
        strata = {label: {**_rates_of(own), **_unpublished(table, own)} for label, own in known.items()}
        return {"sampling": {"stratum": laws.stratum, "strata": strata, "assumed": assumed}}
    if laws.estimator is None:
        return {}
    return {"sampling": {**_rates_of(laws.estimator), "assumed": assumed}, **_unpublished(table, laws.estimator)}


def _rates_of(own: Estimator) -> dict[str, Any]:
    return {"rate": own.design.rate, "least": own.design.least, "most": own.design.most}


def _unpublished(table: CellTable, own: Estimator) -> dict[str, Any]:
    shown_from = own.law.shown_from
    hidden = {"low": 0, "high": table.laws.unpublished(table.columns, own)}
    return {"shown_from": shown_from, **({} if shown_from is None else {"unpublished_cell": hidden})}


def _rates(own: Estimator) -> str:
    design = own.design
    return f"{design.least:g}" if design.least == design.most else f"{design.least:.3g} to {design.most:.3g}"
