"""Every page without a browser: what is sent becomes the draft, and the draft the policy that Python would make."""

import io
import re
import time
import zipfile
from pathlib import Path

import pytest

import crowdblend as cb
from crowdblend.studio.jobs import Job
from crowdblend.studio.model.choices import Choices, policy_of
from crowdblend.trusted.guarantees.guessing import percent, right_guess
from tests.studio.conftest import Visitor
from tests.studio.model.kinds_of_choices import CASES

HTMX = {"hx-request": "true"}


def chosen(visitor: Visitor, choices: Choices) -> str:
    """A draft in which somebody chose all this, page by page."""
    number = visitor.draft(choices.publish[0].kind, choices.text("data", "source"))
    path = f"/drafts/{number}"
    for one in choices.publish[1:]:
        assert visitor.send(f"{path}/release", {"add": one.kind}, **HTMX).status_code == 204
    data = {f"data:{key}": text for key, text in choices.sections["data"].items() if key != "source"}
    visitor.send(f"{path}/data", {"design": choices.design, **data})
    names = visitor.studio.drafts.get(number).names
    for name in choices.used_columns:
        texts = {f"key:{key}": text for key, text in choices.columns[name].items() if key != "way"}
        sent = {"place": str(names.index(name)), "way": choices.columns[name]["way"], **texts}
        assert visitor.send(f"{path}/columns", sent, **HTMX).status_code == 200
    release = {"split": choices.split}
    for section, texts in choices.sections.items():
        release |= {f"{section}:{key}": text for key, text in texts.items() if section != "data"}
    for place, one in enumerate(choices.publish):
        release |= {f"publish/{place}/{key}": text for key, text in one.texts.items()}
        for section, items in one.lists.items():
            for at, item in enumerate(items):
                release |= {f"publish/{place}/{section}/{at}/{key}": text for key, text in item.items()}
    visitor.send(f"{path}/release", release, **HTMX)
    return number


@pytest.mark.parametrize("case", CASES)
def test_what_is_sent_makes_the_policy_of_python(visitor: Visitor, town: Path, case: str) -> None:
    choices, in_python = CASES[case]
    number = chosen(visitor, choices)
    made = policy_of(visitor.studio.drafts.get(number).choices, town)
    assert made == in_python(town)
    for step in ("data", "columns", "release", "rehearse", "publish"):
        answer = visitor.get(f"/drafts/{number}/{step}")
        assert answer.status_code == 200, (step, answer.text)
        assert "That was refused" not in answer.text
        if step == "release":
            fields = visitor.studio.drafts.get(number).choices.declared_keys(0)
            assert {f"publish/0/{key}" for key in fields} <= set(re.findall(r'name="([^"]+)"', answer.text))
    assert "What would happen" in answer.text
    assert visitor.get(f"/drafts/{number}/totals").status_code == 200


