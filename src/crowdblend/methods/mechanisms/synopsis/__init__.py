"""Synthetic rows that answer a whole class of fraction queries (ZKP 4)."""
