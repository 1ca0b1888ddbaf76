"""The tables and figures of the papers, recomputed: printed, published and exact numbers side by side."""

from crowdblend.papers.registry import REPRODUCTIONS, reproduce
from crowdblend.papers.reproduction import Reproduction

__all__ = ["REPRODUCTIONS", "Reproduction", "reproduce"]
