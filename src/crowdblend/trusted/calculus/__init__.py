"""Theorems, rules, derivations and certificates: the only place where a guarantee can be made."""

from crowdblend.trusted.calculus import rules
from crowdblend.trusted.calculus.assumptions import Assumption
from crowdblend.trusted.calculus.certificate import Certificate
from crowdblend.trusted.calculus.checker import sha256_of, verify, verify_file, verify_folder
from crowdblend.trusted.calculus.rules.composition import compose
from crowdblend.trusted.calculus.theorem import RULES, Derivation, Rule

__all__ = [
    "RULES",
    "Assumption",
    "Certificate",
    "Derivation",
    "Rule",
    "compose",
    "rules",
    "sha256_of",
    "verify",
    "verify_file",
    "verify_folder",
]
