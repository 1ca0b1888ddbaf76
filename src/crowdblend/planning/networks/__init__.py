"""Plan statistics of a network: how much noise, for which guarantee, relative to how many people."""

from crowdblend.planning.networks.derive import claim_of, derive_release, differential
from crowdblend.planning.networks.request import NAMES, PEOPLE_S_DATA, Bounds, NetworkRequest
from crowdblend.planning.networks.solve import (
    CONFIDENCE,
    NetworkPlan,
    error_of,
    least_people,
    plan_network,
    refuse_useless,
    trades,
)

__all__ = [
    "CONFIDENCE",
    "NAMES",
    "PEOPLE_S_DATA",
    "Bounds",
    "NetworkPlan",
    "NetworkRequest",
    "claim_of",
    "derive_release",
    "differential",
    "error_of",
    "least_people",
    "plan_network",
    "refuse_useless",
    "trades",
]
