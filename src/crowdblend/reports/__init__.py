"""Reports: a release folder explained on one self-contained page."""

from crowdblend.reports.write import report_html, write_report

__all__ = ["report_html", "write_report"]
