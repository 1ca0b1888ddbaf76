"""Guarantees checked by their definitions, in exact fractions, on every table of a tiny world."""

from crowdblend.auditing.exact.blending import crowd_blending
from crowdblend.auditing.exact.counterexample import Counterexample
from crowdblend.auditing.exact.differential import differential, under_sampling
from crowdblend.auditing.exact.distributions import (
    Distribution,
    Gap,
    epsilon_above,
    from_tapes,
    growth_above,
    hockey_stick,
)
from crowdblend.auditing.exact.order import order_free
from crowdblend.auditing.exact.outliers import outlier_private
from crowdblend.auditing.exact.worlds import Database, Mechanism, World, sampled
from crowdblend.auditing.exact.zero_knowledge import drawn, iid_samples, random_samples, zero_knowledge

__all__ = [
    "Counterexample",
    "Database",
    "Distribution",
    "Gap",
    "Mechanism",
    "World",
    "crowd_blending",
    "differential",
    "drawn",
    "epsilon_above",
    "from_tapes",
    "growth_above",
    "hockey_stick",
    "iid_samples",
    "order_free",
    "outlier_private",
    "random_samples",
    "sampled",
    "under_sampling",
    "zero_knowledge",
]
