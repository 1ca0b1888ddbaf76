"""For readers of a release: its data, its declared domain, its guarantees, and estimates about the population."""

from crowdblend.reading.release import PublishedRelease, read

__all__ = ["PublishedRelease", "read"]