@pytest.mark.usefixtures("jobs_at_once")
def test_the_written_policy_is_the_chosen_one_and_publishes(visitor: Visitor, town: Path) -> None:
    number = chosen(visitor, CASES["register"][0])
    sent = {"confirm": "town", "out": "published", "policy": "policies/our town.toml"}
    for wrong in ("village", "", "tow", "town ", "town\n", "Town"):
        assert visitor.send(f"/drafts/{number}/publish", {**sent, "confirm": wrong}).status_code == 409
    without = {name: text for name, text in sent.items() if name != "confirm"}
    assert visitor.send(f"/drafts/{number}/publish", without).status_code == 409
    assert not (town / "policies").exists()
    assert visitor.send(f"/drafts/{number}/publish", sent).status_code == 303
    assert waited(visitor, number).state == "done"
    ended = visitor.get(f"/jobs/{visitor.studio.drafts.get(number).jobs['publish']}", headers=HTMX)
    assert ended.headers["hx-trigger"] == "job-ended"
    assert "hx-get" not in ended.text  # it would break off the reload that it asks for
    assert cb.load_policy(town / "policies" / "our town.toml") == CASES["register"][1](town)
    assert cb.verify(town / "published").facts["kind"] == "table"
    page = visitor.get(f"/drafts/{number}/result").text
    command = "crowdblend release &#39;policies/our town.toml&#39; --out published-2 --ledger "
    assert command + str(visitor.studio.ledger) in page
    assert "cb.load_policy(" in page
    assert "out=&#39;published-2&#39;" in page
    assert not (town / "published-2").exists()  # a folder that exists is refused
    published = sorted(path.name for path in (town / "published").iterdir())
    (town / "published" / "of-the-steward.txt").write_text("not published", encoding="utf-8")
    zipped = zipfile.ZipFile(io.BytesIO(visitor.get("/releases/zip?folder=published").content))
    assert zipped.namelist() == [f"published/{name}" for name in published]
    assert zipped.testzip() is None
    assert visitor.get("/releases/csv?folder=published&table=data").text.startswith("\ufeff")
    assert visitor.get("/releases/csv?folder=published&table=of-the-steward").status_code == 404
    report = visitor.get("/releases/report?folder=published")
    assert report.headers["content-security-policy"].startswith("sandbox;")
    shown = visitor.get("/ledger").text
    assert "town" in shown
    assert "finished" in shown
    assert "Limit:" not in shown
    assert "stated" not in shown
    cb.Ledger(visitor.studio.ledger).record("town", tool="OpenDP", why="a count", relation="add-remove", epsilon=0.5)
    with_statement = visitor.get("/ledger").text
    assert "1 of them made by other tools: stated by people, not derived." in with_statement
    assert "<bdi>OpenDP</bdi>, not derived" in with_statement
    assert "2 (stated)" in with_statement
    cb.Ledger(visitor.studio.ledger).limit("town", epsilon=3.0, delta=1e-5, until=2030)
    assert "Limit: epsilon 3 at delta 1e-05 until 2030" in visitor.get("/ledger").text
    visitor.send(f"/drafts/{number}/data", {"data:population": ""})
    unnamed = {**sent, "confirm": "", "out": "unnamed", "policy": "unnamed.toml"}
    assert "Name the people" in visitor.send(f"/drafts/{number}/publish", unnamed).text
    assert not (town / "unnamed.toml").exists()


def test_a_register_is_told_of_no_sample(visitor: Visitor, town: Path) -> None:
    for case, drawn in (("table", True), ("register", False)):
        number = chosen(visitor, CASES[case][0])
        for step in ("release", "publish"):
            page = visitor.get(f"/drafts/{number}/{step}").text
            words = re.sub("<[^>]*>|would sample|no sample is drawn|fresh sample", " ", page)
            assert ("sample" in words) == drawn, (case, step)


def waited(visitor: Visitor, number: str, step: str = "publish") -> Job:
    """The job of a step, when it has ended."""
    job = visitor.studio.drafts.get(number).jobs[step]
    for _ in range(4_800):
        found = visitor.studio.jobs.get(job)
        if not found.running:
            return found
        time.sleep(0.05)
    raise AssertionError("the job does not end")


def test_how_a_budget_is_divided_is_chosen_among_the_ways_there_are(visitor: Visitor, town: Path) -> None:
    number = chosen(visitor, CASES["programme"][0])
    for sent, kept in (("fresh", "fresh"), ("none", "fresh"), ("", "")):
        visitor.send(f"/drafts/{number}/release", {"split": sent}, **HTMX)
        assert visitor.studio.drafts.get(number).choices.split == kept


def test_mistakes_of_every_step_are_refused_where_they_were_made(visitor: Visitor) -> None:
    number = visitor.draft()
    path = f"/drafts/{number}"
    visitor.send(f"{path}/data", {"data:person": "id", "data:population": "errors"})
    assert "No plan yet" in visitor.get(f"{path}/release").text
    assert "Declare the domain of at least one column" in visitor.get(f"{path}/columns").text
    column = {"place": "2", "way": "width"}
    assert "Still needed: From, To, Width" in visitor.send(f"{path}/columns", column, **HTMX).text
    column |= {"key:from": "0", "key:width": "30"}
    answer = visitor.send(f"{path}/columns", {**column, "key:to": "ten"}, **HTMX).text
    assert "badge incomplete" in answer
    assert "refused" in answer
    assert "badge ready" in visitor.send(f"{path}/columns", {**column, "key:to": "90"}, **HTMX).text
    answer = visitor.send(f"{path}/release", {"privacy:epsilon": "-1"}, **HTMX).text
    assert "No plan yet" in answer
    assert f'{path}/release#at=privacy%3Aepsilon"' in answer
    visitor.send(f"{path}/release", {"privacy:epsilon": "1"}, **HTMX)
    assert "takes a whole number" in visitor.send(f"{path}/rehearse", {"people": "many", "spread": "even"}).text
    assert visitor.get(f"{path}/result").headers["location"] == f"{path}/publish"


