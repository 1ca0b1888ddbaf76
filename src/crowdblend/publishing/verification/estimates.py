"""Estimates and their ends, computed again from the counts, the facts of the certificate and the derivation's rate.

A version that computes narrower intervals still accepts those of an earlier one, and blank ones, which claim nothing;
an interval that is narrower than it should be is refused, and so is one that is wider by more than its own width.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.estimates import (
    Intervals,
    StrataFacts,
    facts_of_table,
    points_by_stratum,
    row_intervals,
    strata_of,
    stratified_intervals,
    total_intervals,
)
from crowdblend.estimates.laws import Whole
from crowdblend.publishing.verification.consistency import parts_of, require_stated
from crowdblend.reading.cells import Cells, Estimates
from crowdblend.reading.release import PublishedRelease, contradiction

# Estimates are doubles with one digit behind the point.
_NEAR = 1e-9
_BIASED = ("low", "high", "exceptions")


def check_sampling(published: PublishedRelease) -> None:
    """Refuse facts about how people were sampled, and about noise, that are not those of the derivation."""
    stated: Mapping[str, Any] = published.require("parameters", dict)
    derived = {part.name: dict(part.details) for part in parts_of(published.certificate.description)}
    if published.facts.get("strata"):
        raise contradiction("its derivation knows no strata")
    split, biased = derived.get("recoding.split", {}), derived.get("sampled.biased")
    sampled = derived.get("sampled", split)
    if biased is not None:
        require_stated(published, **{name: biased[name] for name in _BIASED})
        rate = stated.get("rate")
        if rate is not None and not biased["low"] <= rate <= biased["high"]:
            raise contradiction("its rate is outside of what its derivation says")
    else:
        require_stated(published, rate=sampled.get("rate"), low=None, high=None)
    recoding = published.facts.get("recoding")
    share = recoding.get("share") if isinstance(recoding, Mapping) else None
    if share != split.get("share"):
        raise contradiction("the share of people who chose the recoding is not the one of its derivation")
    _check_choice(published, recoding if isinstance(recoding, Mapping) else {})
    noisy = derived.get("histogram.noisy")
    if noisy is not None:
        require_stated(published, noise_epsilon=noisy["noise_epsilon"], flag=noisy["flag"])


def _check_choice(published: PublishedRelease, recoding: Mapping[str, Any]) -> None:
    """Refuse choices of a recoding that cost something else than stated; each step costs its share of epsilon."""
    parts = list(parts_of(published.certificate.description))
    costs = [dict(part.details)["epsilon"] for part in parts if part.name == "selection.exponential"]
    shown = [dict(part.details)["epsilon"] for part in parts if part.name == "selection.noisy-scores"]
    stated, choices = recoding.get("epsilon", 0.0), recoding.get("choices", 0)
    if not isinstance(stated, int | float) or not math.isclose(math.fsum(costs), stated, rel_tol=1e-9):
        raise contradiction("what the choice of the recoding costs is not what its derivation says")
    if len(costs) != choices or shown != [recoding[name] for name in ("show_epsilon",) if name in recoding]:
        raise contradiction("how the recoding was chosen is not what its derivation says")


def check_estimates(published: PublishedRelease, cells: Cells) -> None:
    """Refuse estimates and intervals of a table that do not follow from its counts."""
    facts = facts_of_table(published.facts, cells.path.stem)
    strata = strata_of(facts)
    if strata is not None:
        _check_by_stratum(cells, strata)
        return
    for found in cells.estimates() if cells.estimated else ():
        assert found.counts is not None
        flags = np.zeros(len(found.counts), np.bool_) if found.exact is None else found.exact
        # There are few different counts, and each is computed once.
        kinds, back = np.unique(np.column_stack([found.counts, flags]), axis=0, return_inverse=True)
        exact = None if found.exact is None else kinds[:, 1].astype(np.bool_)
        _compare(cells, found, row_intervals(facts, cells.columns, kinds[:, 0], exact), back)


def _check_by_stratum(cells: Cells, strata: StrataFacts) -> None:
    """The same where every stratum has a rate of its own."""
    for found in cells.estimates(strata.column) if cells.estimated else ():
        assert found.counts is not None
        assert found.labels is not None
        names, codes = np.unique(found.labels.astype(str), return_inverse=True)
        kinds, back = np.unique(np.column_stack([codes.ravel(), found.counts]), axis=0, return_inverse=True)
        _compare(cells, found, stratified_intervals(strata, cells.columns, names[kinds[:, 0]], kinds[:, 1]), back)


def check_totals(cells: Cells, losses: Sequence[float]) -> None:
    """Refuse the intervals of noisy totals, each by the loss of its own noise."""
    for found in cells.estimates() if cells.estimated else ():
        assert found.counts is not None
        _compare(cells, found, total_intervals(losses, found.counts), np.arange(len(found.counts)))


def check_point_estimates(published: PublishedRelease, cells: Cells, groups: Whole) -> None:
    """Refuse the estimates of points; `groups` says of every row which other points are of its kind."""
    facts, labels = published.facts, None
    strata = strata_of(facts)
    if strata is not None:
        every = [found.labels for found in cells.estimates(strata.column) if found.labels is not None]
        first = np.unique(groups, return_index=True)[1]
        labels = np.concatenate(every)[first] if every else None
    right = points_by_stratum(facts, labels, np.bincount(groups).astype(np.int64))
    start = 0
    for found in cells.estimates():
        _compare(cells, found, right, groups[start : start + len(found.low)])
        start += len(found.low)


def _compare(cells: Cells, found: Estimates, right: Intervals, back: NDArray[np.intp]) -> None:
    """Hold every row against the right one of its place in `right`."""
    estimate, low, high = (of_all[back.ravel()] for of_all in (right.estimate, right.low, right.high))
    silent = np.isnan(found.estimate) & (found.low < 0) & (found.high < 0)
    near = np.abs(found.estimate - estimate) <= _NEAR * np.maximum(1, np.abs(estimate))
    if (~silent & ~near & ~(np.isnan(found.estimate) & np.isnan(estimate))).any():
        raise contradiction(f"{cells.path.name} has an estimate that is not its count divided by the rate")
    width = np.where(high < 0, low, high - low) + 1
    narrow = (found.low > low) | ((high < 0) & (found.high >= 0)) | ((high >= 0) & (found.high < high))
    wide = (found.low < low - width) | ((high >= 0) & (found.high > high + width))
    if (~silent & (narrow | wide)).any():
        raise contradiction(f"{cells.path.name} has an interval that does not follow from its count and the rate")
