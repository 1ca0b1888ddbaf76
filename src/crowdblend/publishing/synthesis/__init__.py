"""Synthetic rows from published tables: a model of what was published, rows drawn from it, and a folder for them.

Nothing here reads data about people or writes to a ledger. Whatever is computed from published files keeps their
guarantees, so that rows cost no privacy, however many and however often.
"""
