"""Estimates for readers: intervals about the population, from what is published alone.

Nothing here sees a sample, so whatever is computed is post-processing and costs no privacy. The proofs that the
intervals cover are in docs/proofs.md#estimates.
"""
