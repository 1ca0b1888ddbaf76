"""Attacks on releases that look safe, and the same attacks on ours. The unsafe targets live in `targets` only."""

from __future__ import annotations

from importlib import import_module

from crowdblend.errors import InvalidInput
from crowdblend.lab.attacks.trial import Attack

ATTACKS = {
    "composition": "Two tables that are each safe: a person alone where two crowds overlap.",
    "xor": "Two halves of a secret: each release says nothing, both say everything.",
    "extreme-value": "The richest person in town, told by the range of a group.",
    "minimality": "A recoder that merges only when it must says what it saw.",
    "duplicate": "Twenty copies of everybody are 20-anonymous.",
    "politics": "A differentially private release that tells how you vote.",
    "same-sample": "A recoding chosen by the sample that it publishes.",
    "empty-cells": "Noise on occupied cells only: a cell that appears is a person.",
    "differencing": "Two releases and a subtraction.",
    "fixed-size": "A survey of a public number of people: the number minus what is shown is hidden.",
    "membership": "The best test for one person, against the bound from ε and δ.",
}
"""Every attack and what it is about; each is in a module of its own, loaded when it is called for."""


def attack(name: str) -> Attack:
    """Return an attack by its name.

    >>> attack("duplicate").source
    'LQS 3.1'
    """
    if name not in ATTACKS:
        raise InvalidInput(f"An attack must be one of {', '.join(ATTACKS)}, got {name!r}.")
    attack: Attack = import_module(f"crowdblend.lab.attacks.{name.replace('-', '_')}").ATTACK
    return attack
