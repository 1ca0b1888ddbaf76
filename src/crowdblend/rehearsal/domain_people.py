"""Made-up people of a declared domain, so that a policy can be tried out before anybody's data are touched.

Every class is equally likely, or the first ones of each column are more common; columns have nothing to do with each
other. The generator is seeded, so that two policies are tried on the same people: nobody is protected by it, since
nobody in it exists.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np

from crowdblend.errors import InvalidInput
from crowdblend.policies.about import About
from crowdblend.policies.columns import Column
from crowdblend.policies.domains import AxisDomain, NumberDomain
from crowdblend.recoding import DateRange, Intervals, Lookup
from crowdblend.rehearsal.values import examples

Spread = Literal["even", "skewed"]
SPREADS: dict[str, str] = {
    "even": "every class is equally likely",
    "skewed": "the first classes of each column are the most common ones",
}
MOST_PEOPLE = 1_000_000
USUAL_PEOPLE = 10_000
TITLE = "Rehearsal on made-up people"
_CLASSES = 100_000
_SEED = 20120819


def write_people(policy: Any, folder: Path, people: int | None = None, spread: Spread = "even") -> Any:
    """Write made-up people into a folder, and return the same policy about them.

    There are as many as the policy says, or else as many as asked for. Of a sample that was already drawn only those
    are written whom the assumed rate keeps.
    """
    draw = np.random.default_rng(_SEED)
    about = replace(policy.about, title=TITLE) if policy.about else About(title=TITLE)
    source = {"source": str(folder / "people.csv"), "source_format": "csv", "table": None, "delimiter": None}
    here = replace(policy, about=about, population=None, **source)
    if policy.kind == "graph":
        return _network(here, folder, draw)
    count = _count(policy, people)
    columns = {column.name: _values(column, count, draw, spread) for column in policy.columns}
    kept = np.arange(count)
    if policy.sampling.already_drawn:
        kept = np.flatnonzero(draw.random(count) < _rate(policy))
    names = [*([policy.person] if policy.person is not None else []), *columns]
    with Path(here.source).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for at in kept.tolist():
            ids = [at + 1] if policy.person is not None else []
            writer.writerow([*ids, *(values[at] for values in columns.values())])
    return here


def _count(policy: Any, people: int | None) -> int:
    """How many people: as many as the policy says where its guarantee depends on it."""
    exact = policy.kind in ("statistics", "synopsis")
    count = int(policy.people) if exact else USUAL_PEOPLE if people is None else people
    if not 1 <= count <= MOST_PEOPLE:
        raise InvalidInput(
            f"A rehearsal makes up between 1 and {MOST_PEOPLE:,} people, not {count:,}.",
            remedy="Lower people in [data] for the rehearsal." if exact else "Ask for fewer.",
            where="people",
            code="rehearsal.people",
        )
    return count


def _rate(policy: Any) -> float:
    sampling = policy.sampling
    return float(sampling.high if sampling.rate is None else sampling.rate)


def _values(column: Column, count: int, draw: np.random.Generator, spread: Spread) -> list[str | None]:
    """A raw value of the column's domain for everybody."""
    domain = column.domain
    if isinstance(domain, NumberDomain | AxisDomain):
        steps = int((Fraction(domain.stop) - Fraction(domain.start)) / Fraction(domain.resolution))
        # The upper end of an axis belongs to no block.
        last = steps - 1 if isinstance(domain, AxisDomain) else steps
        places = _middle(draw, count, last + 1) if spread == "skewed" else draw.integers(0, last + 1, count)
        first, step = Decimal(str(domain.start)), Decimal(str(domain.resolution))
        return [str(first + step * int(place)) for place in places]
    offered = list(_offered(column))
    weights = 1 / np.arange(1, len(offered) + 1) if spread == "skewed" else np.ones(len(offered))
    return [offered[at] for at in draw.choice(len(offered), count, p=weights / weights.sum())]


def _middle(draw: np.random.Generator, count: int, steps: int) -> Any:
    """Places that are crowded in the middle of an axis."""
    return np.clip((draw.normal(0.5, 0.18, count) * steps).astype(np.int64), 0, steps - 1)


def _offered(column: Column) -> Iterator[str | None]:
    """Raw values, one or more of every class of the finest recoding."""
    recoding = column.recoding
    if isinstance(recoding, Intervals):
        inside = len(recoding.own_labels) - recoding.bottom - recoding.top
        ends = [str(recoding.end(step)) for step in range(inside)]
        known = {recoding.label(end) for end in ends}
        yield from ends
        yield from (value for value in examples(recoding, _CLASSES) if recoding.label(value) not in known)
    elif isinstance(recoding, Lookup):
        yield from recoding.lookup
        yield from (value for value in examples(recoding, _CLASSES) if value not in recoding.lookup)
    elif isinstance(recoding, DateRange):
        days = (recoding.last - recoding.start).days
        yield from ((recoding.start + timedelta(days=step)).isoformat() for step in range(min(days + 1, _CLASSES)))
    else:
        yield from examples(recoding, _CLASSES)


def _network(policy: Any, folder: Path, draw: np.random.Generator) -> Any:
    """Links between random people, half as many on average as are allowed, and everybody's data where they are used."""
    bounds = policy.graph.bounds
    count = bounds.people
    if count > MOST_PEOPLE:
        raise InvalidInput(
            f"A rehearsal makes up at most {MOST_PEOPLE:,} people, and [graph] has {count:,}.",
            remedy="Lower people in [graph] for the rehearsal.",
            where="[graph] people",
            code="rehearsal.people",
        )
    with Path(policy.source).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([policy.graph.source, policy.graph.target])
        writer.writerows(_links(count, bounds.degree_bound, bounds.average_bound, draw))
    if policy.graph.vertices is None:
        return policy
    vertices = folder / "vertices.csv"
    columns = [statistic for statistic in policy.statistics if statistic.column is not None]
    with vertices.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        named = {statistic.column: statistic for statistic in columns}
        writer.writerow([policy.graph.vertex, *named])
        for person in range(count):
            writer.writerow([person, *(_datum(statistic, draw) for statistic in named.values())])
    return replace(policy, graph=replace(policy.graph, vertices=str(vertices)))


def _links(count: int, degree: int, average: float, draw: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Random links; nobody has more than `degree`, and all of them half of `average` at most."""
    known = np.zeros(count, dtype=np.int64)
    wanted = int(min(average, degree) * count / 4)
    seen: set[tuple[int, int]] = set()
    for one, other in np.sort(draw.integers(0, count, (2 * wanted, 2)), axis=1).tolist():
        if len(seen) >= wanted:
            return
        if one != other and (one, other) not in seen and known[one] < degree and known[other] < degree:
            known[[one, other]] += 1
            seen.add((one, other))
            yield one, other


def _datum(statistic: Any, draw: np.random.Generator) -> str:
    if statistic.values:
        return str(statistic.values[int(draw.integers(0, len(statistic.values)))])
    return f"{draw.uniform(statistic.start, statistic.stop):.6g}"
