"""The class counts of a sample, against an independent computation and whatever the layout of the data."""

import json
import sys
from datetime import date
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from crowdblend.methods.designs.draw import Coin, Everybody
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines import class_counter
from crowdblend.sources.engines import persons as persons_module
from crowdblend.sources.engines.choice import count_classes
from crowdblend.sources.engines.duckdb import rows as streaming
from crowdblend.trusted.randomness import DrawKey, coins
from tests.cases import for_each
from tests.refusals import refuses
from tests.trusted.randomness.goodness import fits_share

KEY = bytes(range(32))
COLUMNS = {
    "sex": '{ values = ["Female", "Male"], other = "Other" }',
    "age": '{ from = 0, to = 100, width = 10, bottom = true, top = true, missing = "?" }',
    "income": '{ breaks = [0, 25000, 50000], other = "rest" }',
    "zip": '{ prefix = 2, missing = "none" }',
    "born": '{ date = "quarter", other = "unreadable" }',
    "since": '{ date = "year", from = 1990-01-01, to = 2000-01-01, other = "other", missing = "none" }',
}


def policy(folder, columns=COLUMNS, source="people.parquet", data="", release="", person='person = "id"'):
    return parse_policy(
        f'[data]\nsource = "{source}"\n{person}\n{data}\n[sampling]\ndesign = "poisson"\nrate = 0.5\n[columns]\n'
        + "".join(f"{json.dumps(name)} = {declared}\n" for name, declared in columns.items())
        + f'[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[release]\n{release}\n[[publish]]\nkind = "table"\nk = 20\n',
        folder,
    )


def counted(classes):
    """The sample as a mapping from labels to counts, with its own promises checked."""
    rows = [tuple(row) for row in classes.codes.tolist()]
    assert rows == sorted(set(rows))
    assert (classes.counts > 0).all()
    labels = [tuple(names[code] for names, code in zip(classes.labels, row, strict=True)) for row in rows]
    return dict(zip(labels, classes.counts.tolist(), strict=True))


def by_pandas(frame, made, key=None, rate=None):
    """The same, from the definitions in Python."""
    if key is not None:
        frame = frame[coins(key, [str(person) for person in frame["id"]], rate)]
    labels = pd.DataFrame(
        {column.name: [column.recoding.label(shown(value)) for value in frame[column.name]] for column in made.columns}
    )
    return {} if labels.empty else labels.groupby(list(labels), dropna=False).size().to_dict()


def shown(value):
    return None if value is None else str(value)


def equal(classes, expected):
    return counted(classes) == {key if isinstance(key, tuple) else (key,): n for key, n in expected.items()}


def table(frame):
    return pa.table({name: pa.array(list(frame[name])) for name in frame})


texts = st.one_of(
    st.none(), st.sampled_from(["Female", "Male", "male", "", " ", "12345", "98", "it's", 'a "q"\nb', "é"])
)
numbers = st.one_of(st.none(), st.integers(-5, 120), st.just(10**6))
incomes = st.one_of(st.none(), st.floats(-10, 60000), st.just(float("inf")))
days = st.one_of(st.none(), st.dates(date(1985, 1, 1), date(2005, 1, 1)))
rows = st.lists(st.tuples(texts, numbers, incomes, texts, days, days), min_size=1, max_size=60)


def framed(values, ids):
    cells = {name: [row[i] for row in values] for i, name in enumerate(COLUMNS)}
    return pd.DataFrame(
        {"id": pd.Series(ids, dtype=object), **{k: pd.Series(v, dtype=object) for k, v in cells.items()}}
    )


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=rows,
    subset=st.sets(st.sampled_from(sorted(COLUMNS)), min_size=1),
    rate=st.sampled_from([0.1, 0.5, 0.9, None]),
    first=st.integers(-(2**62), 2**62),
    as_text=st.booleans(),
)
def test_agrees_with_pandas(tmp_path, values, subset, rate, first, as_text):
    ids = [first + i if not as_text else f"{first + i}{'x' * (i % 2)}" for i in range(len(values))]
    frame = framed(values, ids)
    parquet.write_table(table(frame), tmp_path / "people.parquet")
    made = policy(tmp_path, {name: COLUMNS[name] for name in COLUMNS if name in subset})
    key = None if rate is None else KEY
    found = count_classes(made, Everybody() if rate is None else Coin(DrawKey(KEY), rate))
    classes = found.classes
    assert equal(classes, by_pandas(frame, made, key, rate))
    assert found.rows_read == len(values)
    for names, column in zip(classes.labels, made.columns, strict=True):
        occurring = {names[code] for code in classes.codes[:, classes.columns.index(column.name)]}
        assert names == column.recoding.labels if column.recoding.closed else names == tuple(sorted(occurring))


