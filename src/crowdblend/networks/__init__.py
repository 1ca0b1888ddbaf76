"""Networks of people: links and exact statistics."""

from crowdblend.networks.exact import Structure
from crowdblend.networks.links import Network, network

__all__ = ["Network", "Structure", "network"]
