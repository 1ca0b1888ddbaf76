"""The page: first for somebody who has never heard of ε, then for somebody who wants to check."""

from __future__ import annotations

from crowdblend.calculus import Assumption
from crowdblend.report import words
from crowdblend.report.charts import figures
from crowdblend.report.derivation import tree
from crowdblend.report.folder import Folder
from crowdblend.report.html import Html, element, join, label, shorten, table
from crowdblend.report.look import CSS
from crowdblend.report.recoding import HEADING, chosen_recoding
from crowdblend.report.summary import MOST_COLUMNS, Summary

SECTIONS = {
    "promise": "What is promised",
    "assumptions": "What that takes for granted",
    "reading": "How to read the numbers",
    "recoding": HEADING,
    "data": "What was published",
    "derivation": "For researchers: why the promise holds",
    "verify": "How to check it yourself",
    "details": "Parameters, files and software",
}
NOTHING_LOADED = "default-src 'none'; style-src 'unsafe-inline'"


def page(folder: Folder, summaries: list[Summary], *, counted: bool) -> str:
    """The whole report, as one HTML document that loads nothing."""
    heading = words.title(tuple(dict.fromkeys(name for made in summaries for name in made.columns)), counted)
    body = [
        _opening(folder, summaries, heading, counted),
        _promise(folder),
        _assumptions(folder),
        _reading(folder, summaries, counted),
        _recoding(folder),
        _data(folder, summaries, counted),
        _derivation(folder),
        _verify(),
        _details(folder),
    ]
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=NOTHING_LOADED),
        element("title", shorten(heading, 120)),
        element("style", Html(CSS)),
    ]
    main = element("main", *(join(part, "\n") for part in body))
    return f"<!doctype html>\n{element('html', element('head', *head), element('body', main), lang='en')}\n"


def _section(name: str, *parts: str) -> Html:
    return element("section", element("h2", SECTIONS[name]), *parts, id=name)


def _opening(folder: Folder, summaries: list[Summary], heading: str, counted: bool) -> Html:
    what = "a table: how many people have which combination of labels" if counted else "records of people, one a row"
    shown = [name for name in SECTIONS if name != "recoding" or chosen_recoding(folder)]
    links = [element("li", element("a", SECTIONS[name], href=f"#{name}")) for name in shown]
    lead = (
        f"This release is {what}. It was drawn from data about people under a privacy promise that is proved in its "
        "certificate. This page explains the promise and shows what was published. It is made from the published files "
        "alone, so it tells nothing that they do not."
    )
    checked = "Certificate and data files verified"
    return element(
        "header",
        element("p", "Release report", class_="over"),
        element("h1", shorten(heading, 160)),
        element("p", lead, class_="lead"),
        element("p", element("span", f"✓ {checked}", class_="checked"), " when this page was written."),
        _assumed_rate(folder),
        _keys(folder, summaries, counted),
        element("nav", element("ul", *links), aria_label="Contents"),
    )


def _assumed_rate(folder: Folder) -> Html:
    if not words.rate_is_assumed(folder):
        return Html("")
    return element(
        "div", element("p", element("b", "Read this first. "), Assumption.ASSUMED_RATE.value), class_="box warn"
    )


def _keys(folder: Folder, summaries: list[Summary], counted: bool) -> Html:
    main = summaries[0]
    cells = "published cells" if counted else "different combinations of labels"
    found = [("people in the published data", f"{main.people:,}"), (cells, f"{main.cells:,}")]
    if len(summaries) > 1:
        found = [("tables", f"{len(summaries):,}")]
    k, rate, promise = words.crowd_size(folder), words.sampling_rate(folder), words.personal(folder.certificate)
    if k is not None:
        found.append(("k, the smallest crowd", f"{k:,}"))
    if rate is not None:
        found.append(("share of people sampled", f"{100 * rate:.4g} %"))
    if promise is not None:
        found += [
            ("ε, privacy loss", words.short(promise.epsilon)),
            ("δ, added probability", words.short(promise.delta)),
        ]
    return element(
        "dl", *(element("div", element("dt", name), element("dd", value)) for name, value in found), class_="keys"
    )


