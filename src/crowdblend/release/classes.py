"""Moved to crowdblend.mechanisms.classes."""

from crowdblend.mechanisms.classes import SampledClasses

__all__ = ["SampledClasses"]
