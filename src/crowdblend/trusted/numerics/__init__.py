"""Binomial tails, divergences, directed rounding and safe searches. Nothing here knows of privacy.

Formulas are written once, over an `Arithmetic`. `balls` evaluates them rigorously: every result encloses the
true value.
"""
