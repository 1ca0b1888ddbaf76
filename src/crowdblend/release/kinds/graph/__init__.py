"""Networks: distances to connectedness, cycle-freeness and an Euler path, degrees, and people's data (ZKP 5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crowdblend.release.kinds.graph.policy import GraphPolicy, read_policy
from crowdblend.release.kinds.graph.promise import Promise, promise

__all__ = ["GraphPolicy", "Promise", "promise", "read_policy", "with_graph"]


def with_graph(policy: GraphPolicy, graph: Any) -> GraphPolicy:
    """The policy about a networkx graph in memory, or anything with nodes, edges and is_directed, instead of a file."""
    return replace(policy, graph_in_memory=graph)
