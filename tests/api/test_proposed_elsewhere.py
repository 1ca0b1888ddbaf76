"""Domains that were proposed from the data keep their cost wherever they are taken to."""

from pathlib import Path

import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError
from crowdblend.policies.code_book import read_code_book

PEOPLE = pd.DataFrame({"id": range(3_000), "area": ["missing", "other", None] * 1_000, "sex": ["f", "m"] * 1_500})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("proposed") / "proposal"
    cb.propose(PEOPLE, out=out, epsilon=1.0, delta=1e-6, labels=["area"], person="id", ledger=None)
    return out


def policy(folder: Path, **terms: object) -> cb.Policy:
    given = {"epsilon": 2.0, "sampling": cb.Everybody(), "publish": cb.Table("area"), **terms}
    area = cb.values("missing", "other", other="(other)", missing="(missing)")
    return cb.Policy(person="id", columns={"area": area}, proposed=str(folder), **given)  # type: ignore[arg-type]


def test_labels_called_missing_and_other_are_proposed(folder: Path) -> None:
    domain = cb.read(folder).tables["data"].columns["area"]
    assert domain.labels is None  # of labels that nobody listed
    made = cb.propose(PEOPLE, out=folder.with_name("again"), epsilon=1.0, delta=1e-6, labels=["area"], person="id",
                      ledger=None)  # fmt: skip
    assert made.to_dict()["area"].count("(missing)") == made.to_dict()["area"].count("(other)") == 1


def test_no_code_book_forgets_the_proposal(folder: Path, tmp_path: Path) -> None:
    made = cb.release(PEOPLE, policy(folder), out=tmp_path / "out", ledger=None)
    (tmp_path / "policy.toml").write_text(policy(folder).replace(source="people.csv").to_toml(), encoding="utf-8")
    for earlier in (tmp_path / "policy.toml", tmp_path / "out" / "datapackage.json"):
        with pytest.raises(CrowdblendError, match="proposed from the data"):
            read_code_book(earlier)
    with pytest.raises(CrowdblendError) as refused:
        cb.synthesize(tmp_path / "out", rows=10)
    assert refused.value.code == "synthesize.proposed"
    assert made.certificate.differential().epsilon <= 2.0  # type: ignore[union-attr]


def test_the_whole_epsilon_has_to_be_accepted(tmp_path: Path) -> None:
    dear = tmp_path / "dear"
    cb.propose(PEOPLE, out=dear, epsilon=6.0, delta=1e-6, labels=["area"], person="id", ledger=None)
    with pytest.raises(CrowdblendError) as refused:
        policy(dear, epsilon=12.0).plan()
    assert refused.value.code == "plan.epsilon"
    policy(dear, epsilon=12.0, accept_epsilon=True).plan()


def test_a_proposal_is_about_everybody(folder: Path) -> None:
    with pytest.raises(CrowdblendError, match="about everybody"):
        cb.Policy(person="id", columns={"sex": ["f", "m"]}, sampling=cb.Poisson(0.5), epsilon=1.0, delta=1e-6,
                  publish=cb.Table("sex"), proposes=True).plan()  # fmt: skip


@pytest.mark.filterwarnings("ignore:No ledger at")
def test_proposals_about_overlapping_people_are_named(folder: Path, tmp_path: Path) -> None:
    ledger = cb.Ledger(tmp_path / "ledger")
    cb.propose(PEOPLE, out=tmp_path / "of-town", epsilon=0.5, delta=1e-6, labels=["area"], person="id",
               population="town", ledger=ledger)  # fmt: skip
    ledger.overlap("town", "half", why="the same people")
    with pytest.warns(UserWarning, match="propos"):
        cb.release(PEOPLE.head(2_000), policy(folder, population="half").replace(proposed=()), ledger=ledger)


def test_a_loss_that_follows_from_the_number_of_labels_is_refused(folder: Path) -> None:
    """Noise and shares of several publications are planned by their cells, and these were found in the data."""
    both = [cb.Table("area", name="a"), cb.Table("area", name="b")]
    with pytest.raises(CrowdblendError, match="would follow from them"):
        policy(folder, publish=both, split="budget").plan()
