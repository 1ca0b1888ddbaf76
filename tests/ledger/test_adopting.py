"""A backup forgets releases; from their folders, once verified, they are entered again, and totals are right again."""

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify, InvalidInput, RefusedByLedger
from crowdblend.ledger import Ledger
from crowdblend.publishing.adopting import releases_in
from crowdblend.trusted.calculus import Assumption
from tests.commands import crowdblend

AREAS = [f"area {n}" for n in range(20)]
# Two releases have the same certificate with a probability below 1e-27: that of 20 equal pairs of binomial counts.
PEOPLE = pd.DataFrame({"id": [f"p{n}" for n in range(4000)], "area": [AREAS[n % 20] for n in range(4000)]})


def policy(sampling: Any = None, **terms) -> cb.Policy:
    return cb.Policy(
        person="id",
        population="residents",
        sampling=sampling or cb.Poisson(0.5),
        **{"epsilon": 1.0, "delta": 1e-6, **terms},
        columns={"area": cb.values(*AREAS)},
        publish=cb.Table(),
    )


def published(folder: Path, ledger: Ledger | None, **terms) -> Path:
    cb.release(PEOPLE, policy(**terms), out=folder, ledger=ledger, figures=False)
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Ledger.create(tmp_path / "ledger.sqlite")
    return tmp_path / "ledger.sqlite"


