"""Mechanisms with one mistake each. An audit that lets one of them pass is not worth running."""

from crowdblend.auditing.twins import crowds, graphs, noise, sampling
from crowdblend.auditing.twins.twin import Twin

TWINS: dict[str, Twin] = {twin.name: twin for chapter in (crowds, sampling, noise, graphs) for twin in chapter.TWINS}

__all__ = ["TWINS", "Twin"]
