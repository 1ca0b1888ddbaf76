"""The page: first for somebody who has never heard of ε, then for somebody who wants to check."""

from __future__ import annotations

from crowdblend.calculus import Assumption
from crowdblend.guarantees import Guarantee
from crowdblend.guarantees.guessing import lead
from crowdblend.reports import sentences
from crowdblend.reports.derivation import tree
from crowdblend.reports.facts import describe_column
from crowdblend.reports.folder import Folder, crowd_size, parts_of_sample, rate_is_assumed, sampling_rate
from crowdblend.reports.html import Html, element, join, label, shorten, table
from crowdblend.reports.look import CSS
from crowdblend.reports.numbers import fact, round_up
from crowdblend.reports.view import View

BEFORE = {
    "guarantee": "What is guaranteed",
    "assumptions": "What the guarantee assumes",
    "reading": "How to read the numbers",
}
AFTER = {
    "derivation": "For researchers: why the guarantee holds",
    "verify": "How to check it yourself",
    "details": "Parameters, files and software",
}
NOTHING_LOADED = "default-src 'none'; style-src 'unsafe-inline'"


def page(folder: Folder, view: View) -> str:
    """The whole report, as one HTML document that loads nothing."""
    body = [
        _opening(folder, view),
        _guarantee(folder),
        _assumptions(folder),
        _reading(folder, view),
        *(_section(part.name, part.heading, part.content) for part in view.parts),
        _derivation(folder),
        _verify(folder),
        _details(folder),
    ]
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=NOTHING_LOADED),
        element("title", shorten(_title(folder, view), 120)),
        element("style", Html(CSS)),
    ]
    main = element("main", *(join(part, "\n") for part in body))
    return f"<!doctype html>\n{element('html', element('head', *head), element('body', main), lang='en')}\n"


def _section(name: str, heading: str, *parts: str) -> Html:
    return element("section", element("h2", heading), *parts, id=name)


def _opening(folder: Folder, view: View) -> Html:
    sections = {**BEFORE, **{part.name: part.heading for part in view.parts if part.listed}, **AFTER}
    links = [element("li", element("a", heading, href=f"#{name}")) for name, heading in sections.items()]
    opening = lead(folder.certificate.guarantees)
    about = (
        f"This release is {view.what}. The page explains what is guaranteed and shows what was published. It is made "
        "from the published files alone and adds nothing to them."
    )
    return element(
        "header",
        element("p", "Release report", class_="over"),
        element("h1", shorten(_title(folder, view), 160)),
        _about(folder, view),
        element("p", opening, class_="lead") if opening else "",
        element("p", about),
        element(
            "p",
            element("span", "✓ Certificate and data files verified", class_="checked"),
            " when this page was written.",
        ),
        _assumed_rate(folder),
        _keys(folder, view),
        element("nav", element("ul", *links), aria_label="Contents"),
    )


def _title(folder: Folder, view: View) -> str:
    """The title that the publisher gave, or what is published."""
    return str(folder.fact("about", dict).get("title") or view.heading)


def _about(folder: Folder, view: View) -> Html:
    """Who publishes what about when, as far as it is stated."""
    about = folder.fact("about", dict)
    said = [view.heading] if about.get("title") else []
    said += [str(about[name]) for name in ("publisher", "period", "licence", "contact") if about.get(name)]
    said += [folder.fact("date", str)] if folder.fact("date", str) else []
    return element("p", " · ".join(shorten(text, 200) for text in said), class_="quiet") if said else Html("")


def _assumed_rate(folder: Folder) -> Html:
    if not rate_is_assumed(folder):
        return Html("")
    return element(
        "div", element("p", element("b", "Read this first. "), Assumption.ASSUMED_RATE.value), class_="box warn"
    )


