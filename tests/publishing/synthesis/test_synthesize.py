"""Folders of synthetic rows: what they say, what they guarantee, and what nobody may change in them."""

import json
from itertools import combinations
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify
from crowdblend.kinds.shared.facts import derive, read_facts
from crowdblend.lab.demo import town
from crowdblend.publishing.synthesis import model
from crowdblend.publishing.synthesis.facts import TITLE, SyntheticFacts
from crowdblend.publishing.synthesis.synthesize import _source
from crowdblend.trusted.calculus import Assumption, Certificate, sha256_of, verify, verify_file
from tests.cases import for_each
from tests.commands import crowdblend
from tests.publishing.forged_facts import source as source_of
from tests.publishing.forged_facts import synthetic
from tests.refusals import refuses

COLUMNS = {
    "sex": cb.values("female", "male"),
    "age": cb.intervals(0, 120, width=20),
    "education": cb.values("none", "school", "vocational", "bachelor", "master", "doctorate"),
}


# Of two columns the second is of ids that number the rows of one table.
IDS = {"sex": "people", "age": "table"}


def policy(*tables: tuple[str, ...], sampling=None, **more) -> cb.Policy:
    several = {"split": "budget"} if len(tables) > 1 else {}
    kind = {} if sampling is None or len(tables) == 1 else {"below_k": "noise"}
    publish = [cb.Table(*columns, name="-".join(columns), **kind) for columns in tables]
    used = {name: domain for name, domain in COLUMNS.items() if any(name in columns for columns in tables)}
    terms = {"person": "person_id", "sampling": sampling or cb.Everybody(), "epsilon": 1.0, "columns": used}
    return cb.Policy(**{**terms, **more}, publish=publish, **several)


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """All tables of two columns of a town."""
    folder = tmp_path_factory.mktemp("made") / "published"
    about = cb.About(title="A town")
    cb.release(town(20_000), policy(*combinations(COLUMNS, 2), about=about), out=folder, ledger=None, figures=False)
    return folder


