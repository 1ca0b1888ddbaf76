"""Guarantees, as frozen values whose meaning never changes."""
