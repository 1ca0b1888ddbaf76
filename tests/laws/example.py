"""What a row of the table of examples is."""

from dataclasses import dataclass, field
from typing import Any

from crowdblend.trusted.guarantees.privacy import Guarantee


@dataclass(frozen=True)
class Example:
    """One application of a rule."""

    premises: tuple[Guarantee, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    moves: dict[tuple[str, str], int] = field(default_factory=dict)
