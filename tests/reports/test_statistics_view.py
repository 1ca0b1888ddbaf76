"""The report of statistics shows every number with its error, and what it tells no more than."""

import re
from pathlib import Path

import pytest

from crowdblend.policies import parse_policy
from crowdblend.publishing.release import release
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
    assert "with a probability of at least 0.95; of a histogram, all bins at once" in text
    assert "mean &amp; more average of age" in text
    assert "times what it would be from the data of 20 random people out of 60, you concealed" in text
    # 1 - e^-2/2, rounded up
    assert "guesses right at most 93.3 % of the time" in text
    assert "whatever else somebody knows, except who was sampled, if" in text
    assert text.count("±") >= 3
    assert "x&lt;y" in text
    assert "<b>" not in page
