"""Microdata as the audit sees them: records that people of the hardest numbers have."""

from crowdblend.rehearsal.crowd_classes import subject

__all__ = ["subject"]
