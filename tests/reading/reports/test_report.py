"""The page says what is published and guaranteed, loads nothing, and refuses what does not verify."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.reading.reports.write import report_html, write_report
from crowdblend.trusted.calculus import Assumption, verify_file
from tests.cases import for_each
from tests.reading.reports.releases import NASTY, NOISY, OPEN, certificate, release, table

VOID = {"meta", "br", "input"}
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "nav", "h1", "h2", "h3", "p", "a"),
    *("ul", "ol", "li", "dl", "div", "dt", "dd", "b", "span", "bdi", "code", "pre", "figure", "figcaption", "details"),
    *("script", "noscript", "label", "input", "strong"),
    *("summary", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("svg", "text", "rect", "line", "circle", "path"),
}


class Page(HTMLParser):
    """Checks nesting and collects tags, attributes, visible text and tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))


def page(folder: Path) -> Page:
    return Page(report_html(folder))


def test_it_says_what_is_published_and_guaranteed(tmp_path):
    folder = release(tmp_path, table())
    text = page(folder).text
    assert "Counts of people by age and sex" in text
    lead = (
        "can guess whether your data were used. They are right at most 73.2 % of the time; a coin toss is right 50 %."
    )
    assert text.index(lead) < text.index("ε, privacy loss") < text.index("times what it would be")
    assert "1,336" in text  # the published people
    assert all(guarantee.words()[1:] in text for guarantee in certificate().guarantees)
    assert all(assumed.sentence() in text for assumed in certificate().assumptions())
    assert all(f"{step.rule.theorem.statement}" in text for step in certificate().derivations)
    assert "at least 35 sampled people" in text
    assert "is not zero" in text
    assert "the first 9 characters" in text
    assert "crowdblend verify FOLDER" in text
    # A signature is made after this page, so that it cannot say that there is none.
    assert "not signed" not in text
    assert "certificate.json.sig" in text
    assert "Certificate and data files verified" in text
    assert "2.72 times" in text
    hashed = verify_file(folder).facts["files"].items()
    row = r"file\s+SHA-256\s.*{}\s+{}"
    assert all(re.search(row.format(re.escape(name), digest), text, re.DOTALL) for name, digest in hashed)
    assert Assumption.ASSUMED_RATE.value not in text


def test_an_assumed_rate_comes_first(tmp_path):
    text = page(release(tmp_path, table(), stated=(Assumption.ASSUMED_RATE,))).text
    assert text.index("Read this first.") < text.index(Assumption.ASSUMED_RATE.value) < text.index("the smallest crowd")


def test_a_sample_that_was_already_drawn_is_said_to_be_assumed(tmp_path):
    assert "Read this first." in page(release(tmp_path, table(), design={"design": "coins", "rate": 0.5})).text


def test_the_largest_cells_come_in_order(tmp_path):
    html = report_html(release(tmp_path, table()))
    rows = re.findall(r"<tr><td><bdi>(.*?)</bdi></td><td><bdi>(.*?)</bdi></td><td class=\"number\">(.*?)</td>", html)
    cells = [
        ("≥ 50", "Female", "1,200"),
        ("[0, 50)", "Female", "60"),
        ("[0, 50)", "Male", "41"),
        ("≥ 50", "Male", "35"),
    ]
    assert rows == cells


def test_nothing_is_loaded(tmp_path):
    html = report_html(release(tmp_path, table()))
    found = Page(html)
    assert found.tags <= ALLOWED
    assert "svg" in found.tags
    assert not re.search(r"https?:|//[a-z]|@import|url\([^#]|javascript:", html)
    assert all(value.startswith("#") for _, name, value in found.attributes if name in ("href", "src", "xlink:href"))
    assert not [name for _, name, _ in found.attributes if name.startswith("on")]
    # One script runs, the page's own: its policy names its hash, and no other source.
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'\"" in html


def test_figures_and_tables_are_described(tmp_path):
    html = report_html(release(tmp_path, table()))
    assert html.count("<svg") == html.count('role="img" aria-label="') == 2 * 2 + 1, "bars have a narrow twin"
    assert html.count("<table class") == html.count("<caption>")
    assert len(re.findall(r"<thead><tr><th scope=\"col\"", html)) == html.count("<table class")


