"""Synopses: synthetic rows that answer a class of queries."""
