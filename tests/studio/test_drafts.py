"""Drafts as a whole: copied, renamed, undone, and begun with a file that is dropped on a page."""

import errno
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import crowdblend as cb
from crowdblend.lab.demo import write_population
from crowdblend.studio import security
from tests.studio.conftest import FROM_PAGE, Visitor
from tests.studio.model.kinds_of_choices import CASES
from tests.studio.test_pages import chosen, waited


def upload(visitor: Visitor, name: str, content: bytes, more: str = "", **headers: str) -> httpx.Response:
    """Drop a file on a page."""
    sent = {**FROM_PAGE, "hx-request": "true", **headers}
    return visitor.request("POST", f"/upload?{more}&name={name}", content=content, headers=sent)


def test_a_draft_is_renamed_and_copied(visitor: Visitor) -> None:
    number = visitor.draft()
    visitor.send(f"/drafts/{number}/name", {"name": "  the\n first <b>one</b> "})
    assert "the first &lt;b&gt;one&lt;/b&gt;" in visitor.get("/").text
    copied = visitor.send(f"/drafts/{number}/copy").headers["location"].split("/")[2]
    both = [visitor.studio.drafts.get(one) for one in (number, copied)]
    assert copied != number
    assert both[0].choices == both[1].choices
    assert both[1].title == "the first <b>one</b>, copy"
    visitor.send(f"/drafts/{copied}/data", {"data:population": "others"})
    assert visitor.studio.drafts.get(number).choices == both[0].choices


def test_files_that_are_called_after_columns_become_their_hierarchies(visitor: Visitor, root: Path) -> None:
    """At a level with several groups, where there is one."""
    (root / "hierarchy_sex.csv").write_text("F;*\nM;*\n", encoding="utf-8")
    (root / "age-hierarchy.csv").write_text("1;young\n80;old\n", encoding="utf-8")
    number = visitor.draft()
    visitor.send(f"/drafts/{number}/hierarchies")
    columns = visitor.studio.drafts.get(number).choices.columns
    assert columns["sex"] == {"way": "hierarchy", "hierarchy": "hierarchy_sex.csv", "level": "0"}
    assert columns["age"] == {"way": "hierarchy", "hierarchy": "age-hierarchy.csv", "level": "1"}


def test_a_draft_is_called_after_its_people_and_its_file(visitor: Visitor, root: Path) -> None:
    (root / "data").mkdir()
    (root / "data" / "rows.csv").write_text("id,sex\n1,F\n", encoding="utf-8")
    number = visitor.draft(source="data/rows.csv")
    visitor.send(f"/drafts/{number}/data", {"data:population": "town"})
    assert visitor.studio.drafts.get(number).title == "town · rows.csv"


def test_what_is_too_large_for_a_page_or_incomplete_is_said(visitor: Visitor, root: Path) -> None:
    (root / "sex-hierarchy.csv").write_text("".join(f"{at};*\n" for at in range(2_001)), encoding="utf-8")
    number = visitor.draft()
    assert "takes 2,000 rows" in visitor.get(f"/drafts/{number}/hierarchy/1").text
    sent = {"place": "2", "way": "width", "key:from": "9", "key:to": "1", "key:width": "1"}
    assert "Swap from and to" in visitor.send(f"/drafts/{number}/columns", sent, **{"hx-request": "true"}).text
    assert "An attack must be one of" in visitor.get("/gallery/attacks/none").text


def test_a_draft_without_data_or_persons_asks_for_them(visitor: Visitor, root: Path) -> None:
    (root / "rows.csv").write_text("sex,age\nF,1\n", encoding="utf-8")
    for source, asks in ((None, "Choose the file or table"), ("rows.csv", "Choose the column that tells people apart")):
        assert asks in visitor.get(f"/drafts/{visitor.draft(source=source)}/data").text
    number = visitor.draft(source="rows.csv")
    for answer, asked in (("false", True), ("true", False)):
        visitor.send(f"/drafts/{number}/data", {"data:population": "town", "data:rows_are_people": answer})
        assert (asks in visitor.get(f"/drafts/{number}/data").text) is asked


