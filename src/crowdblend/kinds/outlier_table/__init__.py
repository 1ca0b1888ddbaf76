"""Outlier-private tables: every bin noisy, the more the smaller it is."""
