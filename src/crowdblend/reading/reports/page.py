"""The page: first for someone who has never heard of ε, then for someone who wants to check.

A kind shows its releases as a `View`; everything else on the page is the same for all kinds.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib import resources

from markupsafe import Markup

from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.blocks import Table, show, show_step
from crowdblend.reading.reports.elements import element, together
from crowdblend.reading.reports.sentences import describe_column, explanation
from crowdblend.reading.reports.text import label, shorten
from crowdblend.reading.reports.view import View
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.calculus.assumptions import StepAssumption
from crowdblend.trusted.guarantees.guessing import lead
from crowdblend.trusted.guarantees.wording import fact, round_up

REPORT = "report.html"
# Read by the package's loader, which need not be a folder.
LOOK, CHECKER = (resources.files("crowdblend.reading.reports") / name for name in ("look.css", "check.js"))
_VERIFIED = element("span", "✓ Certificate and data files verified", class_="checked")
_FIRST = element("b", "Read this first. ")
# What comes after the data.
AFTER = {
    "reading": "How to read the numbers",
    "guarantee": "What is guaranteed",
    "assumptions": "What the guarantee assumes",
    "derivation": "For researchers: why the guarantee holds",
    "verify": "How to check it yourself",
    "details": "Parameters, files and software",
}


def page(folder: PublishedRelease, view: View, figures: bool) -> str:
    """Return the whole report, as one HTML document that loads nothing."""
    title = folder.about.get("title") or view.heading
    checker = CHECKER.read_text(encoding="utf-8")
    # The page runs this script and no other: its hash stands in the page's own security policy.
    hashed = base64.b64encode(hashlib.sha256(checker.encode()).digest()).decode()
    allowed = Markup(f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hashed}'")
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=allowed),
        element("title", shorten(title, 120)),
        element("style", Markup(LOOK.read_text(encoding="utf-8"))),
    ]
    parts = [
        _opening(folder, view, title),
        *(_section(part.name, part.heading, show(part.blocks)) for part in view.parts),
        *_closing(folder, view, figures),
    ]
    body = element("body", element("main", together(parts)), element("script", Markup(checker)), class_="report")
    return f"<!doctype html>\n{element('html', element('head', together(head)), body, lang='en')}\n"


def _opening(folder: PublishedRelease, view: View, title: str) -> Markup:
    """Return what stands above the data."""
    about, assumed = folder.about, folder.facts.assumption
    said = [view.heading] if about.get("title") else []
    said += [about[name] for name in ("publisher", "period", "licence", "contact", "date") if about.get(name)]
    promised = lead(folder.guarantees, folder.facts.planned_releases)
    keys = [element("div", element("dt", name), element("dd", value)) for name, value in [*view.keys, *_keys(folder)]]
    listed = [*((part.name, part.heading) for part in view.parts if part.listed), *AFTER.items()]
    links = [element("li", element("a", heading, href=f"#{name}")) for name, heading in listed]
    lines = [
        element("p", "Release report", class_="over"),
        element("h1", shorten(title, 160)),
        *([element("p", " · ".join(shorten(one, 200) for one in said), class_="quiet")] if said else []),
        *([element("p", promised, class_="lead")] if promised else []),
        element(
            "p",
            f"This release is {view.what}. The page shows what was published, and then explains what is guaranteed. It "
            "is made from the published files alone and adds nothing to them.",
        ),
        element("p", _VERIFIED, " when this page was written."),
        *([] if assumed is None else [element("div", element("p", _FIRST, assumed.value), class_="box warn")]),
        element("dl", *keys, class_="keys"),
        element("nav", element("ul", *links), aria_label="Contents"),
    ]
    return element("header", together(lines))


def _closing(folder: PublishedRelease, view: View, figures: bool) -> list[Markup]:
    """Return the sections that come after the data."""
    certificate = folder.certificate
    assumptions = {assumed.assumption for assumed in certificate.assumptions()}
    secret = Assumption.SECRET_SAMPLE in assumptions and not folder.facts.counts_everybody
    reading = [element("ul", *(element("li", line) for line in view.reading)), show(_columns(folder))]
    guarantee = [
        *([element("div", element("p", said), class_="box")] if (said := explanation(certificate)) else []),
        element(
            "p",
            f"This holds whatever else somebody knows{', except who was sampled,' if secret else ''} if the "
            "assumptions below hold. It does not hide what is true of many people: where most people of a town are "
            "alike, the numbers may show it.",
        ),
        element("h3", "In the terms of the literature, strongest first"),
        element("ol", *(element("li", _sentence(one.words())) for one in certificate.guarantees)),
    ]
    assumed = [
        element("p", "The guarantee is a theorem. It is true if all of these are:"),
        element("ul", *(element("li", _assumption(one)) for one in certificate.assumptions())),
    ]
    derivation = [
        element(
            "p",
            "Each guarantee follows step by step from what is listed as assumed. Unfold a step to see the theorem, its "
            "source, its parameters and the steps it rests on. All numbers are rounded so that no risk is understated.",
        ),
        *map(show_step, certificate.derivations),
    ]
    parts = {
        "reading": reading,
        "guarantee": guarantee,
        "assumptions": assumed,
        "derivation": derivation,
        "verify": _verify(folder, figures),
        "details": [show(_details(folder))],
    }
    return [_section(name, heading, *parts[name]) for name, heading in AFTER.items()]


def _verify(folder: PublishedRelease, figures: bool) -> list[Markup]:
    """Return how to check a release: here in the browser, and with the command."""
    choose = element("label", "Or choose them: ", element("input", id="check-files", type="file", multiple=True))
    here = element(
        "div",
        element(
            "p",
            element("strong", "Drop the files of the folder on this page"),
            ", certificate.json among them: it compares their SHA-256 with the certified ones, here in the browser. "
            "Nothing is sent anywhere.",
        ),
        element("p", choose),
        element("ul", id="check-said", aria_live="polite"),
        id="check-here",
        class_="box",
        hidden=True,
    )
    without = "Open report.html from its folder in a browser, with scripts allowed, to check files on this page."
    certified = [element("span", data_name=name, data_sha256=value) for name, value in _hashes(folder).items()]
    again = f"crowdblend report FOLDER{'' if figures else ' --no-figures'} --out fresh.html"
    return [
        element("div", here, element("noscript", element("p", without, class_="quiet")), *certified, id="check"),
        element(
            "p",
            "A page can say anything. Before this one was written, crowdblend derived every number of certificate.json "
            "again and compared the SHA-256 of every data file with the one in the certificate. To do the same with "
            "the folder in your hands:",
        ),
        element("pre", element("code", f"crowdblend verify FOLDER\n{again}")),
        element(
            "p",
            "The second command writes this page again from the files; with the same version it comes out the same, "
            "byte for byte. A certificate does not say who wrote it; a signature beside it does, certificate.json.sig, "
            "which ",
            element("code", "crowdblend verify FOLDER --signer KEY"),
            " checks.",
            class_="quiet",
        ),
    ]


def _section(name: str, heading: str, *inside: Markup) -> Markup:
    return element("section", together([element("h2", heading), *inside]), id=name)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _assumption(step: StepAssumption) -> Markup | str:
    """Return what is assumed; what nobody knows stands out."""
    said = step.sentence()
    return element("b", said) if step.assumption is Assumption.ASSUMED_RATE else said


def _keys(folder: PublishedRelease) -> list[tuple[str, str]]:
    """Return the parameters that every kind of release has."""
    keys = []
    crowds, rate, guarantee = folder.facts.crowds.values(), folder.facts.rate, folder.certificate.differential()
    if len(set(crowds)) > 1:
        keys.append(("k, the smallest crowd, by table", f"{min(crowds):,} – {max(crowds):,}"))
    elif crowds:
        keys.append(("k, the smallest crowd", f"{max(crowds):,}"))
    sample = folder.facts.sample
    inclusion = None if sample is None else sample.inclusion
    if inclusion is not None and inclusion.low < inclusion.high:
        shares = f"{100 * inclusion.low:.4g} – {100 * inclusion.high:.4g} %"
        keys.append((f"share of {folder.facts.counted.many} sampled", shares))
    elif rate is not None:
        keys.append((f"share of {folder.facts.counted.many} sampled", f"{100 * rate:.4g} %"))
    if guarantee is not None:
        keys += [("ε, privacy loss", round_up(guarantee.epsilon)), ("δ, added probability", round_up(guarantee.delta))]
    return keys


def _columns(folder: PublishedRelease) -> list[Table]:
    declared = folder.facts.declared_domains.items()
    rows = [
        [label(name), shorten("; averaged as ".join(map(describe_column, domains)), 400)] for name, domains in declared
    ]
    return [Table(["column", "how values became labels"], rows, "The columns")] if rows else []


def _hashes(folder: PublishedRelease) -> dict[str, str]:
    """Return the certified hashes of files; the page cannot show its own."""
    return {name: value for name, value in folder.facts.files.items() if name != REPORT}


def _details(folder: PublishedRelease) -> list[Table]:
    def cells(values: Mapping[str, object]) -> list[list[str]]:
        return [[shorten(str(name), 400), shorten(fact(value), 400)] for name, value in values.items()]

    facts = folder.facts
    release = {"kind": facts.kind, **facts.whole_parameters}
    hashes = [[shorten(name, 400), Markup("<code>{}</code>").format(value)] for name, value in _hashes(folder).items()]
    tables = [
        Table(["parameter", "value"], cells(release), "Parameters, as the release states them"),
        Table(["file", "SHA-256"], hashes, "Files, as certified"),
        Table(["software", "version"], cells(facts.software), "Software that made the release"),
    ]
    return [table for table in tables if table.rows]
