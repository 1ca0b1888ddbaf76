"""How often intervals of statistics, synopses and networks hold, by releases of the same people."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crowdblend.kinds import plan
from crowdblend.kinds.shared.plan import ReleasePlan
from crowdblend.kinds.statistics.policy import StatisticsPolicy
from crowdblend.kinds.synopsis.facts import SynopsisFacts
from crowdblend.lab.rehearsal.made_up_people import Crowd, people_in_memory
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.memory import MemoryEngine
from crowdblend.trusted.randomness import ReleaseKey, new_key
from tests.golden.releases import POLICIES, write_sources
from tests.methods.estimates.coverage import COLUMNS, DRAWS, ENUMERATED, HEAD, PAGE, PLACE, Row, cell_rows, table
from tests.methods.estimates.range_coverage import range_rows

_INCOME = 'income = { from = 0, to = 100, resolution = 1, outside = "clamp", blank = 0 }\n'
_STATISTICS = (
    '[privacy]\nepsilon = 1.0\n[[publish]]\nkind = "statistics"\n'
    '[[publish.statistics]]\nname = "women"\nfraction = { sex = "female" }\n'
    '[[publish.statistics]]\nname = "income"\naverage = "income"\nby = ["sex"]\n'
    '[[publish.statistics]]\nname = "median"\nmedian = "income"\n'
    '[[publish.statistics]]\nname = "medians"\nmedian = "income"\nby = ["sex"]\n'
    '[[publish.statistics]]\nname = "upper"\nquantile = "income"\nat = 0.9\n'
    '[[publish.statistics]]\nname = "regions"\nhistogram = "region"\n'
    '[[publish.statistics]]\nname = "total"\nsum = "income"\n'
    '[[publish.statistics]]\nname = "totals"\nsum = "income"\nby = ["sex"]\n'
)
# The statistics by name, as the page calls them.
STATISTICS = {
    "women": "fraction",
    "income": "average by group",
    "median": "median",
    "medians": "median by group",
    "upper": "quantile",
    "regions": "histogram",
    "total": "sum",
    "totals": "sum by group",
}
INCOMES = (5, 20, 20, 35, 60, 95)
# The people of the statistics: their region, sex and income, and how many of each.
PEOPLE = [
    Crowd((region, sex, str(income)), size)
    for (region, sex, size) in (
        ("north", "female", 90),
        ("north", "male", 160),
        ("south", "female", 140),
        ("south", "male", 30),
    )
    for income in INCOMES
]
ALL = sum(crowd.size for crowd in PEOPLE)
RATES = {"north": 0.2, "south": 0.4}
STATISTIC_DESIGNS = {
    "survey": f'[sampling]\ndesign = "survey"\npeople = 900\nof = {ALL}\n',
    "poisson": '[sampling]\ndesign = "poisson"\nrate = 0.3\n',
    "coins": '[sampling]\ndesign = "coins"\nrate = 0.3\n',
    "strata": '[sampling]\ndesign = "strata"\ncolumn = "region"\nrates = { north = 0.2, south = 0.4 }\n',
    "weights": '[sampling]\ndesign = "weights"\ncolumn = "weight"\n',
    "biased": '[sampling]\ndesign = "biased"\nlow = 0.2\nhigh = 0.4\nalready_drawn = true\n',
    "everybody": '[sampling]\ndesign = "everybody"\n',
}
DRAWN_BEFORE = ("coins", "weights", "biased")

SYNOPSIS_DESIGNS = {
    **{design: f"people = {ALL}\n{drawn}" for design, drawn in STATISTIC_DESIGNS.items()},
    "survey": f'[sampling]\ndesign = "survey"\npeople = 2000\nof = {ALL}\n',
}


def statistic_rows(draws: int = DRAWS, chosen: Sequence[str] = tuple(STATISTIC_DESIGNS)) -> Iterator[Row]:
    """Statistics by releases of the same people: how often all numbers of a statistic are within their errors."""
    for design in chosen:
        planned, run = _statistics_of(design)
        rng = np.random.default_rng(8)
        outputs = [run(rng) for _ in range(draws)]
        kept = np.mean([_within(output) for output in outputs], axis=0)
        by_noise = _of_noise(outputs[0], planned.facts()) if design == "everybody" else {}
        for share, (name, what) in zip(kept, STATISTICS.items(), strict=True):
            how = ENUMERATED if name in by_noise else f"{draws:,} draws"
            yield Row(f"statistics: {what}", design, "value ± error", how, by_noise.get(name, share))


def _statistics_of(design: str) -> tuple[ReleasePlan, Callable[[np.random.Generator], Any]]:
    """The plan of the statistics, and one release of them after the other."""
    columns = COLUMNS + _INCOME + ("weight = { breaks = [2, 3, 6] }\n" if design == "weights" else "")
    people = "" if design == "survey" else f"people = {ALL}\n"
    text = f"{HEAD}{people}{STATISTIC_DESIGNS[design]}{columns}{_STATISTICS}"
    (policy,) = parse_policy(text, Path()).parts
    assert isinstance(policy, StatisticsPolicy)
    planned = plan(policy)
    before = design in DRAWN_BEFORE
    wanted = [str(name) for name in policy.needed_columns] + (["weight"] if design == "weights" else [])
    engine = None if before else _people(policy, PEOPLE, wanted)

    def run(rng: np.random.Generator) -> Any:
        key = ReleaseKey(new_key())
        source = engine or _people(policy, _drawn(design, rng), wanted)
        return planned.publish(planned.read(source, key), key).outputs[0]

    return planned, run


def _of_noise(output: Any, facts: Any) -> dict[str, float]:
    """Where nobody is drawn: how often noise alone stays within the errors of totals, all numbers at once."""
    (piece,) = output.pieces()
    kept: dict[str, float] = {}
    for name, _, _, error, _ in zip(*(np.asarray(column, object) for column in piece), strict=True):
        if name in ("women", "regions", "total", "totals"):
            a, steps = np.exp(-facts.statistics_[name].noise_epsilon), float(error) * (ALL if name == "women" else 1)
            kept[name] = kept.get(name, 1.0) * (1 - 2 * a ** (np.floor(steps) + 1) / (1 + a))
    return kept


def _people(policy: Any, crowds: Sequence[Crowd], wanted: Sequence[str]) -> MemoryEngine:
    known = dict(zip(("region", "sex", "income", "weight"), range(4), strict=True))
    return people_in_memory(
        wanted, tuple(Crowd(tuple(crowd.values[known[name]] for name in wanted), crowd.size) for crowd in crowds)
    )


def _drawn(design: str, rng: np.random.Generator) -> list[Crowd]:
    """A sample that was drawn before, with the weight of everybody in it: one over the rate."""
    found = []
    for crowd in PEOPLE:
        rate = 0.3 if design == "coins" else RATES[str(crowd.values[0])]
        found.append(Crowd((*crowd.values, repr(1 / rate)), int(rng.binomial(crowd.size, rate))))
    return [crowd for crowd in found if crowd.size]


def _within(output: Any) -> list[bool]:
    """Whether the numbers of each statistic are within their errors of those of everybody, all at once."""
    (piece,) = output.pieces()
    names, bins, values, errors, *ranks = (np.asarray(column, object) for column in piece)

    def people(**given: str) -> list[tuple[int, int]]:
        places = {"region": 0, "sex": 1}
        return [
            (int(str(crowd.values[2])), crowd.size)
            for crowd in PEOPLE
            if all(crowd.values[places[name]] == label for name, label in given.items())
        ]

    def mean(some: list[tuple[int, int]]) -> float:
        return total(some) / number(some)

    def number(some: list[tuple[int, int]]) -> int:
        return sum(count for _, count in some)

    def total(some: list[tuple[int, int]]) -> float:
        return float(sum(value * count for value, count in some))

    kept = dict.fromkeys(STATISTICS, True)
    for at, name in enumerate(names):
        value = float(values[at])
        if name in ("median", "medians", "upper"):
            some, rank = people(sex=str(bins[at])) if name == "medians" else people(), 0.9 if name == "upper" else 0.5
            below = number([one for one in some if one[0] < value]) / number(some)
            up_to = number([one for one in some if one[0] <= value]) / number(some)
            kept[name] &= max(0.0, below - rank, rank - up_to) <= float(ranks[0][at])
            continue
        truth = {
            "women": lambda _: number(people(sex="female")) / ALL,
            "income": lambda label: mean(people(sex=label)),
            "regions": lambda label: float(number(people(region=label))),
            "total": lambda _: total(people()),
            "totals": lambda label: total(people(sex=label)),
        }[name](str(bins[at]))
        kept[name] &= abs(value - truth) <= float(errors[at])
    return list(kept.values())


def synopsis_rows(draws: int = DRAWS) -> Iterator[Row]:
    """Synthetic rows: how often all shares of pairs of labels are within the planned error."""
    for design in SYNOPSIS_DESIGNS:
        # The exponential mechanism needs a public number of people.
        chosen = {"fitted": 500} | ({"exponential": 20} if design in ("survey", "everybody") else {})
        for mechanism, rows in chosen.items():
            share = _kept_shares(design, mechanism, rows, draws)
            yield Row(f"synopsis, {mechanism}", design, "share ± error", f"{draws:,} draws", share)


def _kept_shares(design: str, mechanism: str, rows: int, draws: int) -> float:
    weighted = design == "weights"
    text = f"{HEAD}{SYNOPSIS_DESIGNS[design]}{COLUMNS}" + ("weight = { breaks = [2, 3, 6] }\n" if weighted else "")
    text += '[privacy]\nepsilon = 2.0\n[[publish]]\nkind = "synopsis"\nconjunctions = 2\n'
    text += f'mechanism = "{mechanism}"\nrows = {rows}\n'
    (policy,) = parse_policy(text, Path()).parts
    planned, kept, rng = plan(policy), 0, np.random.default_rng(9)
    wanted = ["region", "sex", *(["weight"] if weighted else [])]
    engine = None if design in DRAWN_BEFORE else _people(policy, PEOPLE, wanted)
    truth: dict[Any, float] = {}
    for crowd in PEOPLE:
        truth[crowd.values[:2]] = truth.get(crowd.values[:2], 0) + crowd.size / ALL
    for _ in range(draws):
        key = ReleaseKey(new_key())
        result = planned.publish(planned.read(engine or _people(policy, _drawn(design, rng), wanted), key), key)
        pieces = [
            list(zip(*(map(str, column) for column in piece), strict=True)) for piece in result.outputs[0].pieces()
        ]
        made = [row[:2] for piece in pieces for row in piece]
        facts = planned.facts(result)
        assert isinstance(facts, SynopsisFacts)
        error = facts.errors[0]
        kept += all(abs(made.count(pair) / len(made) - share) <= error for pair, share in truth.items())
    return kept / draws


def graph_rows() -> Iterator[Row]:
    """Networks: how often noise stays within so many steps that, with half of one for rounding, they are the error."""
    for one in _network(Path()).facts().statistics:
        a, steps = np.exp(-one.resolution / one.scale), one.error / one.resolution - 0.5
        yield Row(f"graph: {one.label}", "everybody", "value ± error", ENUMERATED, 1 - 2 * a ** (steps + 1) / (1 + a))


def graph_shares(draws: int) -> dict[str, float]:
    """How often the published numbers of a network are within their errors of those of everybody."""
    with tempfile.TemporaryDirectory() as folder:
        write_sources(Path(folder))
        planned = _network(Path(folder))
        reading = planned.read(default_engine(), ReleaseKey(new_key()))
    kept: dict[str, int] = {}
    for _ in range(draws):
        result = planned.publish(reading, ReleaseKey(new_key()))
        (piece,) = result.outputs[0].pieces()
        for name, value, error in zip(*(np.asarray(column, object) for column in piece[:3]), strict=True):
            (without,) = result.internal["statistics_without_noise"][name]
            kept[name] = kept.get(name, 0) + (abs(float(value) - float(without)) <= float(error))
    return {name: number / draws for name, number in kept.items()}


def _network(folder: Path) -> Any:
    (policy,) = parse_policy(POLICIES["graph"], folder).parts
    return plan(policy)


def main() -> None:
    """Write the table of the page again."""
    rows = []
    for each in (cell_rows(), range_rows(), statistic_rows(), synopsis_rows(), graph_rows()):
        for row in each:
            rows.append(row)
            sys.stderr.write(f"{row.what} | {row.intervals} | {row.design} | {row.words}\n")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PLACE.sub(lambda place: f"{place[1]}\n{table(rows)}\n\n{place[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