def test_another_policy_is_not_overwritten(visitor: Visitor, town: Path) -> None:
    number = chosen(visitor, CASES["register"][0])
    (town / "mine.toml").write_text("[release]\n", encoding="utf-8")
    sent = {"confirm": "town", "out": "published", "policy": "mine.toml"}
    assert "is another policy" in visitor.send(f"/drafts/{number}/publish", sent).text
    assert (town / "mine.toml").read_text(encoding="utf-8") == "[release]\n"


@pytest.mark.usefixtures("jobs_at_once")
def test_a_policy_is_saved_and_corrected_after_a_refusal(visitor: Visitor, town: Path) -> None:
    number = chosen(visitor, CASES["register"][0])
    (town / "taken").mkdir()
    sent = {"confirm": "town", "out": "taken", "policy": "p.toml"}
    assert visitor.send(f"/drafts/{number}/publish", {**sent, "confirm": "", "save": "1"}).status_code == 303
    assert cb.load_policy(town / "p.toml") == CASES["register"][1](town)
    assert "publish" not in visitor.studio.drafts.get(number).jobs  # nothing was published
    visitor.send(f"/drafts/{number}/publish", sent)
    assert waited(visitor, number).state == "refused"
    assert 'class="box refused"' in visitor.get(f"/drafts/{number}/publish").text
    visitor.send(f"/drafts/{number}/release", {"privacy:epsilon": "2"})
    assert visitor.send(f"/drafts/{number}/publish", {**sent, "out": "published"}).status_code == 303
    assert waited(visitor, number).state == "done"
    assert cb.load_policy(town / "p.toml").epsilon == 2
    visitor.send(f"/drafts/{number}/release", {"privacy:epsilon": "3"})
    assert "is another policy" in visitor.send(f"/drafts/{number}/publish", {**sent, "out": "again"}).text
    assert cb.load_policy(town / "p.toml").epsilon == 2  # what was published stays


@pytest.mark.parametrize(
    ("case", "column", "key", "text"), [("statistics", "income", "to", "200000"), ("points", "east", "width", "4")]
)
def test_what_was_saved_is_corrected_by_what_only_the_domain_says(
    visitor: Visitor, town: Path, case: str, column: str, key: str, text: str
) -> None:
    number = chosen(visitor, CASES[case][0])
    sent = {"confirm": "", "out": "published", "policy": "p.toml", "save": "1"}
    visitor.send(f"/drafts/{number}/publish", sent)
    draft = visitor.studio.drafts.get(number)
    said = {**draft.choices.columns[column], key: text}
    chosen_way = {"place": str(draft.names.index(column)), "way": said.pop("way")}
    texts = {f"key:{name}": typed for name, typed in said.items()}
    visitor.send(f"/drafts/{number}/columns", {**chosen_way, **texts}, **HTMX)
    assert visitor.send(f"/drafts/{number}/publish", sent).status_code == 303
    assert cb.load_policy(town / "p.toml") == policy_of(visitor.studio.drafts.get(number).choices, town)
    assert f"{key} = {text}" in (town / "p.toml").read_text(encoding="utf-8")


def test_a_job_is_cancelled_and_leaves_nothing(visitor: Visitor, town: Path) -> None:
    number = chosen(visitor, CASES["table"][0])
    visitor.send(f"/drafts/{number}/rehearse", {"people": "1000000", "spread": "even"})
    job = visitor.studio.drafts.get(number).jobs["rehearse"]
    assert "Working" in visitor.get(f"/jobs/{job}").text
    visitor.send(f"/jobs/{job}/cancel", {"back": f"/drafts/{number}/rehearse"})
    assert waited(visitor, number, "rehearse").state == "cancelled"
    assert [path.name for path in visitor.studio.jobs.path(job).iterdir() if path.is_dir()] == []


