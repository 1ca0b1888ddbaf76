"""Tables as the audit sees them: classes of the hardest sizes."""

from crowdblend.rehearsal.crowd_classes import subject

__all__ = ["subject"]
