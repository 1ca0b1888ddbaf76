"""Remedies that work: whoever does what a refusal says gets further.

Every case of `REMEDIES` is a policy with one mistake, the code of its refusal, the words of the remedy, and the edit
that these words ask for. After it the policy is read, planned and counted, or refused for another reason, which is
named. Notations of files have theirs in engines/test_messy_files.py.
"""

from pathlib import Path

import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError
from crowdblend.kinds import plan
from crowdblend.methods.designs.draw import Everybody
from crowdblend.notation import TOML
from crowdblend.sources.engines.choice import count_classes, default_engine
from tests.cases import for_each
from tests.policies.policies import swapped

POLICY = """\
[data]
source = "people.csv"
person = "id"
population = "town"

[sampling]
design = "poisson"
rate = 0.5

[privacy]
epsilon = 1.0
delta = 1e-6

[columns]
sex = { values = ["Female", "Male"] }
age = { from = 0, to = 100, width = 10 }

[[publish]]
kind = "table"
"""
_SEX, _AGE, _TABLE = 'sex = { values = ["Female", "Male"] }', "from = 0, to = 100, width = 10", 'kind = "table"'
_DRAWN, _SOURCE, _PERSON = 'design = "poisson"\nrate = 0.5', 'source = "people.csv"\n', 'person = "id"\n'
_PRIVACY, _SAMPLING = "delta = 1e-6\n", f"[sampling]\n{_DRAWN}\n"
_TWO = 'kind = "table"\nname = "a"\n\n[[publish]]\nkind = "microdata"\n'
Swap = tuple[str, str]


def _person(n: int) -> str:
    sex, area, pay = ("Female", "Male")[n % 2], ("north", "south")[n % 2], f"{n % 50}.5"
    return f"p{n},{sex},{n % 100},{area},{2000 + n % 20}-01-{n % 28 + 1:02},{pay},{(1.5, 3)[n % 2]},{n % 3}"


ROWS = "\n".join(["id,sex,age,area,day,pay,weight,children", *map(_person, range(400))]) + "\n"

