"""Every theorem of the papers as a rule. Importing this package registers them all."""

from crowdblend.calculus.rules import (
    blending,
    choice,
    composition,
    graph_estimators,
    graph_releases,
    graphs,
    mechanisms,
    outliers,
    queries,
    recoding,
    sampling,
    sanitizers,
    selection,
    synopses,
    totals,
    zero_knowledge,
)

__all__ = [
    "blending",
    "choice",
    "composition",
    "graph_estimators",
    "graph_releases",
    "graphs",
    "mechanisms",
    "outliers",
    "queries",
    "recoding",
    "sampling",
    "sanitizers",
    "selection",
    "synopses",
    "totals",
    "zero_knowledge",
]
