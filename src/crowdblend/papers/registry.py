"""Every reproduction by its name."""

from __future__ import annotations

from collections.abc import Callable

from crowdblend.errors import InvalidInput
from crowdblend.papers import cbp, lqs_figures, lqs_tables, zkp
from crowdblend.papers.reproduction import Reproduction

REPRODUCTIONS: dict[str, Callable[[], Reproduction]] = {
    "lqs-table1": lqs_tables.table1,
    "lqs-table2": lqs_tables.table2,
    "lqs-figure2": lqs_figures.figure2,
    "lqs-figure3": lqs_figures.figure3,
    "lqs-figure4": lqs_figures.figure4,
    "lqs-figure5": lqs_figures.figure5,
    "lqs-figure6": lqs_figures.figure6,
    "cbp-proposition12": cbp.first_point,
    "zkp-politics": zkp.politics,
}


def reproduce(name: str) -> Reproduction:
    """Recompute one table or figure.

    >>> reproduce("lqs-table1").source
    'LQS, Table 1'
    """
    if name not in REPRODUCTIONS:
        raise InvalidInput(f"a reproduction must be one of {', '.join(REPRODUCTIONS)}, got {name!r}.")
    return REPRODUCTIONS[name]()
