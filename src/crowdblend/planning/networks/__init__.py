"""Plan statistics of a network: how much noise, for which guarantee, relative to how many people."""

from crowdblend.planning.networks.derive import differential, released
from crowdblend.planning.networks.request import NAMES, PEOPLE_S_DATA, Bounds, NetworkRequest
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
    "NetworkRequest",
    "differential",
    "least_people",
    "plan_network",
    "refuse_useless",
    "released",
    "trades",
]