def _promise(folder: Folder) -> Html:
    promise = words.personal(folder.certificate)
    plain = [element("p", sentence) for sentence in words.everyday(promise)] if promise else []
    precise = [element("li", _sentence(made.words())) for made in folder.certificate.guarantees]
    return _section(
        "promise",
        element("div", *plain, class_="box") if plain else "",
        element(
            "p",
            "This holds whatever else somebody knows, short of who was sampled, if the assumptions below hold. It does "
            "not hide what is true of whole groups: where most people of a town are alike, the numbers may say so.",
        ),
        element("h3", "The promises, strongest first"),
        element("ol", *precise),
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _assumptions(folder: Folder) -> Html:
    first = Assumption.ASSUMED_RATE.value
    listed = [
        element("li", element("b", sentence) if sentence == first else sentence)
        for sentence in folder.certificate.assumptions()
    ]
    intro = "The promise is a theorem. It is true if all of these are:"
    return _section("assumptions", element("p", intro), element("ul", *listed))


def _reading(folder: Folder, summaries: list[Summary], counted: bool) -> Html:
    lines = words.reading(folder, summaries, counted=counted)
    columns = folder.fact("columns", dict)
    described: list[list[str]] = [[label(str(name)), shorten(str(text), 400)] for name, text in columns.items()]
    recoded = table(["column", "how values became labels"], described, caption="The columns") if described else ""
    return _section("reading", element("ul", *(element("li", line) for line in lines)), recoded)


def _recoding(folder: Folder) -> Html:
    chosen = chosen_recoding(folder)
    return _section("recoding", chosen) if chosen else Html("")


def _data(folder: Folder, summaries: list[Summary], counted: bool) -> Html:
    """A section for every data file; the first one is where the contents point to."""
    sections = []
    for at, summary in enumerate(summaries):
        named = [": table ", label(summary.name)] if len(summaries) > 1 else []
        told = [element("p", f"{summary.people:,} people in {summary.cells:,} cells.")] if named else []
        shown = [figures(summary), _largest(summary, counted)] if summary.cells else [_nothing(folder)]
        heading = element("h2", SECTIONS["data"], *named)
        sections.append(element("section", heading, *told, *shown, id="data" if at == 0 else f"data-{at + 1}"))
    return join(*sections)


def _nothing(folder: Folder) -> Html:
    k = words.crowd_size(folder)
    crowd = f" of {k:,}" if k is not None else ""
    return element(
        "p", f"No cell was published: none reached the crowd size{crowd}. That does not mean that nobody is there."
    )


def _largest(summary: Summary, counted: bool) -> Html:
    names = summary.columns[:MOST_COLUMNS]
    headers: list[str] = [*(label(name, 40) for name in names), "count" if counted else "rows"]
    rows: list[list[str]] = [
        [*(label(text) for text in cell.labels[:MOST_COLUMNS]), f"{cell.count:,}"] for cell in summary.largest
    ]
    if summary.flagged:
        headers.append("exact")
        rows = [[*row, words.shown(cell.exact)] for row, cell in zip(rows, summary.largest, strict=True)]
    left = len(summary.columns) - len(names)
    few = len(summary.largest) == summary.cells
    caption = (
        "All published cells" if few else f"The largest {len(summary.largest)} of {summary.cells:,} published cells"
    )
    caption += f"; {left:,} further columns are not shown" if left else ""
    return join(
        element("h3", "The cells" if few else "The largest cells"),
        table(headers, rows, caption=caption, numbers=frozenset([len(names)])),
    )


def _derivation(folder: Folder) -> Html:
    trees = [tree(promise) for promise in folder.certificate.promises]
    intro = (
        "Each promise follows step by step from what is listed as assumed. Unfold a step to see the theorem, its "
        "source, its parameters and the steps it rests on. All numbers are rounded so that no risk is understated."
    )
    return _section("derivation", element("p", intro), *trees)


def _verify() -> Html:
    compared = "compared the SHA-256 of every data file with the one in the certificate"
    return _section(
        "verify",
        element(
            "p",
            "A page can say anything. Before this one was written, crowdblend derived every number of "
            f"certificate.json again and {compared}. To do the same with the folder in your hands:",
        ),
        element("pre", element("code", "crowdblend verify FOLDER\ncrowdblend report FOLDER --out fresh.html")),
        element(
            "p",
            "The second command writes this page anew from the files; with the same version it comes out the same, "
            "byte for byte. A certificate is not signed: it does not say who wrote it.",
            class_="quiet",
        ),
    )


def _details(folder: Folder) -> Html:
    release = [
        [name, words.shown(folder.facts[name])] for name in ("kind", "below_k", "already_drawn") if name in folder.facts
    ]
    release += [[str(name), words.shown(value)] for name, value in folder.fact("parameters", dict).items()]
    files = [[name, element("code", value)] for name, value in folder.hashes.items()]
    software = [[str(name), words.shown(value)] for name, value in folder.fact("software", dict).items()]
    parts = [
        (["parameter", "value"], release, "Parameters, as the release states them"),
        (["file", "SHA-256"], files, "Files, as certified"),
        (["software", "version"], software, "Software that made the release"),
    ]
    return _section(
        "details",
        *(
            table(
                headers,
                [[shorten(cell, 400) if not isinstance(cell, Html) else cell for cell in row] for row in rows],
                caption=caption,
            )
            for headers, rows, caption in parts
            if rows
        ),
    )
