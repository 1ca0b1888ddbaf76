"""Theorems, rules, derivations and certificates: the only place where a promise can be made."""

from crowdblend.calculus import rules
from crowdblend.calculus.theorem import RULES, Assumption, Derivation, Rule, Theorem, conversions

__all__ = ["RULES", "Assumption", "Derivation", "Rule", "Theorem", "conversions", "rules"]
