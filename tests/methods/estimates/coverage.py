"""The table of docs/reading.md: how often every interval that readers are shown holds the truth.

`python -m tests.methods.estimates.release_coverage` computes it and writes it, in some minutes. Of cells and sums,
which are here, everything that can be published is enumerated, by laws that are computed apart from the code under
test; what cannot be enumerated is drawn 4,000 times. Each number is the smallest over many populations, given that the
interval is shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from crowdblend.kinds import plan
from crowdblend.kinds.shared.facts import DATA
from crowdblend.methods.designs import Stratum
from crowdblend.methods.estimates.cells import CellLaws, sum_strata
from crowdblend.methods.estimates.estimator import Estimator, Intervals
from crowdblend.methods.estimates.laws import ExactCounts, GaussianOnEveryCell, NoiseOnEveryCell
from crowdblend.policies.load import parse_policy
from tests.methods.estimates.outputs import ASKED, OF, THIN, Masses, draw_survey, published, shown_sums, survey_masses

PAGE = Path(__file__).parents[3] / "docs" / "reading.md"
PLACE = re.compile(r"(<!-- coverage -->\n).*?(<!-- end -->)", re.DOTALL)
DRAWS = 4_000
ENUMERATED = "enumeration"

HEAD = '[data]\nsource = "people.parquet"\nrows_are_people = true\n'
COLUMNS = '[columns]\nregion = { values = ["north", "south"] }\nsex = { values = ["female", "male"] }\n'
_BUDGET = "[privacy]\nepsilon = 1.0\ndelta = 1e-6\naccept_delta = true\n"
DESIGNS = {
    "poisson": '[sampling]\ndesign = "poisson"\nrate = 0.5\n',
    "coins": '[sampling]\ndesign = "coins"\nrate = 0.1\n',
    "survey": f'[sampling]\ndesign = "survey"\npeople = {ASKED}\nof = {OF}\nthin = {THIN}\n',
    "strata": '[sampling]\ndesign = "strata"\ncolumn = "region"\nrates = { north = 0.05, south = 0.3 }\n',
    "weights": '[sampling]\ndesign = "weights"\ncolumn = "weight"\n',
    "biased": '[sampling]\ndesign = "biased"\nrate = 0.1\nlow = 0.08\nhigh = 0.12\nexceptions = 3\n',
    "everybody": '[sampling]\ndesign = "everybody"\n',
}
_WEIGHT = "weight = { breaks = [4, 6, 10] }\n"
_AXIS = 'north = { from = 0, to = 100, resolution = 1, width = 10, outside = "drop" }\n'
_CROWDS = ("poisson", "coins", "survey", "strata", "weights", "biased")
_FLAT = ("poisson", "coins", "survey")
_NOISY = tuple(DESIGNS)
# So many tables share one budget; of few the noise is Laplace's, of many a Gaussian's.
_TOGETHER = {"few tables, Laplace noise": 2, "many tables, Gaussian noise": 18}
# What is published, the rest of its policy, and with which designs.
KINDS = {
    "table": ('kind = "table"\n', "", _CROWDS),
    "table, noise below k": ('kind = "table"\nbelow_k = "noise"\n', "", (*_FLAT, "strata", "weights")),
    "table, noise and flag": ('kind = "table"\nbelow_k = "noise"\nflag = true\n', "", _FLAT),
    "table, noise on every cell": ('kind = "table"\n', "", ("everybody",)),
    "microdata": ('kind = "microdata"\n', "", _CROWDS),
    "points with blocks": ('kind = "points"\nshow_blocks = true\nnoise_epsilon = 1.0\n', _AXIS, _CROWDS),
    "points": ('kind = "points"\nnoise_epsilon = 1.0\n', _AXIS, _CROWDS),
    "table, noise below k, cut": ('kind = "table"\nbelow_k = "noise"\nshow_from = 5\n', "", _FLAT),
    "table, threshold": ('kind = "table"\nbelow_k = "threshold"\n', "", _NOISY),
    "outlier table, cut": ('kind = "outlier-table"\nlimit = 100\nshow_from = 5\n', "", _NOISY),
    "outlier table": ('kind = "outlier-table"\nlimit = 100\n', "", _NOISY),
    "few tables, Laplace noise": ('kind = "table"\n', "", _NOISY),
    "many tables, Gaussian noise": ('kind = "table"\n', "", (*_FLAT, "everybody")),
}


@dataclass(frozen=True)
class Row:
    """How often the intervals of something hold, at worst."""

    what: str
    design: str
    intervals: str
    how: str
    coverage: float

    @property
    def words(self) -> str:
        """The number as the page has it; rounded down."""
        return f"{np.floor(1000 * self.coverage) / 10:.1f}{'' if self.how == ENUMERATED else '*'}"


def policy_text(what: str, design: str) -> str:
    """The policy of a kind and a design."""
    own, columns, _ = KINDS[what]
    budget = _BUDGET
    if what == "table, noise on every cell":
        budget = _BUDGET.replace("delta = 1e-6\naccept_delta = true\n", "")
    if design == "biased":
        budget = budget.replace("1.0", "2.0").replace("1e-6", "1e-4")
    columns += _WEIGHT if design == "weights" else ""
    drawn = DESIGNS[design].replace(f"thin = {THIN}", "thin = 1") if "outlier" in what else DESIGNS[design]
    head, publish = HEAD, f"[[publish]]\n{own}"
    if what in _TOGETHER:
        head, budget = head.replace("rows_are_people = true", 'person = "id"'), f'{budget}split = "budget"\n'
        names = ["region", "sex", *(["weight"] if design == "weights" else [])]
        publish += f"columns = {names}\n" + ("" if design == "everybody" else 'below_k = "noise"\n')
        publish = "".join(
            f'{publish}name = "{name}"\n' for name in [DATA, *map("t{}".format, range(1, _TOGETHER[what]))]
        )
    return f"{head}{drawn}{COLUMNS}{columns}{budget}{publish}"


def cell_rows(chosen: Sequence[str] = tuple(KINDS), designs: Sequence[str] = tuple(DESIGNS)) -> Iterator[Row]:
    """Every row of the data, and sums of them, by enumeration."""
    for what in chosen:
        for design in [design for design in KINDS[what][2] if design in designs]:
            laws = plan(parse_policy(policy_text(what, design), Path())).facts().tables[DATA].laws
            each = [own for own in (laws.estimator, *laws.strata.values()) if own is not None]
            covered, survey = min(row_coverage(laws, own, design == "survey") for own in each), design == "survey"
            yield Row(what, design, "rows", ENUMERATED, covered)
            if laws.largest_unpublished(each[0]) is not None and laws.classes_in_a_row == 1:
                shown = min(shown_beyond(own, laws.largest_unpublished(own) or 0, survey) for own in each)
                yield Row(what, design, "missing rows", ENUMERATED, shown)
            certain = survey or design == "biased"
            if all(isinstance(own.law, ExactCounts) for own in each) and not certain:
                yield Row(what, design, "margins", ENUMERATED, min(map(sum_coverage, each)))
            elif laws.add_up:
                covered = min(drawn_sum_coverage(own, survey) for own in each)
                yield Row(what, design, "margins", f"{DRAWS:,} draws", covered)
            if laws.stratum is not None and laws.add_up:
                yield Row(what, design, "margins over strata", f"{DRAWS:,} draws", over_strata_coverage(laws))
    total = Estimator(NoiseOnEveryCell(0.025), Stratum.at_rate(1.0))
    yield Row("table, several rows per person", "everybody", "totals", ENUMERATED, row_coverage(CellLaws(total), total))


def row_coverage(laws: CellLaws, own: Estimator, survey: bool = False) -> float:
    """The smallest probability that the interval of a row holds, given that it is shown, over numbers of people."""
    lost, found = own.stratum.exceptions, []
    for people in [size for size in _sizes(own) if size <= OF or not survey]:
        for rate, surely in {(own.stratum.low, 0), (own.stratum.high, lost)}:
            law = survey_masses if survey else _but_for(min(lost, people), min(surely, people))
            values, masses, exact = published(own.law, rate, people, law)
            if not masses.sum() > 0:
                continue
            if laws.classes_in_a_row == 1:
                ends = own.cells(values, exact)
            else:
                hidden = np.full(len(values), (laws.classes_in_a_row or 0) - 1)
                ends = own.sums(values, np.ones(len(values), np.int64), hidden)
            found.append(_share(ends, masses, people))
    return min(found)


def shown_beyond(own: Estimator, end: int, survey: bool) -> float:
    """The smallest probability that a cell is shown which is larger than the end that is stated of missing ones."""
    lost = own.stratum.exceptions
    law = survey_masses if survey else _but_for(lost, 0)
    people = [size for size in (end + 1, end + 2, end + end // 8 + 3, 2 * end + 2) if size <= OF or not survey]
    return min(float(published(own.law, own.stratum.low, size, law)[1].sum()) for size in people)


def sum_coverage(own: Estimator) -> float:
    """The same of sums of suppressed cells that are shown because one of their cells is."""
    k, found = own.law.shown_from or 0, []
    for shares in ([1.0], [0.5, 0.5], [0.9, 0.1], [0.2] * 5):
        for size in np.geomspace(k + own.stratum.exceptions + 1, 4 * k / own.stratum.low, 8).astype(int).tolist():
            people = [round(size * share) for share in shares]
            for rate in {own.stratum.low, own.stratum.high}:
                if max(people) < k:
                    continue
                totals, shown, masses = shown_sums(k, rate, people)
                ends = own.sums(totals, shown, len(people) - shown)
                found.append(_share(ends, masses, sum(people)))
    return min(found)


def drawn_sum_coverage(own: Estimator, survey: bool = False) -> float:
    """The same of sums with noise, of those of a survey, whose cells are not independent, and of those with exceptions.

    The exceptions are all in one cell, and all in the sample or none, whichever is farther off.
    """
    rng, found = np.random.default_rng(5), []
    for people in ([0] * 20, [3] * 10, [10, 60, 75, 400], [1_300] * 3, [300, 30], [2_000] * 3):
        lost = np.array([min(own.stratum.exceptions, people[0]), *[0] * (len(people) - 1)])
        for rate, surely in {(own.stratum.low, 0), (own.stratum.high, 1)}:
            if survey and sum(people) > OF:
                continue
            if survey:
                sampled = draw_survey(rng, people, rate, DRAWS)
            else:
                sampled = rng.binomial(people - lost, rate, (DRAWS, len(people))) + surely * lost
            if own.law.noiseless:
                here = sampled >= (own.law.shown_from or 0)
                shown, hidden = here.sum(axis=1), (~here).sum(axis=1)
                ends = own.sums(np.where(here, sampled, 0).sum(axis=1), shown, hidden)
                found += [_share(ends, shown > 0, sum(people))] if here.any() else []
                continue
            values = sampled + _noise(own, sampled, rng)
            noisy = np.array([own.noisy_cells(row).sum() for row in values])
            ends = own.sums(values.sum(axis=1), noisy, None)
            found.append(_share(ends, np.ones(DRAWS), sum(people)))
    return min(found)


def over_strata_coverage(laws: CellLaws) -> float:
    """How often a sum over strata holds, of one cell in each, among the draws in which one of them is shown."""
    rng, found = np.random.default_rng(6), []
    strata = [own for own in laws.strata.values() if own is not None]
    for size in (0.7, 1.0, 1.5, 5.0):
        people = [max(20, int(size * (own.law.shown_from or 20) / own.stratum.high)) for own in strata]
        low, high, shown = np.zeros(DRAWS, np.int64), np.zeros(DRAWS, np.int64), np.zeros(DRAWS, np.bool_)
        for number, own in zip(people, strata, strict=True):
            sampled = rng.binomial(number, own.stratum.high, DRAWS)
            here = sampled >= (own.law.shown_from or 0)
            values = np.where(here, sampled + (0 if own.law.noiseless else _noise(own, sampled, rng)), 0)
            ends = own.sums(values, here.astype(np.int64), (~here).astype(np.int64), confidence=laws.level(0.95))
            parts = sum_strata(Intervals(ends.estimate, ends.low, ends.high), np.arange(DRAWS), DRAWS)
            low, high, shown = low + parts.low, high + parts.high, shown | here
        holds = (low <= sum(people)) & (sum(people) <= high)
        found.append(float(holds[shown].mean()))
    return min(found)


def _noise(own: Estimator, sampled: Any, rng: np.random.Generator) -> Any:
    law = own.law
    if isinstance(law, GaussianOnEveryCell):
        steps = np.arange(-math.ceil(10 * law.sigma), math.ceil(10 * law.sigma) + 1)
        masses = np.exp(-(steps**2) / (2 * law.sigma**2))
        return rng.choice(steps, sampled.shape, p=masses / masses.sum())
    losses = np.full(sampled.shape, law.widest_loss)
    if not isinstance(law, NoiseOnEveryCell) and law.exact_from is None:  # an outlier table
        left = np.maximum(law.limit - sampled, law.transition)  # type: ignore[attr-defined]
        losses = law.epsilon * law.transition / left  # type: ignore[attr-defined]
    p = 1 - np.exp(-losses)
    noise = rng.geometric(p) - rng.geometric(p)
    return noise if law.exact_from is None else np.where(sampled >= law.exact_from, 0, noise)


def _but_for(lost: int, surely: int) -> Masses:
    """Numbers of sampled people, where so many are not drawn by coins, and so many of these are in the sample."""
    return lambda x, people, rate: binom.pmf(x - surely, people - lost, rate)


def _sizes(own: Estimator) -> list[int]:
    k = max(own.law.shown_from or 0, own.law.exact_from or 0, 10)
    first, rate = (k if own.law.noiseless else 0), own.stratum.high
    few = np.linspace(first, 3 * k / rate, 40).astype(int)
    return sorted(
        {first, first + 1, first + 2, first + 3, *few, *np.geomspace(3 * k / rate, 40 * k / rate, 12).astype(int)}
    )


def _share(ends: Any, masses: Any, people: int) -> float:
    known = ends.low >= 0
    holds = (ends.low <= people) & ((people <= ends.high) | (ends.high < 0))
    return float(masses[holds & known].sum() / masses[known].sum()) if known.any() else 1.0


def table(rows: Sequence[Row]) -> str:
    """The rows as the page shows them: a line for every sort of interval, a column for every design."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        found.setdefault((row.what, row.intervals), {})[row.design] = row.words
    lines = [["what is published", "intervals of", *DESIGNS], ["---"] * (2 + len(DESIGNS))]
    lines += [[*key, *(words.get(design, "") for design in DESIGNS)] for key, words in found.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def numbers_of_the_page() -> dict[tuple[str, str, str], str]:
    """The numbers that are on the page, by what is published, sort of interval and design."""
    found = PLACE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    heads, _, *lines = [line[2:-2].split(" | ") for line in found[0].splitlines() if line.startswith("| ")]
    return {
        (line[0], line[1], design): number
        for line in lines
        for design, number in zip(heads[2:], line[2:], strict=True)
        if number.strip()
    }