@pytest.mark.usefixtures("jobs_at_once")
def test_a_file_is_rehearsed_with_only_if_it_is_public(visitor: Visitor, town: Path) -> None:
    number = chosen(visitor, CASES["table"][0])
    sent = {"spread": "even", "data": "town.parquet"}
    assert "Confirm that the file is public" in visitor.send(f"/drafts/{number}/rehearse", sent).text
    visitor.send(f"/drafts/{number}/rehearse", {**sent, "public": "true"})
    assert waited(visitor, number, "rehearse").state == "done"
    job = visitor.studio.drafts.get(number).jobs["rehearse"]
    assert "Rehearsal on a public file" in visitor.get(f"/jobs/{job}/report").text


def test_only_names_and_types_are_shown_before_the_release(visitor: Visitor, root: Path) -> None:
    (root / "secret.csv").write_text("id,sex,village\n1,Xyzzy,Plugh\n2,Xyzzy,Plover\n", encoding="utf-8")
    number = visitor.draft(source="secret.csv")
    for step in ("data", "columns", "release", "rehearse", "publish"):
        text = visitor.get(f"/drafts/{number}/{step}").text
        assert "village" in text or step not in ("data", "columns")
        assert not any(value in text for value in ("Xyzzy", "Plugh", "Plover"))


def test_a_code_book_fills_in_listed_values(visitor: Visitor, root: Path) -> None:
    (root / "book.csv").write_text("column;value\nsex;F\nsex;M\nother;x\nid;1\n", encoding="utf-8")
    number = visitor.draft()
    visitor.send(f"/drafts/{number}/data", {"data:person": "id", "data:population": "town"})
    visitor.send(f"/drafts/{number}/code-book", {"book": "book.csv"})
    columns = visitor.studio.drafts.get(number).choices.columns
    assert columns["sex"] == {"way": "values", "values": "F\nM"}
    assert not columns["id"]
    (root / "broken.csv").write_text("column\nsex\n", encoding="utf-8")
    assert "The code book" in visitor.send(f"/drafts/{number}/code-book", {"book": "broken.csv"}).text


def test_rows_are_checked_on_a_page_that_nothing_keeps(visitor: Visitor, root: Path, tmp_path: Path) -> None:
    (root / "people.csv").write_text("id,sex,age\n" + "".join(f"p{n},{'FMQ'[n % 3]},{n % 12}\n" for n in range(90)))
    number = visitor.draft()
    visitor.send(f"/drafts/{number}/data", {"design": "poisson", "data:person": "id", "data:population": "town"})
    sent = {"place": "2", "way": "width", "key:from": "0", "key:to": "11", "key:width": "1"}
    visitor.send(f"/drafts/{number}/columns", sent, **HTMX)
    sent = {"place": "1", "way": "values", "key:values": "F\nM"}
    visitor.send(f"/drafts/{number}/columns", sent, **HTMX)
    page = visitor.send(f"/drafts/{number}/check")
    assert page.headers["cache-control"] == "no-store"
    assert "would be refused" in page.text
    assert "&#39;Q&#39;                      30 rows" in page.text
    assert "include_to = true" not in page.text  # fields, not keys
    kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert kept
    assert not any("30 rows" in path.read_text(errors="ignore") for path in kept)


def test_rows_are_checked_before_it_is_said_what_is_published(visitor: Visitor) -> None:
    number = visitor.draft("statistics")
    visitor.send(f"/drafts/{number}/data", {"data:person": "id", "data:population": "town"})
    visitor.send(f"/drafts/{number}/columns", {"place": "1", "way": "values", "key:values": "F\nM"}, **HTMX)
    assert "Every row fits" in visitor.send(f"/drafts/{number}/check").text
    page = visitor.send(f"/drafts/{number}/release", {"sampling:of": "400", "sampling:people": "100"}, **HTMX).text
    assert "The policy has 0 statistics; there can be 1 to 150.</p>" in page
    assert "Add one, or publish in two releases.</p>" in page


