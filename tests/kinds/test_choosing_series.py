"""A series of releases, each of which chooses its recoding: epsilon and delta are for choices and releases together."""

from pathlib import Path

import pytest

from crowdblend.errors import Infeasible
from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.trusted.calculus import verify_file
from crowdblend.trusted.calculus.loss_curves import epsilon_of
from crowdblend.trusted.guarantees.profiles import Profile, Uses
from tests.plans import plan

from .towns import KEY, POLICY, SPLIT, write_town


def series(text: str, releases: int) -> str:
    return text.replace("[privacy]", f"[privacy]\nreleases = {releases}")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_town(tmp_path_factory.mktemp("town"))


@pytest.mark.parametrize("text", [POLICY, pytest.param(SPLIT, marks=pytest.mark.slow)], ids=["population", "split"])
def test_three_releases_keep_what_is_planned_for_all(town: Path, tmp_path: Path, text: str) -> None:
    policy = parse_policy(series(text, 3), town)
    planned = plan(policy.only)
    ledger = Ledger.create(tmp_path / "ledger.db")
    done = release(policy, tmp_path / "out", key=KEY, ledger=ledger)
    certificate = verify_file(done.folder)
    alone = certificate.differential()
    assert alone is not None
    assert (alone.epsilon, alone.delta < 1e-6) == (1.0, True)
    profile = ledger.entries()[0].spending.guarantees[-1]
    assert isinstance(profile, Profile)
    three = Profile(tuple(Uses(use.curve, 3 * use.releases) for use in profile.uses))
    assert epsilon_of(three, 1e-6) <= 1.0
    assert planned.parameters.k > plan(parse_policy(text, town).only).parameters.k


def test_a_smaller_k_is_refused(town: Path) -> None:
    k = plan(parse_policy(series(POLICY, 3), town).only).parameters.k
    with pytest.raises(Infeasible):
        plan(parse_policy(series(POLICY, 3).replace('kind = "table"', f'kind = "table"\nk = {k - 1}'), town).only)


def test_choices_that_cost_everything_are_refused(town: Path) -> None:
    with pytest.raises(Infeasible, match="Choosing 400 recodings costs more"):
        plan(parse_policy(series(POLICY, 400), town).only)
