"""Every theorem of the papers as a rule. Importing this package registers them all."""

from crowdblend.calculus.rules import (
    blending,
    choice,
    composition,
    graphs,
    mechanisms,
    outliers,
    queries,
    recoding,
    sampling,
    sanitizers,
    selection,
    synopses,
    zero_knowledge,
)

__all__ = [
    "blending",
    "choice",
    "composition",
    "graphs",
    "mechanisms",
    "outliers",
    "queries",
    "recoding",
    "sampling",
    "sanitizers",
    "selection",
    "synopses",
    "zero_knowledge",
]
