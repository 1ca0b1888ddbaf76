"""Mechanisms with one mistake each. An audit that lets one of them pass is not worth running."""

from tests.lab.auditing.broken_mechanisms import crowds, noise, sampling
from tests.lab.auditing.broken_mechanisms.parts import BROKEN_MECHANISMS, BrokenMechanism

__all__ = ["BROKEN_MECHANISMS", "BrokenMechanism", "crowds", "noise", "sampling"]
