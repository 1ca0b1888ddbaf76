"""How tables are shown: the totals by label, the pairs, the sizes and the largest cells."""

from crowdblend.reports.views.crowd_classes import view

__all__ = ["view"]
