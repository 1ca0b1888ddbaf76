"""Microdata: recoded records, one row for each person whose record at least k sampled people have."""
