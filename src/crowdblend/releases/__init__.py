"""What releases of all kinds share: facts, plans, readings of a sample, crowds, and files; it knows no kind."""
