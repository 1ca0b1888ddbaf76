"""How microdata are shown: as tables are, counted by equal rows."""

from crowdblend.kinds.table.view import view

__all__ = ["view"]
