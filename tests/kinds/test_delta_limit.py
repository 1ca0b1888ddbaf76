"""A delta or an epsilon that guarantees next to nothing is refused, unless the policy accepts it."""

import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from crowdblend.cli.release import release_lines
from crowdblend.errors import Infeasible
from crowdblend.kinds import plan
from crowdblend.kinds.shared.delta_limit import check_delta
from crowdblend.kinds.shared.facts import read_facts
from crowdblend.policies.load import parse_policy
from crowdblend.policies.registry import KINDS
from crowdblend.publishing.release import release
from crowdblend.trusted.guarantees.privacy import Differential
from tests.cases import for_each
from tests.commands import crowdblend
from tests.golden.releases import POLICIES, PROGRAMMES, write_sources
from tests.policies.policies import bent, policy_text

NO_DELTA = ("delta = 1e-6\n", "")
POINTS = policy_text(
    data='source = "people.csv"\nrows_are_people = true',
    sampling='design = "poisson"\nrate = 0.8',
    columns="x = { from = 0, to = 8, resolution = 0.5, width = 2 }",
    privacy="epsilon = 0.1",
    publish='kind = "points"\nk = 5\nnoise_epsilon = 0.5',
)
OUTLIERS = policy_text(
    data='source = "people.csv"\nrows_are_people = true',
    sampling='design = "everybody"',
    columns='sex = { values = ["f", "m"] }',
    privacy="epsilon = 0.01",
    publish='kind = "outlier-table"\nlimit = 60\ntransition = 3',
)
WEAK = {
    "table": bent(NO_DELTA, ("rate = 0.1", "rate = 0.8"), ("k = 20", "k = 3")),
    "microdata": bent(NO_DELTA, ("rate = 0.1", "rate = 0.8"), ("k = 20", "k = 3"), ('"table"', '"microdata"')),
    "noise": bent(NO_DELTA, ("rate = 0.1", "rate = 0.8"), ("k = 20", 'k = 3\nbelow_k = "noise"')),
    "stated": bent(("delta = 1e-6", "delta = 0.5")),
    "points": POINTS,
    "outlier-table": OUTLIERS,
}


@for_each("name", WEAK)
def test_a_large_delta_needs_a_word(name: str) -> None:
    with pytest.raises(Infeasible) as refused:
        plan(parse_policy(WEAK[name]))
    assert (refused.value.code, refused.value.where, refused.value.exit_code) == ("plan.delta", "delta", 1)
    accepted = plan(parse_policy(WEAK[name].replace("[privacy]", "[privacy]\naccept_delta = true")))
    weak = any(isinstance(made, Differential) and made.delta > 1e-3 for made in accepted.certificate().guarantees)
    assert weak or name == "stated"  # there the certificate says what is proved, which is less


def test_delta_stays_below_one_over_the_people() -> None:
    few, many = (bent(('person = "id"', f'person = "id"\npeople = {people}')) for people in (999_999, 1_000_001))
    assert plan(parse_policy(few)).policy.people == 999_999
    with pytest.raises(Infeasible) as refused:
        plan(parse_policy(many))
    assert refused.value.code == "plan.delta"
    accepted = many.replace("[privacy]", "[privacy]\naccept_delta = true")
    assert plan(parse_policy(accepted)).policy.accept_delta


def test_every_release_that_is_published_keeps_to_the_limit(sources: Path) -> None:
    kinds = set()
    for text in POLICIES.values():
        made = plan(parse_policy(text, sources))
        kinds.add(made.policy.kind)
        stated = made.certificate().differential()
        assert getattr(made.policy, "accept_delta", False) or stated is None or stated.delta <= 1e-3
    assert kinds == set(KINDS)


@pytest.mark.parametrize("name", [*KINDS, "table-register", "table-biased", "table-split", "programme-register"])
def test_a_large_epsilon_needs_a_word(name: str, sources: Path) -> None:
    text = re.sub(r"(?m)^epsilon = .*$", "epsilon = 50.0", (POLICIES | PROGRAMMES)[name])
    policy = parse_policy(text, sources)
    accepted = plan(policy.replace(accept_epsilon=True)).facts().parameters["epsilon"]
    if accepted <= 10:  # a network spends what its statistics ask for
        assert name == "graph"
        return
    with pytest.raises(Infeasible) as refused:
        plan(policy)
    assert (refused.value.code, refused.value.where) == ("plan.epsilon", "epsilon")
    assert refused.value.exit_code == 1


def test_the_limit_itself_is_no_more_than_the_limit() -> None:
    for people, limit in ((None, 1e-3), (5_000, 1 / 5_000)):
        policy = SimpleNamespace(people=people, accept_delta=False)
        check_delta(policy, limit)
        with pytest.raises(Infeasible):
            check_delta(policy, math.nextafter(limit, 1))


@pytest.mark.parametrize("releases", [1, 2])
def test_a_series_is_mentioned_wherever_its_guarantee_is(releases: int, tmp_path: Path) -> None:
    write_sources(tmp_path)
    series = "that were planned under one budget"
    text = re.sub(r"(?m)^k = .*\n", "", POLICIES["table"]).replace("[privacy]", f"[privacy]\nreleases = {releases}")
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    dry = crowdblend("release", tmp_path / "policy.toml", "--dry-run").stdout
    done = release(parse_policy(text, tmp_path), out, ledger=None)
    assert done.folder is not None
    said = [dry, *((out / name).read_text(encoding="utf-8") for name in ("README.md", "report.html"))]
    said += [done._repr_html_(), crowdblend("verify", out).stdout, "\n".join(release_lines(done, None))]
    assert [f"one of {releases} releases" in one and series in one for one in said] == [releases > 1] * 6
    assert read_facts(done.certificate.facts).parameters.get("releases", 1) == releases
    assert ("releases" in read_facts(done.certificate.facts).parameters) == (releases > 1)
    assert ("releases" in done.certificate.facts) == (releases > 1)