# The mistake, the code of its refusal, what the remedy says, and the edit that follows it; where another mistake is
# met then, its code.
REMEDIES: dict[str, tuple[Swap, str, str, Swap | tuple[Swap, ...], str] | tuple[Swap, str, str, Swap]] = {
    # names
    "misspelt section": (("[columns]", "[colums]"), "policy.unknown-section", "columns", ("[colums]", "[columns]")),
    "misspelt kind": (('"table"', '"tabel"'), "policy.kind", "table?", ("tabel", "table")),
    "misspelt domain": (("values", "vales"), "policy.unknown-key", "values?", ("vales", "values")),
    "person in other case": (('"id"', '"ID"'), "data.missing-column", "'id'?", ('"ID"', '"id"')),
    # sections and keys
    "no design": (
        ('design = "poisson"\n', ""),
        "policy.missing-key",
        '"poisson"',
        ("[sampling]", '[sampling]\ndesign = "poisson"'),
    ),
    "no sampling": (
        (_SAMPLING, ""),
        "policy.planned",
        'design = "poisson" and [sampling] rate = 0.5',
        ("[privacy]", f"{_SAMPLING}[privacy]"),
    ),
    "two open": (
        ("epsilon = 1.0\n", ""),
        "policy.planned",
        "Give all but the one",
        (_PRIVACY, f"{_PRIVACY}epsilon = 1.0\n"),
    ),
    "no publication": (
        (f"[[publish]]\n{_TABLE}", ""),
        "policy.missing-section",
        "[[publish]] kind",
        ("[columns]", f"[[publish]]\n{_TABLE}\n[columns]"),
    ),
    "single brackets": (
        ("[[publish]]", "[publish]"),
        "policy.section",
        "double brackets",
        ("[publish]", "[[publish]]"),
    ),
    "epsilon of a publication": (
        (_TABLE, f"{_TABLE}\nepsilon = 0.5"),
        "policy.unknown-key",
        "[privacy] epsilon",
        ("\nepsilon = 0.5", ""),
    ),
    "a rate of a register": (
        ('"poisson"', '"everybody"'),
        "policy.unknown-key",
        "Remove it",
        ("\nrate = 0.5", ""),
        "policy.everybody",
    ),
    "a delta of a register": (
        (_DRAWN, 'design = "everybody"'),
        "policy.everybody",
        "Remove [privacy] delta",
        (_PRIVACY, ""),
    ),
    "nobody is protected": (
        (_PERSON, ""),
        "policy.person",
        "rows_are_people = true",
        (_SOURCE, f"{_SOURCE}rows_are_people = true\n"),
    ),
    "protected twice": (
        (_PERSON, f"{_PERSON}rows_are_people = true\n"),
        "policy.person",
        "exactly one",
        ("rows_are_people = true\n", ""),
    ),
    "person published": (
        ("sex =", "id ="),
        "policy.person-published",
        "Remove it",
        ('id = { values = ["Female", "Male"] }\n', ""),
    ),
    "not filled in": (
        ('"Female", "Male"', '"FILL_IN"'),
        "policy.placeholder",
        "Write what you know",
        ('"FILL_IN"', '"Female", "Male"'),
    ),
    "a comma in a number": (("1.0", "1,0"), "policy.toml", "numbers have a point", ("1,0", "1.0")),
    "no quotes": (('"Female"', "Female"), "policy.toml", "texts stand in quotes", ("[Female", '["Female"')),
    # columns
    "a list for a domain": (
        (_SEX, 'sex = ["Female", "Male"]'),
        "policy.column-domain",
        "{ values =",
        ('["Female", "Male"]', '{ values = ["Female", "Male"] }'),
    ),
    "bounds alone": ((", width = 10", ""), "policy.column-domain", "Add width", ("to = 100", "to = 100, width = 10")),
    "two ways": (("width = 10", "width = 10, prefix = 2"), "policy.column-domain", "Keep one", (", prefix = 2", "")),
    "no whole number of widths": (
        ("width = 10", "width = 7"),
        "policy.domain",
        "Write to = 105",
        ("to = 100", "to = 105"),
    ),
    "bounds swapped": (
        ("from = 0, to = 100", "from = 100, to = 0"),
        "policy.domain",
        "Swap from and to",
        ("from = 100, to = 0", "from = 0, to = 100"),
    ),
    "a width of 0": (("width = 10", "width = 0"), "policy.domain", "a width above 0", ("width = 0", "width = 10")),
    "breaks fall": ((_AGE, "breaks = [0, 50, 20, 100]"), "policy.domain", "Sort them", ("50, 20", "20, 50")),
    "one break": ((_AGE, "breaks = [0]"), "policy.domain", "top = true", ("[0]", "[0], top = true")),
    "a value twice": (('"Male"', '"Male", "Male"'), "policy.domain", "merge one", ('"Male", "Male"', '"Male"')),
    "no values": (('"Female", "Male"', ""), "policy.domain", "List every value", ("[]", '["Female", "Male"]')),
    "top and include_to": (
        ("width = 10", "width = 10, include_to = true, top = true"),
        "policy.domain",
        "Drop one",
        (", top = true", ""),
    ),
    "parts of whole numbers": (
        ("width = 10", "width = 2.5, whole = true"),
        "policy.domain",
        "remove whole",
        (", whole = true", ""),
    ),
    "numbers without classes": (
        (_AGE, "from = 0, to = 100, resolution = 1"),
        "policy.no-classes",
        "width instead",
        ("resolution = 1", "width = 10"),
    ),
    "a name of the table's own": (("sex =", "count ="), "policy.reserved-name", "Rename", ("count =", "sex =")),
    "a column not declared": (
        (_TABLE, f'{_TABLE}\ncolumns = ["sex", "area"]'),
        "policy.unknown-column",
        "Use sex, age",
        ('"area"', '"age"'),
    ),
    "a date as people write it": (
        (_SEX, 'day = { date = "year", from = "1.1.2000", to = 2021 }'),
        "policy.type",
        "such as 1990-01-01",
        ("1.1.2000", "2000-01-01"),
    ),
    "one end of dates": (
        (_SEX, 'day = { date = "year", from = 2000-01-01 }'),
        "policy.date",
        "Add to",
        ("2000-01-01 }", "2000-01-01, to = 2021-01-01 }"),
    ),
    "dates swapped": (
        (_SEX, 'day = { date = "year", from = 2021, to = 2000 }'),
        "policy.domain",
        "Swap",
        ("from = 2021, to = 2000", "from = 2000, to = 2021"),
    ),
    "a period of its own": ((_SEX, 'day = { date = "years" }'), "policy.choice", "year", ('"years"', '"year"')),
    "finer than the file": (
        (_SEX, 'day = { date = "month" }\n'),
        "policy.date-format",
        'date = "year"',
        ('"month"', '"year"'),
        "data.outside-domain",
    ),
    "no hierarchy level": (
        (_SEX, 'sex = { hierarchy = "sex.csv" }'),
        "policy.hierarchy",
        "one of level",
        ('"sex.csv"', '"sex.csv", level = 1'),
    ),
    "a formula": (
        ('"Female"', '"=Female"'),
        "policy.formula",
        'format = "parquet"',
        ('format = "csv"', 'format = "parquet"'),
        "data.outside-domain",
    ),
    # values
    "an end that is excluded": (
        ("to = 100, width = 10", "to = 99, width = 1"),
        "data.outside-domain",
        "write to = 100",
        ("to = 99", "to = 100"),
    ),
    "an end, included": (
        (_AGE, "from = 0, to = 99, width = 11"),
        "data.outside-domain",
        "include_to = true",
        ("width = 11", "width = 11, include_to = true"),
    ),
    "a last break": ((_AGE, "breaks = [0, 50, 99]"), "data.outside-domain", "top = true", ("99]", "99], top = true")),
    "a last day": (
        (_SEX, 'day = { date = "year", from = 2000, to = "2019-01-28" }'),
        "data.outside-domain",
        "include_to = true",
        ('28"', '28", include_to = true'),
    ),
    "fractions of whole numbers": (
        (f"age = {{ {_AGE} }}", "pay = { from = 0, to = 60, width = 10, whole = true }"),
        "data.outside-domain",
        "Remove whole = true",
        (", whole = true", ""),
    ),
    "values in other case": (
        ('"Female", "Male"', '"female", "male"'),
        "data.outside-domain",
        "upper and lower case",
        ('"female", "male"', '"Female", "Male"'),
    ),
    "values of another book": (
        ('"Female", "Male"', '"Female"'),
        "data.outside-domain",
        "Declare other",
        ('"Female"]', '"Female"], other = "Other"'),
    ),
    "several rows of a person": (
        (_PERSON, 'person = "children"\n'),
        "data.repeated-person",
        'duplicates = "one"',
        ('"children"\n', '"children"\nduplicates = "one"\n'),
    ),
    # sources
    "no source": ((_SOURCE, ""), "policy.no-source", "Add [data] source", (_PERSON, _PERSON + _SOURCE)),
    "no such file": (("people.csv", "peple.csv"), "data.unreadable", "Check the path", ("peple", "people")),
    "a workbook": (("people.csv", "people.xlsx"), "policy.workbook", "CSV in UTF-8", ("people.xlsx", "people.csv")),
    "no format": (
        ("people.csv", "people.dat"),
        "policy.format",
        'format = "csv"',
        (_PERSON, f'{_PERSON}format = "csv"\n'),
    ),
    "another format": (
        (_PERSON, f'{_PERSON}format = "parquet"\n'),
        "data.unreadable",
        "Remove [data] format",
        ('format = "parquet"\n', ""),
    ),
    "a delimiter of Parquet": (
        (_SOURCE, 'source = "people.parquet"\ndelimiter = ";"\n'),
        "policy.delimiter",
        "Remove [data] delimiter",
        ('delimiter = ";"\n', ""),
        "data.unreadable",
    ),
    "two delimiters": (
        (_PERSON, f'{_PERSON}delimiter = ";;"\n'),
        "policy.delimiter",
        '";"',
        ('";;"', '";"'),
        "data.delimiter",
    ),
    "a format of Excel's": (
        (_PERSON, f'{_PERSON}date_format = "DD.MM.YYYY"\n'),
        "policy.date-format",
        '"%d.%m.%Y"',
        ("DD.MM.YYYY", "%d.%m.%Y"),
    ),
    "years of two digits": (
        (_PERSON, f'{_PERSON}date_format = "%d.%m.%y"\n'),
        "policy.date-format",
        "%Y",
        ("%y", "%Y"),
    ),
    "an encoding": (
        (_PERSON, f'{_PERSON}encoding = "windows"\n'),
        "policy.encoding",
        '"cp1252" (Windows)',
        ('"windows"', '"cp1252"'),
    ),
    "one mark for two": (
        (_PERSON, f'{_PERSON}decimal = ","\nthousands = ","\n'),
        "policy.thousands",
        "the other one",
        ('thousands = ","', 'thousands = "."'),
    ),
    "a password": (
        (_SOURCE, 'source = "postgresql://me:secret@host/db"\n'),
        "policy.password",
        "PGPASSWORD",
        (":secret", ""),
        "policy.table-of-source",
    ),
    "a database without a table": (
        (_SOURCE, 'source = "postgresql://me@host/db"\n'),
        "policy.table-of-source",
        "Name the table",
        ("/db", '/db"\ntable = "people'),
        "data.database",
    ),
    "no size": (("[privacy]", '[release]\nmemory = "lots"\n[privacy]'), "policy.memory", '"1GB"', ('"lots"', '"1GB"')),
    # budgets and designs
    "a rate in percent": (("0.5", "50"), "policy.range", "The share", ("50", "0.5")),
    "an epsilon that protects nobody": (("1.0", "12.0"), "plan.epsilon", "Lower it: 1", ("12.0", "1.0")),
    "and is accepted": (
        ("1.0", "12.0"),
        "plan.epsilon",
        "accept_epsilon = true",
        (_PRIVACY, f"{_PRIVACY}accept_epsilon = true\n"),
    ),
    "an epsilon of nothing": (("1.0", "0.0"), "plan.no-k", "Raise epsilon", ("0.0", "1.0")),
    "a delta of nothing": (("1e-6", "0.0"), "plan.no-k", "Raise delta", ("0.0", "1e-6")),
    "a large delta": (("1e-6", "0.01"), "plan.delta", "delta = 0.001", ("0.01", "0.001")),
    "a delta for fewer people": (
        (_PERSON, f"{_PERSON}people = 3000000\n"),
        "plan.delta",
        "delta = 3e-07",
        ("1e-6", "3e-07"),
    ),
    "a crowd of one": ((_TABLE, f"{_TABLE}\nk = 1"), "plan.crowd-of-one", "a larger k", ("k = 1", "k = 40")),
    "a k out of reach": (
        (_TABLE, f"{_TABLE}\nk = 3"),
        "plan.delta-out-of-reach",
        "leave one of them out",
        ("\nk = 3", ""),
    ),
    "noise without noise": (
        (_TABLE, f"{_TABLE}\nnoise_epsilon = 1.0"),
        "policy.needs-noise",
        'below_k = "noise"',
        ("noise_epsilon = 1.0", 'noise_epsilon = 1.0\nbelow_k = "noise"'),
    ),
    "a share of one": (
        (_TABLE, f"{_TABLE}\nshare = 0.5"),
        "policy.one-publication",
        "Remove [[publish]] share",
        ("\nshare = 0.5", ""),
    ),
    "no names": ((_TABLE, _TWO), "policy.publication-name", "Name each", ('"microdata"', '"microdata"\nname = "b"')),
    "one name for two": (
        (_TABLE, f'{_TWO}name = "a"\n'),
        "policy.publication-twice",
        "Rename one",
        ('"microdata"\nname = "a"', '"microdata"\nname = "b"'),
    ),
    "a survey that is not thinned": (
        (_DRAWN, 'design = "survey"\npeople = 400\nof = 90000'),
        "policy.fixed-size",
        "thin = 0.8",
        ("of = 90000", "of = 90000\nthin = 0.8"),
    ),
    "a survey thinned to itself": (
        (_DRAWN, 'design = "survey"\npeople = 400\nof = 90000\nthin = 1'),
        "policy.fixed-size",
        "thin = 0.8",
        ("thin = 1", "thin = 0.8"),
    ),
    "a survey of more than all": (
        (_DRAWN, 'design = "survey"\npeople = 400\nof = 300\nthin = 0.8'),
        "policy.sample",
        "correct of",
        ("of = 300", "of = 90000"),
    ),
    "a stratum without a rate": (
        (_DRAWN, 'design = "strata"\ncolumn = "sex"\nrates = { Female = 0.5 }'),
        "policy.stratum",
        "every label of the column a rate",
        ("Female = 0.5", "Female = 0.5, Male = 0.2"),
    ),
    "weights without bounds": (
        (_DRAWN, 'design = "weights"\ncolumn = "weight"'),
        "policy.weight",
        "with breaks",
        (_SEX, f"{_SEX}\nweight = {{ breaks = [1.4, 1.8, 2.4, 3.2] }}"),
    ),
    "weights from 1 on": (
        (_DRAWN + "\n", 'design = "weights"\ncolumn = "weight"\n'),
        "policy.weight",
        "Begin above 1",
        ("[1, ", "[1.4, "),
    ),
    "weights far apart": (
        (_DRAWN, 'design = "weights"\ncolumn = "weight"\nlow = 0.1\nhigh = 0.8'),
        "plan.no-k",
        "breaks",
        (("\nlow = 0.1\nhigh = 0.8", ""), (_SEX, f"{_SEX}\nweight = {{ breaks = [1.4, 1.8, 2.4, 3.2] }}")),
    ),  # type: ignore[dict-item]
    "or thinned": (
        (_DRAWN, 'design = "weights"\ncolumn = "weight"'),
        "plan.no-k",
        "thin = 0.8",
        ('"weight"', '"weight"\nthin = 0.8'),
    ),
}
# What else such a policy has, so that its mistake is the one that is met.
_BESIDE: dict[str, Swap] = {
    "finer than the file": (_PERSON, f'{_PERSON}date_format = "%Y"\n'),
    "a formula": ("[privacy]", '[release]\nformat = "csv"\n[privacy]'),
    "weights from 1 on": (_SEX, f"{_SEX}\nweight = {{ breaks = [1, 1.8, 2.4, 3.2] }}"),
    "or thinned": (_SEX, f"{_SEX}\nweight = {{ breaks = [1.2, 4] }}"),
}


