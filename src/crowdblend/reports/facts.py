"""Facts of a certificate as sentences: how columns were recoded, what statistics are of, which queries rows answer.

Certificates hold ids and numbers. Facts are not checked by anybody but the publisher, so nothing here takes their form
for granted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_FEW = 6

Facts = Mapping[str, Any]


def describe_column(domain: Any) -> str:
    """How the values of a column became labels, from its declared domain or from several of them."""
    if isinstance(domain, list):
        return "; averaged as ".join(map(describe_column, domain))
    if not isinstance(domain, Mapping):
        return str(domain)
    if isinstance(domain.get("recodings"), list):
        return f"one of {len(domain['recodings'])} recodings"
    return _RECODINGS.get(str(domain.get("recoding")), _labels)(domain)


def describe_statistic(stated: Any) -> str:
    """What a statistic is of, from the facts about it."""
    if not isinstance(stated, Mapping):
        return ""
    among, by = _among(stated.get("where")), stated.get("by")
    where = f", where {among}" if among else ""
    groups = f", by {' and '.join(map(str, by))}" if isinstance(by, list) else ""
    for name in ("average", "sum", "median", "quantile"):
        if name in stated:
            at = f"{stated['at']}-" if "at" in stated else ""
            return f"{at}{name} of {stated[name]}{groups}{where}"
    if "histogram" in stated:
        return f"people by {stated['histogram']}{where}"
    for name, noun in (("fraction", "share"), ("count", "number")):
        if name in stated:
            return f"{noun} of people whose {_among(stated[name])}{groups}"
    return str(stated.get("words", ""))


def describe_queries(stated: Any) -> str:
    """Which queries synthetic rows answer, from the facts about their class."""
    if not isinstance(stated, Mapping):
        return str(stated or "a class of queries")
    shape = stated.get("shape")
    sizes = [str(size) for size in shape] if isinstance(shape, list) else []
    if stated.get("queries") == "conjunctions":
        return f"all conjunctions of up to {stated.get('order')} of {len(sizes)} columns"
    if stated.get("queries") == "ranges":
        return f"all ranges of one column of {' '.join(sizes)} values"
    if stated.get("queries") == "half-planes":
        return f"all half-planes on a grid of {' by '.join(sizes)} cells"
    return f"{stated.get('size')} listed conjunctions"


def _labels(domain: Facts) -> str:
    labels = domain.get("labels")
    if labels is None and "width" in domain:
        return f"from {domain.get('from')} to {domain.get('to')} in intervals of {domain['width']}"
    known = [str(label) for label in labels] if isinstance(labels, list) else []
    if len(known) <= _FEW:
        return ", ".join(known)
    return f"{len(known)} classes: {known[0]}, {known[1]}, … {known[-1]}"


def _dates(domain: Facts) -> str:
    return _labels(domain) if "labels" in domain else f"the {domain.get('period')}"


def _prefix(domain: Facts) -> str:
    return f"the first {domain.get('length')} characters"


def _coordinate(domain: Facts) -> str:
    return f"a coordinate from {_grid(domain)}, then moved by noise"


def _measure(domain: Facts) -> str:
    clamped = domain.get("outside") == "clamp"
    beyond = "values beyond were moved to the bounds" if clamped else "no value lies beyond"
    blank = f", no value counted as {domain['blank']}" if "blank" in domain else ""
    return f"numbers from {_grid(domain)}; {beyond}{blank}"


_RECODINGS: dict[str, Callable[[Facts], str]] = {
    "dates": _dates,
    "prefix": _prefix,
    "coordinate": _coordinate,
    "measure": _measure,
}


def _grid(domain: Facts) -> str:
    return f"{domain.get('from')} to {domain.get('to')}, rounded to {domain.get('resolution')}"


def _among(where: Any) -> str:
    if not isinstance(where, Mapping):
        return ""
    return " and ".join(
        f"{name} is {' or '.join(map(str, labels)) if isinstance(labels, list) else labels}"
        for name, labels in where.items()
    )
