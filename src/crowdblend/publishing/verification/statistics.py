"""Statistics: the very numbers that were planned, each within its range and with its error."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import Any

from crowdblend.calculus.description import Description
from crowdblend.policies.statistics import BETWEEN
from crowdblend.publishing.verification.consistency import parts_of, require_files
from crowdblend.publishing.verification.counts import read_rows
from crowdblend.reading.release import PublishedRelease, contradiction

TOTALS = ("totals.sum", "totals.histogram", "totals.groups")
QUANTILES = ("quantile.everybody", "quantile.groups")
JOINT = "strata.joint"
# A statistic as the certificate states it, or a row of the data.
Stated = dict[str, Any]
_ERRORS = ("error", "rank_error")


def check(published: PublishedRelease) -> None:
    """Refuse other rows, errors that are not the stated ones, and impossible shares, counts and quantiles."""
    planned: Stated = published.require("statistics", dict)
    quantiles = [made for made in planned.values() if _is_quantile(made)]
    grouped = [made for made in quantiles if "by" in made or "where" in made]
    # The noisy sizes of groups are totals too.
    expected = (len(planned) - len(quantiles) + len(grouped), len(quantiles))
    found = _one_mechanism(published)
    if tuple(sum(part.name in names for part in found) for names in (TOTALS, QUANTILES)) != expected:
        raise contradiction("it states other statistics than its derivation is about")
    _check_noise(found, planned)
    _check_samples(published, planned)
    (path,) = require_files(published, "data")
    columns = ["statistic", "bin", "value", "error", *(["rank_error"] if quantiles else [])]
    rows = read_rows(path, columns, blank=_ERRORS if quantiles else ())
    numbered = [(name, label) for name, made in planned.items() for label in _bins(published, made)]
    if [(row["statistic"], row["bin"] or None) for row in rows] != numbered:
        raise contradiction(f"{path.name} has other rows than the statistics that were planned")
    for row in rows:
        if not (_error_holds(published, row, planned[row["statistic"]]) and _possible(published, row, planned)):
            raise contradiction(f"{path.name} has an error that was not planned, or an impossible number")


def _one_mechanism(published: PublishedRelease) -> list[Description]:
    """What the derivations are about; of strata, the mechanism that sees all of them."""
    described = list(parts_of(published.certificate.description))
    joint = next((part for part in described if part.name == JOINT), None)
    if ("weights" in published.facts) != (joint is not None):
        raise contradiction("it states strata that its derivation is not about, or none")
    if joint is None:
        return described
    _check_weights(published, joint)
    return list(parts_of(joint.parts[0]))


def _check_noise(found: list[Description], planned: Stated) -> None:
    """Refuse noise other than the certified one: of every total, and of every choice of a quantile."""
    for names, chosen in ((TOTALS, False), (QUANTILES, True)):
        certified = Counter(dict(part.details)["noise_epsilon"] for part in found if part.name in names)
        stated = Counter(made.get("noise_epsilon") for made in planned.values() if _is_quantile(made) == chosen)
        # The noisy sizes of groups of quantiles are totals that no statistic states.
        if stated - certified or (chosen and certified - stated):
            raise contradiction("it states other noise than its derivation is about")


def _check_samples(published: PublishedRelease, planned: Stated) -> None:
    """Refuse other numbers of random people than the guarantee is relative to."""
    parts = [dict(part.details) for part in parts_of(published.certificate.description)]
    certified = {(one["samples"], one["population"]) for one in parts if "samples" in one}
    stated = {(made["samples"], published.parameter("people")) for made in planned.values() if "samples" in made}
    if certified != stated:
        raise contradiction("it states other numbers of people than its derivation is about")


def _check_weights(published: PublishedRelease, joint: Description) -> None:
    """Refuse rates other than the certified ones, and weights that are not their copies in one unit."""
    stated = published.require("weights", dict).get("strata")
    if not isinstance(stated, dict):
        raise contradiction("it does not state the rates of its strata")
    certified = {
        (dict(part.details)["low"], dict(part.details)["high"]): dict(part.details)["copies"]
        for part in joint.parts[1:]
    }
    try:
        rows = [(certified[one["low"], one["high"]], float(one["weight"])) for one in stated.values()]
    except (KeyError, TypeError, ValueError):
        raise contradiction("it states other rates of strata than its derivation is about") from None
    units = [weight / copies for copies, weight in rows]
    if len({(one["low"], one["high"]) for one in stated.values()}) < len(certified) or not units:
        raise contradiction("its derivation is about more strata than it states")
    if not all(unit > 0 and math.isclose(unit, units[0], rel_tol=1e-9) for unit in units):
        raise contradiction("it states other weights of strata than its derivation is about")


def _is_quantile(made: Stated) -> bool:
    return "median" in made or "quantile" in made


def _error_holds(published: PublishedRelease, row: Stated, made: Stated) -> bool:
    """Whether the error is the stated one; where it depends on noisy sizes of groups, that it is a possible one."""
    stated, blank = _ERRORS[:: -1 if _is_quantile(made) else 1]
    if row.get(blank) is not None or row[stated] is None:
        return False
    if stated in made:
        return bool(row[stated] == made[stated])
    if stated == "rank_error":
        return bool(0 <= row[stated] <= 1)
    if not _is_share(made):
        return bool(0 <= row[stated] < math.inf)
    low, high = (0.0, 1.0) if "fraction" in made else _bounds(published, made)
    return bool(0 <= row[stated] <= (high - low) * (1 + 1e-9))


def _is_share(made: Stated) -> bool:
    return "average" in made or "fraction" in made


def _possible(published: PublishedRelease, row: Stated, planned: Stated) -> bool:
    made, people = planned[row["statistic"]], published.parameter("people")
    if "average" in made or _is_quantile(made):
        low, high = _bounds(published, made)
        return bool(low <= row["value"] <= high)
    if "weights" in published.facts and not _is_share(made):
        # How many people there are is an estimate too, so that nothing bounds a sum from above.
        negative = "sum" in made and _bounds(published, made)[0] < 0
        return bool((-math.inf if negative else 0.0) <= row["value"] < math.inf)
    if not isinstance(people, int):
        raise contradiction("it does not state people")
    if "sum" in made:
        low, high = _bounds(published, made)
        return bool(min(0, low * people) <= row["value"] <= max(0, high * people))
    return bool(0 <= row["value"] <= (1.0 if "fraction" in made else people))


def _bounds(published: PublishedRelease, made: Stated) -> tuple[float, float]:
    """The bounds of the column of a statistic, as the certificate declares them."""
    column = next(made[what] for what in ("average", "sum", "median", "quantile") if what in made)
    domain = published.require("columns", dict)[column][-1]
    return float(domain["from"]), float(domain["to"])


def _bins(published: PublishedRelease, made: Stated) -> list[str | None]:
    """The labels of a histogram's column or of groups, as the certificate declares them; a single number has none."""
    names = [made["histogram"]] if "histogram" in made else made.get("by", [])
    if not names:
        return [None]
    domains = published.require("columns", dict)
    labels = ([str(label) for label in domains[name][0]["labels"]] for name in names)
    return [BETWEEN.join(some) for some in product(*labels)]
