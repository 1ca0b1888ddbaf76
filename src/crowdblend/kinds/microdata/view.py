"""View of microdata: as of tables, counted by equal rows."""

from crowdblend.kinds.table.view import view

__all__ = ["view"]
