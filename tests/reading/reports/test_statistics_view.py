"""The report of statistics shows every number with its error, and what it tells no more than."""

import re
from pathlib import Path

import pytest

from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from tests.cases import for_each
from tests.policies.policies import policy_text

POLICY = policy_text(
    data='source = "people.csv"\nrows_are_people = true',
    sampling='design = "survey"\npeople = 20\nof = 60',
    columns='"<b>" = { values = ["x<y", "z"] }\nage = { from = 0, to = 100, resolution = 1 }',
    privacy="epsilon = 2.0",
    release='format = "FORMAT"',
    publish=(
        'kind = "statistics"',
        '[[publish.statistics]]\nname = "mean & more"\naverage = "age"',
        '[[publish.statistics]]\nname = "by b"\nhistogram = "<b>"',
    ),
)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_errors_and_yardstick_are_shown(tmp_path: Path, kind: str) -> None:
    rows = [f"{'x<y' if at % 3 else 'z'},{at}" for at in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["<b>,age", *rows]) + "\n", encoding="utf-8")
    done = release(parse_policy(POLICY.replace("FORMAT", kind), tmp_path), tmp_path / "out")
    page = (done.folder / "report.html").read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "2 statistics about people" in text
    assert "the data of 20 random people out of 60 with yours concealed tell" in text
    assert "with a probability of at least 0.95; of a histogram, all classes at once" in text
    assert "mean &amp; more average of age" in text
    assert "times what it would be from the data of 20 random people out of 60, you concealed" in text
    # 1 - e^-2/2, rounded up
    assert "guesses right at most 93.3 % of the time" in text
    assert "whatever else somebody knows, except who was sampled, if" in text
    assert text.count("±") >= 3
    assert "x&lt;y" in text
    assert "<b>" not in page


@for_each("publish", [None, 'kind = "synopsis"\nconjunctions = 1'])
def test_nobody_is_called_sampled_where_everybody_is_counted(tmp_path: Path, publish: str | None) -> None:
    everybody = {'design = "survey"\npeople = 20\nof = 60': 'design = "everybody"', "rows_are": "people = 20\nrows_are"}
    cut = {POLICY[POLICY.index("[[publish]]") :]: f"[[publish]]\n{publish}\n"}
    axis = {"age = { from = 0, to = 100, resolution = 1 }": "", 'format = "csv"': 'format = "parquet"'}
    readme, page = _files(tmp_path, everybody if publish is None else everybody | cut | axis)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    before = text[: text.index("The guarantee is a theorem.")]
    for words in ("random people", "sampled", "people drawn"):
        assert words not in before
        assert words not in readme
    assert "This holds whatever else somebody knows if the assumptions below hold." in before
    assert publish or "the data of all 20 people with yours concealed tell; ε bounds the difference. What" in before


def _files(folder: Path, change: dict[str, str]) -> tuple[str, str]:
    text = POLICY.replace("FORMAT", "csv")
    for old, new in change.items():
        text = text.replace(old, new)
    rows = [f"{'x<y' if at % 3 else 'z'},{at}" for at in range(20)]
    (folder / "people.csv").write_text("\n".join(["<b>,age", *rows]) + "\n", encoding="utf-8")
    done = release(parse_policy(text, folder), folder / "out", figures=False)
    readme, page = ((done.folder / name).read_text(encoding="utf-8") for name in ("README.md", "report.html"))
    return readme, page


def test_what_a_survey_rests_on_is_in_the_readme(tmp_path: Path) -> None:
    readme, _ = _files(tmp_path, {"of = 60": "of = 60\nthin = 1.0"})
    assert "A survey asked 20 of 60 people. The guarantee for everybody, and the estimates, rest on" in readme


def test_that_the_number_of_people_of_a_survey_is_public_is_not_denied(tmp_path: Path) -> None:
    rows = {"rows_are_people = true": 'person = "age"\nrows_per_person = 2'}
    readme, page = _files(tmp_path, {"of = 60": "of = 60\nthin = 1.0", **rows})
    assert "A survey asked 20 of 60 people." in readme
    assert "each sampled row represents 3 rows. Which were sampled is not published." in page


def test_statistics_of_a_register_beside_a_table_are_from_everybody(tmp_path: Path) -> None:
    table = '[[publish]]\nkind = "table"\nname = "t"\ncolumns = ["<b>"]\n\n[[publish]]\nkind = "statistics"\nname = "s"'
    register = {
        'design = "survey"\npeople = 20\nof = 60': 'design = "everybody"',
        "epsilon = 2.0": 'epsilon = 2.0\nsplit = "budget"',
    }
    _, page = _files(
        tmp_path,
        {
            **register,
            '[[publish]]\nkind = "statistics"': table,
            "rows_are_people = true": "rows_are_people = true\npeople = 20",
        },
    )
    assert "from everybody, with noise" in page
    assert "from a sample" not in page
