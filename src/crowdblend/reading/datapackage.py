"""`datapackage.json`: a release described as a Frictionless Data Package, from its certificate and its files alone.

Every column has its meaning and its whole declared domain: as a list of categories, or, where the labels are too many
or open, as the recoding that makes them.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import to_builtins

from crowdblend.kinds.shared.facts import ReleaseFacts
from crowdblend.methods.estimates.estimator import CONFIDENCE
from crowdblend.reading.columns import Column
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.notes import sampling_of
from crowdblend.reading.release import PublishedRelease
from crowdblend.trusted.calculus import Certificate
from crowdblend.trusted.calculus.encoding import encode

NAME = "datapackage.json"


def data_package(release: PublishedRelease) -> str:
    """Return the text of datapackage.json for a release whose data files are written."""
    facts = release.facts
    described: dict[str, Any] = {
        "profile": "data-package",
        "name": "crowdblend-release",
        "title": facts.about.get("title") or f"A release of data about {facts.counted.many}",
        "description": f"A release of kind {facts.kind} with a certificate; README.md and report.html explain it.",
        **_published_fields(facts),
        "resources": [_resource(file, release) for file in release.data_files],
        "crowdblend": _own(release.certificate, facts),
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


def _resource(file: DataFile, release: PublishedRelease) -> dict[str, Any]:
    told = file.format
    # Of a packed file validators know neither, and say so as an error; the certificate has its hash.
    as_text = {"encoding": "utf-8", "bytes": file.size, "hash": f"sha256:{release.facts.files[file.name]}"}
    return {
        "name": file.stem.lower(),
        "path": file.name,
        "format": told.name,
        "mediatype": told.media_type,
        **(as_text if told.is_text else {}),
        "schema": {"fields": [_field(column) for column in release.columns_of(file)], "missingValues": [""]},
    }


def _field(column: Column) -> dict[str, Any]:
    """Return a column: of one of the policy every label that could be published, in its order."""
    field: dict[str, Any] = {"name": column.name, "type": column.type, "description": column.meaning}
    if (domain := column.domain) is None:
        return field
    required = {"required": not column.has_blanks}
    if domain.labels is None:
        return {**field, "constraints": required, "crowdblend": {"recoding": to_builtins(domain)}}
    labels = list(domain.labels)
    listed = {"categories": labels, "categoriesOrdered": domain.is_ordered}
    return {**field, **listed, "constraints": {**required, "enum": labels}}


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
