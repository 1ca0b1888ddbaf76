"""Every theorem of the papers as a rule. Importing this package registers them all."""

from crowdblend.calculus.rules import (
    blending,
    choice,
    composition,
    graph_releases,
    graphs,
    mechanisms,
    outliers,
    profiles,
    programme,
    quantiles,
    queries,
    recoding,
    registers,
    sampling,
    sanitizers,
    selection,
    strata,
    synopses,
    totals,
    zero_knowledge,
)
