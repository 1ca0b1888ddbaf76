"""A policy rehearsed: the release itself on made-up people, many times, and what is to be expected of it.

The people are made up once and released again and again, each time with another key. Nothing is recorded.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.kinds import AnyPlan, Result, plan
from crowdblend.kinds.graph.policy import GraphPolicy
from crowdblend.kinds.points.policy import PointsPolicy
from crowdblend.kinds.statistics.policy import StatisticsPolicy
from crowdblend.kinds.statistics.statistics_plan import StatisticsPlan
from crowdblend.lab.rehearsal.made_up import RowsPolicy, make_up_people, make_up_vertices
from crowdblend.lab.rehearsal.made_up_people import as_thinned, drawn_here, publish_once
from crowdblend.methods.designs.draw import Everybody
from crowdblend.policies import sampling as designs
from crowdblend.policies.policy import Policy
from crowdblend.policies.source import DataSource
from crowdblend.policies.unit import Unit
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.engine import Engine, Progress, no_progress
from crowdblend.sources.engines.frames import opened_frame
from crowdblend.sources.engines.kept_open import KeptOpen
from crowdblend.trusted.machine.packages import parquet, pyarrow
from crowdblend.trusted.randomness import ReleaseKey, new_key

NOT_REAL = (
    "These are made-up people of the declared domain. Nothing here is about your data, nothing was read of them, and "
    "nothing was spent or recorded."
)


@dataclass(frozen=True)
class TableExpectation:
    """One published file: averages over the rehearsed releases; None where a measure does not apply.

    `cells` is how many cells the declared domain has, `shown` how many rows are published. `hidden` is the share of the
    sampled people whose cells are not shown. `margin_error` is how far the estimated number of people with a label is
    from the true one, as a share of all people and on average over all labels. `interval` is the length of a 95 %
    interval for a cell, in people and in the middle of all cells.
    """

    file: str
    cells: int | None
    shown: float
    hidden: float | None
    margin_error: float | None
    interval: float | None


@dataclass(frozen=True)
class NumberExpectation:
    """One statistic: its error on average, the error that is stated, and how often that was kept, all groups at once.

    Errors of quantiles are shares of ranks.
    """

    statistic: str
    unit: str
    error: float
    stated: float
    kept: float


@dataclass(frozen=True)
class Expectation:
    """The expected publication of a policy; nothing of it is about real people."""

    policy: str
    kind: str
    people: int
    times: int
    seconds: float
    epsilon: float
    delta: float
    k: int | None
    files: tuple[TableExpectation, ...] = ()
    numbers: tuple[NumberExpectation, ...] = ()
    note: str = NOT_REAL

    def to_dict(self) -> dict[str, Any]:
        """Return the expectation as JSON-ready data."""
        return asdict(self)

    def measures(self) -> dict[str, float | int | None]:
        """Return every number by what it is called, in the order they are shown in."""
        found: dict[str, float | int | None] = {
            "people": self.people,
            "releases rehearsed": self.times,
            "epsilon": self.epsilon,
            "delta": self.delta or None,
            "k": self.k,
            "seconds for a release": self.seconds,
        }
        for table in self.files:
            where = "" if len(self.files) == 1 else f" in {table.file}"
            found |= {
                f"cells of the domain{where}": table.cells,
                f"{'rows' if table.cells is None else 'cells'} shown{where}": table.shown,
                f"share of people hidden{where}": table.hidden,
                f"error of margins, share of people{where}": table.margin_error,
                f"interval of a cell, people{where}": table.interval,
            }
        for number in self.numbers:
            found |= {
                f"{number.statistic}: {number.unit}": number.error,
                f"{number.statistic}: stated {number.unit}": number.stated,
                f"{number.statistic}: stated error kept": number.kept,
            }
        return {name: value for name, value in found.items() if value is not None}


def side_by_side(expectations: Sequence[Expectation]) -> list[tuple[str, list[float | int | None]]]:
    """Return every measure of several policies, None where a policy has it not."""
    each: list[Mapping[str, float | int | None]] = [one.measures() for one in expectations]
    names = dict.fromkeys(name for measures in each for name in measures)
    return [(name, [measures.get(name) for measures in each]) for name in names]


MOST_TIMES = 10_000
# Where nobody says how many releases to rehearse: this many, and fewer of those that take long.
USUAL_TIMES, _FEWEST_TIMES, _SECONDS = 20, 3, 2.0
# How many people have each label of each column.
Margins = dict[str, dict[str, int]]
PolicyT = TypeVar("PolicyT", bound=RowsPolicy | GraphPolicy | Policy)
# How far a published number is off, by the release, its statistic, its place in that, and its value.
Off = Callable[[Result, str, int, float], float]


def rehearse(
    policy: RowsPolicy | GraphPolicy,
    *,
    name: str = "policy",
    people: int | None = None,
    spread: float = 1.0,
    sparsity: float = 0.0,
    like: pyarrow.Table | None = None,
    times: int | None = None,
    progress: Progress | None = None,
) -> Expectation:
    """Return what to expect of a policy, measured on made-up people; see `make_up_people` for what they are like.

    Without `times` there are 20 releases, or as many as two seconds have, but three at least.
    """
    most = USUAL_TIMES if times is None else times
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_TIMES:
        message = f"times takes a whole number from 1 to {MOST_TIMES:,}, got {times!r}."
        raise InvalidInput(message, remedy="Write 20, for example.", where="times", code="rehearsal.times")
    made = make_up_people(policy, people, spread=spread, sparsity=sparsity, like=like)
    with about_made_up(policy, made, spread) as here, ExitStack() as stack:
        engine = KeptOpen(default_engine(), stack)
        planned, begun = plan(here), time.perf_counter()
        published: list[Result] = []
        seconds = 0.0
        while len(published) < most:
            if times is None and seconds > _SECONDS and len(published) >= _FEWEST_TIMES:
                break
            published.append(publish_once(planned, engine, new_key()))
            (progress or no_progress)("rehearsing", len(published))
            seconds = time.perf_counter() - begun
        count = here.publication.graph.people if isinstance(here, GraphPolicy) else made.num_rows
        if not isinstance(here, GraphPolicy) and here.person is not None:
            count = len(made.column(here.person).unique())
        # Made-up people are asked and kept by one coin; what a survey that is thinned guarantees is in its own plan.
        stated = planned if policy.sampling.thin is None else plan(policy)
        guarantee: Any = stated.guarantees[0]
        return Expectation(
            policy=name,
            kind=here.kind,
            people=count,
            times=len(published),
            seconds=seconds / len(published),
            epsilon=float(guarantee.epsilon if here.epsilon is None or here.proposed else here.epsilon),
            delta=float(guarantee.delta),
            k=stated.k,
            files=()
            if isinstance(here, StatisticsPolicy | GraphPolicy)
            else _files(planned, published, here, engine, count),
            numbers=_numbers(here, published, engine) if isinstance(here, StatisticsPolicy | GraphPolicy) else (),
        )


@contextmanager
def about_made_up(policy: PolicyT, people: pyarrow.Table, spread: float) -> Iterator[PolicyT]:
    """Yield the policy about made-up rows, drawn here if they are a sample."""
    with opened_frame(people) as frame, tempfile.TemporaryDirectory(prefix="crowdblend-") as folder:
        source = DataSource("made-up people", "frame", frame=frame, rows_are_people=True)
        here: RowsPolicy | GraphPolicy | Policy = policy
        if not isinstance(policy, GraphPolicy):
            here = _draw_now(policy)
        elif policy.publication.graph.vertices is not None:
            parquet.write_table(make_up_vertices(policy, spread=spread), Path(folder) / "people.parquet")
            here = policy.replace(graph=policy.publication.graph.replace(vertices=str(Path(folder) / "people.parquet")))
        yield cast(PolicyT, here.with_source(source))


def _draw_now(policy: RowsPolicy | Policy) -> RowsPolicy | Policy:
    """Return the policy with people who were drawn before drawn now; with weights they are the sample."""
    if isinstance(policy, Policy):
        changes = {"sampling": policy.sampling.drawn_here(), "accept_delta": True}
        return policy.replace(**changes) if policy.sampling.already_drawn else policy
    if not policy.sampling.designed:
        return drawn_here(policy)
    accepted = {} if isinstance(policy, StatisticsPolicy) else {"accept_delta": True}
    return policy.replace(sampling=policy.sampling.drawn_here(), **accepted, **as_thinned(policy))


def _tables(result: Result) -> Iterator[tuple[str, pyarrow.Table]]:
    """Yield the files of a publication as Arrow tables, without a disk."""
    for output in result.outputs:
        batches = [pyarrow.record_batch(piece, names=output.header) for piece in output.pieces()]
        yield output.file, pyarrow.Table.from_batches(batches)


def _files(
    plan: AnyPlan, results: list[Result], policy: RowsPolicy, engine: Engine, people: int
) -> tuple[TableExpectation, ...]:
    """Return averages over all releases, for every file."""
    # Of people with weights only the sample is made up, and not the population.
    margins = {} if policy.sampling.weight is not None else margins_of(policy, engine)
    found: dict[str, list[tuple[float | None, ...]]] = defaultdict(list)
    for one in results:
        for file, table in _tables(one):
            stem = Path(file).stem
            hidden = one.internal.get(f"{stem}: relative_difference", one.internal.get("relative_difference"))
            if not policy.suppresses:
                hidden = None
            measured = (float(table.num_rows), hidden, _margin_error(plan, table, margins, people), _interval(table))
            found[file].append(measured)
    return tuple(
        TableExpectation(file, _cells(policy, file), *map(_mean, zip(*rows, strict=True)))  # type: ignore[arg-type]
        for file, rows in found.items()
    )


def margins_of(policy: RowsPolicy, engine: Engine) -> Margins:
    """Return how many rows have each label of each column, at its finest recoding; coordinates are no labels."""
    data = replace(policy.data, person=None, rows_are_people=True, unit=Unit(), people=None)
    axes = dict(policy.axes) if isinstance(policy, PointsPolicy) else {}
    columns = [column for column in policy.columns if column.name not in axes]
    if not columns:
        return {}
    with engine.open(data, [column.name for column in columns], policy.resources) as source:
        counted = source.class_counts(columns, Everybody()).classes
    found: Margins = {}
    for place, name in enumerate(counted.columns):
        counts = np.bincount(counted.codes[:, place], weights=counted.counts, minlength=len(counted.labels[place]))
        found[name] = {label: int(count) for label, count in zip(counted.labels[place], counts, strict=True)}
    return found


def _cells(policy: RowsPolicy, file: str) -> int | None:
    """Return how many cells the declared domain of a table has; None where rows are people, or a domain is open."""
    if not policy.publication.rows_are_counted:
        return None
    sizes = [column.recoding.size for column in policy.columns]
    return None if None in sizes or file.startswith("totals.") else int(np.prod([size or 0 for size in sizes]))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _margin_error(plan: AnyPlan, table: pyarrow.Table, margins: Margins, people: int) -> float | None:
    """Return how far the estimated number of people with a label is off on average, as a share of all people."""
    weights = _weights(plan, table, people)
    if weights is None:
        return None
    errors: list[float] = []
    for name, true in margins.items():
        if name not in table.column_names:
            continue
        column = table.column(name).dictionary_encode().unify_dictionaries().combine_chunks()
        labels, codes = list(map(str, column.dictionary.to_pylist())), column.indices.to_numpy()
        if not {labels[code] for code in np.unique(codes)} <= set(true):
            # A coarser recoding was chosen, whose labels are others.
            continue
        estimated = dict(zip(labels, np.bincount(codes, weights, len(labels)).tolist(), strict=True))
        errors += [abs(estimated.get(label, 0.0) - count) / people for label, count in true.items()]
    return _mean(errors)


def _weights(plan: AnyPlan, table: pyarrow.Table, people: int) -> NDArray[np.float64] | None:
    """Return how many people every row stands for; None where that is not known."""
    for name in ("estimate", "count", "sampled"):
        if name in table.column_names:
            return None if table.column(name).null_count else table.column(name).to_numpy().astype(float)
    each = plan.facts().people_per_row(people, table.num_rows)
    return None if each is None else np.full(table.num_rows, each)


def _interval(table: pyarrow.Table) -> float | None:
    if "low" not in table.column_names or not table.num_rows:
        return None
    low, high = (table.column(name).to_numpy(zero_copy_only=False).astype(float) for name in ("low", "high"))
    length = (high - low)[np.isfinite(high - low)]
    return float(np.median(length)) if len(length) else None


def _numbers(
    policy: StatisticsPolicy | GraphPolicy, results: list[Result], engine: Engine
) -> tuple[NumberExpectation, ...]:
    """Return the errors of every statistic, over all releases and groups."""
    off: Off = _off_a_network
    ranked: set[str] = set()
    if not isinstance(policy, GraphPolicy):
        off, ranked = (
            _off_statistics(policy, engine),
            {one.name for one in policy.publication.statistics if one.is_quantile},
        )
    errors: dict[str, list[list[tuple[float, float]]]] = defaultdict(list)
    for one in results:
        ((_, table),) = _tables(one)
        seen: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for row in table.to_pylist():
            name = row["statistic"]
            stated = row["error"] if row["error"] is not None else row["rank_error"]
            seen[name].append((off(one, name, len(seen[name]), row["value"]), stated))
        for name, pairs in seen.items():
            errors[name].append(pairs)
    found = []
    for name, releases in errors.items():
        error, stated = np.mean([pair for pairs in releases for pair in pairs], axis=0).tolist()
        kept = float(np.mean([all(off_by <= bound for off_by, bound in pairs) for pairs in releases]))
        found.append(NumberExpectation(name, "rank error" if name in ranked else "error", error, stated, kept))
    return tuple(found)


def _off_a_network(result: Result, name: str, row: int, value: float) -> float:
    return abs(value - float(result.internal["statistics_without_noise"][name][row]))


def _off_statistics(policy: StatisticsPolicy, engine: Engine) -> Off:
    """Return how far a number is from the statistic without noise and without a draw, or with weights, as weighted.

    A quantile is off in ranks, as a share of the people concerned.
    """
    without = tuple(made.replace(error=None) for made in policy.publication.statistics)
    weighted = policy.sampling.weight is not None
    everybody = policy.replace(sampling=policy.sampling if weighted else designs.Everybody(), statistics=without)
    planned = cast(StatisticsPlan[Any], plan(everybody.with_source(policy.data)))
    reading = planned.read(engine, ReleaseKey(new_key()))
    places = {made.name: place for place, made in enumerate(without)}
    mechanism = planned.parameters.way_of(0).mechanism
    exact = [planned.exact(place, mechanism, reading) for place in places.values()]

    def off(_: Result, name: str, row: int, value: float) -> float:
        place = places[name]
        made = without[place]
        if not made.is_quantile:
            return abs(value - planned.values(place).of_totals(exact[place].tolist(), policy.people)[row].value)
        counts, bounds = exact[place][row], policy.measures[str(made.column)]
        step, share = bounds.code(repr(value)) or 0, float(made.share)
        people = max(1, int(counts.sum()))
        return float(max(0.0, counts[:step].sum() / people - share, share - counts[: step + 1].sum() / people))

    return off
