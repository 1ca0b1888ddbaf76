"""The tables and figures of the papers, recomputed: printed, published and exact numbers side by side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from crowdblend.errors import InvalidInput
from crowdblend.papers import cbp, lqs, zkp
from crowdblend.papers.reproduction import Reproduction

__all__ = ["REPRODUCTIONS", "Reproduction", "reproduce"]

REPRODUCTIONS: dict[str, Callable[[], Reproduction]] = {
    "lqs-table1": lqs.table1,
    "lqs-table2": lqs.table2,
    **{name: partial(lqs.inverse_delta_figure, name) for name in lqs.FIGURES},
    "lqs-figure6": lqs.figure6,
    "cbp-proposition12": cbp.first_point,
    "zkp-politics": zkp.politics,
}


def reproduce(name: str) -> Reproduction:
    """Recompute one table or figure.

    >>> reproduce("lqs-table1").source
    'LQS, Table 1'
    """
    if name not in REPRODUCTIONS:
        raise InvalidInput(f"No reproduction is called {name!r}. Choose one of {', '.join(REPRODUCTIONS)}.")
    return REPRODUCTIONS[name]()
