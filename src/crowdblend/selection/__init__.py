"""Choosing among recodings with differential privacy: a lattice, scores of proved sensitivity, exact choices."""

from crowdblend.selection.exponential import choose
from crowdblend.selection.lattice import Ladder, Lattice, Node
from crowdblend.selection.recoding_choice import (
    ChosenRecoding,
    RecodingChoice,
    most_around,
    noise_around,
    noisy_scores_around,
    scores_around,
)
from crowdblend.selection.scores import SCORES, Score, ScoreName, score
from crowdblend.selection.scoring import score_nodes
from crowdblend.selection.search import LARGEST_WHOLE, MOST_STEPS, Search, rolled_up, score_offer

__all__ = [
    "LARGEST_WHOLE",
    "MOST_STEPS",
    "SCORES",
    "ChosenRecoding",
    "Ladder",
    "Lattice",
    "Node",
    "RecodingChoice",
    "Score",
    "ScoreName",
    "Search",
    "choose",
    "most_around",
    "noise_around",
    "noisy_scores_around",
    "rolled_up",
    "score",
    "score_nodes",
    "score_offer",
    "scores_around",
]