@pytest.mark.usefixtures("jobs_at_once")
def test_labels_and_bounds_are_proposed_once_the_cost_is_confirmed(visitor: Visitor, root: Path) -> None:
    number = visitor.draft()
    visitor.send(f"/drafts/{number}/data", {"design": "poisson", "data:person": "id", "data:population": "town"})
    sent = {"column:1": "yes", "column:2": "yes", "epsilon": "2", "delta": "1e-4"}
    assert visitor.send(f"/drafts/{number}/propose", sent).status_code == 409
    assert "propose" not in visitor.studio.drafts.get(number).jobs
    assert visitor.send(f"/drafts/{number}/propose", {**sent, "confirm": "yes"}).status_code == 303
    assert waited(visitor, number, "propose").state == "done"
    assert "2 labels that many people share" in visitor.get(f"/drafts/{number}/columns").text
    assert visitor.send(f"/drafts/{number}/proposed", {"use": "yes"}).status_code == 303
    choices = visitor.studio.drafts.get(number).choices
    assert sorted(choices.columns["sex"]["values"].split()) == ["F", "M"]
    assert choices.sections["privacy"]["proposed"] == "people-proposal"
    visitor.send(f"/drafts/{number}/release", {"privacy:epsilon": "4", "privacy:delta": "1e-3"}, **HTMX)
    policy = visitor.studio.policy(visitor.studio.drafts.get(number).choices)
    assert policy.proposed == (str(root / "people-proposal"),)
    (spent,) = cb.Ledger(visitor.studio.ledger).entries()
    assert (spent.spending.kind, spent.spending.population) == ("proposal", "town")


def test_a_hierarchy_is_edited_as_a_table(visitor: Visitor, root: Path) -> None:
    number = visitor.draft()
    path = f"/drafts/{number}/hierarchy/1"
    assert "level 1" in visitor.get(path).text
    cells = {"cell/0/0": "F", "cell/0/1": "all", "cell/1/0": "M", "cell/1/1": "all"}
    assert "level 2" in visitor.send(path, {**cells, "add": "level"}, **HTMX).text
    assert visitor.send(path, {**cells, "cell/2/0": "X", "cell/2/1": ""}).status_code == 409
    assert visitor.send(path, {**cells, "path": "../outside.csv"}).status_code == 409
    assert visitor.send(path, cells).status_code == 303
    assert (root / "sex-hierarchy.csv").read_text(encoding="utf-8") == "F;all\nM;all\n"
    assert visitor.studio.drafts.get(number).choices.columns["sex"]["hierarchy"] == "sex-hierarchy.csv"
    again = {**cells, "cell/2/0": "X", "cell/2/1": "all"}
    assert visitor.send(f"/drafts/{visitor.draft()}/hierarchy/1", again).status_code == 303
    assert visitor.send(path, cells).status_code == 303
    (root / "sex-hierarchy.csv").write_text("F;all\nM;all\nX;other\n", encoding="utf-8")
    assert "the studio did not write it" in visitor.send(path, again).text


@pytest.mark.parametrize(
    ("rule", "sent", "first", "groups"),
    [
        ("intervals", {"from": "0", "to": "20", "widths": "5, 10"}, ["0", "0–4", "0–9", "*"], "20 values, 4 groups"),
        ("prefixes", {"values": "10115\n10999", "keep": "3 1"}, ["10115", "101**", "1****", "*"], "2 values, 2 groups"),
        ("order", {"values": "low\nmiddle\nhigh", "sizes": "2"}, ["low", "low – middle", "*"], "3 values, 2 groups"),
    ],
)
def test_a_hierarchy_is_made_by_a_rule(
    visitor: Visitor, root: Path, rule: str, sent: dict[str, str], first: list[str], groups: str
) -> None:
    path = f"/drafts/{visitor.draft()}/hierarchy/1"
    made = visitor.send(path, {"add": rule, **sent}, **HTMX).text
    assert all(f'name="cell/0/{level}" value="{text}"' in made for level, text in enumerate(first))
    assert f"The levels nest: {groups}" in made
    cells = dict(re.findall(r'name="(cell/[0-9]+/[0-9]+)" value="([^"]*)"', made))
    assert f"The levels nest: {groups}" in visitor.send(path, {**cells, "add": "check"}, **HTMX).text
    assert visitor.send(path, cells).status_code == 303
    assert (root / "sex-hierarchy.csv").read_text(encoding="utf-8").startswith(";".join(first) + "\n")
    assert "takes whole numbers" in visitor.send(path, {"add": "intervals", "from": "x", "to": "1"}, **HTMX).text
    torn = {"cell/0/0": "a", "cell/0/1": "x", "cell/0/2": "p", "cell/1/0": "b", "cell/1/1": "x", "cell/1/2": "q"}
    assert "splits a group" in visitor.send(path, {**torn, "add": "check"}, **HTMX).text


