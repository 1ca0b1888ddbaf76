"""The report of a network explains the guarantee, shows no risk smaller than it is, and claims no sample."""

import re
from pathlib import Path

from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from tests.policies.policies import policy_text

POLICY = policy_text(
    data='source = "links.csv"',
    privacy="epsilon = 2.0",
    publish=(
        'kind = "graph"\npeople = 4000\ndegree_bound = 4',
        '[[publish.statistics]]\nname = "connectivity"\nsamples = 500',
        '[[publish.statistics]]\nname = "average-degree"\nsamples = 500',
    ),
)


def test_the_promise_is_explained_without_a_sample(tmp_path: Path) -> None:
    links = "".join(f"{at},{at + 1}\n" for at in range(2_000))
    (tmp_path / "links.csv").write_text("source,target\n" + links, encoding="utf-8")
    done = release(parse_policy(POLICY, tmp_path), tmp_path / "out")
    page = (done.folder / "report.html").read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "times what it would be from 500 random people and up to" in text
    assert "This holds whatever else somebody knows if the assumptions" in text
    assert "who was sampled" not in text
    assert "connectivity is a share of the largest possible number of links" in text
    guaranteed = done.certificate.derivations[0].conclusion.epsilon
    shown = re.search(r"ε, relative to those people ([0-9.]+)", text)
    assert shown
    assert guaranteed <= float(shown[1]) <= guaranteed + 0.01
