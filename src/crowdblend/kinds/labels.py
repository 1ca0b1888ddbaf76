"""The labels that a release may show, for its certificate: what is published is held against them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowdblend.recoding import Recoding

# A certificate lists labels up to this number; columns beyond are held against nothing.
MOST_LISTED = 5_000


def listed_labels(recodings: Iterable[tuple[str, Recoding]]) -> Mapping[str, list[str]]:
    """By column, every label of its declared domain; an open or very large domain is left out."""
    return {
        name: list(recoding.labels)
        for name, recoding in recodings
        if recoding.closed and recoding.labels and len(recoding.labels) <= MOST_LISTED
    }