def test_a_policy_is_opened_and_stays_the_same(visitor: Visitor, town: Path) -> None:
    policy = CASES["microdata"][1](town)
    policy.save(town / "mine.toml")
    number = visitor.send("/drafts", {"policy": "mine.toml"}).headers["location"].split("/")[2]
    draft = visitor.studio.drafts.get(number)
    assert policy_of(draft.choices, town) == policy
    assert "education" in draft.names


@pytest.mark.usefixtures("jobs_at_once")
def test_a_programme_is_opened_changed_and_published(visitor: Visitor, town: Path) -> None:
    tables = [cb.Table("sex", name="by_sex"), cb.Table("age", name="by_age")]
    CASES["register"][1](town).replace(publish=tables).save(town / "programme.toml")
    number = visitor.send("/drafts", {"policy": "programme.toml"}).headers["location"].split("/")[2]
    path = f"/drafts/{number}/release"
    page = visitor.get(path).text
    assert "2 publications share the privacy loss" in page
    assert "a small cell that is mostly shown, and a large one, with the 95 % error" in page
    assert re.search(r"<td class=\"number\">[\d,]+ ± \d+, [\d,]+ ± \d+</td>", page)
    answer = visitor.send(path, {"publish/1/name": "ages", "publish/1/weight": "3"}, **HTMX).text
    assert '<bdi id="name-1" hx-swap-oob="true">ages</bdi>' in answer
    gives = visitor.get(f"/drafts/{number}/splits").text
    assert "It would publish a cell of 100 in some publication as 100 ± " in gives
    assert "is for samples" in gives  # why there is none
    visitor.send(path, {"add": "graph"}, **HTMX)  # what no page offers changes nothing
    assert len(visitor.studio.drafts.get(number).choices.publish) == 2
    assert visitor.send(path, {"add": "table"}, **HTMX).headers["hx-redirect"] == path
    assert visitor.send(path, {"remove": "2"}, **HTMX).headers["hx-redirect"] == path
    visitor.send(f"/drafts/{number}/publish", {"confirm": "town", "out": "published", "policy": "changed.toml"})
    assert waited(visitor, number).state == "done"
    assert sorted(cb.read(town / "published").publications) == ["ages", "by_sex"]
    assert cb.load_policy(town / "changed.toml").publish[1].weight == 3
    assert "Published" in visitor.get(f"/drafts/{number}/result").text
    assert "programme: several publications" in visitor.get("/releases").text


def test_a_table_of_a_database_is_chosen(visitor: Visitor, root: Path) -> None:
    import duckdb

    with duckdb.connect(str(root / "people.duckdb")) as made:
        made.execute("CREATE TABLE one (id INTEGER, born DATE); CREATE TABLE two (id INTEGER, sex VARCHAR)")
    number = visitor.draft(source="people.duckdb")
    visitor.send(f"/drafts/{number}/source", {"source": "people.duckdb", "table": "two"})
    draft = visitor.studio.drafts.get(number)
    assert draft.columns == (("id", "whole"), ("sex", "text"))
    assert draft.choices.text("data", "table") == "two"
    assert "<bdi>one</bdi>" in visitor.get(f"/drafts/{number}/data").text


def test_a_draft_is_forgotten(visitor: Visitor) -> None:
    number = visitor.draft()
    visitor.send(f"/drafts/{number}/delete")
    assert visitor.get(f"/drafts/{number}/data").status_code == 404


def test_a_changed_release_does_not_look_sound(visitor: Visitor, town: Path) -> None:
    cb.release(None, CASES["register"][1](town), out=town / "published", ledger=None)
    data = town / "published" / "certificate.json"
    data.write_text(data.read_text(encoding="utf-8").replace('"epsilon": 1', '"epsilon": 0.5', 1), encoding="utf-8")
    page = visitor.get("/releases/folder?folder=published").text
    assert 'class="box refused"' in page
    assert "Verify it" not in page


