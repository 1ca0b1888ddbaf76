"""A release in sentences: what is guaranteed, how columns were recoded, and how to read the numbers.

Certificates hold ids and numbers; sentences are rendered here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from crowdblend.methods.recoding.domain import Domain
from crowdblend.reading.reports.text import enumeration
from crowdblend.trusted.calculus import Certificate
from crowdblend.trusted.guarantees.privacy import Differential, ZeroKnowledge
from crowdblend.trusted.guarantees.wording import at_most, one_in, round_up

MOST_NAMES = 5
_FEW = 6


def title(columns: tuple[str, ...], counted: bool, what: str = "people") -> str:
    """Return the title of the publication, by its columns."""
    if not columns:
        return f"A count of {what}"
    names = enumeration(columns) if len(columns) <= MOST_NAMES else f"{', '.join(columns[:MOST_NAMES])} and others"
    return f"{f'Counts of {what} by' if counted else f'Records of {what}:'} {names}"


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


def describe_column(domain: Domain) -> str:
    """Return how the values of a column became labels, from its declared domain."""
    if domain.recodings:
        return f"one of {len(domain.recodings)} recodings"
    return _recoding(domain) or _labels(domain)


def _recoding(domain: Domain) -> str | None:
    """Return what was done to values that did not become listed labels."""
    grid = f"{domain.start} to {domain.to}, rounded to {domain.resolution}"
    match domain.recoding:
        case "dates" if domain.labels is None:
            return f"the {domain.period}"
        case "prefix":
            return f"the first {domain.length} characters"
        case "coordinate":
            return f"a coordinate from {grid}, then moved by noise"
        case "measure":
            clamped = domain.outside == "clamp"
            beyond = "values beyond were moved to the bounds" if clamped else "no value lies beyond"
            blank = "" if domain.blank is None else f", no value counted as {domain.blank}"
            return f"numbers from {grid}; {beyond}{blank}"
    return None


def _labels(domain: Domain) -> str:
    if domain.labels is None and domain.width is not None:
        return f"from {domain.start} to {domain.to} in intervals of {domain.width}"
    known, spoken = domain.labels or (), domain.spoken_labels
    many = "" if len(known) <= _FEW else f"{len(known)} classes: "
    # A reader who looks a class of a chart up in the data finds it under its label.
    in_data = f"; in the data {_listed(known)}" if spoken else ""
    return f"{many}{_listed(tuple(spoken.get(text, text) for text in known))}{in_data}"


def _listed(labels: Sequence[str]) -> str:
    """Return labels as a list, or the first and the last of many."""
    return ", ".join(labels) if len(labels) <= _FEW else f"{labels[0]}, {labels[1]}, … {labels[-1]}"
