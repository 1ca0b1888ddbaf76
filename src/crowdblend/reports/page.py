"""The page: first for somebody who has never heard of ε, then for somebody who wants to check."""

from __future__ import annotations

from crowdblend.calculus import Assumption
from crowdblend.reports import words
from crowdblend.reports.derivation import tree
from crowdblend.reports.facts import column_words
from crowdblend.reports.folder import Folder
from crowdblend.reports.html import Html, element, join, label, shorten, table
from crowdblend.reports.look import CSS
from crowdblend.reports.view import View

BEFORE = {
    "promise": "What is promised",
    "assumptions": "What that takes for granted",
    "reading": "How to read the numbers",
}
AFTER = {
    "derivation": "For researchers: why the promise holds",
    "verify": "How to check it yourself",
    "details": "Parameters, files and software",
}
NOTHING_LOADED = "default-src 'none'; style-src 'unsafe-inline'"


def page(folder: Folder, view: View) -> str:
    """The whole report, as one HTML document that loads nothing."""
    body = [
        _opening(folder, view),
        _promise(folder),
        _assumptions(folder),
        _reading(folder, view),
        *(_section(part.name, part.heading, part.content) for part in view.parts),
        _derivation(folder),
        _verify(),
        _details(folder),
    ]
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=NOTHING_LOADED),
        element("title", shorten(view.heading, 120)),
        element("style", Html(CSS)),
    ]
    main = element("main", *(join(part, "\n") for part in body))
    return f"<!doctype html>\n{element('html', element('head', *head), element('body', main), lang='en')}\n"


def _section(name: str, heading: str, *parts: str) -> Html:
    return element("section", element("h2", heading), *parts, id=name)


def _opening(folder: Folder, view: View) -> Html:
    named = {**BEFORE, **{part.name: part.heading for part in view.parts if part.listed}, **AFTER}
    links = [element("li", element("a", heading, href=f"#{name}")) for name, heading in named.items()]
    lead = (
        f"This release is {view.what}. It was drawn from data about people under a privacy promise that is proved in "
        "its certificate. This page explains the promise and shows what was published. It is made from the published "
        "files alone, so it tells nothing that they do not."
    )
    checked = "Certificate and data files verified"
    return element(
        "header",
        element("p", "Release report", class_="over"),
        element("h1", shorten(view.heading, 160)),
        element("p", lead, class_="lead"),
        element("p", element("span", f"✓ {checked}", class_="checked"), " when this page was written."),
        _assumed_rate(folder),
        _keys(folder, view),
        element("nav", element("ul", *links), aria_label="Contents"),
    )


def _assumed_rate(folder: Folder) -> Html:
    if not words.rate_is_assumed(folder):
        return Html("")
    return element(
        "div", element("p", element("b", "Read this first. "), Assumption.ASSUMED_RATE.value), class_="box warn"
    )


def _keys(folder: Folder, view: View) -> Html:
    found = list(view.keys)
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
    plain = [element("p", sentence) for sentence in words.explained(folder.certificate)]
    secret = ", short of who was sampled," if _sampled_in_secret(folder) else ""
    precise = [element("li", _sentence(made.words())) for made in folder.certificate.guarantees]
    return _section(
        "promise",
        BEFORE["promise"],
        element("div", *plain, class_="box") if plain else "",
        element(
            "p",
            f"This holds whatever else somebody knows{secret} if the assumptions below hold. It does not hide what is "
            "true of whole groups: where most people of a town are alike, the numbers may say so.",
        ),
        element("h3", "The promises, strongest first"),
        element("ol", *precise),
    )


def _sampled_in_secret(folder: Folder) -> bool:
    return any(made.assumption is Assumption.SECRET_SAMPLE for made in folder.certificate.assumptions())


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _assumptions(folder: Folder) -> Html:
    first = Assumption.ASSUMED_RATE
    listed = [
        element("li", element("b", made.sentence()) if made.assumption is first else made.sentence())
        for made in folder.certificate.assumptions()
    ]
    intro = "The promise is a theorem. It is true if all of these are:"
    return _section("assumptions", BEFORE["assumptions"], element("p", intro), element("ul", *listed))


def _reading(folder: Folder, view: View) -> Html:
    columns = folder.fact("columns", dict)
    described: list[list[str]] = [
        [label(str(name)), shorten(column_words(domain), 400)] for name, domain in columns.items()
    ]
    recoded = table(["column", "how values became labels"], described, caption="The columns") if described else ""
    return _section(
        "reading", BEFORE["reading"], element("ul", *(element("li", line) for line in view.reading)), recoded
    )


def _derivation(folder: Folder) -> Html:
    trees = [tree(made) for made in folder.certificate.derivations]
    intro = (
        "Each promise follows step by step from what is listed as assumed. Unfold a step to see the theorem, its "
        "source, its parameters and the steps it rests on. All numbers are rounded so that no risk is understated."
    )
    return _section("derivation", AFTER["derivation"], element("p", intro), *trees)


def _verify() -> Html:
    compared = "compared the SHA-256 of every data file with the one in the certificate"
    return _section(
        "verify",
        AFTER["verify"],
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
        AFTER["details"],
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
