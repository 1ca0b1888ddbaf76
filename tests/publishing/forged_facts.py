"""Forged facts: one honest release, and an edit that a forger would like, for every guard of facts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from crowdblend.kinds import plan
from crowdblend.kinds.shared.facts import derive, read_facts, to_json
from crowdblend.policies.load import parse_policy
from crowdblend.trusted.calculus import Certificate
from tests.golden.releases import PEOPLE
from tests.publishing.forgeries import Document, Edit, forged
from tests.publishing.test_mutated_certificates import EVERY

_DATA = '[data]\nsource = "town.parquet"\nperson = "person_id"\n'
_BUDGET = "[privacy]\nepsilon = 1.0\ndelta = 1e-4\n"
_SEX = '[columns]\nsex = { values = ["female", "male"] }\n'
_BY_SEX = '[sampling]\ndesign = "strata"\ncolumn = "sex"\nrates = { female = 0.3, male = 0.5 }\n' + _SEX
_SURVEY = f'[sampling]\ndesign = "survey"\npeople = 2000\nof = {PEOPLE}\nthin = 0.5\n'
_TWO = '[[publish]]\nkind = "table"\nname = "a"\ncolumns = ["sex"]\n[[publish]]\nkind = "{0}"\nname = "b"\n'
_INCOME = 'income = { from = 0, to = 200000, resolution = 1000, width = 20000, outside = "drop" }\n'
_WOMEN = '[[publish.statistics]]\nname = "women"\ncount = { sex = "female" }\n'
_BIASED = '[sampling]\ndesign = "biased"\nlow = 0.4\nhigh = 0.5\nrate = 0.5\n' + _SEX
_NOISY_TWO = _BUDGET + 'split = "budget"\n' + _TWO.replace('columns = ["sex"]', 'columns = ["sex"]\nbelow_k = "noise"')
# Releases of designs and kinds that no golden policy has together.
MORE = {
    "points-strata": _DATA + _BY_SEX + _INCOME + _BUDGET + '[[publish]]\nkind = "points"\nnoise_epsilon = 1.0\n',
    "table-rows-drawn": _DATA
    + "rows_per_person = 2\n"
    + '[sampling]\ndesign = "poisson"\nrate = 0.5\n'
    + _SEX
    + _BUDGET
    + '[[publish]]\nkind = "table"\n',
    "outlier-rows": _DATA
    + "rows_per_person = 2\n"
    + '[sampling]\ndesign = "everybody"\n'
    + _SEX
    + '[privacy]\nepsilon = 0.5\ndelta = 1e-5\n[[publish]]\nkind = "outlier-table"\nlimit = 100\n',
    "strata-microdata-noise": _DATA + _BY_SEX + _BUDGET + '[[publish]]\nkind = "table"\nbelow_k = "noise"\n',
    "counted-synopsis": _DATA
    + f"people = {PEOPLE}\n"
    + '[sampling]\ndesign = "poisson"\nrate = 0.5\n'
    + _SEX
    + "[privacy]\nepsilon = 1.0\n"
    + '[[publish]]\nkind = "synopsis"\nconjunctions = 1\n',
    "poisson-statistics": _DATA
    + f"people = {PEOPLE}\n"
    + '[sampling]\ndesign = "poisson"\nrate = 0.5\n'
    + _SEX
    + '[privacy]\nepsilon = 1.0\n[[publish]]\nkind = "statistics"\n'
    + _WOMEN,
    "group-statistics": _DATA
    + f'[sampling]\ndesign = "survey"\npeople = 2000\nof = {PEOPLE}\n'
    + _SEX
    + '[privacy]\nepsilon = 1.0\n[[publish]]\nkind = "statistics"\ngroup = 2\n'
    + _WOMEN,
    "weights-counts": _DATA
    + f"people = {PEOPLE}\n"
    + '[sampling]\ndesign = "weights"\ncolumn = "w"\n'
    + _SEX
    + "w = { breaks = [2, 4, 8, 16] }\n"
    + '[privacy]\nepsilon = 1.0\n[[publish]]\nkind = "statistics"\n'
    + _WOMEN,
    "survey-synopsis-whole": _DATA
    + f'[sampling]\ndesign = "survey"\npeople = 2000\nof = {PEOPLE}\nthin = 1\n'
    + _SEX
    + '[privacy]\nepsilon = 1.0\n[[publish]]\nkind = "synopsis"\nconjunctions = 1\n',
    "strata-split": _DATA
    + '[sampling]\ndesign = "strata"\ncolumn = "sex"\nrates = { female = 0.4, male = 0.5 }\n'
    + _SEX
    + "age = { from = 0, to = 90, width = [10, 30, 90], top = true }\n"
    + '[recoding]\nepsilon = 0.3\nusing = "split"\n'
    + _BUDGET
    + '[[publish]]\nkind = "microdata"\n',
    "degrees": '[data]\nsource = "links.csv"\n[privacy]\nepsilon = 8.0\n'
    + '[[publish]]\nkind = "graph"\npeople = 3000\ndegree_bound = 8\n'
    + '[[publish.statistics]]\nname = "degrees"\nbreaks = [1, 3, 4]\nsamples = 1400\n',
    "series-noise": _DATA
    + '[sampling]\ndesign = "everybody"\n'
    + _SEX
    + '[privacy]\nepsilon = 1.0\nreleases = 2\n[[publish]]\nkind = "table"\n',
    "series-outliers": _DATA
    + '[sampling]\ndesign = "everybody"\n'
    + _SEX
    + '[privacy]\nepsilon = 1.0\ndelta = 1e-4\nreleases = 2\n[[publish]]\nkind = "outlier-table"\nlimit = 100\n',
    "weights-one": _DATA
    + '[sampling]\ndesign = "weights"\ncolumn = "w"\n'
    + _SEX
    + "w = { breaks = [2, 3] }\n"
    + _BUDGET
    + '[[publish]]\nkind = "table"\n',
    "biased-statistics": _DATA + f"people = {PEOPLE}\n" + _BIASED + _NOISY_TWO.format("statistics") + _WOMEN,
    "biased-synopsis": _DATA + f"people = {PEOPLE}\n" + _BIASED + _NOISY_TWO.format("synopsis") + "conjunctions = 1\n",
    "strata-noise-budget": _DATA
    + _BY_SEX
    + 'district = { values = ["a", "b"] }\n'
    + _BUDGET
    + 'split = "budget"\n'
    + _TWO.format("table").replace("\n[[publish]]", '\nbelow_k = "noise"\n[[publish]]')
    + 'columns = ["sex", "district"]\nbelow_k = "noise"\n',
}


def source(name: str, digest: str | None = None, **changes: Any) -> Document:
    """A release as rows that are made from it name it."""
    facts = dict(base(name))
    facts |= changes
    made = Certificate(derive(read_facts(facts)), (), facts)
    return {"digest": digest or made.to_dict()["digest"], "facts": facts}


def synthetic(*sources: Document, **changes: Any) -> Document:
    """The facts of rows that were made from releases."""
    sex = {"sex": {"recoding": "values", "labels": ["female", "male"]}}
    about, met = {"title": "Synthetic rows"}, {"source": 0, "name": "data", "columns": ["sex"], "cells": 2}
    return {
        **{"kind": "synthetic", "software": {}, "about": about, "rows": 10, "sources": list(sources), "columns": sex},
        **{"met": [{**met, "apart": 0.0, "noise": 0.0}], "person": None, **changes},
    }


@cache
def base(name: str) -> Document:
    """The facts of an honest release."""
    match name:
        case "rows-of-one":
            return synthetic(source("table-register"))
        case "rows-of-two":
            return synthetic(source("table-register"), source("table-threshold"))
        case "proposed":
            return {**base("table"), "proposed": [base("table-threshold")]}
        case _:
            return to_json(plan(parse_policy((EVERY | MORE)[name], Path(__file__).parent)).facts())


def put(*path: str | int, to: Any = None) -> Edit:
    """Another value at a place in facts."""

    def edit(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = to

    return edit


def drop(*path: str | int) -> Edit:
    """Nothing at a place in facts."""

    def edit(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document.pop(path[-1])

    return edit


def both(*edits: Edit) -> Edit:
    """Several edits."""

    def edit(document: Any) -> None:
        for one in edits:
            one(document)

    return edit


def of_all(*path: str | int, to: Any = None) -> Edit:
    """The same edit in every publication of a programme."""

    def edit(document: Any) -> None:
        for one in document["published"].values():
            put(*path, to=to)(one)

    return edit


def reversed_at(*path: str | int) -> Edit:
    """A mapping in the opposite order."""

    def edit(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = dict(reversed(document[path[-1]].items()))

    return edit


def renamed(old: str, new: str) -> Edit:
    def edit(document: Any) -> None:
        document["published"] = {new if name == old else name: one for name, one in document["published"].items()}

    return edit


def nothing_but_rows(document: Any) -> None:
    """A programme whose publications are all computed from others."""
    rows = document["published"]["synthetic"]
    document["published"] = {"one": rows, "two": rows}


def nested(document: Any) -> None:
    """A programme as a publication of a programme."""
    inner = forged(base("programme-register"), put("software", to={}))
    document["published"]["inner"] = {"facts": inner}


def chosen_afresh(document: Any) -> None:
    """A programme of fresh samples, which counts nobody who chose the recodings."""
    document["split"] = "fresh"
    for one in document["published"].values():
        del one["share"]
        one["facts"]["design"]["rate"] = 0.5
        one["facts"]["mechanism"]["k"] = 500


def _larger(strata: Any) -> Any:
    """Crowds that are large enough for every stratum, in the opposite order."""
    return {label: {**one, "k": 500} for label, one in reversed(strata.items())}


def _rows_of_open_labels() -> Document:
    """Rows of a column whose labels nobody lists."""
    columns = {"district": base("table-open")["columns"]["district"]}
    return synthetic(source("table-open"), columns=columns, met=[])


def exceptions(document: Any) -> None:
    """Some people have any rate, and the certificate says so."""
    document["design"]["exceptions"] = 2
    for one in document["published"].values():
        one["facts"]["design"]["exceptions"] = 2


def own(name: str, *path: str | int, to: Any = None) -> Edit:
    """Another value in the facts of one publication."""
    return put("published", name, "facts", *path, to=to)


NOISY = {"mechanism": "noisy-cells", "noise_epsilon": 0.2, "rows_per_person": None}
GROUPED = {"mechanism": "noisy-from-threshold", "noise_epsilon": 0.2, "show_from": 10**6}
GAUSSIAN = {"mechanism": "gaussian-cells", "sigma": 1_000.0}
TOTAL = {"mechanism": "noisy-total", "name": "people", "noise_epsilon": 1e-9, "rows_per_person": 1}
HALF = {"design": "coins", "rate": 0.5}
FORGERIES: list[tuple[str, Callable[[Any], object]]] = [
    # Networks
    ("graph", put("statistics", 0, "name", to="none of ours")),
    ("graph", put("statistics", 0, "column", to="age")),
    ("graph", put("statistics", 0, "labels", to=["a", "b"])),
    ("graph", put("statistics", 0, "width", to=1.0)),
    ("graph", put("statistics", 0, "breaks", to=[1, 3])),
    ("degrees", put("statistics", 0, "breaks", to=[4, 3, 1])),
    ("degrees", put("statistics", 0, "breaks", to=[1, 3, 3])),
    ("degrees", put("statistics", 0, "breaks", to=[1, 3, 9])),
    ("graph", lambda facts: facts.update(statistics=[facts["statistics"][0]] * 2)),
    ("graph", both(put("statistics", 0, "samples", to=1_500), put("statistics", 1, "samples", to=1_500))),
    # Points
    ("points", put("axes", "income", "low", to=300_000.0)),
    ("points", both(put("axes", "income", "resolution", to=0.0), drop("axes", "income", "width"))),
    ("points", both(put("axes", "income", "width", to=-20_000.0), put("axes", "income", "resolution", to=-1_000.0))),
    ("points", put("axes", "income", "width", to=-20_000.0)),
    ("points", both(put("axes", to={}), put("shapes", to=[[]]))),
    ("points", put("shapes", to=[])),
    ("points", put("shapes", to=[[20, 3]])),
    ("points", both(put("shapes", to=[[0]]), drop("axes", "income", "width"))),
    ("points", put("axes", "income", "width", to=1.0)),
    ("points-strata", put("strata", "male", "noise_epsilon", to=0.5)),
    # Statistics
    ("statistics", drop("columns", "district", 0, "labels")),
    (
        "statistics",
        both(
            put("columns", "district", 0, "labels", to=[str(one) for one in range(1_001)]),
            put("columns", "sex", 0, "labels", to=[str(one) for one in range(1_001)]),
            put("statistics", "women", "fraction", to={"sex": ["1"]}),
            put("statistics", "income", "by", to=["sex", "district"]),
        ),
    ),
    ("statistics", drop("columns", "income", 0, "from")),
    ("statistics", put("columns", "income", 0, "from", to="0")),
    ("statistics", put("statistics", "women", "way", to="strata")),
    ("poisson-statistics", put("statistics", "women", "way", to="sample")),
    ("statistics", put("statistics", "women", "samples", to=1_999)),
    ("statistics", both(*(put("statistics", one, "samples", to=None) for one in ("women", "income", "districts")))),
    ("statistics", put("people", to=9_000)),
    (
        "statistics",
        both(put("statistics", "women", "way", to="strata"), put("statistics", "women", "samples", to=None)),
    ),
    ("statistics", put("rows_per_person", to=2)),
    ("statistics", put("epsilon", to=0.5)),
    ("statistics", put("design", "people", to=1_999)),
    (
        "survey-statistics",
        both(put("statistics", "women", "way", to="everybody"), put("statistics", "women", "noise_epsilon", to=1e-9)),
    ),
    ("weights-statistics", put("design", "strata", to={"a": {"rate": 0.35, "low": 0.25, "high": 0.5}})),
    (
        "weights-counts",
        lambda facts: facts["design"].update(strata=dict(zip("abc", facts["design"]["strata"].values(), strict=True))),
    ),
    (
        "poisson-statistics",
        put("design", to={"design": "biased", "rate": 0.5, "low": 0.5, "high": 0.5, "exceptions": 2, "max_rate": 0.5}),
    ),
    (
        "poisson-statistics",
        put("design", to={"design": "thinned", "rate": 0.5, "people": 4_000, "of": PEOPLE}),
    ),
    # Synopses
    ("synopsis", drop("columns", "age", "labels")),
    ("synopsis", put("queries", "ranges", to="sex")),
    ("synopsis", put("queries", to={"ranges": "sex"})),
    ("synopsis", put("queries", to={"conjunctions": 2, "add_up": 10, "listed": [{"sex": "female"}]})),
    ("synopsis", put("design", to={"design": "poisson", "rate": 0.5})),
    ("synopsis", put("mechanism", to={"mechanism": "counted", "noise_epsilon": 1e-6, "rows": 10})),
    ("counted-synopsis", put("design", to={"design": "survey", "people": 2_000, "of": PEOPLE})),
    ("counted-synopsis", put("mechanism", to={"mechanism": "fitted", "noise_epsilon": 1e-6, "rows": 10})),
    (
        "counted-synopsis",
        put("design", to={"design": "biased", "rate": 0.5, "low": 0.5, "high": 0.5, "exceptions": 2, "max_rate": 0.5}),
    ),
    (
        "counted-synopsis",
        both(put("design", to={"design": "survey", "people": 2_000, "of": PEOPLE}), put("rows_per_person", to=2)),
    ),
    ("counted-synopsis", put("design", to={"design": "thinned", "rate": 0.5, "people": 4_000, "of": PEOPLE})),
    ("synopsis", put("rows_per_person", to=2)),
    # Tables, and crowds of every kind
    ("table-population", put("mechanism", to=GROUPED)),
    ("table-split", put("mechanism", to=NOISY)),
    ("table-register", lambda facts: facts.update(recoding=base("table-split")["recoding"])),
    ("table-register", put("delta", to=1e-6)),
    ("table-register", put("mechanism", "noise_epsilon", to=1.5)),
    ("table-threshold", put("mechanism", "noise_epsilon", to=1.5)),
    ("table-threshold", put("delta", to=1e-7)),
    ("table-threshold-drawn", both(put("rows_per_person", to=2), put("mechanism", to=NOISY))),
    ("table-visits", put("totals", 0, "rows_per_person", to=1)),
    ("table-visits", put("totals", 1, "rows_per_person", to=2)),
    ("table-visits", drop("totals", 1)),
    ("table-visits", lambda facts: facts["totals"].reverse()),
    ("table-register", put("totals", to=[TOTAL])),
    ("table", put("totals", to=[TOTAL])),
    ("table", put("design", to={"design": "everybody"})),
    ("microdata", put("design", to={"design": "everybody"})),
    ("strata-table", put("design", "column", to="sex")),
    ("strata-table", both(reversed_at("design", "strata"), reversed_at("strata"))),
    ("strata-noise", reversed_at("strata")),
    ("strata-table", lambda facts: facts.update(strata=_larger(facts["strata"]))),
    ("weights-one", put("mechanism", to={"mechanism": "suppressed", "k": 500})),
    ("strata-table", reversed_at("strata")),
    ("strata-table", drop("strata", "Mills")),
    ("weights-table", put("design", "column", to="sex")),
    ("weights-table", put("design", "strata", "[4, 8)", "high", to=0.2)),
    ("weights-table", put("design", "strata", "[4, 8)", "low", to=0.15)),
    ("weights-table", put("columns", "w", "breaks", to=[2, 4, 8, 32])),
    ("strata-table", both(put("mechanism", to={"mechanism": "suppressed", "k": 1}), put("strata", to={}))),
    ("strata-table", put("mechanism", to={"mechanism": "suppressed", "k": 100})),
    ("strata-table", both(put("mechanism", to=GAUSSIAN), drop("strata"))),
    ("table", put("mechanism", to=None)),
    ("strata-table", put("strata", "Mills", to={"mechanism": "noisy-below-k", "k": 200, "noise_epsilon": 0.01})),
    ("microdata-visits", put("design", to=HALF)),
    ("table-population", put("rows_per_person", to=2)),
    ("table-population", put("epsilon", to=0.9)),
    ("table-population", put("delta", to=1e-9)),
    ("table-split", put("epsilon", to=0.9)),
    ("table-split", put("delta", to=1e-9)),
    ("strata-split", put("recoding", "share", to=None)),
    ("strata-split", put("releases", to=2)),
    ("strata-split", put("recoding", "released_epsilon", to=0.5)),
    ("strata-split", put("design", to={"design": "everybody"})),
    ("table", put("epsilon", to=0.5)),
    ("outlier-table", lambda facts: facts.update(design={**base("strata-table")["design"], "column": "w"})),
    ("table-threshold-drawn", put("epsilon", to=0.5)),
    ("table", put("delta", to=1e-9)),
    # Series
    ("series", put("releases", to=200)),
    ("table", put("releases", to=5)),
    ("series-noise", put("releases", to=3)),
    ("series-outliers", put("series", "releases", to=20)),
    ("programme-register", put("releases", to=2)),
    ("programme-years", put("releases", to=2_000)),
    # Programmes
    ("programme-people", renamed("people", "BY_AGE")),
    ("programme-people", renamed("people", "../people")),
    ("programme-people", renamed("people", "people/../../people")),
    ("programme-register", nested),
    ("programme-people", own("people", "person", to="somebody")),
    ("programme-people", own("people", "date", to="2026-01-01")),
    ("programme-people", own("people", "files", to={"people.csv": "0" * 64})),
    ("programme-people", own("people", "about", to={"title": "People"})),
    ("programme-people", own("people", "unit_word", to="stops")),
    ("programme-people", own("people", "software", to={"crowdblend": "1.0"})),
    ("programme-people", own("people", "proposed", to=[base("table-threshold")])),
    ("synthetic", nothing_but_rows),
    ("programme-fresh", put("published", "people", "share", to=0.5)),
    ("programme-budget", both(put("published", "people", "share", to=0.5), own("people", "design", "rate", to=0.25))),
    ("programme-fresh", both(put("design", "design", to="coins"), of_all("facts", "design", "design", to="coins"))),
    ("programme-fresh", put("split", to="budget")),
    ("programme-choose", chosen_afresh),
    ("biased-statistics", exceptions),
    ("biased-synopsis", exceptions),
    ("programme-people", put("epsilon", to=0.5)),
    ("programme-people", both(put("delta", to=1e-9), of_all("facts", "delta", to=1e-9))),
    ("programme-register", both(put("epsilon", to=0.5), of_all("facts", "epsilon", to=0.5))),
    ("programme-people", both(drop("published", "people", "share"), own("people", "design", "rate", to=0.5))),
    ("programme-register", put("split", to="people")),
    (
        "programme-register",
        both(put("split", to="people"), of_all("share", to=0.4)),
    ),
    ("programme-people", own("people", "design", "rate", to=0.1)),
    ("programme-register", own("by_age", "mechanism", "rows_per_person", to=2)),
    ("programme-people", own("people", "rows_per_person", to=2)),
    ("programme-choose", own("people", "epsilon", to=2.0)),
    ("programme-choose", own("people", "delta", to=1e-3)),
    ("programme-choose", own("people", "releases", to=2)),
    ("programme-choose", own("by_age", "recoding", "released_epsilon", to=0.5)),
    ("programme-choose", own("by_age", "recoding", "share", to=None)),
    ("programme-people", own("outliers", "series", to={"releases": 2, "epsilon": 1.0, "delta": 1e-6})),
    ("programme-people", own("incomes", "epsilon", to=2.0)),
    ("programme-people", own("incomes", "group", to=2)),
    ("programme-people", own("outliers", "mechanism", "factor", to=3.0)),
    (
        "programme-strata",
        both(
            own("people", "strata", to={}), own("people", "mechanism", to={"mechanism": "suppressed-records", "k": 99})
        ),
    ),
    ("programme-register", own("by_age", "totals", to=[TOTAL])),
    # Proposed domains, and rows made from tables
    ("table", put("kind", to=7)),
    ("table", put("kind", to=[])),
    ("table", put("kind", to="nothing")),
    ("proposed", put("kind", to="outlier-table")),
    ("outlier-table", lambda facts: facts.update(proposed=[base("table-threshold")])),
    ("statistics", lambda facts: facts.update(proposed=[base("table-threshold")])),
    ("proposed", put("design", to=HALF)),
    ("proposed", lambda facts: facts.update(design={"design": "thinned", "rate": 0.5, "people": 2_000, "of": PEOPLE})),
    (
        "proposed",
        lambda facts: facts.update(proposed=[{**base("table-threshold"), "proposed": [base("table-register")]}]),
    ),
    ("proposed", put("proposed", 0, "person", to="another")),
    ("proposed", lambda facts: facts.update(proposed=[base("table")])),
    ("proposed", lambda facts: facts.update(proposed=[base("graph")])),
    ("proposed", lambda facts: facts.update(proposed=[{**base("graph"), "person": "person_id"}])),
    ("rows-of-one", lambda facts: facts.update(sources=[{**source("rows-of-one")}])),
    ("rows-of-one", put("sources", 0, "digest", to="0" * 64)),
    ("rows-of-one", put("sources", 0, "facts", "epsilon", to=2.0)),
    ("rows-of-one", put("sources", to=[])),
    ("rows-of-one", put("about", "title", to="Rows of the town")),
    ("rows-of-one", drop("columns", "sex", "labels")),
    ("rows-of-one", lambda facts: facts.update(_rows_of_open_labels())),
    ("rows-of-one", put("columns", "sex", "labels", to=["female", "other"])),
    ("rows-of-one", put("columns", "gender", to={"recoding": "values", "labels": ["female", "male"]})),
    ("rows-of-one", put("met", 0, "source", to=1)),
    ("rows-of-one", put("met", 0, "columns", to=["sex", "hair"])),
    ("rows-of-two", lambda facts: facts["sources"].append({**source("table-drawn"), "stated": []})),
    ("rows-of-two", lambda facts: facts["sources"].append(source("graph"))),
]
