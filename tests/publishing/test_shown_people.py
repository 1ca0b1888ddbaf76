"""No folder verifies that shows more people than its survey asked, and every honest one does.

Surveys of every kind are published and verified. Then a forger states fewer people, since a smaller survey would
guarantee more: derivations are made anew from the changed facts, estimates are left blank, hashes are right.
"""

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

import crowdblend as cb
from crowdblend.errors import DoesNotVerify
from crowdblend.kinds.shared.facts import derive, read_facts
from crowdblend.kinds.statistics.facts import StatisticsFacts
from crowdblend.kinds.statistics.values import StrataValues, values_of
from crowdblend.methods.designs import ThinnedSurvey
from crowdblend.methods.estimates import laws
from crowdblend.reading.release import read
from crowdblend.reading.verification import shown_people
from crowdblend.reading.verification.consistency import verify_release
from crowdblend.reading.verification.shown_people import ShownPeople, check_people
from crowdblend.trusted.calculus import Certificate, verify
from crowdblend.trusted.calculus.encoding import read_text
from tests.cases import for_each

COLUMNS = {
    "sex": cb.values("f", "m"),
    "region": cb.values("a", "b", "c"),
    "town": cb.prefix(2),
    "income": cb.bounds(0, 100_000, resolution=100, outside="clamp"),
    "x": cb.axis(0, 10, resolution=0.1, width=5),
    "y": cb.axis(0, 10, resolution=0.1, width=5),
}
NUMBERS = cb.Statistics(
    cb.histogram("region", name="regions"),
    cb.count({"sex": "f"}, name="women"),
    cb.total("income", name="incomes"),
    name="numbers",
)
MEN = cb.Statistics(cb.count({"sex": "m"}, name="men"), name="others")
TWO = (cb.Table("sex", name="one"), cb.Table("region", name="two"))
PARTS = (*TWO, cb.Microdata("region", name="rows"))
NOISY = (cb.Table("town", below_k="threshold", name="towns"), cb.OutlierTable("sex", limit=100, name="few"))
# Publications, the share of the survey that is kept, and other terms.
Case = tuple[Any, float, dict[str, Any]]
CASES: dict[str, Case] = {
    "table": (cb.Table("sex", "region"), 0.8, {}),
    "table of fewer": (cb.Table("sex", "region"), 0.4, {}),
    "noise below k": (cb.Table("sex", "region", below_k="noise"), 0.5, {}),
    "flagged": (cb.Table("sex", "region", below_k="noise", flag=True), 0.8, {}),
    "threshold": (cb.Table("town", below_k="threshold"), 1, {}),
    "threshold of fewer": (cb.Table("town", below_k="threshold"), 0.7, {}),
    "microdata": (cb.Microdata("sex", "region"), 0.5, {}),
    "points": (cb.Points("x", "y", noise_epsilon=1.0), 0.5, {}),
    "outlier-table": (cb.OutlierTable("sex", limit=100), 1, {}),
    "parts": (TWO, 0.8, {"split": "people"}),
    "parts of fewer": (PARTS, 0.6, {"split": "people"}),
    "fresh": (TWO, 0.8, {"split": "fresh"}),
    "budget": (NOISY, 1, {"split": "budget"}),
    "numbers alone": ((NUMBERS, MEN), 1, {"split": "budget"}),
    "numbers": ((NUMBERS, *NOISY[:1]), 1, {"split": "budget"}),
    "numbers and rows": ((NUMBERS, cb.Synopsis("sex", conjunctions=1, name="rows")), 1, {"split": "budget"}),
}
ASKED, ALL = 4_000, 80_000


def table_of(seed: int) -> pd.DataFrame:
    chance = np.random.default_rng(seed)
    towns = [f"{name:02d}" for name in range(30)]
    shares = np.arange(1, 31) ** 2.0
    return pd.DataFrame(
        {
            "id": range(ASKED),
            "sex": chance.choice(["f", "m"], ASKED),
            "region": chance.choice(["a", "b", "c"], ASKED, p=[0.6, 0.3, 0.1]),
            "town": chance.choice(towns, ASKED, p=shares / shares.sum()),
            "income": chance.integers(0, 1_000, ASKED) * 100,
            "x": chance.integers(0, 100, ASKED) / 10,
            "y": chance.integers(0, 100, ASKED) / 10,
        }
    )


