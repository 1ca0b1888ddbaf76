"""Networks of people: links, exact statistics, and the samplers that look at a few people only."""

from crowdblend.networks.exact import Structure
from crowdblend.networks.links import Adjacency, Network, network
from crowdblend.networks.samplers import Concealed, View, Watched

__all__ = ["Adjacency", "Concealed", "Network", "Structure", "View", "Watched", "network"]
