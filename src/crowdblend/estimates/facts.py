"""The estimator of a release, from the facts of its certificate: what a publisher and a reader compute is the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from crowdblend.estimates.estimator import CONFIDENCE, Estimator, InclusionRates, Intervals, nothing_known
from crowdblend.estimates.laws import ExactCounts, Law, NoiseBelowK, NoiseOnEveryCell, OutlierNoise, Whole

Facts = Mapping[str, Any]

# Facts may come from anywhere. Beyond these nothing is estimated: it would take minutes, or no array would hold it.
_LARGEST_K, _LARGEST_NOISY, _LARGEST_OUTLIER, _SMALLEST_RATE = 10**6, 10**5, 10**5, 1e-12
_SMALLEST_LOSS, _LARGEST_LOSS = 2.0**-40, 700.0
_MOST_CELLS = 2**40


def estimator_of(facts: Facts) -> Estimator | None:
    """How published counts of a release are read; None where the facts do not say how people were sampled."""
    parameters = facts.get("parameters")
    if not isinstance(parameters, Mapping):
        return None
    law, design = _law(facts, parameters), _design(facts, parameters)
    return None if law is None or design is None else Estimator(law, design)


def facts_of_table(facts: Facts, name: str) -> Facts:
    """The facts as they are for one of several tables: one from a part or a sample of its own has its rate and k."""
    tables, columns = (facts.get(each) for each in ("tables", "columns"))
    part = tables_of_their_own(facts).get(name)
    if not isinstance(part, Mapping) or not isinstance(tables, Mapping) or not isinstance(columns, Mapping):
        return facts
    stated, names = facts.get("parameters"), tables.get(name)
    parameters = dict(stated) if isinstance(stated, Mapping) else {}
    rate, share = part.get("rate", parameters.get("rate")), part.get("share", 1.0)
    parameters |= {"k": part.get("k"), "rate": rate * share if _is_rate(rate) and _is_rate(share) else None}
    own = (
        {column: columns.get(column) for column in names if isinstance(column, str)} if isinstance(names, list) else {}
    )
    return {**facts, "parts": None, "fresh_samples": None, "parameters": parameters, "columns": own}


def tables_of_their_own(facts: Facts) -> Facts:
    """What is stated of each table that was counted in a part of the sample, or in a fresh sample; else nothing."""
    for name in ("parts", "fresh_samples"):
        stated = facts.get(name)
        if isinstance(stated, Mapping) and stated:
            return stated
    return {}


def domain_sizes(facts: Facts) -> dict[str, int | None]:
    """How many labels every column has; None where its domain is open, or is not stated."""
    columns = facts.get("columns")
    return {str(name): _size(domain) for name, domain in columns.items()} if isinstance(columns, Mapping) else {}


def finest_cells(facts: Facts, columns: Iterable[str]) -> int | None:
    """How many cells of the finest table lie in one cell of a table by these columns; None where nobody knows."""
    known = set(columns)
    sizes = [size for name, size in domain_sizes(facts).items() if name not in known]
    cells = None if None in sizes else math.prod(size for size in sizes if size is not None)
    return None if cells is None or cells > _MOST_CELLS else cells


def row_intervals(
    facts: Facts,
    columns: Iterable[str],
    counts: Whole,
    exact: NDArray[np.bool_] | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> Intervals:
    """The intervals for the rows of one published table; those of several are sums of finest cells."""
    estimator, cells = estimator_of(facts), finest_cells(facts, columns)
    if estimator is None:
        return nothing_known(len(counts))
    if cells == 1:
        return estimator.cells(counts, exact, confidence=confidence)
    if not estimator.law.noiseless:
        if estimator.law.shown_from is not None or cells is None:
            return nothing_known(len(counts))
        return estimator.sums(counts, np.full(len(counts), cells), None, confidence=confidence)
    # At least one finest cell of every row is shown; which, only the finest table would say.
    hidden = None if cells is None else np.full(len(counts), cells - 1)
    return estimator.sums(counts, np.ones(len(counts), np.int64), hidden, confidence=confidence)


def total_intervals(losses: Sequence[float], numbers: Whole) -> Intervals:
    """The intervals for noisy totals of a register, each by the law of its own noise."""
    each = [
        Estimator(NoiseOnEveryCell(loss), InclusionRates.at_rate(1.0)).cells(np.array([number]))
        for loss, number in zip(losses, numbers.tolist(), strict=True)
    ]
    return Intervals(*(np.concatenate([getattr(one, name) for one in each]) for name in ("estimate", "low", "high")))


def _law(facts: Facts, parameters: Facts) -> Law | None:
    k, loss, shown_from = parameters.get("k"), parameters.get("noise_epsilon"), facts.get("show_from")
    if shown_from is not None and not _is_whole(shown_from, _LARGEST_NOISY):
        return None
    if facts.get("everybody") is True:
        return NoiseOnEveryCell(float(loss)) if _is_loss(loss) else None
    if facts.get("kind") == "outlier-table":
        return _outlier_law(parameters, shown_from)
    if facts.get("kind") == "table" and facts.get("below_k") == "noise":
        flag = parameters.get("flag") is True
        known = _is_loss(loss) and _is_whole(k, _LARGEST_NOISY)
        return NoiseBelowK(int(k), float(loss), shown_from, flag) if known and k and loss else None
    return ExactCounts(k) if _is_whole(k, _LARGEST_K) else None


def _outlier_law(parameters: Facts, shown_from: int | None) -> Law | None:
    loss, transition, limit = (parameters.get(name) for name in ("epsilon", "transition", "limit"))
    if not (_is_loss(loss) and _is_whole(transition, _LARGEST_OUTLIER) and _is_whole(limit, _LARGEST_OUTLIER)):
        return None
    law = OutlierNoise(float(loss), transition, limit, shown_from)
    return law if _is_loss(law.widest_loss) else None


def _design(facts: Facts, parameters: Facts) -> InclusionRates | None:
    rate, least, most = (parameters.get(name) for name in ("rate", "low", "high"))
    if _is_rate(least) and _is_rate(most):
        exceptions = parameters.get("exceptions")
        stated = float(rate) if _is_rate(rate) else None
        if least > most or not (exceptions is None or exceptions == 0 or _is_whole(exceptions, _LARGEST_K)):
            return None
        return InclusionRates(stated, float(least), float(most), exceptions or 0)
    if facts.get("everybody") is True or (rate is None and facts.get("kind") == "outlier-table"):
        return InclusionRates.at_rate(1.0)
    recoding = facts.get("recoding")
    share = recoding.get("share") if isinstance(recoding, Mapping) else None
    if not _is_rate(rate):
        return None
    # A part of the sample chose the labels and is not published.
    return InclusionRates.at_rate(float(rate) * (1 - share) if _is_rate(share) else float(rate))


def _is_rate(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and _SMALLEST_RATE <= value <= 1


def _is_loss(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and _SMALLEST_LOSS <= value <= _LARGEST_LOSS


def _is_whole(value: object, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _size(domain: object) -> int | None:
    if not isinstance(domain, Mapping):
        return None
    labels, size = domain.get("labels"), domain.get("size")
    if isinstance(labels, list):
        return len(labels)
    return size if isinstance(size, int) and not isinstance(size, bool) and size >= 1 else None
