"""What a folder says of its cells is true of its data, for every kind and design.

People of known classes are counted and published with a fixed key. What the sentences claim is read back from their
words, and held against the counts before and after the mechanism ran.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import crowdblend as cb
from crowdblend.kinds import plan
from crowdblend.kinds.shared.facts import DATA, ReleaseFacts
from crowdblend.policies.load import parse_policy
from crowdblend.policies.publication import Publication
from crowdblend.policies.sampling_section import Sampling
from crowdblend.reading.notes import sentences
from crowdblend.sources.engines.memory import MemoryEngine
from crowdblend.trusted.randomness import ReleaseKey
from tests.cases import for_each
from tests.methods.estimates.coverage import DESIGNS, KINDS, policy_text

REGIONS, SHOPS = ("north", "south"), [f"s{at:02}" for at in range(60)]
# Nobody to 1,180 people in every class; in the region that is sampled less there are more.
SIZES = {(region, shop): at * (20 if region == "north" else 5) for region in REGIONS for at, shop in enumerate(SHOPS)}
CASES = [(what, design) for what in KINDS for design in DESIGNS if design in KINDS[what][2]]


class Claims(NamedTuple):
    """What sentences say: from which true count on cells are exact, shown as crowds, and from which published one.

    Each by stratum; a sample without strata is the stratum None.
    """

    exact_from: dict[Any, float] | None
    crowds: dict[Any, float] | None
    shown_from: int | None
    all_are_shown: bool


class Outcome(NamedTuple):
    """The facts of a release, people by stratum and class before and after its mechanism, and how many classes are."""

    facts: ReleaseFacts
    sampled: dict[Any, int]
    shown: dict[Any, int]
    classes: int


# Everybody has six classes, and counts in two of them.
PEOPLE, SIX, ROWS = 1_000, [f"s{at}" for at in range(6)], 2
ONE_SAMPLE, STRATA = cb.Poisson(0.5), cb.Strata("region", {"north": 0.4, "south": 0.5})
SEVERAL: list[tuple[Publication, Sampling]] = [
    (publication, sampling)
    for publication in (
        cb.Table("region", "shop"),
        cb.Table("region", "shop", below_k="threshold"),
        cb.Microdata("region", "shop"),
        cb.OutlierTable("region", "shop", limit=300),
    )
    for sampling in (ONE_SAMPLE, STRATA)
]


def claims_of(lines: Sequence[str], facts: ReleaseFacts) -> Claims:
    """Read the claims back from the words, which give the ends for strata; the mechanisms say which has which."""
    said, number = " ".join(lines), r"(?:at least ([\d,]+)|enough sampled people \(between ([\d,]+) and ([\d,]+))"
    crowds = re.search(rf"published when {number}", said)
    below = re.search(rf"Where {number}.*? into a cell, its count is exact", said)
    cut = re.search(r"(?:noisy count is|count is below) ([\d,]+)", said)
    exact = None if below is None else _of_strata(below, facts)
    if "sampled is exact: the number of people in the sample." in said or facts.rows_are_counted is False:
        exact = dict.fromkeys(strata_of(facts), 0.0)
    assert ("Small counts carry noise" in said) == (below is not None)
    assert bool(re.search("Counts carry noise|Every count carries noise", said)) == (exact is None)
    return Claims(
        exact,
        None if crowds is None else _of_strata(crowds, facts),
        None if cut is None else int(cut[1].replace(",", "")),
        "Every cell is published." in said,
    )


def strata_of(facts: ReleaseFacts) -> list[Any]:
    return [*facts.sample.strata] if facts.sample is not None and facts.sample.strata else [None]


def _of_strata(found: re.Match[str], facts: ReleaseFacts) -> dict[Any, float]:
    ends = [int(end.replace(",", "")) for end in found.groups() if end]
    sizes = [one.k for one in facts.mechanisms if hasattr(one, "k")]
    assert {*ends} == {min(sizes), max(sizes)}
    return dict(zip(strata_of(facts), sizes, strict=True))


def outcome_of(what: str, design: str, folder: Path) -> Outcome:
    """Publish made-up people, and count them by class before and after."""
    labels = ", ".join(f'"{shop}"' for shop in SHOPS)
    text = policy_text(what, design).replace('["female", "male"]', f"[{labels}]")
    text = text.replace("people = 900\nof = 4000", "people = 90000\nof = 400000")
    planned = plan(parse_policy(text, Path()))
    people = [((*cell, weight, "5"), size) for cell, size in SIZES.items() for weight in ("5", "8")]
    wanted = ["region", "sex"] + (["weight"] if design == "weights" else []) + (["north"] if "points" in what else [])
    places = [("region", "sex", "weight", "north").index(name) for name in wanted]
    engine = MemoryEngine(wanted, [(tuple(values[at] for at in places), size) for values, size in people])
    key = ReleaseKey(bytes(32))
    reading = planned.read(engine, key)
    result = planned.publish(reading, key)
    facts = planned.facts(result).publications[DATA]
    classes = getattr(reading, "readings", {DATA: reading})[DATA].sample
    named = [at for at, name in enumerate(classes.columns) if name != "north"]
    stratum = None if facts.sample is None or not facts.sample.strata else classes.columns.index(facts.sample.column)

    def of(row: Sequence[Any]) -> tuple[Any, ...]:
        return (None if stratum is None else row[stratum], *(row[at] for at in named))

    sampled = {
        of([labels[code] for labels, code in zip(classes.labels, codes, strict=True)]): count
        for codes, count in zip(classes.codes.tolist(), classes.counts.tolist(), strict=True)
    }
    result.write(folder)
    table = parquet.read_table(folder / f"{DATA}.parquet").to_pydict()
    rows = [of(row) for row in zip(*(table[name] for name in classes.columns), strict=True)]
    counts = next((table[name] for name in ("count", "sampled") if name in table), None)
    shown = dict(Counter(rows)) if counts is None else dict(zip(rows, counts, strict=True))
    return Outcome(facts, sampled, shown, math.prod(len(classes.labels[at]) for at in named))


@for_each(("what", "design"), CASES, daily=16)
def test_sentences_on_cells_are_true_of_what_is_published(what: str, design: str, tmp_path: Path) -> None:
    """Where all counts are said to be noisy, those of the largest cells are: that fails with a chance below 1e-9."""
    facts, sampled, shown, classes = outcome_of(what, design, tmp_path)
    claims = claims_of(sentences(facts, facts.tables[DATA]), facts)
    differ = {cell for cell, count in shown.items() if count != sampled.get(cell, 0)}
    assert claims.all_are_shown == (len(shown) == classes)
    if claims.exact_from is None:
        large = sorted(shown, key=lambda cell: sampled.get(cell, 0))[-60:]
        assert sum(cell in differ for cell in large) > 3
    else:
        small = {cell for cell in shown if sampled.get(cell, 0) < claims.exact_from[cell[0]]}
        assert differ <= small
        assert differ or len(small) < 20
    if claims.crowds is not None:
        assert set(shown) == {cell for cell, count in sampled.items() if count >= claims.crowds[cell[0]]}
    if claims.shown_from is not None:
        assert min(shown.values()) >= claims.shown_from
    assert claims.all_are_shown + (claims.crowds is not None) + (claims.shown_from is not None) == 1


@for_each(("publication", "sampling"), SEVERAL, daily=4)
def test_numbers_of_people_with_several_rows_are_said_to_be_of_those_who_count(
    publication: Publication, sampling: Sampling, tmp_path: Path
) -> None:
    """Of 1,000 people in each class a third count in it: no interval has 1,000, and nothing says that it would.

    Their number has a deviation of 15, and intervals hold 19 times in 20: in no class 8 times of 12 in a million runs.
    """
    rows = {"id": np.repeat(np.arange(PEOPLE), len(SIX)), "shop": SIX * PEOPLE}
    rows["region"] = np.where(rows["id"] % 2 == 0, "north", "south")
    made = cb.Policy(
        **{"person": "id", "rows_per_person": ROWS, "sampling": sampling, "epsilon": 2.0, "delta": 1e-6},
        columns={"region": list(REGIONS), "shop": SIX},
        publish=publication,
    )
    cb.release(pa.table(rows), made, out=tmp_path / "out", ledger=None, figures=False, key=bytes(32))
    read = cb.read(tmp_path / "out")
    count = PEOPLE / len(REGIONS) * ROWS / len(SIX)
    near = [row["low"] - 45 <= count <= row["high"] + 45 for row in read.estimates().to_pylist()]
    assert sum(near) >= len(near) - 2
    assert all(row["high"] < PEOPLE / len(REGIONS) for row in read.estimates().to_pylist())
    said = [*read.notes(), (tmp_path / "out" / "README.md").read_text()]
    assert all("people who count in a class, and not about all who have it" in lines for lines in (said[0], said[-1]))
    assert not any("the number of people 95" in line or "people of the population;" in line for line in said)
    (resource,) = json.loads((tmp_path / "out" / "datapackage.json").read_text())["resources"]
    meanings = {field["name"]: field["description"] for field in resource["schema"]["fields"]}
    if "low" in meanings:
        assert all("who count in the class" in meanings[name] for name in ("estimate", "low", "high"))
