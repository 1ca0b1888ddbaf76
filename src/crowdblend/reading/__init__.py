"""For readers of a release: its data, its declared domain, its guarantees, and estimates about the population."""