@pytest.mark.usefixtures("jobs_at_once")
@pytest.mark.filterwarnings("ignore:No ledger", "ignore:Some of these people", "ignore:epsilon 6")
def test_each_notice_of_a_release_stands_by_itself(visitor: Visitor, root: Path) -> None:
    policy = cb.Policy(
        source=root / "east.csv",
        person="id",
        population="east",
        columns={"sex": cb.values("F", "M")},
        sampling=cb.Poisson(0.5),
        epsilon=6,
        delta=1e-6,
        publish=cb.Table(),
    )
    for name, first in (("east", 0), ("west", 600), ("middle", 300)):
        rows = "".join(f"p{number},{'FM'[number % 2]}\n" for number in range(first, first + 600))
        (root / f"{name}.csv").write_text("id,sex\n" + rows, encoding="utf-8")
        about = policy.replace(source=root / f"{name}.csv", population=name)
        if name != "middle":
            cb.release(None, about, out=root / name, ledger=cb.Ledger(visitor.studio.ledger))
    about.save(root / "middle.toml")
    number = visitor.send("/drafts", {"policy": "middle.toml"}).headers["location"].split("/")[2]
    visitor.send(f"/drafts/{number}/publish", {"confirm": "middle", "out": "published", "policy": "middle.toml"})
    people, high = waited(visitor, number).notes
    assert "also in the populations 'east' and 'west'" in people
    assert "is above 5" in high
    for step in ("publish", "result"):
        text = visitor.get(f"/drafts/{number}/{step}").text
        assert text.count('<p class="box warn">Some of these people') == 1
        assert text.count('<p class="box warn">Epsilon 6 of this release is above 5') == 1


@pytest.mark.filterwarnings("ignore:No ledger")
def test_the_ledger_leads_with_the_tighter_total(visitor: Visitor, town: Path) -> None:
    ledger = cb.Ledger(visitor.studio.ledger)
    for number in range(2):
        cb.release(None, CASES["table"][1](town), out=town / f"published-{number}", ledger=ledger)
    tighter, added = ledger.total("town").differential, ledger.budget("town").differential
    assert tighter is not None
    assert added is not None
    page = visitor.get("/ledger").text
    assert f"most {percent(right_guess(tighter))} of the time; a coin toss is right 50 %. Where a release" in page
    assert f"most {percent(right_guess(added))} of the time.</p>" in page
    assert "composed by profiles do not depend on" in page  # what the tighter total assumes


def test_many_columns_and_rows_stay_fluid(visitor: Visitor, root: Path) -> None:
    names = [f"column_{number}" for number in range(20)]
    line = ",".join(["7"] * 20) + "\n"
    (root / "large.csv").write_text(",".join(["id", *names]) + "\n" + "".join(f"{at},{line}" for at in range(100_000)))
    started = time.process_time()
    number = visitor.draft(source="large.csv")
    visitor.send(f"/drafts/{number}/data", {"data:person": "id", "data:population": "town"})
    assert visitor.get(f"/drafts/{number}/columns").status_code == 200
    # The header is read, and no more of the file than its first lines.
    assert time.process_time() - started < 1.5


def test_a_page_that_is_older_than_the_draft_changes_nothing(visitor: Visitor) -> None:
    number = visitor.draft()
    before = visitor.studio.drafts.get(number).revision
    visitor.send(f"/drafts/{number}/data", {"revision": str(before), "data:population": "one"})
    late = visitor.send(f"/drafts/{number}/data", {"revision": str(before), "data:population": "two"}, **HTMX)
    assert "changed in another tab" in late.text
    assert late.headers["hx-reswap"] == "none"
    assert visitor.studio.drafts.get(number).choices.text("data", "population") == "one"


def test_the_server_itself_reads_no_folder_of_a_release(
    visitor: Visitor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that unpacks to gigabytes ends a process of its own, and not the studio."""
    (root / "published").mkdir()
    (root / "published" / "certificate.json").write_text("{}", encoding="utf-8")

    def read(_: object) -> None:
        raise AssertionError("the server reads a folder")

    for place in ("opened_release.read", "opened_release.spreadsheet.write"):
        monkeypatch.setattr(f"crowdblend.studio.{place}", read)
    monkeypatch.setattr("crowdblend.reading.reports.write.read", read)
    for page in ("folder?folder=published", "report?folder=published", "zip?folder=published", "csv?folder=published"):
        shown = visitor.get(f"/releases/{page}").text
        assert "the server reads a folder" not in shown
        assert "Internal error" not in shown
