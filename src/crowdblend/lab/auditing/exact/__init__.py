"""Guarantees checked by their definitions, in exact fractions, on every table of a tiny world."""
