"""`datapackage.json`: a release described as a Frictionless Data Package, from its certificate and its files alone.

Every column has its meaning and its whole declared domain: as a list of categories, or, where the labels are too many
or open, as the recoding that makes them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from crowdblend.kinds.shared.facts import ReleaseFacts, read_facts
from crowdblend.methods.estimates.estimator import CONFIDENCE
from crowdblend.methods.recoding.domain import Domain
from crowdblend.reading.cells import header_of
from crowdblend.reading.notes import sampling_of
from crowdblend.trusted.calculus import Certificate
from crowdblend.trusted.calculus.encoding import encode
from crowdblend.trusted.calculus.folder_files import DATA_ENDINGS

NAME = "datapackage.json"
_MEDIA = {".parquet": "application/vnd.apache.parquet", ".csv": "text/csv"}
# Columns that a release has beside those of the policy: their type and their meaning.
_OWN = {
    "count": ("integer", "The published number of people in the table that was read, in which everybody is."),
    "sampled": ("integer", "The published number of people in the sample; estimate is about the population."),
    "exact": ("boolean", "Whether the number is exact; where it is not, it carries noise."),
    "estimate": ("number", "The estimated number of people in the population; blank where cells are missing."),
    "low": ("integer", "The lower end of the 95 % interval for the number of people in the population."),
    "high": ("integer", "The upper end of the 95 % interval for the number of people in the population."),
    "total": ("string", "What was counted in all: the rows that were kept, or the people who have them."),
    "statistic": ("string", "The name of the statistic."),
    "value": ("number", "The published value."),
    "error": ("number", "The largest distance of the value from the true one, with the stated confidence."),
    "rank_error": (
        "number",
        "For quantiles, instead of error: the value is a quantile of the people concerned at a share that differs by "
        "at most this from the one stated, with the stated confidence.",
    ),
    "confidence": ("number", "The probability with which the value stays within its error."),
    "class": ("string", "The class of people that the number is about; blank for a single number."),
    "block": ("integer", "The number of the block that the point lies in."),
}


def data_package(folder: Path, certificate: Certificate) -> str:
    """Return the text of datapackage.json for a folder whose data files are written."""
    facts = read_facts(certificate.facts)
    names = [name for name in facts.files if Path(name).suffix in DATA_ENDINGS]
    of_files = {name: facts.publications.get(Path(name).stem, facts) for name in names}
    described: dict[str, Any] = {
        "profile": "data-package",
        "name": "crowdblend-release",
        "title": facts.about.get("title") or "A release of data about people",
        "description": f"A release of kind {facts.kind} with a certificate; README.md and report.html explain it.",
        **_published_fields(facts),
        "resources": [_resource(folder / name, facts.files[name], one) for name, one in of_files.items()],
        "crowdblend": _own(certificate, facts),
    }
    return json.dumps(described, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _published_fields(facts: ReleaseFacts) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if facts.date is not None:
        said["created"] = f"{facts.date}T00:00:00Z"
    if publisher := facts.about.get("publisher"):
        said["contributors"] = [{"title": publisher, "role": "publisher"}]
    if licence := facts.about.get("licence"):
        said["licenses"] = [{"name": licence, "title": licence}]
    return said


def _resource(path: Path, digest: str, facts: ReleaseFacts) -> dict[str, Any]:
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


def _field(name: str, facts: ReleaseFacts) -> dict[str, Any]:
    if name in facts.domains:
        required = name not in facts.columns_with_blanks
        return _declared_field(name, facts.domains[name], facts.labels_are, required=required)
    kind, meaning = facts.meanings.get(name) or _OWN.get(name, ("any", ""))
    return {"name": name, "type": kind, "description": meaning}


def _declared_field(name: str, domain: Domain, meaning: str, *, required: bool) -> dict[str, Any]:
    """Return a column of the policy: every label that could be published, in its order."""
    field: dict[str, Any] = {"name": name, "type": "string", "description": meaning}
    if domain.labels is None:
        return {**field, "constraints": {"required": required}, "crowdblend": {"recoding": to_builtins(domain)}}
    labels = list(domain.labels)
    listed = {"categories": labels, "categoriesOrdered": domain.is_ordered}
    return {**field, **listed, "constraints": {"required": required, "enum": labels}}


def _own(certificate: Certificate, facts: ReleaseFacts) -> dict[str, Any]:
    """Return what the standard has no place for: rate, guarantees, assumptions, hidden cells."""
    said: dict[str, Any] = {
        "kind": facts.kind,
        "about": facts.about,
        "guarantees": [encode(guarantee) for guarantee in certificate.guarantees],
        "assumptions": [assumed.to_dict() for assumed in certificate.assumptions()],
        "confidence": CONFIDENCE,
    }
    each = {name: sampling_of(one, table) for name, one in facts.publications.items() for table in one.tables.values()}
    if len(facts.publications) == 1:
        return said | next(iter(each.values()), {})
    own = {
        name: {"kind": one.kind, **one.own_parameters, **each.get(name, {})} for name, one in facts.publications.items()
    }
    return said | {"together": facts.together, "publications": own}
