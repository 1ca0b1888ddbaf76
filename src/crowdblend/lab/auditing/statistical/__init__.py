"""Guarantees tested by running the mechanism many times on neighbouring populations that are hard for it."""
