"""What some people add up to: class counts and sums, from which every statistic is read off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crowdblend.designs.draw import Draw, Exactly
from crowdblend.engines.outside_values import OutsideValues
from crowdblend.engines.refusals import refusal
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.policies.source import DataSource


@dataclass(frozen=True)
class Totals:
    """What some people add up to. Secret: nothing of it is published as it is."""

    people: int
    classes: SampledClasses | None
    sums: dict[str, int]
    outside: Mapping[str, OutsideValues] = field(default_factory=dict)
    """What went to the class `other` of a column, by its name."""


def check_people(data: DataSource, rows_read: int, drawn: int, draw: Draw) -> None:
    """Refuse a source that does not hold as many people as it or the draw says, or a sample of another size."""
    people, samples = (draw.people, draw.samples) if isinstance(draw, Exactly) else (data.people, None)
    if (people is not None and rows_read != people) or (samples is not None and drawn != samples):
        raise refusal(
            "people",
            f"people in [data] is {people}; the data hold another number of people.",
            "Count them and correct it.",
            "[data] people",
        )
