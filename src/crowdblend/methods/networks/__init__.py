"""Networks of people: links and exact statistics."""

from crowdblend.methods.networks.exact import Structure
from crowdblend.methods.networks.links import Network, network

__all__ = ["Network", "Structure", "network"]
