"""Choosing among recodings with differential privacy: a lattice, scores of proved sensitivity, exact choices."""
