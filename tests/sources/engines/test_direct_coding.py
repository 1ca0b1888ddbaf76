"""Rows that are recoded while they are read give the same as those that are handed over first."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs.draw import Coin, Everybody
from crowdblend.methods.recoding.axes import Axis
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.choice import count_classes
from crowdblend.sources.engines.duckdb import counting
from crowdblend.sources.engines.duckdb import rows as reading
from crowdblend.trusted.randomness import DrawKey
from tests.policies.policies import policy_text

POLICY = policy_text(
    data='source = "people.parquet"\nperson = "id"\nduplicates = "{duplicates}"',
    sampling='design = "poisson"\nrate = 0.5',
    columns=(
        'sex = {{ values = ["Female", "Male"] }}\nrace = {{ values = ["White", "Black"], other = "Other" }}',
        'age = {{ from = 0, to = 100, width = 10, top = true, missing = "none" }}',
        'income = {{ breaks = [0, 25000.5, 100000], other = "beyond", missing = "none" }}',
        'born = {{ date = "year", from = 1990-01-01, to = 2000-01-01 }}',
    ),
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "table"',
)
DRAWS = {"everybody": Everybody(row_key=DrawKey(bytes(32))), "half": Coin(DrawKey(bytes(range(32))), 0.5)}


def people(number=3000):
    random = np.random.default_rng(5)
    return {
        "id": [f"P{n}" for n in range(number)],
        "sex": random.choice(["Female", "Male"], number).tolist(),
        "race": random.choice(["White", "Black", "Martian", "", " "], number).tolist(),
        "age": [None if age > 110 else int(age) for age in random.integers(0, 120, number)],
        "income": [float(income) for income in random.integers(-5000, 120000, number)],
        "born": pa.array(random.integers(7305, 10957, number).astype("datetime64[D]")),
    }


def counted(folder, table, draw, *, duplicates="refuse"):
    parquet.write_table(pa.table(table), folder / "people.parquet", row_group_size=700)
    return count_classes(parse_policy(POLICY.format(duplicates=duplicates), folder), draw)


@pytest.fixture
def handed_over_first(monkeypatch):
    def now():
        monkeypatch.setattr(counting, "recodes_directly", lambda *_: False)

    return now


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("duplicates", ["refuse", "one"])
def test_both_ways_count_the_same(tmp_path, monkeypatch, handed_over_first, draw, duplicates):
    taken: list[object] = []
    coding = counting.DirectCoding  # type: ignore[attr-defined]
    monkeypatch.setattr(coding, "__init__", _noting(coding.__init__, taken))
    table = people()
    if duplicates == "one":
        table["id"] = [f"P{n // 2}" for n in range(len(table["id"]))]
    direct = counted(tmp_path, table, DRAWS[draw], duplicates=duplicates)
    assert taken, "these columns are recoded while they are read"
    handed_over_first()
    other = counted(tmp_path, table, DRAWS[draw], duplicates=duplicates)
    assert np.array_equal(direct.classes.codes, other.classes.codes)
    assert np.array_equal(direct.classes.counts, other.classes.counts)
    assert direct.outside == other.outside
    assert direct.outside["race"].values, "values that went to other are listed"


POINTS = policy_text(
    data='source = "points.parquet"\nperson = "id"',
    sampling='design = "poisson"\nrate = 0.5',
    columns=(
        'sex = { values = ["Female", "Male"] }\nx = { from = -20, to = 20, width = 10, resolution = 2 }',
        "y = { from = 0, to = 1.2, width = 0.6, resolution = 0.1 }",
        'z = { from = 0, to = 8, width = 4, resolution = 1, outside = "drop" }',
    ),
    privacy="epsilon = 1.0",
    publish='kind = "points"\nk = 40\nnoise_epsilon = 1.0',
)


def places(number=2000):
    random = np.random.default_rng(6)
    return {
        "id": list(range(number)),
        "sex": random.choice(["Female", "Male"], number).tolist(),
        "x": random.choice(np.arange(-200, 201) / 10, number).tolist(),
        "y": random.choice([0.1 * n for n in range(12)] + [n / 10 for n in range(13)], number).tolist(),
        "z": random.uniform(-1, 9, number).tolist(),
    }


@pytest.mark.parametrize("draw", DRAWS)
def test_coordinates_get_the_same_cells_both_ways(tmp_path, monkeypatch, handed_over_first, draw):
    """Every end of a cell is among them."""
    policy = parse_policy(POINTS, tmp_path)
    parquet.write_table(pa.table(places()), tmp_path / "points.parquet")
    recoded = []
    monkeypatch.setattr(
        Axis, "codes_of", lambda axis, values, first=Axis.codes_of: recoded.append(axis) or first(axis, values)
    )
    direct = count_classes(policy, DRAWS[draw])
    assert len({*recoded}) == 2, "x and y come as they are, and z has a class for everything else"
    handed_over_first()
    other = count_classes(policy, DRAWS[draw])
    assert np.array_equal(direct.classes.codes, other.classes.codes)
    assert np.array_equal(direct.classes.counts, other.classes.counts)
    assert direct.outside == other.outside


def assert_same_words(handed_over_first, count):
    """Refused while rows are read, and where they are handed over first: the words of the refusal."""
    refusals = []
    for prepare in (lambda: None, handed_over_first):
        prepare()
        with pytest.raises(InvalidInput) as refused:
            count()
        refusals.append((str(refused.value), refused.value.where, refused.value.remedy))
    assert refusals[0] == refusals[1]
    return refusals[0]


@pytest.mark.parametrize(("column", "value"), [("x", 20.000001), ("y", float("nan")), ("y", None)])
def test_coordinates_without_a_cell_are_refused_in_the_same_words(tmp_path, handed_over_first, column, value):
    table = places(100)
    table[column][-1] = value
    parquet.write_table(pa.table(table), tmp_path / "points.parquet")
    assert_same_words(handed_over_first, lambda: count_classes(parse_policy(POINTS, tmp_path), Everybody()))


def _noting(made, taken):
    def noted(self, *given):
        taken.append(self)
        made(self, *given)

    return noted


@pytest.mark.parametrize(
    ("column", "value"), [("sex", "unknown"), ("age", -1), ("born", datetime.date(2000, 1, 1)), ("born", None)]
)
def test_a_value_without_a_class_is_refused_in_the_same_words(tmp_path, handed_over_first, column, value):
    table = people(200)
    table[column] = [*pa.array(table[column]).to_pylist()[:-1], value]
    message, where, _ = assert_same_words(handed_over_first, lambda: counted(tmp_path, table, Everybody()))
    assert column in where + message


def test_a_value_of_somebody_who_is_not_drawn_does_not_matter(tmp_path):
    table, draw = people(200), DRAWS["half"]
    counts = counted(tmp_path, table, draw).classes.people
    outcomes = set()
    for row in range(5):
        sex = [*table["sex"]]
        sex[row] = "unknown"
        try:
            assert counted(tmp_path, {**table, "sex": sex}, draw).classes.people == counts
            outcomes.add("counted")
        except InvalidInput:
            outcomes.add("refused")
    assert outcomes == {"counted", "refused"}, "fixed by the key: some of the five are drawn and some are not"


@pytest.mark.parametrize(("direct", "looked_up"), [(True, 1 << 19), (False, 1 << 19), (True, 64)])
def test_two_looks_at_a_low_rate_count_the_same_as_one(tmp_path, monkeypatch, handed_over_first, direct, looked_up):
    """Also where only 64 rows are looked up at once, so that the file is gone through in five pieces."""
    if not direct:
        handed_over_first()
    monkeypatch.setattr(reading, "_MOST_LOOKED_UP", looked_up)
    draw = Coin(DrawKey(bytes(range(32))), 0.1)
    looks = []
    for rate in (0.1, 0.0):
        for most in ("_FEW", "_FEW_CLASSES"):
            monkeypatch.setattr(reading, most, rate)
        looks.append(counted(tmp_path, people(), draw))
    two, one = looks
    assert np.array_equal(two.classes.codes, one.classes.codes)
    assert np.array_equal(two.classes.counts, one.classes.counts)
    assert two.rows_read == one.rows_read == 3000
    assert 0 < one.classes.people < 600


def test_a_file_that_changes_between_two_looks_is_refused(tmp_path, monkeypatch):
    stream = reading.Rows._stream

    def shortened(self, selected, which=""):
        yield from (batch.slice(1) if "drawn" in which else batch for batch in stream(self, selected, which))

    monkeypatch.setattr(reading.Rows, "_stream", shortened)
    with pytest.raises(InvalidInput) as refused:
        counted(tmp_path, people(), Coin(DrawKey(bytes(range(32))), 0.03))
    assert refused.value.code.endswith("missing-rows")


@pytest.mark.parametrize(
    "sizes",
    [
        (1024, 1024, 1024, 2),  # the most classes that INTEGER numbers, and a few more
        (1024, 1024, 1024, 3),
        (1024, 1024, 1024, 1024, 1024, 8),  # the most that DOUBLE numbers exactly, and a few more
        (1024, 1024, 1024, 1024, 1024, 9),
        (1024, 1024, 1024, 1024, 1024, 1024, 8),  # more than one number takes
    ],
    ids=str,
)
def test_packed_codes_of_all_sizes_are_exact(tmp_path, handed_over_first, sizes):
    random = np.random.default_rng(6)
    ends = [np.append(random.integers(0, size, 40), [size - 1, size - 1, 0, size - 1]) for size in sizes]
    ends[0][-1] = 0
    table = {"id": list(range(44)), **{f"c{at}": values.tolist() for at, values in enumerate(ends)}}
    parquet.write_table(pa.table(table), tmp_path / "people.parquet")
    columns = "\n".join(f"c{at} = {{ from = 0, to = {size}, width = 1 }}" for at, size in enumerate(sizes))
    head, _, tail = POLICY.format(duplicates="refuse").partition("sex =")
    policy = parse_policy(head + columns + "\n[privacy]" + tail.partition("[privacy]")[2], tmp_path)
    direct = count_classes(policy, Everybody()).classes
    handed_over_first()
    other = count_classes(policy, Everybody()).classes
    assert np.array_equal(direct.codes, other.codes)
    assert np.array_equal(direct.counts, other.counts)
    assert sorted(map(tuple, np.repeat(direct.codes, direct.counts, axis=0))) == sorted(zip(*ends, strict=True))
