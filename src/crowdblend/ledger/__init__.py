"""The ledger: an append-only record of what was promised, which refuses what may not be promised beside it."""

from crowdblend.ledger.budget import Budget
from crowdblend.ledger.entry import Entry, Promise
from crowdblend.ledger.ledger import Ledger

__all__ = ["Budget", "Entry", "Ledger", "Promise"]
