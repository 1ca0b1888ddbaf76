"""Mechanisms with one mistake each. An audit that lets one of them pass is not worth running."""

from crowdblend.auditing.broken_mechanisms import crowds, noise, sampling
from crowdblend.auditing.broken_mechanisms.parts import BrokenMechanism

BROKEN_MECHANISMS: dict[str, BrokenMechanism] = {
    broken.name: broken for chapter in (crowds, sampling, noise) for broken in chapter.BROKEN
}

__all__ = ["BROKEN_MECHANISMS", "BrokenMechanism"]