def honest(name: str, seed: int, folder: Path) -> Path:
    """A survey that was published."""
    publish, thin, terms = CASES[name]
    said, data = str(publish), ALL if "Statistics" in str(publish) else None
    policy = cb.Policy(
        person="id",
        people=data,
        sampling=cb.Survey(ASKED, of=ALL, thin=thin),
        columns={column: how for column, how in COLUMNS.items() if f"'{column}'" in said},
        publish=publish,
        **{"epsilon": 1.5, "delta": 1e-5, **terms},
    )
    cb.release(table_of(seed), policy, out=folder / f"{name}-{seed}", ledger=None, figures=False)
    return folder / f"{name}-{seed}"


def stated(facts: Any, asked: int) -> Any:
    """Facts in which the survey asked another number of people."""
    if isinstance(facts, dict):
        design = {"people": asked} if facts.get("design") in ("thinned", "survey") else {}
        return {name: stated(value, asked) for name, value in facts.items()} | design
    return facts


def forge(folder: Path, asked: int, out: Path) -> Path | None:
    """The same data under a certificate that follows from facts with fewer people; None where none follows."""
    made = verify(read_text(folder / "certificate.json"))
    facts = stated({**made.facts, "files": {}}, asked)
    out.mkdir(parents=True)
    try:
        for name, one in read(folder).publications.items():
            path = next(iter(one.files.values())).path
            table = pq.read_table(path)
            if isinstance(one.facts, StatisticsFacts):
                table = restated(table, one.facts, read_facts(facts).publications[name])
            for blank in {"estimate", "low", "high"} & {*table.column_names}:
                at = table.column_names.index(blank)
                table = table.set_column(at, blank, pa.nulls(len(table), table.schema.field(at).type))
            pq.write_table(table, out / path.name)
            facts["files"][path.name] = hashlib.sha256((out / path.name).read_bytes()).hexdigest()
        forged = Certificate(derive(read_facts(facts)), made.stated, facts)
    except DoesNotVerify:
        return None
    (out / "certificate.json").write_text(forged.to_json(), encoding="utf-8")
    return out


def restated(table: pa.Table, honest_facts: StatisticsFacts, facts: Any) -> pa.Table:
    """Estimates and errors that the same noisy totals give for a smaller survey."""
    values, errors, start = [], [], 0
    for place, made in enumerate(honest_facts.statistics):
        before, after = values_of(honest_facts, place), values_of(facts, place)
        assert isinstance(before, StrataValues)
        bins = max(1, len(honest_facts.bins(made)))
        unit = float(before.way.weights.unit)
        unit *= float(before.bounds.ends[1] / before.shape.steps) if made.what == "sum" else 1  # type: ignore[union-attr]
        totals = [round(value / unit) for value in table.column("value").to_pylist()[start : start + bins]]
        for one in after.of_totals(totals, 0):
            values.append(one.value)
            errors.append(one.error)
        start += bins
    for name, column in (("value", values), ("error", errors)):
        table = table.set_column(table.column_names.index(name), name, pa.array(column, pa.float64()))
    return table


def largest_shown(folder: Path) -> int:
    """The people who are shown at least, whatever the noise may have been; by rules simpler than those of `verify`."""
    release = read(folder)
    found = []
    for one in release.publications.values():
        facts: Any = one.facts
        table = pq.read_table(next(iter(one.files.values())).path)
        if facts.kind == "synopsis":
            found.append(facts.size - laws.sum_reach(1, facts.mechanism.noise_epsilon, 1e-9))
        elif facts.kind == "statistics":
            statistic = facts.plan.noise_epsilon(0)
            values = values_of(facts, 0)
            assert isinstance(values, StrataValues)
            unit = float(values.way.weights.unit)
            regions = sum(table.column("value").to_pylist()[:3]) / unit
            found.append(int(regions) - laws.sum_reach(3, statistic, 1e-9))
        elif not facts.tables["data"].shown_by or facts.rows_are_counted is not True:
            found.append(len(table))
        else:
            law, counts = facts.tables["data"].shown_by[0], np.array(table.column("sampled"))
            if "exact" in table.column_names:
                counts = counts[np.array(table.column("exact"))]
            reach = 0 if law.noiseless or "exact" in table.column_names else law.sum_reach(30, 1e-9)
            found.append(int(counts.sum()) - reach)
    facts = release.facts
    return sum(found) if getattr(facts, "split", None) == "people" else max(found)


