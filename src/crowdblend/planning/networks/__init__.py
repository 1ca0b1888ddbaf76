"""Plan statistics of a network: how much noise, for which guarantee, relative to how many people."""

from crowdblend.planning.networks.derive import differential, released
from crowdblend.planning.networks.question import NAMES, PEOPLE_S_DATA, Bounds, NetworkQuestion
from crowdblend.planning.networks.solve import (
    CONFIDENCE,
    NetworkPlan,
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
    "NetworkQuestion",
    "differential",
    "least_people",
    "plan_network",
    "refuse_useless",
    "released",
    "trades",
]