@cache
def many(n=5_000, seed=0):
    """Made-up people; who changes them takes a copy."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": rng.permutation(n) + 7,
            "sex": rng.choice(["Female", "Male", "x"], n),
            "age": rng.integers(0, 110, n),
            "income": rng.integers(-100, 60000, n),
            "zip": [f"{z:05d}" for z in rng.integers(0, 99999, n)],
            "born": [str(np.datetime64("1990-01-01") + int(d)) for d in rng.integers(0, 5000, n)],
            "since": [str(np.datetime64("1989-01-01") + int(d)) for d in rng.integers(0, 5000, n)],
        }
    )


def same(one, two):
    return one.labels == two.labels and np.array_equal(one.codes, two.codes) and np.array_equal(one.counts, two.counts)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    frame = many()
    parquet.write_table(table(frame), folder / "people.parquet")
    made = policy(folder)
    classes = count_classes(made, Coin(DrawKey(KEY), 0.3)).classes
    assert equal(classes, by_pandas(frame, made, KEY, 0.3))
    return frame, classes


LAYOUTS = {
    "shuffled": lambda f, d: parquet.write_table(table(f.sample(frac=1, random_state=3)), d / "people.parquet"),
    "small row groups": lambda f, d: parquet.write_table(table(f), d / "people.parquet", row_group_size=999),
    "csv": lambda f, d: f.to_csv(d / "people.csv", index=False),
    "csv, quoted, windows": lambda f, d: f.to_csv(d / "people.csv", index=False, quoting=1, lineterminator="\r\n"),
    "csv, byte order mark": lambda f, d: f.to_csv(d / "people.csv", index=False, encoding="utf-8-sig"),
    "csv, packed": lambda f, d: f.to_csv(d / "people.csv.gz", index=False),
    "semicolons": lambda f, d: f.to_csv(d / "people.txt", index=False, sep=";"),
    "other columns": lambda f, d: f.assign(**{"a,\n'b\"": "x\ny", "Ω": '"'}).iloc[:, ::-1].to_csv(d / "people.csv"),
    "numbers as text": lambda f, d: parquet.write_table(table(f.astype(str)), d / "people.parquet"),
    "dates as dates": lambda f, d: parquet.write_table(
        table(f.assign(born=pd.to_datetime(f.born), since=pd.to_datetime(f.since).dt.date)), d / "people.parquet"
    ),
}


@for_each("layout", LAYOUTS, daily=5)
def test_the_layout_does_not_matter(tmp_path, reference, layout):
    """Nor does the number of threads, which is 1 or 2."""
    frame, classes = reference
    threads = 1 + list(LAYOUTS).index(layout) % 2
    LAYOUTS[layout](frame, tmp_path)
    (file,) = tmp_path.iterdir()
    data = 'delimiter = ";"' if layout == "semicolons" else ""
    made = policy(tmp_path, source=file.name, data=data, release=f"threads = {threads}")
    assert same(count_classes(made, Coin(DrawKey(KEY), 0.3)).classes, classes)


def test_batches_and_chunks_do_not_matter(tmp_path, reference, monkeypatch):
    frame, classes = reference
    parquet.write_table(table(frame), tmp_path / "people.parquet")
    monkeypatch.setattr(streaming, "_BATCH", 700)
    monkeypatch.setattr(streaming, "_CHUNK", 500)
    monkeypatch.setattr(class_counter, "_MANY", 300)
    monkeypatch.setattr(persons_module, "_WINDOW", 1500)
    assert same(count_classes(policy(tmp_path), Coin(DrawKey(KEY), 0.3)).classes, classes)


def test_folders_globs_and_databases(tmp_path, reference, monkeypatch):
    frame, classes = reference
    (tmp_path / "[parts]").mkdir()
    for part in range(3):
        frame[part::3].to_csv(tmp_path / "[parts]" / f"part*{part}.csv", index=False)
    (tmp_path / "[parts]" / "_log.csv").write_text("no data")
    with duckdb.connect(str(tmp_path / "people.duckdb")) as database:
        database.register("frame", table(frame))
        database.execute('CREATE SCHEMA s; CREATE TABLE s."the people" AS FROM frame')
    sources = {"[parts]": 'format = "csv"', "*/part*.csv": "", "people.duckdb": 'table = "s.the people"'}
    for source, data in sources.items():
        assert same(count_classes(policy(tmp_path, source=source, data=data), Coin(DrawKey(KEY), 0.3)).classes, classes)
    for wanted in ("csv", "parquet"):
        path = tmp_path / f"piped.{wanted}"
        frame.to_csv(path, index=False) if wanted == "csv" else parquet.write_table(table(frame), path)
        with path.open() as piped:
            monkeypatch.setattr(sys, "stdin", piped)
            made = policy(tmp_path, source="-", data=f'format = "{wanted}"')
            assert same(count_classes(made, Coin(DrawKey(KEY), 0.3)).classes, classes)


TYPES: dict[str, list[Any]] = {
    "DATE": ["1990-01-01", "1999-12-31", "infinity", "-infinity", None],
    "TIMESTAMP": ["1990-01-01 23:59:59", "infinity", "2000-01-01", None],
    "TIMESTAMP_NS": ["1990-01-01 23:59:59", "1999-12-31 23:59:59.999999999", None],
    "HUGEINT": [2**100, 0, 49_999, -1, None],
    "UBIGINT": [2**64 - 1, 0, 25_000, None],
    "DECIMAL(18,3)": ["0.000", "24999.999", "25000.000", "-0.001", None],
    "FLOAT": [0.1, 24999.998, 25000, None],
    "DOUBLE": [0.1, 24999.999999999996, float("nan"), float("-inf"), None],
    "BOOLEAN": [True, False, None],
    "ENUM('Male', '1')": ["Male", "1", None],
    "UUID": ["00000000-0000-0000-0000-000000000001", None],
    "BLOB": [b"Male", b"\xff", None],
    "TIME": ["10:00:00", None],
}


@for_each("kind", TYPES)
def test_every_type_means_what_it_is_shown_as(tmp_path, kind):
    columns = {
        "a": '{ date = "year", from = 1990-01-01, to = 2000-01-01, other = "o" }',
        "b": '{ date = "day", other = "o" }',
        "c": '{ breaks = [0, 25000, 50000], other = "o" }',
        "d": '{ values = ["Male", "1", "true", "0"], other = "o" }',
        "e": '{ prefix = 30, missing = "m" }',
    }
    with duckdb.connect(str(tmp_path / "people.duckdb")) as database:
        database.execute("SET TimeZone = 'UTC'")
        database.execute(f"CREATE TABLE t (id INTEGER, v {kind})")
        database.executemany("INSERT INTO t VALUES (?, ?)", [list(row) for row in enumerate(TYPES[kind])])
        database.execute("CREATE TABLE people AS SELECT id, v AS a, v AS b, v AS c, v AS d, v AS e FROM t")
        texts = [text for (text,) in database.execute("SELECT CAST(v AS VARCHAR) FROM t").fetchall()]
    made = policy(tmp_path, columns, "people.duckdb", 'table = "people"')
    frame = pd.DataFrame({name: pd.Series(texts, dtype=object) for name in columns})
    assert equal(count_classes(made, Everybody()).classes, by_pandas(frame, made))


def test_many_words_and_large_domains(tmp_path, monkeypatch):
    monkeypatch.setattr(class_counter, "_MANY", 500)
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"id": np.arange(3000), **{f"c{i}": rng.integers(0, 3, 3000) * 4_999 for i in range(5)}})
    parquet.write_table(table(frame), tmp_path / "people.parquet")
    wide = policy(tmp_path, {f"c{i}": "{ from = 0, to = 10000, width = 1 }" for i in range(5)})
    mixed = policy(tmp_path, {**{f"c{i}": "{ prefix = 9 }" for i in range(4)}, "c4": "{ breaks = [0, 5, 10000] }"})
    for made in (wide, mixed):
        classes = count_classes(made, Coin(DrawKey(KEY), 0.5)).classes
        assert equal(classes, by_pandas(frame, made, KEY, 0.5))


def test_many_columns_of_values(tmp_path):
    """More columns than are joined, with odd names; blanks, other values and missing ones in the first and the last."""
    rng = np.random.default_rng(6)
    values = {f'c "{i}", é': rng.choice(["a", "b", "é", "x", "", " "], 300) for i in range(40)}
    parquet.write_table(pa.table({"id": range(300), **values}), tmp_path / "people.parquet")
    made = policy(tmp_path, dict.fromkeys(values, '{ values = ["é", "b", "a"], other = "o", missing = "m" }'))
    assert equal(
        count_classes(made, Coin(DrawKey(KEY), 0.5)).classes,
        by_pandas(pd.DataFrame({"id": range(300), **values}), made, KEY, 0.5),
    )
    refused = policy(tmp_path, dict.fromkeys(list(values)[::-1], '{ values = ["é", "b", "a", "x"] }'))
    with refuses("data.outside-domain", "column 'c \"39\", é'"):
        count_classes(refused, Coin(DrawKey(KEY), 0.5))


def test_a_number_is_the_same_person_as_its_spelling(tmp_path):
    columns = {"sex": COLUMNS["sex"]}
    ids = [0, -5, 12, 2**62, -(2**63), 10**18]
    for n, values in enumerate([pa.array(ids), pa.array([str(i) for i in ids])]):
        parquet.write_table(pa.table({"id": values, "sex": ["Male"] * 6}), tmp_path / f"{n}.parquet")
    first, second = (
        count_classes(policy(tmp_path, columns, f"{n}.parquet"), Coin(DrawKey(KEY), 0.5)).classes for n in (0, 1)
    )
    assert first.people == second.people == coins(KEY, ids, 0.5).sum()


ODD_IDS = {
    "text": ["012", "12", "a", "b ", "b", "Ω"],
    "unsigned": pa.array([2**64 - 1, 1, 2, 3, 4, 5], pa.uint64()),
    "double": [1.5, 2.0, 3.25, 4.0, -0.5, 1e300],
    "decimal": pa.array([1, 2, 3, 4, 5, 6], pa.decimal128(38, 0)),
    "huge": [str(10**37 + i) for i in range(6)],
    "far apart": [-(2**63), 2**63 - 1, 0, 1, 2, 3],
}


@pytest.mark.parametrize("kind", ODD_IDS)
def test_persons_of_other_types(tmp_path, kind):
    columns = {"sex": COLUMNS["sex"]}
    for ids, fails in ((ODD_IDS[kind], False), (pa.array(ODD_IDS[kind]).take([0, 1, 2, 3, 4, 0]), True)):
        parquet.write_table(pa.table({"id": ids, "sex": ["Male"] * 6}), tmp_path / "people.parquet")
        if fails:
            with refuses("data.repeated-person", "column 'id'"):
                count_classes(policy(tmp_path, columns), Everybody())
        else:
            assert count_classes(policy(tmp_path, columns), Everybody()).classes.people == 6


def test_words_that_agree_by_chance_are_no_duplicate(tmp_path, monkeypatch):
    true_marks, true_draw = persons_module.marks, persons_module.draw  # type: ignore[attr-defined]

    def weak(found):
        found = found.copy()
        found[:, 0] %= 3
        return found

    def weak_draw(*of):
        places, found = true_draw(*of)
        return places, weak(found)

    monkeypatch.setattr(persons_module, "marks", lambda *of: weak(true_marks(*of)))
    monkeypatch.setattr(persons_module, "draw", weak_draw)
    ids = [f"p{i}" for i in range(50)]
    columns = {"sex": COLUMNS["sex"]}
    parquet.write_table(pa.table({"id": ids, "sex": ["Male"] * 50}), tmp_path / "people.parquet")
    assert (
        count_classes(policy(tmp_path, columns), Coin(DrawKey(KEY), 0.5)).classes.people == coins(KEY, ids, 0.5).sum()
    )
    parquet.write_table(pa.table({"id": [*ids, *ids], "sex": ["Male"] * 100}), tmp_path / "people.parquet")
    with refuses("data.repeated-person", "column 'id'"):
        count_classes(policy(tmp_path, columns), Coin(DrawKey(KEY), 0.5))


@pytest.mark.parametrize("rate", [0.5, 0.1, 0.02])
def test_a_duplicate_outside_the_sample_does_not_matter(tmp_path, rate):
    """Where few are drawn, rows of one file are looked up by their places."""
    drawn = coins(KEY, np.arange(400), rate)
    columns = {"sex": COLUMNS["sex"]}
    for twice, fails in ((int(np.flatnonzero(~drawn)[0]), False), (int(np.flatnonzero(drawn)[0]), True)):
        parquet.write_table(pa.table({"id": [*range(400), twice], "sex": ["Male"] * 401}), tmp_path / "people.parquet")
        if fails:
            with refuses("data.repeated-person", "column 'id'"):
                count_classes(policy(tmp_path, columns), Coin(DrawKey(KEY), rate))
        else:
            assert count_classes(policy(tmp_path, columns), Coin(DrawKey(KEY), rate)).classes.people == drawn.sum()


def repeated(seed, n=3000):
    frame = many(n, seed)
    return pd.concat([frame, many(n, seed + 1), frame[::3]], ignore_index=True)


@pytest.mark.parametrize("as_text", [False, True])
def test_one_row_of_each_is_kept(tmp_path, as_text):
    frame = repeated(1)
    if as_text:
        frame["id"] = "p" + frame["id"].astype(str)
    made = policy(tmp_path, data='duplicates = "one"')
    found = []
    for order in (1, 2):
        parquet.write_table(table(frame.sample(frac=1, random_state=order)), tmp_path / "people.parquet")
        found.append(count_classes(made, Coin(DrawKey(KEY), 0.5)).classes)
    assert same(*found)
    assert found[0].people == coins(KEY, list(frame["id"].unique()), 0.5).sum()
    every = by_pandas(frame, made)
    assert all(count <= every[labels] for labels, count in counted(found[0]).items())
    assert count_classes(made, Everybody()).classes.people == frame["id"].nunique()


def test_the_row_that_is_kept_is_fair_and_does_not_depend_on_others(tmp_path):
    n = 4000
    sexes, zips = ["Female", "Male"] * n, ["11", "22"] * n
    ids = np.repeat(np.arange(n), 2)
    columns = {"sex": COLUMNS["sex"], "zip": COLUMNS["zip"]}
    made = policy(tmp_path, columns, data='duplicates = "one"')

    def kept(extra):
        full = {"id": [*ids, *extra], "sex": [*sexes, *["Male"] * len(extra)], "zip": [*zips, *["00"] * len(extra)]}
        parquet.write_table(pa.table(full), tmp_path / "people.parquet")
        return counted(count_classes(made, Coin(DrawKey(KEY), 1.0)).classes)

    alone, beside = kept([]), kept(range(n, n + 50))
    assert fits_share(int(alone["Female", "11"]), n, 0.5)
    assert alone.items() <= beside.items()
    assert beside["Male", "00"] == 50


def test_rows_as_people_are_thinned(tmp_path):
    frame = many().drop(columns="id")
    frame.loc[0, "zip"] = "~~ only once"
    made = policy(tmp_path, person="rows_are_people = true")
    parquet.write_table(table(frame), tmp_path / "people.parquet")
    full = by_pandas(frame, made)
    assert equal(count_classes(made, Everybody()).classes, full)
    drawn = count_classes(made, Coin(DrawKey(KEY), 0.3)).classes
    parquet.write_table(table(frame.sample(frac=1, random_state=1)), tmp_path / "people.parquet")
    assert same(count_classes(made, Coin(DrawKey(KEY), 0.3)).classes, drawn)
    assert all(count <= full[labels] for labels, count in counted(drawn).items())
    assert fits_share(drawn.people, 5_000, 0.3)
    for position in (3, 4):
        assert set(drawn.codes[:, position]) == set(range(len(drawn.labels[position])))


def test_progress_and_facts(tmp_path):
    parquet.write_table(table(many(1000)), tmp_path / "people.parquet")
    phases = []
    found = count_classes(policy(tmp_path), Coin(DrawKey(KEY), 0.5), progress=lambda *phase: phases.append(phase))
    assert phases[0] == ("reading", 1000)
    assert found.facts["rows_read"] == 1000
