"""The ledger: an append-only list of what releases spent, which refuses what conflicts with it."""

from crowdblend.ledger.budget import Budget, ProfileTotal
from crowdblend.ledger.conflicts import Outlook
from crowdblend.ledger.entry import Entry, Spending
from crowdblend.ledger.identity import FingerprintRequest, Identity
from crowdblend.ledger.ledger import Ledger

__all__ = ["Budget", "Entry", "FingerprintRequest", "Identity", "Ledger", "Outlook", "ProfileTotal", "Spending"]
