"""Theorems, rules, derivations and certificates: the only place where a guarantee can be made."""

from crowdblend.calculus import rules
from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.certificate import Certificate
from crowdblend.calculus.checker import sha256_of, verify, verify_file, verify_folder
from crowdblend.calculus.rules.composition import compose
from crowdblend.calculus.theorem import RULES, Derivation, Rule

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