def test_identifiers_are_used_once(tmp_path):
    html = report_html(release(tmp_path, {"data": table(), "more": table()}))
    identifiers = re.findall(r'\bid="([^"]+)"', html)
    assert len(identifiers) == len(set(identifiers)) > 5


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_hostile_labels_stay_text(tmp_path, ending):
    labels = [label for label in NASTY if "\x00" not in label] if ending == "csv" else NASTY
    data = table(**{"<b>a</b>": labels, "b.c[0]": labels[::-1], "sampled": [50] * len(labels)})
    columns = {"<b>a</b>": {"recoding": "values", "labels": ["<i>how</i>"]}, "b.c[0]": OPEN}
    folder = release(tmp_path, data, format=ending, columns=columns, software={"<u>": "<s>"})
    found = page(folder)
    assert found.tags <= ALLOWED - {"i", "u", "s"}
    assert "<script>alert(1)</script>" in found.text
    assert "(10,000 characters)" in found.text
    assert "مرحبا بالعالم" in found.text
    assert not re.search("[\u202a-\u202e\x00]", report_html(folder))
    assert max(len(text) for text in found.texts) < 2_000


def test_the_same_files_give_the_same_bytes(tmp_path):
    first = write_report(release(tmp_path / "one", table())).read_bytes()
    second = write_report(release(tmp_path / "two", table()), tmp_path / "other.html").read_bytes()
    assert first == second
    assert str(tmp_path).encode() not in first


@for_each("ending", ["parquet", "csv"])
@for_each("rows", [0, 1])
def test_few_cells(tmp_path, rows, ending):
    text = page(release(tmp_path, table().slice(0, rows), format=ending)).text
    assert ("No cell was published" in text) == (rows == 0)


def test_a_single_total(tmp_path):
    text = page(release(tmp_path, table(count=[99]))).text
    assert "A count of people" in text
    assert "verified" in text


@pytest.mark.parametrize("missing", ["kind", "design", "mechanism", "epsilon", "delta", "columns", "software"])
def test_facts_that_are_not_stated_are_refused(tmp_path, missing):
    with pytest.raises(DoesNotVerify) as refused:
        report_html(release(tmp_path, table(), **{missing: None}))
    assert refused.value.code == "data-contradict"


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_microdata(tmp_path, ending):
    people = table(sex=["Female"] * 40 + ["Male"] * 36, count=["a"] * 76)
    columns = {"sex": OPEN, "count": OPEN}
    text = page(release(tmp_path, people, kind="microdata", format=ending, columns=columns)).text
    assert "Records of people: sex and count" in text
    assert "Each row is one person" in text
    assert "76" in text


@for_each("ending", ["parquet", "csv"])
@for_each("flagged", [True, False])
def test_noise(tmp_path, flagged, ending):
    columns = {"sex": ["Female", "Male"], "sampled": [-2, 40]} | ({"exact": [False, True]} if flagged else {})
    text = page(release(tmp_path, table(**columns), mechanism={**NOISY, "flag": flagged}, format=ending)).text
    assert "noisy" in text
    assert "-2" in text
    assert ("The data do not say which counts are noisy" in text) != flagged


def test_files_that_are_not_certified_are_not_read(tmp_path):
    folder = release(tmp_path, table())
    (folder / "notes.csv").write_text("secret,count\nx,1\n")
    assert "secret" not in report_html(folder)


@for_each(
    ("columns", "named"),
    [({"a": ["x"]}, "column count"), ({"a": ["x"], "count": [1.5]}, "whole"), ({"a": ["x"], "count": [None]}, "whole")],
)
def test_tables_without_proper_counts_are_refused(tmp_path, columns, named):
    with pytest.raises(InvalidInput, match=named):
        write_report(release(tmp_path, table(**columns)))


def test_a_folder_is_needed_and_data_in_it(tmp_path):
    with pytest.raises(InvalidInput, match="is not a folder"):
        write_report(tmp_path / "missing")
    with pytest.raises(InvalidInput, match="names no data file"):
        write_report(release(tmp_path, {}))


def test_damaged_data_are_refused(tmp_path):
    damaged = b"PAR1 something else"
    folder = release(tmp_path, table(), files={"data.parquet": hashlib.sha256(damaged).hexdigest()})
    (folder / "data.parquet").write_bytes(damaged)
    with pytest.raises(InvalidInput, match=r"data\.parquet is damaged") as refused:
        write_report(folder)
    assert (refused.value.code, refused.value.where) == ("reading.damaged", "data.parquet")


def test_an_existing_page_is_kept_unless_forced(tmp_path):
    folder = release(tmp_path, table())
    (folder / "report.html").write_text("mine")
    with pytest.raises(InvalidInput, match="exists"):
        write_report(folder)
    assert write_report(folder, force=True).read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(InvalidInput, match="does not exist"):
        write_report(folder, tmp_path / "none" / "report.html")
