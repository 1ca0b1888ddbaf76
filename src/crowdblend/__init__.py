"""Publish data about people: exact where the crowd is large enough, under a certificate anyone can re-check."""

__version__ = "0.1.0"