def test_changes_are_undone_one_after_the_other(visitor: Visitor) -> None:
    number = visitor.draft()
    before = visitor.studio.drafts.get(number).choices
    for name in ("one", "two"):
        visitor.send(f"/drafts/{number}/data", {"data:population": name})
    for wanted in ("one", ""):
        assert "Undo the last change" in visitor.get(f"/drafts/{number}/data").text
        assert visitor.send(f"/drafts/{number}/undo", {"step": "data"}).headers["location"].endswith("/data")
        assert visitor.studio.drafts.get(number).choices.text("data", "population") == wanted
    assert visitor.studio.drafts.get(number).choices == before
    late = visitor.send(f"/drafts/{number}/undo", {"revision": "0"})
    assert "changed in another tab" in late.text
    visitor.send(f"/drafts/{number}/undo")  # the source
    assert "There is nothing to undo" in visitor.send(f"/drafts/{number}/undo").text


@pytest.mark.usefixtures("jobs_at_once")
def test_a_published_draft_is_corrected_and_published_again(visitor: Visitor, town: Path) -> None:
    number = chosen(visitor, CASES["register"][0])
    visitor.send(f"/drafts/{number}/data", {"about:title": "Visits 2025", "about:period": "2025"})
    for out in ("town-table", "town-table-2"):
        page = visitor.get(f"/drafts/{number}/publish").text
        assert f'name="out" value="{out}"' in page
        assert f'name="policy" value="{out}.toml"' in page
        sent = {"confirm": "town", "out": out, "policy": f"{out}.toml"}
        assert visitor.send(f"/drafts/{number}/publish", sent).status_code == 303
        assert waited(visitor, number).state == "done"
        visitor.send(f"/drafts/{number}/release", {"privacy:epsilon": "2"})
    assert (town / "town-table-2" / "certificate.json").is_file()
    following = visitor.send(f"/drafts/{number}/next").headers["location"].split("/")[2]
    draft = visitor.studio.drafts.get(following)
    assert (draft.choices.text("about", "title"), draft.choices.text("about", "period")) == ("Visits 2026", "2026")
    assert (draft.out, draft.policy, dict(draft.jobs)) == ("", "", {})


