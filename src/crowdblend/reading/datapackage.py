"""`datapackage.json`: a release described as a Frictionless Data Package, from its certificate and its files alone.

Every column has its meaning and its whole declared domain: as a list of categories, or, where the labels are too many
or open, as the recoding that makes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdblend.calculus import Certificate
from crowdblend.calculus.encoding import encode
from crowdblend.estimates import estimator_of, facts_of_table
from crowdblend.estimates.estimator import CONFIDENCE
from crowdblend.estimates.facts import tables_of_their_own
from crowdblend.reading.cells import ENDINGS, header_of
from crowdblend.reading.domain import declared_domain, ordered_columns
from crowdblend.reading.strata import strata_of_package

NAME = "datapackage.json"
# Kinds whose data are people counted in cells.
COUNTED = ("table", "microdata", "points", "outlier-table")
_MEDIA = {".parquet": "application/vnd.apache.parquet", ".csv": "text/csv"}
# Columns that a release has beside those of the policy: their type and their meaning.
_OWN = {
    "count": (
        "integer",
        "The published number of people in the table that was read, a sample unless stated otherwise.",
    ),
    "exact": ("boolean", "Whether count is exact; where it is not, it carries noise."),
    "estimate": ("number", "The estimated number of people in the population; blank where cells are missing."),
    "low": ("integer", "The lower end of the 95 % interval for the number of people in the population."),
    "high": ("integer", "The upper end of the 95 % interval for the number of people in the population."),
    "total": ("string", "What was counted in all: the rows that were kept, or the people who have them."),
    "statistic": ("string", "The name of the statistic."),
    "bin": ("string", "The bin of a histogram, or the group that the number is about; blank for a single number."),
    "value": ("number", "The published value."),
    "error": ("number", "What the value stays within of the true one, with the stated confidence."),
    "rank_error": (
        "number",
        "For quantiles, instead of error: the value is a quantile of the people concerned at a share that differs by "
        "at most this from the one stated, with the stated confidence.",
    ),
    "confidence": ("number", "The probability with which the value stays within its error."),
    "class": ("string", "The class of people that the number is about; blank for a single number."),
    "block": ("integer", "The number of the block that the point lies in."),
}
# The same for points, which have no count.
_OF_POINTS = {
    "estimate": "The estimated number of people in the population with the same {what}; blank where some are missing.",
    "low": "The lower end of the 95 % interval for the number of people in the population with the same {what}.",
    "high": "The upper end of the 95 % interval for the number of people in the population with the same {what}.",
}
# The same where people may have several rows and rows are counted.
_COUNTS = {
    "count": "The published number of rows that were kept, or of what the column total names.",
    "estimate": "The estimate of that number without the noise.",
    "low": "The lower end of the 95 % interval for the number without the noise.",
    "high": "The upper end of the 95 % interval for the number without the noise.",
}


def data_package(folder: Path, certificate: Certificate) -> str:
    """The text of datapackage.json for a folder whose data files are written."""
    facts = certificate.facts
    hashes = facts["files"]
    names = [name for name in hashes if Path(name).suffix in ENDINGS]
    about: Mapping[str, Any] = facts.get("about") or {}
    described: dict[str, Any] = {
        "profile": "data-package",
        "name": "crowdblend-release",
        "title": about.get("title") or "A release of data about people",
        "description": f"A release of kind {facts['kind']} with a certificate; README.md and report.html explain it.",
        **_published(facts, about),
        "resources": [_resource(folder / name, hashes[name], facts) for name in names],
        "crowdblend": _own(certificate),
    }
    return json.dumps(described, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _published(facts: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if "date" in facts:
        said["created"] = f"{facts['date']}T00:00:00Z"
    if "publisher" in about:
        said["contributors"] = [{"title": about["publisher"], "role": "publisher"}]
    if "licence" in about:
        said["licenses"] = [{"name": about["licence"], "title": about["licence"]}]
    return said


def _resource(path: Path, digest: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": path.stem.lower(),
        "path": path.name,
        "format": path.suffix[1:],
        "mediatype": _MEDIA[path.suffix],
        **({"encoding": "utf-8"} if path.suffix == ".csv" else {}),
        # Of a Parquet file validators know neither, and say so as an error; the certificate has its hash.
        **({"bytes": path.stat().st_size, "hash": f"sha256:{digest}"} if path.suffix == ".csv" else {}),
        "schema": {"fields": [_field(name, facts) for name in header_of(path)], "missingValues": [""]},
    }


def _field(name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    columns, axes = facts.get("columns") or {}, facts.get("axes") or {}
    if name in axes:
        low, high, step = axes[name]
        meaning = f"A coordinate on a grid of {step} from {low} to {high}, moved by noise."
        return {"name": name, "type": "number", "description": meaning}
    if name in columns and name not in ("statistic", "bin", "value", "error", "rank_error"):
        return _declared(name, columns[name], declared_domain(facts).get(name), ordered=name in ordered_columns(facts))
    kind, meaning = _OWN.get(name, ("any", ""))
    if name in _COUNTS and "rows_per_person" in (facts.get("parameters") or {}):
        meaning = _COUNTS[name]
        if name == "count" and facts["parameters"].get("count") == "people":
            meaning = "The published number of people who have the class, or of what the column total names."
    if name in _OF_POINTS and facts.get("kind") == "points":
        meaning = _OF_POINTS[name].format(what="labels and block" if facts.get("show_blocks") is True else "labels")
    return {"name": name, "type": kind, "description": meaning}


def _declared(name: str, domain: Any, labels: tuple[str, ...] | None, *, ordered: bool) -> dict[str, Any]:
    """A column of the policy: every label that could be published, in its order."""
    field: dict[str, Any] = {"name": name, "type": "string", "description": "Recoded; not every label is published."}
    if labels is None:
        return {**field, "constraints": {"required": True}, "crowdblend": {"recoding": domain}}
    listed = {"categories": list(labels), "categoriesOrdered": ordered}
    return {**field, **listed, "constraints": {"required": True, "enum": list(labels)}}


def _own(certificate: Certificate) -> dict[str, Any]:
    """What has no place in the standard: rate, guarantees, assumptions, and how large an unpublished cell may be."""
    facts = certificate.facts
    said: dict[str, Any] = {
        "kind": facts["kind"],
        "about": dict(facts.get("about") or {}),
        "guarantees": [encode(guarantee) for guarantee in certificate.guarantees],
        "assumptions": [assumed.to_dict() for assumed in certificate.assumptions()],
        "confidence": CONFIDENCE,
    }
    if own := tables_of_their_own(facts):
        said["tables"] = {name: _sampling(facts_of_table(facts, name)) for name in own}
    elif facts["kind"] in COUNTED:
        said |= strata_of_package(facts) or _sampling(facts)
    return said


def _sampling(facts: Mapping[str, Any]) -> dict[str, Any]:
    """How people were sampled, and what a cell that is not published may hold."""
    estimator = estimator_of(facts)
    if estimator is None:
        return {}
    design, shown_from = estimator.design, estimator.law.shown_from
    rates = {"rate": design.rate, "least": design.least, "most": design.most}
    said: dict[str, Any] = {"sampling": {**rates, "assumed": facts.get("already_drawn") is True}}
    said["shown_from"] = shown_from
    if shown_from is not None:
        said["unpublished_cell"] = {"low": 0, "high": estimator.unpublished()}
    return said
