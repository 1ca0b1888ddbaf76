"""Data-independent generalizations: every class is declared before a row is read."""
