"""Every theorem of the papers as a rule. Importing this package registers them all."""

from crowdblend.trusted.calculus.rules import (
    blending,
    composition,
    graph_releases,
    graphs,
    mechanisms,
    profiles,
    programme,
    queries,
    recoding,
    registers,
    sampling,
    strata,
    surveys,
    totals,
    zero_knowledge,
)
