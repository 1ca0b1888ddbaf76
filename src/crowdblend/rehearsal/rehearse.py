"""A policy rehearsed: the release itself on made-up people, many times, and what is to be expected of it.

The people are made up once and released again and again, each time with another key. No ledger hears of it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdblend.engines.choice import default_engine
from crowdblend.engines.engine import Progress, no_progress
from crowdblend.engines.frame_sources import opened_frame
from crowdblend.errors import InvalidInput
from crowdblend.kinds import AnyPlan, Publication, plan
from crowdblend.policies.graph import Graph
from crowdblend.policies.source import DataSource
from crowdblend.policies.statistics import Statistics
from crowdblend.randomness import new_key
from crowdblend.rehearsal.expectations import Expectation, NumberExpectation, TableExpectation
from crowdblend.rehearsal.made_up import make_up_people, make_up_vertices
from crowdblend.rehearsal.made_up_people import drawn_here, publish_once
from crowdblend.rehearsal.truth import Margins, TrueStatistics, margins_of

if TYPE_CHECKING:
    import pyarrow

MOST_TIMES = 10_000


def rehearse(
    policy: Any,
    *,
    name: str = "policy",
    people: int | None = None,
    spread: float = 1.0,
    sparsity: float = 0.0,
    like: pyarrow.Table | None = None,
    times: int = 20,
    progress: Progress | None = None,
) -> Expectation:
    """What to expect of a policy, measured on made-up people; see `make_up_people` for what they are like."""
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= MOST_TIMES:
        raise InvalidInput(
            f"times takes a whole number from 1 to {MOST_TIMES:,}, got {times!r}.",
            remedy="Write 20, for example.",
            where="times",
            code="rehearsal.times",
        )
    made = make_up_people(policy, people, spread=spread, sparsity=sparsity, like=like)
    with about_made_up(policy, made, spread) as here:
        planned: AnyPlan = plan(here)
        engine, begun = default_engine(), time.perf_counter()
        published = []
        for number in range(1, times + 1):
            published.append(publish_once(planned, engine, new_key()))
            (progress or no_progress)("rehearsing", number)
        seconds = (time.perf_counter() - begun) / times
        count = _count(here, made)
        files: tuple[TableExpectation, ...] = ()
        numbers: tuple[NumberExpectation, ...] = ()
        if isinstance(here, Statistics):
            numbers = _statistics(planned, published, TrueStatistics(here, engine))
        elif isinstance(here, Graph):
            numbers = _network(published)
        else:
            # Of people with weights only the sample is made up, and not the population.
            weighted = getattr(here.sampling, "weight", None) is not None
            files = _files(planned, published, {} if weighted else margins_of(here, engine), count)
        guarantee: Any = planned.guarantees[0]
        return Expectation(
            policy=name,
            kind=here.kind,
            people=count,
            times=times,
            seconds=seconds,
            epsilon=float(guarantee.epsilon if here.epsilon is None else here.epsilon),
            delta=float(guarantee.delta),
            k=planned.k,
            files=files,
            numbers=numbers,
        )


@contextmanager
def about_made_up(policy: Any, made: Any, spread: float) -> Iterator[Any]:
    """The policy about made-up rows, drawn here if they are a sample."""
    with opened_frame(made) as frame, tempfile.TemporaryDirectory(prefix="crowdblend-") as folder:
        source = DataSource("made-up people", "frame", frame=frame, rows_are_people=True)
        if isinstance(policy, Graph):
            yield _with_vertices(policy, Path(folder), spread).with_source(source)
        else:
            yield _drawn(policy).with_source(source)


def _drawn(policy: Any) -> Any:
    """The policy with people who were drawn before drawn now; by weights nobody is drawn: they are the sample."""
    if not getattr(policy.sampling, "designed", False):
        return drawn_here(policy)
    stratified = replace(policy.sampling, already_drawn=policy.sampling.weight is not None)
    accepted = {} if isinstance(policy, Statistics) else {"accept_delta": True}
    return replace(policy, sampling=stratified, **accepted)


def _with_vertices(policy: Graph, folder: Path, spread: float) -> Graph:
    if policy.graph.vertices is None:
        return policy
    from pyarrow import parquet  # noqa: PLC0415  heavy

    parquet.write_table(make_up_vertices(policy, spread=spread), folder / "people.parquet")
    return replace(policy, graph=replace(policy.graph, vertices=str(folder / "people.parquet")))


def _count(policy: Any, made: Any) -> int:
    if isinstance(policy, Graph):
        return policy.graph.people
    person = getattr(policy, "person", None)
    return int(made.num_rows if person is None else len(made.column(person).unique()))


def _tables(published: Publication) -> Iterator[tuple[str, Any]]:
    """The files of a publication as Arrow tables, without a disk."""
    import pyarrow as pa  # noqa: PLC0415  heavy

    for output in published.outputs:
        batches = [pa.record_batch(piece, names=output.header) for piece in output.pieces()]
        yield output.file, pa.Table.from_batches(batches)


def _files(
    planned: AnyPlan, published: list[Publication], margins: Margins, people: int
) -> tuple[TableExpectation, ...]:
    """Averages over all releases, for every file."""
    found: dict[str, list[tuple[float, float | None, float | None, float | None]]] = {}
    for one in published:
        for file, table in _tables(one):
            stem = Path(file).stem
            hidden = one.internal.get(f"{stem}: relative_difference", one.internal.get("relative_difference"))
            if getattr(planned.policy, "below_k", "noise") != "suppress":
                hidden = None
            measured = (float(table.num_rows), hidden, _margin_error(planned, table, margins, people), _interval(table))
            found.setdefault(file, []).append(measured)
    return tuple(
        TableExpectation(file, _cells(planned, file), *(_mean([row[at] for row in rows]) for at in range(4)))  # type: ignore[arg-type]
        for file, rows in found.items()
    )


def _cells(planned: AnyPlan, file: str) -> int | None:
    """How many cells the declared domain of a table has; None where rows are people, or a domain is open."""
    policy = planned.policy
    if policy.kind not in ("table", "outlier-table"):
        return None
    named = next((table.columns for table in getattr(policy, "tables", ()) if table.name == Path(file).stem), None)
    sizes = [column.recoding.size for column in policy.columns if named is None or column.name in named]
    return None if None in sizes or file.startswith("totals.") else int(np.prod([size or 0 for size in sizes]))


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _margin_error(planned: AnyPlan, table: Any, margins: Margins, people: int) -> float | None:
    """How far the estimated number of people with a label is off on average, as a share of all people."""
    weights = _weights(planned, table, people)
    if weights is None:
        return None
    errors: list[float] = []
    for name, true in margins.items():
        if name not in table.column_names:
            continue
        labels = [str(label) for label in table.column(name).to_pylist()]
        if not set(labels) <= set(true):
            # A coarser recoding was chosen, whose labels are others.
            continue
        estimated = dict.fromkeys(true, 0.0)
        for label, weight in zip(labels, weights, strict=True):
            estimated[label] += weight
        errors += [abs(estimated[label] - count) / people for label, count in true.items()]
    return float(np.mean(errors)) if errors else None


def _weights(planned: AnyPlan, table: Any, people: int) -> Any:
    """How many people every row stands for; None where that is not known."""
    if "estimate" in table.column_names:
        estimates = table.column("estimate")
        return None if estimates.null_count else estimates.to_numpy()
    if "count" in table.column_names:
        return table.column("count").to_numpy()
    if planned.policy.kind == "synopsis":
        return np.full(table.num_rows, people / max(1, table.num_rows))
    rate = planned.facts()["parameters"].get("rate")
    return np.full(table.num_rows, 1 / rate) if isinstance(rate, float) else None


def _interval(table: Any) -> float | None:
    if "low" not in table.column_names or not table.num_rows:
        return None
    low, high = (table.column(name).to_numpy(zero_copy_only=False).astype(float) for name in ("low", "high"))
    length = (high - low)[np.isfinite(high - low)]
    return float(np.median(length)) if len(length) else None


def _statistics(planned: AnyPlan, published: list[Publication], true: TrueStatistics) -> tuple[NumberExpectation, ...]:
    """The errors of every statistic, over all releases and groups."""
    policy = planned.policy
    places = {made.name: place for place, made in enumerate(policy.statistics)}
    errors: dict[str, list[list[tuple[float, float]]]] = {made.name: [] for made in policy.statistics}
    for one in published:
        ((_, table),) = _tables(one)
        for made in policy.statistics:
            errors[made.name].append([])
        for row in table.to_pylist():
            of_release = errors[row["statistic"]][-1]
            stated = row["error"] if row["error"] is not None else row["rank_error"]
            off = true.error(places[row["statistic"]], len(of_release), row["value"])
            of_release.append((off, stated))
    return tuple(
        _number(made.name, "rank error" if made.is_quantile else "error", errors[made.name])
        for made in policy.statistics
    )


def _network(published: list[Publication]) -> tuple[NumberExpectation, ...]:
    errors: dict[str, list[list[tuple[float, float]]]] = {}
    for one in published:
        ((_, table),) = _tables(one)
        true = one.internal["statistics_without_noise"]
        seen: dict[str, list[tuple[float, float]]] = {}
        for row in table.to_pylist():
            name = row["statistic"]
            known = true[name] if isinstance(true[name], list | tuple) else [true[name]]
            place = len(seen.setdefault(name, []))
            seen[name].append((abs(row["value"] - float(known[place])), row["error"]))
        for name, found in seen.items():
            errors.setdefault(name, []).append(found)
    return tuple(_number(name, "error", found) for name, found in errors.items())


def _number(name: str, unit: str, errors: list[list[tuple[float, float]]]) -> NumberExpectation:
    flat = [pair for of_release in errors for pair in of_release]
    kept = np.mean([all(off <= stated for off, stated in of_release) for of_release in errors])
    means = np.mean(np.array(flat), axis=0)
    return NumberExpectation(name, unit, float(means[0]), float(means[1]), float(kept))
