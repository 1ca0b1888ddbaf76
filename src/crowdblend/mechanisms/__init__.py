"""One file per mechanism: parameters in the constructor, the sample in the call, and `claim()`: what it guarantees."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdblend.mechanisms.classes import PublishedClasses, SampledClasses
    from crowdblend.mechanisms.noisy import NoisyHistogram
    from crowdblend.mechanisms.outliers import OutlierHistogram
    from crowdblend.mechanisms.points import NoisyPoints, PublishedPoints
    from crowdblend.mechanisms.suppressed import SuppressedHistogram

# Where each name lives: nothing is loaded before it is asked for.
_MODULES = {
    "NoisyHistogram": "noisy",
    "NoisyPoints": "points",
    "OutlierHistogram": "outliers",
    "PublishedClasses": "classes",
    "PublishedPoints": "points",
    "SampledClasses": "classes",
    "SuppressedHistogram": "suppressed",
}

__all__ = [
    "NoisyHistogram",
    "NoisyPoints",
    "OutlierHistogram",
    "PublishedClasses",
    "PublishedPoints",
    "SampledClasses",
    "SuppressedHistogram",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