def is_accepted(folder: Path) -> bool:
    why = ""
    try:
        verify_release(folder)
    except DoesNotVerify as refused:
        why = str(refused)
    assert not why or "more people than its survey" in why
    return not why


def try_surveys(cases: Sequence[str], seeds: Sequence[int], folder: Path) -> tuple[int, int]:
    """Publish surveys, verify them, and state fewer people; return how many were honest and how many were forged."""
    verified = forged = 0
    for seed in seeds:
        for name in cases:
            made = honest(name, seed, folder)
            assert is_accepted(made), name
            verified += 1
            least, chance = largest_shown(made), np.random.default_rng([seed, 7])
            for number, share in enumerate((0.97, chance.uniform(0.1, 0.9))):
                other = forge(made, max(1, int(share * least)), folder / "forged" / f"{name}-{seed}-{number}")
                if other is not None:
                    forged += 1
                    assert not is_accepted(other), (name, seed, share, least)
    return verified, forged


@pytest.mark.parametrize("name", ["flagged", "outlier-table", "parts", "numbers alone", "numbers and rows"])
def test_fewer_people_than_are_shown_are_refused(name: str, tmp_path: Path) -> None:
    assert try_surveys([name], [1], tmp_path) == (1, 2)


@pytest.mark.slow
def test_two_hundred_surveys_of_every_kind(tmp_path: Path) -> None:
    verified, forged = try_surveys(list(CASES), range(100, 114), tmp_path)
    assert verified >= 200
    assert forged >= 200


LAWS = {
    "exact": (laws.ExactCounts(5), 6),
    "below k": (laws.NoiseBelowK(20, 0.3), 6),
    "below k, many": (laws.NoiseBelowK(40, 0.1, 25), 1_000),
    "every cell": (laws.NoiseOnEveryCell(0.5), 6),
    "Gaussian": (laws.GaussianOnEveryCell(6.0), 50),
    "threshold": (laws.NoiseFromThreshold(1.0, shown_from=14), None),
    "low threshold": (laws.NoiseFromThreshold(0.3, shown_from=2), None),
    "outliers": (laws.OutlierNoise(1.0, 42, 100), 2),
    "outliers, shown": (laws.OutlierNoise(1.0, 42, 100, 20), 200),
}


