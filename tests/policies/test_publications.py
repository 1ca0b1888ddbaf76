"""One policy with one or several publications: equal however it is made, written and read, and refused by name."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.kinds.statistics.statistic import WHAT
from crowdblend.policies.key import keys_of, parts_of
from crowdblend.policies.load import parse_policy
from crowdblend.policies.registry import KINDS, common_keys, publication_class, publication_keys
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.terms import Terms
from tests.cases import for_each

from .policies import SOUND, assert_refused, bent

TERMS: dict[str, Any] = {
    "person": "id",
    "sampling": cb.Poisson(0.1),
    "epsilon": 1.0,
    "delta": 1e-6,
    "columns": {"sex": ["Female", "Male"], "age": cb.intervals(0, 100, width=10)},
}
BY_AGE, ROWS = cb.Table("age", name="by_age", share=0.3), cb.Microdata("age", "sex", name="rows", weight=2)
POINTS = cb.Points(k=60, boxes=[cb.NamedBox(name="left", box={"x": [0, 4]})], noise_epsilon=0.3, name="places")
INCOME = {"sex": ["f", "m"], "income": cb.bounds(0, 90_000, resolution=100)}
NUMBERS = (
    cb.average("income"),
    cb.total("income", by=["sex"]),
    cb.median("income", where={"sex": "f"}),
    cb.quantile("income", 0.9, weight=2.0),
    cb.fraction({"sex": "f"}, error=0.1),
    cb.count({"sex": ["f", "m"]}, name="everybody"),
    cb.histogram("sex"),
)
POLICIES: dict[str, Callable[[], cb.Policy]] = {
    "one": lambda: cb.Policy(**TERMS, publish=cb.Table("age", "sex", k=40, name="both")),
    "one of all columns": lambda: cb.Policy(**TERMS, publish=[cb.Microdata()]),
    "several": lambda: cb.Policy(**TERMS, publish=[BY_AGE, ROWS], about=cb.About(title="Two")),
    "fresh": lambda: cb.Policy(
        **TERMS, publish=(cb.Table("age", name="a"), cb.Microdata("sex", "age", name="b")), split="fresh"
    ),
    "noise": lambda: cb.Policy(
        **{**TERMS, "sampling": cb.Everybody(), "delta": None},
        publish=[cb.Table("sex", name="a"), cb.Table("sex", "age", name="b", count="rows")],
        split="budget",
    ),
    "boxes": lambda: cb.Policy(
        **{**TERMS, "columns": {"x": cb.axis(0, 8, resolution=0.5)}, "delta": None}, publish=POINTS
    ),
    "grid": lambda: cb.Policy(
        **{**TERMS, "sampling": cb.Survey(40, of=300, key="seal"), "delta": None},
        publish=cb.Synopsis(conjunctions=2, confidence=0.9),
    ),
    "statistics": lambda: cb.Policy(
        person="id",
        sampling=cb.Survey(400, of=3000),
        epsilon=1.0,
        columns=INCOME,
        publish=cb.Statistics(*NUMBERS, confidence=0.9),
    ),
}


@for_each("name", POLICIES)
def test_a_policy_is_equal_to_what_is_read_of_its_text(name: str) -> None:
    policy = POLICIES[name]()
    again = parse_policy(policy.to_toml())
    assert again == policy == POLICIES[name]()
    assert hash(again) == hash(policy)
    assert again.publish == policy.publish
    assert [type(part) for part in again.parts] == [type(part) for part in policy.parts]


def test_publications_are_in_their_order_with_the_columns_that_they_name() -> None:
    policy = POLICIES["several"]()
    assert (policy.kind, policy.is_programme) == ("programme", True)
    assert [one.kind for one in policy.publish] == [part.kind for part in policy.parts] == ["table", "microdata"]
    parts: Any = policy.parts
    assert [[column.name for column in part.columns] for part in parts] == [["age"], ["age", "sex"]]
    assert [(one.name, one.share, one.weight) for one in policy.publish] == [("by_age", 0.3, 1.0), ("rows", None, 2.0)]
    one = POLICIES["one"]()
    assert (one.kind, one.is_programme) == ("table", False)
    assert one.only == one.parts[0]


def test_one_change_makes_another_policy() -> None:
    policy = POLICIES["several"]()
    others = [
        policy.replace(epsilon=2.0),
        policy.replace(publish=[BY_AGE, cb.Microdata("age", "sex", name="rows")]),
        policy.replace(publish=[ROWS, BY_AGE]),
        policy.replace(split="people"),
        policy.replace(sampling=cb.Poisson(0.2)),
        policy.replace(publish=BY_AGE.replace(columns=("age", "sex"), share=None)),
    ]
    assert all(other != policy for other in others)
    assert len({other.to_toml() for other in others}) == len(others)
    assert policy.replace() == policy
    assert policy != "policy"
    assert BY_AGE != ROWS


def test_a_list_of_labels_is_their_values() -> None:
    publish = cb.Table(k=20)
    listed = cb.Policy(**{**TERMS, "columns": {"g": ["a", "b"]}}, publish=publish)
    assert listed == cb.Policy(**{**TERMS, "columns": {"g": cb.values("a", "b")}}, publish=publish)
    assert parse_policy(listed.to_toml()) == listed


def test_statistics_in_one_call() -> None:
    assert [one.what for one in NUMBERS] == list(WHAT)
    assert [one.name for one in NUMBERS] == [
        *("average of income", "sum of income", "median of income", "0.9-quantile of income"),
        *("fraction of sex f", "everybody", "histogram of sex"),
    ]
    assert cb.median("income") == cb.Statistic(name="median of income", median="income")
    assert cb.quantile("x", 0.9, name="q") == cb.Statistic(name="q", quantile="x", at=0.9)
    assert cb.total("x", by="sex", error=5) == cb.Statistic(name="sum of x", sum="x", by=["sex"], error=5)
    by_sex: Any = cb.Statistics(cb.median("income"), cb.count({"sex": "f"}, by="age"), by="sex")
    assert [one.groups for one in by_sex.statistics] == [("sex",), ("age",)]


@for_each("name", POLICIES)
def test_a_policy_shows_itself_within_a_screen(name: str) -> None:
    policy = POLICIES[name]()
    assert len(repr(policy)) < 80 * 24
    assert "=None" not in repr(policy)
    assert all(column.name in repr(policy) for column in policy.columns)


def test_a_publication_shows_what_differs_from_the_default() -> None:
    assert repr(BY_AGE) == "Table('age', name='by_age', share=0.3)"
    assert repr(ROWS) == "Microdata('age', 'sex', name='rows', weight=2.0)"
    assert repr(cb.Table(below_k="noise", flag=False)) == "Table(below_k='noise')"


def test_a_programme_is_no_policy_of_one() -> None:
    with pytest.raises(InvalidInput) as refused:
        _ = POLICIES["several"]().only
    assert_refused(refused.value, "one-publication")


def _policy(**changes: Any) -> cb.Policy:
    return cb.Policy(**{**TERMS, "publish": cb.Table(), **changes})


def _wrong(made: Callable[..., object], *columns: str, **arguments: object) -> object:
    return made(*columns, **arguments)


REGISTER = {"sampling": cb.Everybody(), "delta": None}
# What is refused in Python, with a word of the message or of the remedy.
WRONG: dict[str, tuple[Callable[[], object], str, str]] = {
    "an argument of the policy": (lambda: _policy(epsilom=1.0), "unknown-argument", "Did you mean epsilon?"),
    "an argument of a publication": (
        lambda: _wrong(cb.Table, "sex", shar=0.1),
        "unknown-argument",
        "Did you mean share?",
    ),
    "a key of another kind": (
        lambda: _wrong(cb.Microdata, noise_epsilon=1.0),
        "unknown-argument",
        "Microdata has no argument",
    ),
    "nothing at all": (lambda: _policy(publish=[]), "no-publication", "publishes nothing"),
    "no publication": (lambda: _policy(publish="table"), "type", "takes publications"),
    "some of them none": (lambda: _policy(publish=[BY_AGE, "rows"]), "type", "takes publications"),
    "no name": (lambda: _policy(publish=[BY_AGE, cb.Microdata()]), "publication-name", "has no name"),
    "two names alike": (
        lambda: _policy(publish=[BY_AGE, cb.Microdata(name="BY_AGE")]),
        "publication-twice",
        "Rename one.",
    ),
    "a name of a device": (lambda: cb.Table(name="Aux"), "publication-name", "Windows has a device"),
    "a name that is a path": (lambda: cb.Table(name="../by_age"), "publication-name", "cannot be a file name"),
    "a name that is a number": (lambda: cb.Table(name=5), "type", "takes a text"),
    "no share": (lambda: cb.Table(share=0), "range", "between 0 and 1 (exclusive)"),
    "a share beyond": (lambda: cb.Table(share=1.5), "range", "between 0 and 1 (exclusive)"),
    "a share in words": (lambda: cb.Table(share="half"), "type", "between 0 and 1 (exclusive)"),
    "a weight of nothing": (lambda: cb.Table(weight=0), "range", "between 0 and 1,000,000 (0 excluded)"),
    "a weight without end": (lambda: cb.Table(weight=float("inf")), "value", "is not a finite number"),
    "a column that is none": (lambda: cb.Table(5), "type", "columns takes a list of names"),
    "a column twice": (lambda: cb.Table("sex", "sex"), "publication-columns", "names a column twice"),
    "an unknown column": (lambda: _policy(publish=cb.Table("agee")), "unknown-column", "Did you mean age?"),
    "foreign terms": (
        lambda: _policy(publish=cb.OutlierTable(limit=50), recoding=cb.Choosing(epsilon=0.1, using="population")),
        "unknown-key",
        "OutlierTable has no recoding",
    ),
    "rows that share a coin": (
        lambda: _policy(publish=cb.Microdata(), sampling=cb.Coins(0.1), rows_per_person=3),
        "rows-per-person",
        "the difference is that one, whatever k is",
    ),
    "rows and noise below k": (
        lambda: _policy(publish=cb.Table(below_k="noise"), rows_per_person=3),
        "rows-per-person",
        'certified without below_k="noise"',
    ),
    "a share of one": (lambda: _policy(publish=BY_AGE), "one-publication", "share is about several"),
    "a split of one": (lambda: _policy(split="people"), "one-publication", "split is about several"),
    "an unknown split": (lambda: _policy(split="poeple"), "choice", "Did you mean people?"),
    "a design that is not proved": (
        lambda: _policy(sampling=cb.Biased(0.4, 0.5, rate=0.5), publish=cb.Synthetic(rows=9)),
        "design",
        "is not certified for",
    ),
    "crowds of a fixed number of people": (
        lambda: _policy(sampling=cb.Survey(5, of=9)),
        "fixed-size",
        "what is hidden. Write thin",
    ),
    "crowds of a survey of which all are kept": (
        lambda: _policy(sampling=cb.Survey(5, of=9, thin=1)),
        "fixed-size",
        "Crowds of a fixed number of people hide nobody",
    ),
    "a survey of how many people": (
        lambda: _policy(sampling=cb.Survey(5, thin=0.5)),
        "missing-key",
        "if you do not know, use sampling=Poisson(…)",
    ),
    "a survey that noise need not thin": (
        lambda: _policy(sampling=cb.Survey(5, of=9, thin=0.5), delta=None, publish=cb.Synopsis(conjunctions=1)),
        "thin",
        "Write thin=1.",
    ),
    "a number of people that nobody says": (
        lambda: _policy(**REGISTER, columns=INCOME, publish=cb.Statistics(cb.count({"sex": "f"}), cb.median("income"))),
        "missing-key",
        "people is missing",
    ),
    "a survey of nobody knows how many": (
        lambda: _policy(sampling=cb.Survey(5), delta=None, publish=cb.Synopsis(conjunctions=1)),
        "missing-key",
        "sampling.of is missing",
    ),
    "no design": (
        lambda: _policy(sampling=None, delta=None, publish=cb.Synopsis(conjunctions=1)),
        "missing-section",
        "sampling is missing",
    ),
    "a sample of more than all": (lambda: cb.Survey(10, of=9), "sample", "sampling.people is 10, of 9"),
    "no statistics": (
        lambda: _policy(sampling=cb.Survey(5, of=9), delta=None, publish=cb.Statistics()),
        "statistics",
        "has 0 statistics",
    ),
}


@for_each("case", WRONG)
def test_refused_by_name(case: str) -> None:
    make, code, words = WRONG[case]
    with pytest.raises(InvalidInput) as refused:
        make()
    assert_refused(refused.value, code)
    assert words in str(refused.value)


DESIGN = 'design = "poisson"\n'
SECOND = '[[publish]]\nkind = "table"\nname = "b"\n'
NETWORK = 'people = 100\ndegree_bound = 9\n[[publish.statistics]]\nname = "connectivity"\nsamples = 10\n'
# What is refused in TOML, with its place.
WRONG_TEXTS: dict[str, tuple[str, str, str]] = {
    "no design": (bent((DESIGN, "")), "missing-key", "[sampling] design"),
    "an unknown design": (bent(("poisson", "poison")), "design", "[sampling] design"),
    "a design in a list": (bent(('"poisson"', '["poisson"]')), "design", "[sampling] design"),
    "a key of another design": (bent((DESIGN, DESIGN + "of = 9\n")), "unknown-key", "[sampling] of"),
    "a section of one value": ("sampling = 1\n" + bent(("[sampling]", "[about]")), "section", "[sampling]"),
    "an unknown section": (bent(("[privacy]", "[privat]")), "unknown-section", "[privat]"),
    "publications of one value": ("publish = 1\n" + SOUND.partition("[[publish]]")[0], "section", "[[publish]]"),
    "publications that are no tables": (
        "publish = [1]\n" + SOUND.partition("[[publish]]")[0],
        "section",
        "[[publish]]",
    ),
    "no publication": (SOUND.partition("[[publish]]")[0], "missing-section", "[[publish]]"),
    "no kind": (bent(('kind = "table"\n', "")), "missing-key", "[[publish]] kind"),
    "an unknown kind": (bent(('"table"', '"tabel"')), "kind", "[[publish]] kind"),
    "a key of another kind": (bent(("k = 20", "k = 20\nlimit = 3")), "unknown-key", "[[publish]] limit"),
    "an unknown key": (bent(("k = 20", "below = 20")), "unknown-key", "[[publish]] below"),
    "columns in words": (bent(("k = 20", 'columns = "sex"')), "type", "[[publish]] columns"),
    "no name": (bent(add=SECOND), "publication-name", "[[publish]] name"),
    "two names alike": (bent(("k = 20", 'k = 20\nname = "B"'), add=SECOND), "publication-twice", "[[publish]] name"),
    "a network beside tables": (
        bent(("k = 20", 'k = 20\nname = "a"'), add=SECOND.replace('"table"', '"graph"') + NETWORK),
        "split",
        "[[publish]] kind",
    ),
    "a share beyond": (bent(("k = 20", "k = 20\nshare = 2")), "range", "[[publish]] share"),
    "a split of one": (bent(("delta", 'split = "fresh"\ndelta')), "one-publication", "[privacy] split"),
    "an unknown split": (bent(("delta", 'split = "half"\ndelta')), "choice", "[privacy] split"),
    "columns of statistics": (
        bent(('kind = "table"\nk = 20', 'kind = "statistics"\ncolumns = ["sex"]')),
        "unknown-key",
        "[[publish]] columns",
    ),
    "statistics in one bracket": (
        bent(('kind = "table"\nk = 20', 'kind = "statistics"\n[publish.statistics]\nname = "a"')),
        "section",
        "[[publish.statistics]]",
    ),
}


@for_each("case", WRONG_TEXTS)
def test_texts_are_refused_by_name_and_place(case: str) -> None:
    text, code, where = WRONG_TEXTS[case]
    with pytest.raises(InvalidInput) as refused:
        parse_policy(text)
    assert_refused(refused.value, code)
    assert refused.value.where == where


@for_each(
    ("text", "near"),
    [
        (bent(("poisson", "poison")), "poisson"),
        (bent(("[privacy]", "[privat]")), "privacy"),
        (bent(('"table"', '"tabel"')), "table"),
        (bent(("delta", "detla")), "delta"),
        (bent(("k = 20", "below_kk = 'noise'")), "below_k"),
    ],
)
def test_the_nearest_word_is_offered(text: str, near: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_policy(text)
    assert refused.value.remedy == f"Did you mean {near}?"


def _arguments(made: Callable[..., object]) -> set[str]:
    """The arguments of a class by name, without those that catch misspelt ones."""
    parameters = inspect.signature(made).parameters.values()
    return {one.name for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD}


@for_each("kind", KINDS)
def test_python_and_toml_have_the_same_words_for_a_publication(kind: str) -> None:
    made = publication_class(kind)
    keys = {key.name for key in publication_keys(kind).values()}
    lists = {part.name.removeprefix("publish.") for part in parts_of(made).values() if not part.inline}
    # What statistics are grouped by is said of each of them in TOML, and once for all of them in Python.
    shorthand = {"by"} if kind == "statistics" else set()
    assert _arguments(made) == keys | lists | set(common_keys(kind)) | shorthand


def test_python_and_toml_have_the_same_words_for_a_policy_and_its_designs() -> None:
    assert _arguments(cb.Policy) == {*Terms.__struct_fields__, "publish", "split"}
    for design in DESIGNS.values():
        assert getattr(cb, design.__name__) is design
        assert _arguments(design) == set(keys_of(design))
