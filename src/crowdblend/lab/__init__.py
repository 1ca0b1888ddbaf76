"""Trials of policies and guarantees: rehearsals, audits, attacks, the figures of the papers, a made-up town."""
