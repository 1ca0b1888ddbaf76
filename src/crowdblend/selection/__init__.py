"""Choosing among recodings with differential privacy: a lattice, scores of proved sensitivity, an exact choice."""

from crowdblend.selection.exponential import choose
from crowdblend.selection.lattice import Ladder, Lattice, Node
from crowdblend.selection.scores import SCORES, Score, ScoreName, score
from crowdblend.selection.scoring import score_nodes

__all__ = ["SCORES", "Ladder", "Lattice", "Node", "Score", "ScoreName", "choose", "score", "score_nodes"]
