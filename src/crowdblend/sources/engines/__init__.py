"""Engines: from the rows of a source to counts, sums and links."""
