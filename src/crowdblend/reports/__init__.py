"""Reports: a release folder explained on one self-contained page."""

from crowdblend.reports.write import printable, report_html, write_report

__all__ = ["printable", "report_html", "write_report"]
