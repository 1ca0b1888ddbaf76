"""Guarantees checked by their definitions, in exact fractions, on every table of a tiny world."""

from crowdblend.auditing.exact.definitions import (
    Counterexample,
    ExactClaim,
    crowd_blending,
    differential,
    iid_samples,
    order_free,
    outlier_private,
    random_samples,
    under_sampling,
    zero_knowledge,
)
from crowdblend.auditing.exact.distributions import (
    Database,
    Distribution,
    Gap,
    Mechanism,
    World,
    epsilon_above,
    from_tapes,
    growth_above,
    hockey_stick,
    poisson_sampled,
)

__all__ = [
    "Counterexample",
    "Database",
    "Distribution",
    "ExactClaim",
    "Gap",
    "Mechanism",
    "World",
    "crowd_blending",
    "differential",
    "epsilon_above",
    "from_tapes",
    "growth_above",
    "hockey_stick",
    "iid_samples",
    "order_free",
    "outlier_private",
    "poisson_sampled",
    "random_samples",
    "under_sampling",
    "zero_knowledge",
]
