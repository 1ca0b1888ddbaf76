"""How microdata are shown: as tables are, counted by equal rows."""

from crowdblend.reports.views.table import view

__all__ = ["view"]
