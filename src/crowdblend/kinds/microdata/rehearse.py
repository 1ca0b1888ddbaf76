"""Microdata as the audit sees them: records that people of the hardest numbers have."""

from crowdblend.lab.rehearsal.crowds import crowd_subject as subject

__all__ = ["subject"]
