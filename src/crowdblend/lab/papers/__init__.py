"""The tables and figures of the papers, recomputed: printed, published and exact numbers side by side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from crowdblend.errors import InvalidInput
from crowdblend.lab.papers import cbp, lqs, zkp
from crowdblend.lab.papers.reproduction import Reproduction

__all__ = ["ABOUT", "REPRODUCTIONS", "Reproduction", "reproduce"]

REPRODUCTIONS: dict[str, Callable[[], Reproduction]] = {
    "lqs-table1": lqs.table1,
    "lqs-table2": lqs.table2,
    **{name: partial(lqs.inverse_delta_figure, name) for name in lqs.FIGURES},
    "lqs-figure6": lqs.figure6,
    "cbp-proposition12": cbp.first_point,
    "zkp-politics": zkp.politics,
}

ABOUT = {
    "lqs-table1": "What sampling makes of two differentially private mechanisms.",
    "lqs-table2": "δ at k = 20, for three sampling rates and six ε.",
    "lqs-figure2": "1/δ against ε for k from 5 to 50, β = 0.2.",
    "lqs-figure3": "1/δ against ε for β from 0.05 to 0.4, k = 20.",
    "lqs-figure4": "How much larger k must be when β doubles.",
    "lqs-figure5": "Very small k at a very small rate, β = 0.025.",
    "lqs-figure6": "The smallest ε that each k satisfies at δ ≤ 1e-6.",
    "cbp-proposition12": "The first point of a table, which differential privacy cannot keep and crowd-blending can.",
    "zkp-politics": "A differentially private release that tells how people vote.",
}
"""What each of them shows, in the same order."""


def reproduce(name: str) -> Reproduction:
    """Recompute one table or figure.

    >>> reproduce("lqs-table1").source
    'LQS, Table 1'
    """
    if name not in REPRODUCTIONS:
        raise InvalidInput(f"No reproduction is called {name!r}. Choose one of {', '.join(REPRODUCTIONS)}.")
    return REPRODUCTIONS[name]()