def test_the_made_up_town_is_called_as_in_the_first_steps(
    visitor: Visitor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same people under another name are refused, whoever goes the first steps in both."""
    monkeypatch.setattr("crowdblend.lab.demo.write_population", lambda path: write_population(path, 600))
    number = visitor.send("/drafts", {"town": "1"}).headers["location"].split("/")[2]
    steps = (Path(__file__).parents[2] / "docs" / "start" / "steward.md").read_text(encoding="utf-8")
    name = visitor.studio.drafts.get(number).choices.text("data", "population")
    assert f'population = "{name}"' in steps
    assert "What would happen" in visitor.get(f"/drafts/{number}/publish").text
    assert f"under the name “{name}”" in visitor.get("/").text


def test_a_dropped_file_begins_a_draft_and_replaces_no_other(visitor: Visitor, root: Path) -> None:
    text = b"person_id,sex\n1,F\n2,M\n"
    first = upload(visitor, "new.csv", text, "kind=microdata").headers["hx-redirect"]
    assert visitor.studio.drafts.get(first.split("/")[2]).choices.kind == "microdata"
    assert visitor.studio.drafts.get(first.split("/")[2]).choices.text("data", "person") == "person_id"
    assert (root / "new.csv").read_bytes() == text
    assert (root / "new.csv").stat().st_mode & 0o077 == 0
    upload(visitor, "new.csv", text)
    assert not (root / "new-2.csv").exists()  # the same file again
    number = upload(visitor, "new.csv", text + b"3,F\n", f"draft={first.split('/')[2]}").headers["hx-redirect"]
    assert number == first
    assert (root / "new.csv").read_bytes() == text
    assert visitor.studio.drafts.get(first.split("/")[2]).choices.text("data", "source") == "new-2.csv"
    assert [path.name for path in root.iterdir() if path.name.endswith(".part")] == []


@pytest.mark.parametrize(
    "name", ["people.xlsx", "", "..%2f", "%2fetc%2fpasswd", "a.exe", "a%00.csv", "%C3%A4" * 99 + ".csv"]
)
def test_other_files_are_refused(visitor: Visitor, root: Path, name: str) -> None:
    before = sorted(root.iterdir())
    answer = upload(visitor, name, b"x")
    assert "is not a kind of file that can be read" in answer.text
    assert "hx-redirect" not in answer.headers
    assert sorted(root.iterdir()) == before


def test_a_dropped_file_that_cannot_be_kept_or_read_leaves_no_draft_and_no_part(
    visitor: Visitor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(visitor.studio.drafts.all())
    assert "hx-redirect" not in upload(visitor, "new.csv", b"id,id\n1,F\n").headers
    assert not (root / "new.csv").exists()
    (root / "mine.csv").write_bytes(b"id,id\n1,F\n")
    assert "hx-redirect" not in upload(visitor, "mine.csv", b"id,id\n1,F\n").headers
    assert (root / "mine.csv").exists()
    monkeypatch.setattr("os.link", _no_links)
    assert "Operation not permitted" in upload(visitor, "other.csv", b"id,sex\n1,F\n").text
    assert [path.name for path in root.iterdir() if path.name.endswith(".part")] == []
    assert len(visitor.studio.drafts.all()) == before


def test_a_file_that_is_not_utf_8_is_read_in_the_encoding_that_is_chosen(visitor: Visitor, root: Path) -> None:
    text = "id,größe\n1,groß\n2,klein\n".encode("latin-1")
    (root / "mine.csv").write_bytes(text)
    number = visitor.draft(source=None)
    for refused in (
        visitor.send(f"/drafts/{number}/source", {"source": "mine.csv"}),
        upload(visitor, "new.csv", text),
    ):
        assert "Pass “Encoding”" in refused.text
    assert not (root / "new.csv").exists()
    for page in ("/", f"/drafts/{number}/data"):  # where the refusals leave the steward
        assert '<option value="latin-1" >Latin 1</option>' in visitor.get(page).text
    visitor.send(f"/drafts/{number}/source", {"source": "mine.csv", "encoding": "latin-1"})
    dropped = upload(visitor, "new.csv", text, "encoding=latin-1").headers["hx-redirect"].split("/")[2]
    for draft in map(visitor.studio.drafts.get, (number, dropped)):
        assert draft.names == ("id", "größe")
        assert draft.choices.text("data", "encoding") == "latin-1"
    visitor.send(f"/drafts/{number}/source", {"source": "people.csv"})
    assert visitor.studio.drafts.get(number).choices.text("data", "encoding") == ""
    policy = cb.Policy(
        source=root / "mine.csv",
        encoding="latin-1",
        person="id",
        columns={"größe": cb.values("groß", "klein")},
        sampling=cb.Everybody(),
        epsilon=1,
        publish=cb.Table(),
    )
    policy.save(root / "mine.toml")
    opened = visitor.send("/drafts", {"policy": "mine.toml"}).headers["location"].split("/")[2]
    assert visitor.studio.drafts.get(opened).names == ("id", "größe")


def _no_links(*_: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def test_a_dropped_file_lands_in_the_root(visitor: Visitor, root: Path) -> None:
    upload(visitor, "..%2f..%5coutside.csv", b"id,sex\n1,F\n")
    assert (root / "outside.csv").is_file()
    assert not (root.parent / "outside.csv").exists()


def test_who_may_drop_files(visit: Callable[..., Visitor], root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "for looking only" in upload(visit(read_only=True), "new.csv", b"id,sex\n1,F\n").text
    assert upload(visit(known=False), "new.csv", b"id,sex\n1,F\n").status_code == 403
    elsewhere = {"sec-fetch-site": "cross-site", "origin": "http://example.org"}
    assert upload(visit(), "new.csv", b"id,sex\n1,F\n", **elsewhere).status_code == 403
    monkeypatch.setattr(security, "LARGEST_UPLOAD", 10)
    assert upload(visit(), "new.csv", b"id,sex\n1,F\n" * 9).status_code == 413
    assert not (root / "new.csv").exists()
