"""Figures as SVG text: counts, ranges, maps and recodings for reports, lines and chances to stand alone."""
