"""Policies: what the steward decides, checked before a row is touched."""
