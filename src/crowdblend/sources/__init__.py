"""Rows in: engines, databases, and the private check of the rows."""
