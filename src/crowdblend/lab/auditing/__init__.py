"""Trying to break guarantees from outside: mechanisms are black boxes here, and none of them is known by name."""