def _tried(text: str, folder: Path) -> CrowdblendError | None:
    """Return how a policy is refused, read, planned and counted; None where it is not."""
    (folder / "people.csv").write_text(ROWS)
    (folder / "people.dat").write_text(ROWS)
    (folder / "sex.csv").write_text("Female;all\nMale;all\n")
    (folder / "policy.toml").write_text(text)
    try:
        policy = cb.load_policy(folder / "policy.toml")
        planned = plan(policy)
        planned.check_source(default_engine())
        if not policy.is_programme:
            count_classes(policy.only, Everybody())  # type: ignore[arg-type]
    except CrowdblendError as refused:
        return refused.in_notation(TOML)
    return None


@pytest.mark.filterwarnings("ignore:include_to puts")
@for_each("name", REMEDIES, daily=40)
def test_whoever_does_what_a_refusal_says_gets_further(name: str, tmp_path: Path) -> None:
    mistake, code, words, remedy, *then = REMEDIES[name]
    text = swapped(POLICY, *([_BESIDE[name]] if name in _BESIDE else []), mistake)
    refused = _tried(text, tmp_path)
    assert refused is not None
    assert refused.code == code, str(refused)
    assert words in refused.remedy, str(refused)
    edits = (remedy,) if isinstance(remedy[0], str) else remedy
    after = _tried(swapped(text, *edits), tmp_path)  # type: ignore[arg-type]
    assert (after and after.code) == (then[0] if then else None), str(after)
    assert str(after) != str(refused)