def noise(law: laws.Law, people: int, far: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The noise on a cell up to where it is cut off, with its probabilities."""
    if isinstance(law, laws.GaussianOnEveryCell):
        values = np.arange(-int(reach := law.sigma * math.sqrt(2 * far)), int(reach) + 1)
        masses = np.exp(-(values.astype(float) ** 2) / (2 * law.sigma**2))
        return values, masses / np.exp(-(np.arange(-400, 401.0) ** 2) / (2 * law.sigma**2)).sum()
    loss = law.widest_loss
    if law.noiseless or (isinstance(law, laws.NoiseBelowK) and people >= law.k):
        return np.zeros(1, np.int64), np.ones(1)
    if isinstance(law, laws.OutlierNoise):
        loss = float(law.losses(np.array([people]))[0])
    values = np.arange(-int(far / loss), int(far / loss) + 1)
    return values, laws.laplace(values, loss)


@for_each("name", LAWS)
def test_moments_of_a_cell_are_bounded_whatever_its_people(name: str) -> None:
    """E[e^(sV)] by adding up, for every number of people, threshold and exponent."""
    law, cells = LAWS[name]
    level, asked = 1e-6, 300
    shown = ShownPeople(law, ThinnedSurvey(0.5, asked, 10_000), np.array([30]), cells=cells)
    far = math.log(2 * shown.possible_cells(asked) / level)
    for threshold in (0, 1, 3, 5, 6, 7, 8, 43):
        curve = shown_people._Curve(shown, threshold, asked, level)
        s = min(curve.loss, 2.0) * np.array([0.01, 0.1, 0.5, 0.9])
        slopes, empty = curve.slopes(s)
        for people in (*range(60), 80, 99, 130, 199, 300):
            values, masses = noise(law, people, far)
            counts = people + values
            hidden = people == 0 and not shown.shows_empty_cells
            kept = np.zeros(len(counts)) if hidden else np.where(curve._whole | (counts >= curve._from), counts, 0)
            for at, exponent in enumerate(s):
                exact = math.log(float((masses * np.exp(exponent * kept)).sum()))
                allowed = empty[at] / shown.possible_cells(asked) + slopes[at] * people
                assert exact <= allowed + 1e-9, (threshold, people, exponent)


@for_each("name", LAWS)
def test_people_who_are_hardly_too_many(name: str) -> None:
    """Ten people more than can be shown are refused; as many as were asked are not, without noise."""
    law, cells = LAWS[name]
    asked = ThinnedSurvey(1.0, 1_000, 20_000)

    def accepts(*counts: int) -> bool:
        try:
            check_people([[ShownPeople(law, asked, np.array(counts), cells=cells)]])
        except DoesNotVerify:
            return False
        return True

    assert accepts(400, 600)
    assert accepts(1_000)
    assert not accepts(900, 900)
    assert not accepts(1_900)


def test_coins_keep_no_more_than_their_share() -> None:
    """A survey of 1,000 whose coins keep a half shows 500, and 660 in fewer than one in a billion cases."""
    half = ThinnedSurvey(0.5, 1_000, 20_000)
    check_people([[ShownPeople(laws.ExactCounts(1), half, np.array([560]))]])
    with pytest.raises(DoesNotVerify):
        check_people([[ShownPeople(laws.ExactCounts(1), half, np.array([660]))]])


def test_people_of_parts_add_up_and_those_of_other_publications_do_not() -> None:
    two = [[ShownPeople(laws.ExactCounts(1), ThinnedSurvey(0.4, 1_000, 20_000), np.array([395]))] for _ in range(2)]
    three = [*two, two[0]]
    check_people(two, apart=True)
    check_people(three)
    with pytest.raises(DoesNotVerify):
        check_people(three, apart=True)


def test_nobody_is_counted_twice_in_a_class() -> None:
    """With two rows a person may be in two classes, and adds one to each."""
    asked = ThinnedSurvey(1.0, 1_000, 20_000)
    for law in (laws.ExactCounts(1), laws.NoiseFromThreshold(1.0, shown_from=14)):
        check_people([[ShownPeople(law, asked, np.array([990, 990]), each=2)]])
        with pytest.raises(DoesNotVerify):
            check_people([[ShownPeople(law, asked, np.array([1_100]), each=2)]])


def test_coins_keep_no_more_than_their_share_where_a_person_is_in_several_classes() -> None:
    """Nothing but the largest count tells: together the classes may have five times as many."""
    half = ThinnedSurvey(0.5, 1_000, 20_000)
    check_people([[ShownPeople(laws.ExactCounts(1), half, np.array([560, 560]), each=5)]])
    with pytest.raises(DoesNotVerify):
        check_people([[ShownPeople(laws.ExactCounts(1), half, np.array([700, 5]), each=5)]])


@for_each("name", ["every cell", "below k, many"])
def test_noise_on_many_more_cells_than_people_is_no_people(name: str) -> None:
    """Most of what is shown are empty cells; refused in one of a billion cases."""
    law, cells, people = LAWS[name][0], 400_000, 50
    chance, a = np.random.default_rng(11), math.exp(-law.widest_loss)
    counts = chance.geometric(1 - a, cells) - chance.geometric(1 - a, cells)
    counts[:people] += 1
    shown = counts if law.shown_from is None else counts[counts >= law.shown_from]
    check_people([[ShownPeople(law, ThinnedSurvey(1.0, people, 20_000), shown, cells=cells)]])


def test_honest_noise_is_refused_as_seldom_as_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a level of one in two: of 100 releases 76 are refused in fewer than one in a million cases."""
    monkeypatch.setattr(shown_people, "LEVEL", 0.5)
    chance, refused = np.random.default_rng(3), 0
    a, asked = math.exp(-0.5), ThinnedSurvey(0.5, 400, 20_000)
    for _ in range(100):
        kept = chance.binomial(400, 0.5)
        counts = np.array([kept - 60, *[10] * 6]) + chance.geometric(1 - a, 7) - chance.geometric(1 - a, 7)
        try:
            check_people([[ShownPeople(laws.NoiseOnEveryCell(0.5), asked, counts, cells=7)]])
        except DoesNotVerify:
            refused += 1
    assert refused < 76