def _keys(folder: Folder, view: View) -> Html:
    keys = list(view.keys)
    k, rate, guarantee = crowd_size(folder), sampling_rate(folder), folder.certificate.differential()
    of_parts = [k for _, k in parts_of_sample(folder).values()]
    if len(set(of_parts)) > 1:
        keys.append(("k, the smallest crowd, by table", f"{min(of_parts):,} – {max(of_parts):,}"))
    elif k is not None:
        keys.append(("k, the smallest crowd", f"{k:,}"))
    if rate is not None:
        keys.append(("share of people sampled", f"{100 * rate:.4g} %"))
    if guarantee is not None:
        keys += [
            ("ε, privacy loss", round_up(guarantee.epsilon)),
            ("δ, added probability", round_up(guarantee.delta)),
        ]
    return element(
        "dl", *(element("div", element("dt", name), element("dd", value)) for name, value in keys), class_="keys"
    )


def _guarantee(folder: Folder) -> Html:
    certificate = folder.certificate
    plain = [element("p", line) for line in sentences.explanation(certificate)]
    secret = ", except who was sampled," if _sample_is_secret(folder) else ""
    return _section(
        "guarantee",
        BEFORE["guarantee"],
        element("div", *plain, class_="box") if plain else "",
        element(
            "p",
            f"This holds whatever else somebody knows{secret} if the assumptions below hold. It does not hide what is "
            "true of many people: where most people of a town are alike, the numbers may show it.",
        ),
        element("h3", "In the terms of the literature, strongest first"),
        element("ol", *(element("li", _sentence(guarantee)) for guarantee in certificate.guarantees)),
    )


def _sample_is_secret(folder: Folder) -> bool:
    assumptions = (assumed.assumption for assumed in folder.certificate.assumptions())
    return Assumption.SECRET_SAMPLE in assumptions


def _sentence(guarantee: Guarantee) -> str:
    text = guarantee.words()
    return f"{text[:1].upper()}{text[1:]}."


def _assumptions(folder: Folder) -> Html:
    lines = [
        element("li", element("b", assumed.sentence()) if _comes_first(assumed.assumption) else assumed.sentence())
        for assumed in folder.certificate.assumptions()
    ]
    intro = "The guarantee is a theorem. It is true if all of these are:"
    return _section("assumptions", BEFORE["assumptions"], element("p", intro), element("ul", *lines))


def _comes_first(assumption: Assumption) -> bool:
    return assumption is Assumption.ASSUMED_RATE


def _reading(folder: Folder, view: View) -> Html:
    columns = folder.fact("columns", dict)
    rows: list[list[str]] = [
        [label(str(name)), shorten(describe_column(domain), 400)] for name, domain in columns.items()
    ]
    recoding = table(["column", "how values became labels"], rows, caption="The columns") if rows else ""
    return _section(
        "reading", BEFORE["reading"], element("ul", *(element("li", line) for line in view.reading)), recoding
    )


def _derivation(folder: Folder) -> Html:
    trees = [tree(derivation) for derivation in folder.certificate.derivations]
    intro = (
        "Each guarantee follows step by step from what is listed as assumed. Unfold a step to see the theorem, its "
        "source, its parameters and the steps it rests on. All numbers are rounded so that no risk is understated."
    )
    return _section("derivation", AFTER["derivation"], element("p", intro), *trees)


def _verify(folder: Folder) -> Html:
    again = f"crowdblend report FOLDER{'' if folder.figures else ' --no-figures'} --out fresh.html"
    return _section(
        "verify",
        AFTER["verify"],
        element(
            "p",
            "A page can say anything. Before this one was written, crowdblend derived every number of "
            "certificate.json again and compared the SHA-256 of every data file with the one in the certificate. To do "
            "the same with the folder in your hands:",
        ),
        element("pre", element("code", f"crowdblend verify FOLDER\n{again}")),
        element(
            "p",
            "The second command writes this page again from the files; with the same version it comes out the same, "
            "byte for byte. A certificate is not signed: it does not say who wrote it.",
            class_="quiet",
        ),
    )


def _details(folder: Folder) -> Html:
    release = [
        [name, fact(folder.facts[name])] for name in ("kind", "below_k", "already_drawn") if name in folder.facts
    ]
    release += [[str(name), fact(value)] for name, value in folder.fact("parameters", dict).items()]
    files = [[name, element("code", value)] for name, value in folder.hashes.items()]
    software = [[str(name), fact(value)] for name, value in folder.fact("software", dict).items()]
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
