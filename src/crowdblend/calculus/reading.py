"""A certificate's JSON from a text or a file, with bounds on what it may cost to read."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from crowdblend.calculus.folder_files import printable
from crowdblend.errors import InvalidInput
from crowdblend.regular_files import read_regular

# Two hundred times a usual certificate. Parsed, JSON of this size takes at most some 300 MB.
Document = dict[str, Any]
MOST_BYTES = 4 * 2**20
DEEPEST_JSON = 200


def read_text(path: Path) -> str:
    """Return the text of a certificate file."""
    try:
        return read_regular(path, MOST_BYTES).decode("utf-8")
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or "it is not UTF-8 text"
        message = f"{printable(str(path))} is not readable as a certificate: {why}."
        remedy = "Pass its path."
        raise InvalidInput(
            message, remedy=remedy, where=printable(str(path)), code="certificate.unreadable"
        ) from problem


def parse(text: str) -> Document:
    """The JSON object in a text; refuses names that occur twice, numbers that no double holds, and deep nesting."""
    # A text has at least as many bytes as characters.
    if len(text) > MOST_BYTES:
        raise InvalidInput(f"The certificate has more than {MOST_BYTES:,} bytes.")
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(
            "This is no certificate, or a damaged one. Name the folder of a release, or its certificate.json.",
            where="certificate",
        ) from problem
    if not isinstance(document, dict):
        raise InvalidInput("The certificate is not a JSON object.")
    if _deeper_than(document, DEEPEST_JSON):
        raise InvalidInput(f"The certificate nests deeper than {DEEPEST_JSON} levels.")
    return document


def _deeper_than(document: object, most: int) -> bool:
    level = [document]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _unique(pairs: list[tuple[str, object]]) -> Document:
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("a name occurs twice")
    return named


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _finite(text: str) -> float:
    """Return a number that a double holds; −0.0 is refused, as it equals 0.0 but is written differently."""
    value = float(text)
    if math.isinf(value) or (value == 0 and text.startswith("-")):
        raise ValueError(text)
    return value
