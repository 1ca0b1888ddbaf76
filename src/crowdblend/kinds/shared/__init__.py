"""The common parts of all kinds: facts, plans, readings, crowds, and files; it knows no kind."""
