"""Releases: what the steward decides, and what becomes of it."""