@pytest.fixture(scope="module")
def rows(source, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("rows") / "rows"
    cb.synthesize(source, rows=5_000, out=folder, figures=False)
    return folder


def edited(folder: Path, target: Path, change) -> Path:
    """A copy of the folder whose certificate has other facts, with everything that follows from them, or not."""
    target.mkdir()
    for file in folder.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    honest = verify_file(folder)
    facts = json.loads(json.dumps(dict(honest.facts)))
    stated = change(facts) or honest.stated
    (target / "certificate.json").write_text(Certificate(honest.derivations, stated, facts).to_json())
    return target


def test_every_file_says_that_rows_are_synthetic(rows):
    assert {file.name for file in rows.iterdir()} == {
        "synthetic.parquet", "certificate.json", "datapackage.json", "README.md", "report.html",
    }  # fmt: skip
    assert (rows / "README.md").read_text().startswith("# Synthetic rows from A town\n")
    package = json.loads((rows / "datapackage.json").read_text())
    assert package["title"].startswith("Synthetic")
    (resource,) = package["resources"]
    assert resource["name"] == "synthetic"
    assert all(field["description"].startswith("Synthetic") for field in resource["schema"]["fields"])
    page = (rows / "report.html").read_text()
    assert "<h1>Synthetic rows from A town</h1>" in page
    assert page.count("<h2>") == page.count("<h2>What") + page.count("<h2>How") + page.count("<h2>For") + page.count(
        "<h2>Parameters"
    )


def test_rows_keep_the_guarantee_of_what_they_were_made_from(source, rows):
    own, theirs = cb.verify(rows), cb.verify(source)
    assert own.differential() == theirs.differential()
    (named,) = own.facts["sources"]
    assert named["digest"] == json.loads((source / "certificate.json").read_text())["digest"]


def test_rows_have_the_shares_of_the_published_tables(source, rows):
    data, published = cb.read(rows).data, cb.read(source)
    assert data.num_rows == 5_000
    for name in published.publications:
        columns = name.split("-")
        found = data.group_by(columns).aggregate([([], "count_all")]).to_pylist()
        shares = {tuple(row[column] for column in columns): row["count_all"] / 5_000 for row in found}
        estimates = published.estimates(table=name).to_pylist()
        people = sum(row["estimate"] for row in estimates)
        apart = [abs(shares.get(tuple(row[column] for column in columns), 0) - row["estimate"] / people) for row in
                 estimates]  # fmt: skip
        assert sum(apart) / 2 < 0.02
    assert max(one["apart"] for one in cb.verify(rows).facts["met"]) < 0.02


def test_readers_are_told_and_get_no_numbers_of_people(rows):
    opened = cb.read(rows)
    assert opened.kind == "synthetic"
    assert "synthetic" in opened.notes()[0]
    with refuses("reading.no-counts"):
        opened.estimates()


def test_pairs_that_nobody_measured_are_named(tmp_path):
    chain = policy(("sex", "age"), ("age", "education"))
    done = cb.release(town(5_000), chain, out=tmp_path / "chain", ledger=None)
    made = cb.synthesize(done.folder, rows=100)
    page = made.report.html
    assert "how far rows are from a table (dot), and the noise of the table (line)." in page
    unmeasured = page[page.index('id="unmeasured"') : page.index('id="sources"')]
    assert "Pairs of columns that no published table has together: 1." in unmeasured
    assert "<td><bdi>sex</bdi></td><td><bdi>education</bdi></td>" in unmeasured
    assert "Combinations of three columns that no published table has: 1 of 1." in unmeasured


def test_tables_that_the_rows_miss_are_named_and_to_be_used(rows, tmp_path, monkeypatch):
    """People of few sorts have no table of three columns that depend on each other."""
    monkeypatch.setattr(model, "_EFFORTS", ((2, 20),))
    assert not any("Use the published table" in line for line in cb.read(rows).notes())
    three = policy(("sex", "age", "education"), epsilon=8.0)
    cb.release(town(20_000), three, out=tmp_path / "three", ledger=None, figures=False)
    said = crowdblend("synthesize", tmp_path / "three", "--rows", 2_000, "--out", tmp_path / "poor").stdout
    assert "use the published tables, and not the rows, for three\n" in said
    notes = cb.read(tmp_path / "poor").notes()
    assert any("Use the published table, and not the rows, for three (sex" in line for line in notes)
    assert "Use the published table" in (tmp_path / "poor" / "README.md").read_text()
    assert "<td>the published table</td>" in (tmp_path / "poor" / "report.html").read_text()


def test_two_registers_add_up(tmp_path, source):
    cb.release(town(20_000), policy(("sex", "education")), out=tmp_path / "other", ledger=None)
    made = cb.synthesize([source, tmp_path / "other"], rows=100)
    assert cb.verify(made).differential() == cb.compose(source, tmp_path / "other").conclusion
    assert made.certificate.differential().epsilon == pytest.approx(2.0, abs=1e-9)
    assert "FRESH_SAMPLES" not in {one.assumption.name for one in made.certificate.assumptions()}


def test_of_samples_the_total_takes_fresh_ones_for_granted_and_says_so(tmp_path, source):
    sampled = policy(("sex", "age"), sampling=cb.Poisson(0.5), delta=1e-6)
    cb.release(town(20_000), sampled, out=tmp_path / "sampled", ledger=None)
    made = cb.synthesize([source, tmp_path / "sampled"], rows=100)
    assert cb.verify(made).differential().epsilon == pytest.approx(2.0, abs=1e-9)
    assert "FRESH_SAMPLES" in {one.assumption.name for one in made.certificate.assumptions()}


def test_suppressed_tables_and_microdata_give_rows_too(tmp_path):
    for kind in (cb.Table("sex", "age"), cb.Microdata("sex", "age")):
        terms = {"person": "person_id", "sampling": cb.Poisson(0.5), "epsilon": 1.0, "delta": 1e-6}
        crowd = cb.Policy(**terms, columns={name: COLUMNS[name] for name in ("sex", "age")}, publish=kind)
        done = cb.release(town(20_000), crowd, out=tmp_path / type(kind).__name__, ledger=None)
        made = cb.synthesize(done.folder, rows=1_000)
        assert cb.verify(made).zero_knowledge() == done.certificate.zero_knowledge()
        assert max(one["apart"] for one in made.certificate.facts["met"]) < 0.1


def test_rows_are_not_made_from_data_that_contradict_their_certificate(tmp_path):
    crowd = policy(("sex", "age"), sampling=cb.Poisson(0.5), delta=1e-6)
    folder = cb.release(town(20_000), crowd, out=tmp_path / "honest", ledger=None).folder
    name = next(file.name for file in folder.glob("*.parquet"))
    few = pq.read_table(folder / name)
    pq.write_table(few.set_column(2, few.column_names[2], [[1] * len(few)]), tmp_path / name)

    def change(facts):
        facts["files"][name] = sha256_of(tmp_path / name)

    forged = edited(folder, tmp_path / "forged", change)
    (tmp_path / name).replace(forged / name)
    cb.read(forged)
    with pytest.raises(DoesNotVerify):
        cb.synthesize(forged, rows=10)


def test_what_rows_cannot_be_made_from_is_refused(tmp_path, source, rows):
    with refuses("synthesize.synthetic"):
        cb.synthesize(rows, rows=10)
    with refuses("synthesize.twice"):
        cb.synthesize([source, source], rows=10)
    with refuses("synthesize.folders"):
        cb.synthesize([], rows=10)
    with refuses("synthesize.rows"):
        cb.synthesize(source, rows=0)
    with refuses("output-exists"):
        cb.synthesize(source, rows=10, out=rows)
    survey = policy(("sex", "age"), sampling=cb.Survey(2_000, of=20_000, thin=0.5), delta=1e-5)
    cb.release(town(2_000), survey, out=tmp_path / "survey", ledger=None)
    with refuses("synthesize.together"):
        cb.synthesize([source, tmp_path / "survey"], rows=10)
    for name in ("sex", "age"):
        coins = policy((name,), sampling=cb.Coins(0.3), delta=1e-5)
        cb.release(town(2_000), coins, out=tmp_path / name, ledger=None, figures=False)
    with refuses("synthesize.one-sample"):
        cb.synthesize([tmp_path / "sex", tmp_path / "age"], rows=10)
    with refuses("synthesize.one-sample"):  # whoever draws the other one may do so from the same table
        cb.synthesize([source, tmp_path / "age"], rows=10)
    numbers = cb.Policy(
        person="person_id", people=2_000, sampling=cb.Everybody(), epsilon=1.0,
        columns={"sex": COLUMNS["sex"]}, publish=cb.Statistics(cb.fraction({"sex": "female"})),
    )  # fmt: skip
    done = cb.release(town(2_000), numbers, out=tmp_path / "numbers", ledger=None)
    with refuses("synthesize.no-tables"):
        cb.synthesize(done.folder, rows=10)
    other = cb.Policy(
        person="person_id", sampling=cb.Everybody(), epsilon=1.0,
        columns={"age": cb.intervals(0, 120, width=10)}, publish=cb.Table("age"),
    )  # fmt: skip
    cb.release(town(2_000), other, out=tmp_path / "finer", ledger=None)
    with refuses("synthesize.labels"):
        cb.synthesize([source, tmp_path / "finer"], rows=10)


CHANGES = {
    "another digest": lambda facts: facts["sources"][0].update(digest="0" * 64),
    "a source with a smaller budget": lambda facts: facts["sources"][0]["facts"].update(epsilon=0.5),
    "a source without its assumptions": lambda facts: facts["sources"][0].update(stated=[]),
    "a title that says nothing": lambda facts: facts["about"].update(title="A town"),
    "other labels": lambda facts: facts["columns"]["sex"].update(labels=["female", "other"]),
    "another number of rows": lambda facts: facts.update(rows=4_999),
    "a table that no source has": lambda facts: facts["met"][0].update(columns=["income"]),
    "assumptions left out": lambda facts: (),
}


def test_no_guarantee_follows_from_facts_that_contradict_their_sources(rows):
    """Whatever the files and pages beside them say."""
    honest = verify_file(rows).facts
    assert derive(read_facts(honest))
    for change in set(CHANGES) - {"another number of rows", "assumptions left out"}:
        facts = json.loads(json.dumps(dict(honest)))
        CHANGES[change](facts)
        with refuses("data-contradict"):
            derive(read_facts(facts))


def test_sources_that_may_be_of_one_sample_do_not_add_up_and_all_state_what_they_assume():
    def rows_of(sampling) -> SyntheticFacts:
        planned = [policy((name,), sampling=sampling, delta=1e-5, ids=ids).plan() for name, ids in IDS.items()]
        sources = tuple(_source(one.certificate()) for one in planned)
        columns = {"sex": sources[0].release.domains["sex"]}
        return SyntheticFacts(
            software={}, about={"title": TITLE}, rows=9, sources=sources, columns=columns, met=(), person="person_id"
        )

    fresh = rows_of(cb.Poisson(0.3))
    assert derive(fresh)[0].conclusion.epsilon == pytest.approx(2.0)
    assert Assumption.IDS_OF_THE_TABLE in fresh.stated_assumptions
    with refuses("data-contradict"):
        derive(rows_of(cb.Coins(0.3)))


@for_each("vouched", [(False, False), (True, False), (False, True), (True, True)])
def test_rows_are_people_where_one_of_the_sources_says_so(vouched):
    """Whichever it is: the certificate of the rows states what any of them takes on trust."""
    made = [source_of("table-register", person=None if alone else "person_id") for alone in vouched]
    assert read_facts(synthetic(*made)).rows_are_people is any(vouched)


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_in_the_certificate_does_not_verify(rows, tmp_path, change):
    if change == "assumptions left out":
        target = edited(rows, tmp_path / "edited", lambda facts: None)
        honest = verify_file(rows)
        assert honest.stated
        (target / "certificate.json").write_text(Certificate(honest.derivations, (), honest.facts).to_json())
    else:
        target = edited(rows, tmp_path / "edited", CHANGES[change])
    verify((target / "certificate.json").read_text())
    with pytest.raises(DoesNotVerify):
        cb.verify(target)


def test_no_assumption_of_any_source_is_left_out(source, tmp_path):
    cb.release(town(20_000), policy(("sex", "age"), ids="table"), out=tmp_path / "other", ledger=None, figures=False)
    cb.synthesize([source, tmp_path / "other"], rows=10, out=tmp_path / "rows", figures=False)
    honest = verify_file(tmp_path / "rows")
    assert set(honest.stated) == {Assumption.SAMPLE_NOT_COMPARED, Assumption.IDS_OF_THE_TABLE}
    for one in honest.stated:
        target = edited(tmp_path / "rows", tmp_path / one.name, lambda _, one=one: tuple({*honest.stated} - {one}))
        with pytest.raises(DoesNotVerify, match="take on trust"):
            cb.verify(target)


def test_changed_rows_do_not_verify(rows, tmp_path):
    target = edited(rows, tmp_path / "edited", lambda facts: None)
    pq.write_table(pq.read_table(target / "synthetic.parquet").slice(1), target / "synthetic.parquet")
    with pytest.raises(DoesNotVerify):
        cb.verify(target)


def test_the_command_says_how_far_rows_are_apart(source, tmp_path):
    ran = crowdblend("synthesize", source, "--rows", 50, "--csv", "--out", tmp_path / "out", "--json")
    told = json.loads(ran.stdout)
    assert (told["rows"], told["tables"]) == (50, 3)
    assert 0 < told["farthest"] < 1
    assert (tmp_path / "out" / "synthetic.csv").read_text().count("\n") == 51
    assert crowdblend("verify", tmp_path / "out").returncode == 0


def test_rows_of_a_survey_say_what_it_rests_on_and_what_was_not_used(tmp_path):
    survey = cb.Policy(
        person="person_id", sampling=cb.Survey(2_000, of=20_000, thin=0.8), epsilon=1.0, delta=1e-5, columns=COLUMNS,
        publish=[cb.Table("sex", "age", name="rows"), cb.Table("education", name="open", below_k="threshold")],
    )  # fmt: skip
    cb.release(town(2_000), survey, out=tmp_path / "survey", ledger=None, figures=False)
    ran = crowdblend("synthesize", tmp_path / "survey", "--rows", 50, "--out", tmp_path / "out").stdout
    assert "fitted to 1 table; from rows, the farthest, they differ by " in ran
    assert "not used, since no cells are listed that add up: open" in ran
    readme = (tmp_path / "out" / "README.md").read_text()
    assert readme.count("rest on these people having been drawn at random") == 1
