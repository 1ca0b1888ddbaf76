"""Domains proposed from the data: what they cost is in the ledger, and in the certificate of whatever uses them."""

import json
import math
import random
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from msgspec.structs import replace

import crowdblend as cb
from crowdblend.api.proposing import proposal_policy, read_proposal
from crowdblend.kinds.shared.facts import derive, read_facts
from crowdblend.lab.rehearsal.rehearse import rehearse
from crowdblend.policies.domains import BreakDomain, ValueDomain
from crowdblend.trusted.calculus import Assumption, verify_file
from tests.commands import crowdblend
from tests.refusals import refuses
from tests.trusted.calculus.documents import resealed

AREAS = ("Nord", "Süd", "Mitte")
PERSON = {"person": "id", "population": "town"}


def _town() -> pd.DataFrame:
    rng = random.Random(7)
    rows = [
        {"id": f"p{n}", "area": rng.choice(AREAS), "age": rng.randrange(95), "born": rng.randrange(1935, 2008)}
        for n in range(3000)
    ]
    rows[0]["area"] = "the only one here"
    rows[1]["age"] = 10**6
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data, a ledger and a proposal."""
    folder = tmp_path_factory.mktemp("proposed")
    _town().to_csv(folder / "town.csv", index=False)
    crowdblend("ledger", "init", folder / "ledger.db")
    said = ("--labels", "area", "--bounds", "age", "--bounds", "born", "--person", "id", "--epsilon", 0.6)
    where = ("--population", "town", "--ledger", folder / "ledger.db")
    for who in ((), (*said[6:8], "--rows-are-people")):
        refused = crowdblend("propose", "town.csv", *said[:6], *who, *where, "--yes", folder=folder).stderr
        assert "Either --person or --rows-are-people says who the people are." in refused
    assert "nobody can confirm" in crowdblend("propose", "town.csv", *said, *where, folder=folder).stderr
    done = crowdblend("propose", "town.csv", *said, *where, "--delta", 1e-5, "--yes", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "area: 3 labels that many people share" in done.stdout
    assert "the only one here" not in done.stdout
    return folder


def _policy(place: Path, **changes: object) -> cb.Policy:
    given = {
        "sampling": cb.Poisson(0.5),
        "epsilon": 2.0,
        "delta": 1e-4,
        "proposed": str(place / "town-proposal"),
        "columns": {"area": cb.values(*AREAS, other="other")},
        "publish": cb.Table("area"),
        **PERSON,
        **changes,
    }
    return cb.Policy(**given)  # type: ignore[arg-type]


def test_labels_that_many_share_and_bounds_of_nearly_all_are_proposed(place: Path) -> None:
    found = read_proposal(place / "town-proposal")
    area, age, born = (found.columns[name] for name in ("area", "age", "born"))
    assert isinstance(area, ValueDomain)
    assert isinstance(age, BreakDomain)
    assert isinstance(born, BreakDomain)
    assert sorted(area.values) == sorted(AREAS)
    assert age.top
    assert 60 <= age.breaks[-1] <= 100
    assert (born.breaks[0], born.breaks[-1]) == (1930, 2010)
    assert 0.5 < found.loss.epsilon <= 0.6
    assert 0 < found.loss.delta <= 1e-5


def test_bounds_are_looked_for_among_numbers_of_both_signs_that_no_data_decide() -> None:
    policy = proposal_policy(labels=[], bounds=["x"], epsilon=1.0, delta=None, source="town.csv", **PERSON)
    domain = policy.columns[0].domain
    assert isinstance(domain, BreakDomain)
    whole = {step * 10**size for step in (1, 2, 5) for size in range(10)}
    parts = {Decimal(step) / size for step in (1, 2, 5) for size in (10, 100, 1000)}
    expected = {0, *(-one for one in whole), *whole, *parts, *range(10, 101, 10), *range(1900, 2051, 10)}
    assert {Decimal(str(one)) for one in domain.breaks} == expected


def test_the_certificate_and_the_ledger_count_the_proposal_once(place: Path) -> None:
    ledger = cb.Ledger(place / "ledger.db")
    lost = verify_file(place / "town-proposal").differential()
    policy = _policy(place)
    done = cb.release(_town(), policy, out=place / "out", ledger=ledger)
    stated, own = done.certificate.differential(), policy.plan().own_certificate().differential()  # type: ignore[attr-defined]
    assert stated.epsilon == pytest.approx(own.epsilon + lost.epsilon)
    assert stated.delta == pytest.approx(own.delta + lost.delta)
    assert own.epsilon < 2.0 - lost.epsilon + 1e-9
    assert stated.epsilon <= 2.0
    assert stated.delta <= 1e-4
    assert done.certificate.zero_knowledge() is None  # no theorem adds it up with the proposal
    assert Assumption.PROPOSED_DOMAINS in done.certificate.stated
    assert cb.verify(place / "out").differential() == stated
    spent = ledger.budget("town").differential
    assert (spent.epsilon, spent.delta) == pytest.approx((stated.epsilon, stated.delta))
    assert cb.load_policy(_saved(policy, place)) == policy
    # Whatever shows an epsilon or delta shows that of the guarantee, with the proposal's.
    shown = [policy.plan().summary(), read_facts(done.certificate.facts).whole_parameters]
    shown.append(vars(rehearse(policy.only, people=100, times=1)))
    assert [one["epsilon"] for one in shown] == [pytest.approx(2.0)] * 3
    assert [one["delta"] for one in shown] == [pytest.approx(1e-4)] * 2 + [pytest.approx(stated.delta)]
    assert f"<td>{shown[0]['epsilon']}</td>" in (place / "out" / "report.html").read_text()


def _saved(policy: cb.Policy, place: Path) -> Path:
    policy.save(place / "policy.toml", force=True)
    assert 'proposed = ["town-proposal"]' in (place / "policy.toml").read_text()
    return place / "policy.toml"


@pytest.mark.parametrize("edit", ["dropped", "unsaid", "smaller", "a sample", "others"])
def test_a_certificate_that_forgets_the_proposal_does_not_verify(place: Path, tmp_path: Path, edit: str) -> None:
    cb.release(_town(), _policy(place), out=tmp_path / "out", ledger=None)
    path = tmp_path / "out" / "certificate.json"
    document = json.loads(path.read_text())
    facts = document["facts"]
    if edit == "dropped":
        facts.pop("proposed")
    elif edit == "unsaid":
        document["stated"].remove("PROPOSED_DOMAINS")
        document["assumptions"] = [one for one in document["assumptions"] if one["id"] != "PROPOSED_DOMAINS"]
    elif edit == "smaller":
        (mechanism,) = (facts["proposed"][0]["published"]["area"]["facts"]["mechanism"],)
        mechanism["noise_epsilon"] /= 2
    elif edit == "a sample":
        facts["proposed"][0]["design"] = {"design": "poisson", "rate": 0.5}
    else:
        facts["proposed"][0]["person"] = None
    path.write_text(resealed(document))
    with refuses("data-contradict"):
        cb.verify(tmp_path / "out")


def test_every_proposal_is_spent_certified_and_recorded(place: Path, tmp_path: Path) -> None:
    ledger = cb.Ledger.create(tmp_path / "ledger.db")
    spent = {**PERSON, "out": tmp_path / "second", "ledger": ledger}
    second = cb.propose(_town(), bounds=["age"], epsilon=0.3, **spent)
    both = _policy(place, proposed=[str(place / "town-proposal"), str(second.folder)])
    losses = [verify_file(place / "town-proposal").differential() or second.loss, second.loss]
    own, stated = both.plan().own_certificate().differential(), both.plan().certificate().differential()  # type: ignore[attr-defined]
    assert own.epsilon == pytest.approx(2.0 - math.fsum(one.epsilon for one in losses))
    assert stated.epsilon == pytest.approx(own.epsilon + math.fsum(one.epsilon for one in losses))
    assert stated.delta == pytest.approx(own.delta + math.fsum(one.delta for one in losses))
    shown = both.plan().summary()
    assert shown["epsilon"] == pytest.approx(2.0)
    assert shown["delta"] == pytest.approx(1e-4)
    with refuses("proposal-not-recorded"):  # that of the ledger is the second one alone
        cb.release(_town(), both, ledger=ledger)
    # What takes proposed domains proposes none: its own proposals would be forgotten.
    register = {"sampling": cb.Everybody(), "proposed": str(second.folder), "delta": None}
    cb.release(_town(), _policy(place, **register), out=tmp_path / "third", ledger=None)
    with refuses("policy.proposed"):
        _policy(place, proposed=str(tmp_path / "third")).plan()


def test_a_loss_that_would_follow_from_what_was_proposed_does_not_verify(place: Path) -> None:
    document = verify_file(place / "town-proposal").facts
    programme = read_facts(document)
    assert derive(programme)
    with refuses("data-contradict"):
        derive(replace(programme, proposed=(dict(document),)))


def test_the_whole_delta_has_to_be_accepted(place: Path) -> None:
    _policy(place, delta=1e-3).plan()
    with refuses("plan.delta"):
        _policy(place, delta=1.004e-3).plan()
    _policy(place, delta=1.004e-3, accept_delta=True).plan()


def test_what_the_proposal_takes_on_trust_is_taken_on_trust(tmp_path: Path) -> None:
    table = {**PERSON, "ids": "table"}
    cb.propose(_town(), labels=["area"], epsilon=0.6, delta=1e-5, out=tmp_path / "p", ledger=None, **table)
    stated = _policy(tmp_path, proposed=str(tmp_path / "p")).plan().certificate().stated
    assert {Assumption.IDS_OF_THE_TABLE, Assumption.PROPOSED_DOMAINS} <= {*stated}


def test_a_proposal_that_is_not_named_is_never_silent(place: Path) -> None:
    unnamed = _policy(place, proposed=())
    with pytest.warns(UserWarning, match=r'proposed labels or bounds from these people.*proposed="'):
        cb.release(_town(), unnamed, ledger=cb.Ledger(place / "ledger.db"))


def test_what_no_theorem_covers_is_refused(place: Path, tmp_path: Path) -> None:
    for sampling in (cb.Coins(0.5), cb.Survey(3000, of=9000, thin=0.5)):
        with refuses("policy.proposed"):
            _policy(place, sampling=sampling)
    whole = {"epsilon": verify_file(place / "town-proposal").differential().epsilon}  # type: ignore[union-attr]
    for changes in ({"epsilon": 0.5}, whole, {"epsilon": None, "publish": cb.Table("area", k=20)}):
        with refuses("policy.proposed"):
            _policy(place, **changes)
    for named in (place, [place / "town-proposal", place / "town-proposal"]):
        with refuses("policy.proposed"):
            _policy(place, proposed=[str(one) for one in (named if isinstance(named, list) else [named])])
    crowdblend("ledger", "init", tmp_path / "other.db")
    with refuses("proposal-not-recorded"):
        cb.release(_town(), _policy(place), ledger=cb.Ledger(tmp_path / "other.db"))
    with refuses("policy.proposed"):
        _policy(place, person=None, rows_are_people=True).plan()
    for labels in ([], "area", ["area", "area"]):
        with refuses("propose.columns"):
            cb.propose(_town(), labels=labels, epsilon=0.1, delta=1e-6, out=tmp_path / "p", **PERSON)
    with refuses("propose.delta"):
        cb.propose(_town(), labels=["area"], epsilon=0.1, out=tmp_path / "p", **PERSON)


def test_too_few_people_propose_nothing(tmp_path: Path) -> None:
    few = cb.propose(_town()[:40], labels=["area"], epsilon=0.1, delta=1e-6, out=tmp_path / "p", ledger=None, **PERSON)
    assert (few.columns, few.nothing) == ({}, ("area",))
    assert "too few people" in few.describe()[0]


def test_init_takes_the_domains_and_names_the_proposal(place: Path) -> None:
    with_it = ("--codebook", "town-proposal", "--out", "new.toml", "--force")
    done = crowdblend("init", "town.csv", "--design", "everybody", *with_it, folder=place)
    assert done.returncode == 0, done.stderr
    policy = cb.load_policy(place / "new.toml")
    assert policy.proposed == (str(place / "town-proposal"),)
    assert {column.name for column in policy.columns} == {"area", "age", "born"}
    assert policy.plan().certificate().differential().delta > 0  # type: ignore[union-attr]  # that of the proposal
    refused = crowdblend("init", "town.csv", "--design", "coins", *with_it, folder=place)
    assert "these are a sample" in refused.stderr