def test_a_restored_backup_is_put_right(path: Path, tmp_path: Path) -> None:
    """The drill of docs/ledger.md: backup, releases, a head, restore, and the same totals and limits again."""
    ledger, at = Ledger.open(path), ("--ledger", path)
    published(tmp_path / "first", ledger, releases=2)
    backup = path.read_bytes()
    folders = [published(tmp_path / "second", ledger, releases=2), published(tmp_path / "third", ledger, epsilon=2.0)]
    log = tmp_path / "heads.jsonl"
    assert crowdblend("ledger", "heads", "--export", log, *at).returncode == 0
    before, total = ledger.budget("residents"), ledger.total("residents", 1e-5)
    path.write_bytes(backup)
    assert crowdblend("ledger", "check", "--head", log, *at).returncode == 1
    refused = crowdblend("ledger", "adopt", "residents", *folders, *at)
    assert (refused.returncode, "ledger heads --accept" in refused.stderr) == (1, True)
    assert crowdblend("ledger", "heads", "--accept", "--why", "the disk broke", *at).returncode == 0
    done = crowdblend("ledger", "adopt", "residents", *folders, tmp_path / "first", "--by", "ann", *at, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert [one["status"] for one in answer["adopted"]] == ["adopted"] * 2
    assert answer["recorded"] == [str(tmp_path / "first")]
    assert "no later one is compared" in answer["not_known"][0]
    again = Ledger.open(path)
    again.check()
    assert (again.budget("residents"), again.total("residents", 1e-5)) == (before, total)
    groups = again.accounts().groups
    assert sorted((group.series, group.count) for group in groups) == [(1, 1), (2, 2)], "a declared series stays one"
    entry = again.entry(2)
    assert (entry.by, entry.published, entry.key_state) == ("ann", entry.created[:10], None)
    assert "adopted" in crowdblend("ledger", "list", *at).stdout
    assert "no later one" not in crowdblend("ledger", "adopt", "residents", *folders, *at).stdout


def test_what_is_adopted_counts_against_a_limit(ledger: Ledger, tmp_path: Path) -> None:
    ledger.limit("residents", epsilon=2.5, delta=1e-3)
    folders = [published(tmp_path / str(number), None, epsilon=number) for number in (1.0, 1.25)]
    for one in releases_in(folders):
        ledger.adopt("residents", one)
    with pytest.raises(RefusedByLedger) as refused:
        published(tmp_path / "more", ledger)
    assert refused.value.code == "limit.exceeded"
    (one,) = releases_in([published(tmp_path / "other", None)])
    with pytest.warns(UserWarning, match="is exceeded"):
        assert ledger.adopt("residents", one).id == 3
    again = Ledger(ledger.location.words()) if ledger.location.path else Ledger(ledger.location.url)
    assert again.entry(3) == ledger.entry(3)
    again.check()
    with pytest.raises(RefusedByLedger, match="easily taken"):
        ledger.adopt("Residents", one)
    with pytest.raises(RefusedByLedger, match="Release 3") as known:
        ledger.adopt("residents", one, new=True)
    assert known.value.code == "ledger.recorded"


def test_two_releases_with_the_same_bytes_stay_two(path: Path, tmp_path: Path) -> None:
    """Of so few people no cell is published, on one day; what tells both apart is the name of the release."""
    few, folders = PEOPLE[:40], [tmp_path / "first", tmp_path / "second"]
    done = [cb.release(few, policy(), out=folder, ledger=None, figures=False) for folder in folders]
    assert len({(folder / "data.parquet").read_bytes() for folder in folders}) == 1
    first, second = (dict(one.certificate.facts) for one in done)
    assert first.pop("run") != second.pop("run")
    assert first["date"] != second["date"] or first["files"]["data.parquet"] == second["files"]["data.parquet"]
    found = releases_in(folders)
    ledger = Ledger.open(path)
    assert [ledger.adopt("residents", one).id for one in found] == [1, 2]
    with pytest.raises(RefusedByLedger, match="Nothing is to be entered"):
        ledger.adopt("residents", found[0])


def test_an_edited_folder_is_not_adopted(path: Path, tmp_path: Path) -> None:
    folder = published(tmp_path / "out", None)
    data = folder / "data.parquet"
    data.write_bytes(data.read_bytes()[:-1] + b"\0")
    at = ("--ledger", path)
    assert crowdblend("ledger", "adopt", "residents", folder, *at).returncode == 1
    with pytest.raises(DoesNotVerify):
        releases_in([folder])
    assert Ledger.open(path).entries() == ()
    assert crowdblend("ledger", "adopt", "residents", tmp_path / "none", *at).returncode == 2


def test_an_unfinished_entry_may_be_the_release(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup from the middle of a release has its entry: it counts already, and is resumed rather than adopted."""
    people, text = tmp_path / "people.csv", tmp_path / "policy.toml"
    PEOPLE.to_csv(people, index=False)
    text.write_text(
        f'[data]\nsource = "{people}"\nperson = "id"\npopulation = "residents"\n[sampling]\ndesign = "poisson"\n'
        "rate = 0.5\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[columns]\n"
        f"area = {{ values = {json.dumps(AREAS)} }}\n"
        '[[publish]]\nkind = "table"\n',
        encoding="utf-8",
    )
    ledger, kept = Ledger.open(path), path.with_name("backup")
    begin = Ledger.begin

    def copied(self: Ledger, *arguments, **named) -> int:
        number = begin(self, *arguments, **named)
        shutil.copyfile(path, kept)
        return number

    monkeypatch.setattr(Ledger, "begin", copied)
    assert crowdblend("release", text, "--yes", "--ledger", path, "--out", tmp_path / "out").returncode == 0
    ledger = Ledger(kept)
    (found,) = releases_in([tmp_path / "out"])
    with pytest.raises(RefusedByLedger, match="ledger resume 1") as refused:
        ledger.adopt("residents", found)
    assert refused.value.code == "ledger.unfinished"
    done = crowdblend("ledger", "resume", 1, text, "--ledger", kept, "--out", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    assert [one.certificate_digest for one in Ledger(kept).entries()] == [found.certificate_digest]
    with pytest.raises(RefusedByLedger) as known:
        ledger.adopt("residents", found, new=True)
    assert known.value.code == "ledger.recorded"


def test_another_release_of_that_day_is_adopted_beside_an_unfinished_one(ledger: Ledger, tmp_path: Path) -> None:
    (found,) = releases_in([published(tmp_path / "out", ledger)])
    spending = ledger.entry(1).spending
    (other,) = releases_in([published(tmp_path / "other", None, epsilon=1.5)])
    ledger.begin(spending.__class__(**{**vars(spending), "guarantees": other.guarantees, "sample": "another"}))
    with pytest.raises(RefusedByLedger, match="Release 2 was begun"):
        ledger.adopt("residents", other)
    assert ledger.adopt("residents", other, new=True).id == 3
    with pytest.raises(RefusedByLedger, match="Release 1 of the ledger"):
        ledger.adopt("residents", found)


def test_a_sample_drawn_before_is_said_not_to_be_compared(ledger: Ledger, tmp_path: Path) -> None:
    drawn = policy(cb.Coins(0.1), epsilon=2.0, delta=1e-3)
    cb.release(PEOPLE, drawn, out=tmp_path / "out", ledger=None, figures=False)
    (found,) = releases_in([tmp_path / "out"])
    assert not found.fresh
    ledger.adopt("residents", found)
    assert Assumption.ASSUMED_RATE in ledger.budget("residents").assumptions
    with pytest.warns(UserWarning, match="Release 1 was entered again from a folder"):
        done = cb.release(PEOPLE, drawn, ledger=ledger, figures=False)
    assert Assumption.SAMPLE_NOT_COMPARED in {one.assumption for one in done.certificate.assumptions()}


def test_synthetic_rows_lose_nothing_more(tmp_path: Path) -> None:
    done = cb.release(PEOPLE, policy(), out=tmp_path / "out", ledger=None, figures=False)
    done.synthesize(100, out=tmp_path / "rows")
    with pytest.raises(InvalidInput, match="lose nothing"):
        releases_in([tmp_path / "rows"])


def test_a_proposal_counts_once_beside_the_release_that_took_its_domains(path: Path, tmp_path: Path) -> None:
    ledger, about = Ledger.open(path), {"person": "id", "population": "residents", "ledger": path}
    first = cb.propose(PEOPLE, labels=["area"], epsilon=0.5, delta=1e-5, out=tmp_path / "first", **about)
    published(tmp_path / "out", ledger, epsilon=2.0, delta=1e-4, proposed=str(first.folder))
    spent = ledger.budget("residents").differential
    assert spent is not None
    for name, folders in {"both": [tmp_path / "out", tmp_path / "first"], "alone": [tmp_path / "out"]}.items():
        again = Ledger.create(tmp_path / name)
        entries = [again.adopt("residents", one) for one in releases_in(folders)]
        assert len(entries) == len(folders)
        total = again.budget("residents").differential
        assert total is not None
        assert (total.epsilon, total.delta) == pytest.approx((spent.epsilon, spent.delta))
