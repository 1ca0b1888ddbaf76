"""Who the people are: owners and descriptions, populations that overlap, and people who are in two of them."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from crowdblend.errors import DoesNotCompose, InvalidInput, Refused
from crowdblend.ledger import Ledger
from crowdblend.ledger.conflicts import _refuse_beside_limit
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, Relation
from tests.commands import crowdblend
from tests.ledger.spendings import spending
from tests.policies.policies import policy_text

POLICY = policy_text(
    data='source = "SOURCE"\nperson = "id"\npopulation = "POPULATION"',
    sampling='design = "poisson"\nrate = 0.5',
    columns='sex = { values = ["f", "m"] }',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "table"',
)


def plain(epsilon: float) -> tuple[Differential, ...]:
    return (Differential(epsilon, 0.0, Relation.ADD_REMOVE),)


def test_owner_description_and_sources(ledger: Ledger) -> None:
    ledger.describe("residents", owner="registry office", description="everybody who lives here")
    ledger.begin(replace(spending("a"), source="source:1"))
    ledger.begin(replace(spending("b", "patients"), source="source:2"))
    ledger.begin(replace(spending("c"), source="source:3"))
    first, second = ledger.populations()
    assert (first.name, first.owner, first.description) == ("residents", "registry office", "everybody who lives here")
    assert (first.sources, first.releases, first.limit) == (("source:1", "source:3"), 2, None)
    assert (second.name, second.owner) == ("patients", None)


def test_populations_that_overlap_add_up(ledger: Ledger) -> None:
    ledger.begin(spending("a", "residents", guarantees=plain(0.5)))
    ledger.begin(spending("b", "patients", guarantees=plain(0.25)))
    ledger.begin(spending("c", "pupils", guarantees=plain(2.0)))
    assert ledger.budget("residents").differential.epsilon == 0.5
    ledger.overlap("patients", "residents", why="most patients live here")
    both = ledger.budget("residents")
    assert (both.differential.epsilon, both.releases, both.overlapping) == (0.75, (1, 2), ("patients",))
    assert ledger.budget("patients").differential.epsilon == 0.75
    assert ledger.budget("pupils").differential.epsilon == 2.0


def test_the_limit_of_an_overlapping_population_holds_too(ledger: Ledger) -> None:
    ledger.limit("residents", epsilon=1.0, delta=1e-6)
    ledger.begin(spending("a", "residents", guarantees=plain(0.5)))
    ledger.begin(spending("b", "patients", guarantees=plain(0.25)))
    ledger.overlap("residents", "patients")
    for population in ("residents", "patients"):
        with pytest.raises(Refused, match="about 'residents' would come to") as refused:
            ledger.begin(spending("c", population, guarantees=plain(0.5)))
        assert refused.value.where == "residents"
    ledger.begin(spending("c", "patients", guarantees=plain(0.25)))


def test_every_overlapping_population_counts_towards_a_limit_and_has_its_own(ledger: Ledger) -> None:
    """Of three that overlap each adds up with the two others, whichever was declared first."""
    for number, other in enumerate(["patients", "pupils", "soldiers"]):
        ledger.begin(spending(f"of {other}", other, guarantees=plain(0.25)))
        ledger.overlap("residents", other) if number % 2 else ledger.overlap(other, "residents")
    ledger.limit("residents", epsilon=1.0, delta=1e-6)
    assert ledger.budget("residents").differential.epsilon == 0.75
    assert ledger.budget("residents").overlapping == ("patients", "pupils", "soldiers")
    assert ledger.budget("pupils").differential.epsilon == 0.25
    with pytest.raises(Refused, match="about 'residents' would come to"):
        ledger.begin(spending("c", "residents", guarantees=plain(0.5)))
    for number, other in enumerate(["patients", "pupils", "soldiers"]):
        ledger.limit(other, epsilon=0.4, delta=1e-6)
        with pytest.raises(Refused) as refused:
            ledger.begin(spending("c", "residents", guarantees=plain(0.2)))
        assert refused.value.where == other
        ledger.limit(other, epsilon=4.0, delta=1e-6, why=f"raised {number}")
    ledger.begin(spending("c", "residents", guarantees=plain(0.2)))


def test_what_does_not_add_up_may_not_stand_beside_an_overlapping_one(ledger: Ledger) -> None:
    ledger.begin(spending("a", "residents"))
    ledger.overlap("residents", "patients")
    with pytest.raises(DoesNotCompose, match="adds up"):
        ledger.begin(spending("b", "patients", guarantees=(CrowdBlending(8, 0.0),)))


@pytest.mark.parametrize("first", ["residents", "patients"])
def test_every_release_about_the_same_people_has_to_add_up(first: str, ledger: Ledger) -> None:
    """Not the first one alone: what was released before the populations were known to overlap may be the second."""
    names = ["residents", "patients"] if first == "residents" else ["patients", "residents"]
    ledger.begin(spending("a", names[0], guarantees=plain(0.5) if first == "residents" else (CrowdBlending(8, 0.0),)))
    ledger.begin(spending("b", names[1], guarantees=(CrowdBlending(8, 0.0),) if first == "residents" else plain(0.5)))
    ledger.overlap("residents", "patients")
    with pytest.raises(DoesNotCompose, match="adds up") as refused:
        ledger.begin(spending("c", "residents", guarantees=plain(0.5)))
    assert refused.value.where == ("release 2" if first == "residents" else "release 1")


@pytest.mark.parametrize("other", ["patients", "pupils", "soldiers"])
def test_a_release_stands_beside_none_of_several_overlapping_ones_that_does_not_add_up(
    other: str, ledger: Ledger
) -> None:
    ledger.begin(spending("a", other, guarantees=(CrowdBlending(8, 0.0),)))
    for name in ("patients", "pupils", "soldiers"):
        ledger.overlap("residents", name)
    with pytest.raises(DoesNotCompose, match="adds up"):
        ledger.begin(spending("b", "residents", guarantees=plain(0.5)))


def test_a_population_does_not_overlap_with_itself(ledger: Ledger) -> None:
    with pytest.raises(InvalidInput):
        ledger.overlap("residents", " residents")


def write(folder: Path, name: str, people: range, population: str) -> Path:
    frame = pd.DataFrame({"id": [f"p{number}" for number in people], "sex": ["f", "m"] * (len(people) // 2)})
    frame.to_csv(folder / f"{name}.csv", index=False)
    policy = folder / f"{name}.toml"
    policy.write_text(POLICY.replace("SOURCE", f"{name}.csv").replace("POPULATION", population))
    return policy


def test_people_in_two_populations_are_told_before_anything_is_spent(tmp_path: Path) -> None:
    """A third of the people of the second source are in the first: other people, so no refusal, but a sentence."""
    Ledger.create(tmp_path / "ledger.sqlite")
    at = ("--ledger", tmp_path / "ledger.sqlite", "--yes")
    first = write(tmp_path, "first", range(600), "residents")
    second = write(tmp_path, "second", range(400, 1000), "patients")
    third = write(tmp_path, "third", range(2000, 2600), "pupils")
    assert "Some of these people" not in crowdblend("release", first, "--out", tmp_path / "1", *at).stderr
    done = crowdblend("release", second, "--out", tmp_path / "2", *at)
    assert done.returncode == 0
    assert "Some of these people are also in the population 'residents'" in done.stderr
    assert "crowdblend ledger overlap 'patients' 'residents'" in done.stderr
    assert "Some of these people" not in crowdblend("release", third, "--out", tmp_path / "3", *at).stderr
    assert crowdblend("ledger", "overlap", "patients", "residents", *at[:2]).returncode == 0
    again = crowdblend("release", second, "--out", tmp_path / "4", *at)
    assert "Some of these people" not in again.stderr
    assert "epsilon 3" in again.stdout  # 1 about residents and 2 about patients
    listed = crowdblend("ledger", "populations", *at[:2]).stdout
    assert "overlaps  residents" in listed


def test_people_who_are_numbered_alike_may_be_others(tmp_path: Path) -> None:
    """What tells them apart is named before what cannot be taken back, also beside a limit."""
    Ledger.create(tmp_path / "ledger.sqlite")
    at = ("--ledger", tmp_path / "ledger.sqlite")
    pd.DataFrame({"id": range(1, 601), "sex": ["f", "m"] * 300}).to_csv(tmp_path / "small.csv", index=False)
    pd.DataFrame({"id": range(1, 2001), "sex": ["m", "f"] * 1000}).to_csv(tmp_path / "large.csv", index=False)
    policies = {name: tmp_path / f"{name}.toml" for name in ("small", "large")}
    for name, policy in policies.items():
        policy.write_text(POLICY.replace("SOURCE", f"{name}.csv").replace("POPULATION", name))
    assert crowdblend("release", policies["small"], "--out", tmp_path / "1", "--yes", *at).returncode == 0
    done = crowdblend("release", policies["large"], "--out", tmp_path / "2", "--yes", *at)
    assert done.returncode == 0
    assert "Some of these people" not in done.stderr
    said = "Some ids of this table are also in the population 'small', as small numbers are by chance."
    remedy = 'Add [data] ids = "table" if the ids only number the rows of this table.'
    declare = "crowdblend ledger overlap 'large' 'small'"
    assert said in done.stderr
    assert 0 < done.stderr.index(remedy) < done.stderr.index("which cannot be taken back") < done.stderr.index(declare)
    Ledger(at[1]).limit("small", epsilon=9.0, delta=1e-6)
    refused = crowdblend("release", policies["large"], "--out", tmp_path / "3", "--yes", *at)
    assert refused.returncode == 3
    assert 0 < refused.stderr.index(remedy) < refused.stderr.index(declare)


@pytest.mark.parametrize("limited", ["patients", "residents", "pupils"])
def test_whosever_limit_it_is_people_in_common_are_declared_first(limited: str, ledger: Ledger) -> None:
    others = ("residents", "pupils")
    _refuse_beside_limit("patients", others, (), ledger.accounts().declared)
    ledger.limit(limited, epsilon=1.0, delta=1e-6)
    for people, numbers in ((others, ()), ((), others), (others[:1], others[1:]), (others[1:], others[:1])):
        with pytest.raises(DoesNotCompose, match="a limit holds that would not count"):
            _refuse_beside_limit("patients", people, numbers, ledger.accounts().declared)


def test_ones_own_ledger_is_made_only_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWDBLEND_LEDGER", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    policy = write(tmp_path, "first", range(600), "residents")
    assert crowdblend("release", policy, "--out", tmp_path / "1").returncode == 2
    assert not (tmp_path / "data").exists()
    monkeypatch.setattr("crowdblend.cli.release._asks", lambda: True)
    refused = crowdblend("release", policy, "--out", tmp_path / "1", stdin="n\n")
    assert (refused.returncode, "Make a new one?" in refused.stderr) == (1, True)
    assert not (tmp_path / "data").exists()
    nobody = crowdblend("release", policy, "--out", tmp_path / "1", "--yes")
    assert (nobody.returncode, "crowdblend ledger init" in nobody.stderr) == (2, True)
    assert not (tmp_path / "data").exists()
    done = crowdblend("release", policy, "--out", tmp_path / "1", stdin="y\ny\n")
    assert done.returncode == 0
    assert "creating a new one" in done.stderr
