"""`crowdblend ledger` keeps the contract of every command."""

import json
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from crowdblend import plan
from crowdblend.cli.main import cli
from crowdblend.ledger import Ledger
from crowdblend.publishing.pending import with_profile
from tests.commands import Finished, crowdblend
from tests.ledger.spendings import DATA, DIGEST, shared, spending
from tests.policies.policies import policy_text

KEY, OTHER_KEY = b"\x5a" * 32, b"\x5b" * 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "ledger.sqlite"
    ledger = Ledger.create(made)
    first = ledger.begin(spending("draw-1", population="[bold]town"), key=KEY, seal=True)
    ledger.finish(first, certificate_digest=DIGEST, data_sha256=DATA)
    ledger.begin(spending("draw-2", population="[bold]town"))
    ledger.begin(shared("survey", "country"))
    return made


@pytest.fixture
def ask(path: Path) -> Callable[..., Finished]:
    def run(*arguments: str, where: str | None = str(path)) -> Finished:
        done = crowdblend("ledger", *arguments, *(["--ledger", where] if where else []))
        assert KEY.hex() not in done.stdout + done.stderr
        assert repr(KEY) not in done.stdout + done.stderr
        return done

    return run


def test_list(ask) -> None:
    code, out, err = ask("list", "--json")
    assert (code, err) == (0, "")
    entries = json.loads(out)["entries"]
    assert [entry["status"] for entry in entries] == ["finished", "unfinished", "unfinished"]
    assert entries[0]["guarantees"][0]["kind"] == "ZeroKnowledge"
    assert {"id", "created", "population", "sample", "fresh", "kind", "folder", "software", "key"} <= set(entries[0])
    code, out, _ = ask("list")
    assert code == 0
    assert "unfinished" in out
    assert "shared" in out


def test_no_loss_is_listed_smaller_than_it_is(tmp_path: Path, ask) -> None:
    guarantees = plan(rate=0.1, k=20, epsilon=0.5).certificate().guarantees  # a delta of 2.631783…e-11
    Ledger.create(tmp_path / "other.sqlite").begin(spending(guarantees=guarantees))
    _, out, _ = ask("list", where=str(tmp_path / "other.sqlite"))
    assert "2.63179e-11" in out


def test_names_are_not_markup(ask) -> None:
    assert "[bold]town" in ask("list")[1].split()


def test_show(ask) -> None:
    code, out, _ = ask("show", "1", "--json")
    assert code == 0
    assert json.loads(out)["certificate_digest"] == DIGEST
    code, out, _ = ask("show", "2")
    assert code == 0
    assert "unfinished (counts as spent)" in out
    assert "guarantee" in out
    assert "–" not in out  # what is not known of a release, such as the rate of a sample drawn before, has no line


def test_a_key_is_said_to_be_where_it_is(ask, path: Path) -> None:
    ledger = Ledger(path)
    begun = ledger.begin(spending("draw-3", population="[bold]town"), key=OTHER_KEY)

    def shown(entry: int) -> tuple[str | None, list[str]]:
        lines = [line.split(maxsplit=1)[1] for line in ask("show", entry)[1].splitlines() if line.startswith("key ")]
        return json.loads(ask("show", entry, "--json")[1])["key"], lines

    assert ledger.key(begun) == OTHER_KEY
    assert shown(begun) == ("kept", ["kept until the release is published"])
    ledger.finish(begun, certificate_digest=DIGEST, data_sha256=DATA)
    assert shown(begun) == ("destroyed", ["destroyed"])
    assert shown(1) == ("sealed", ["sealed"])
    assert shown(2) == (None, [])  # begun without a key


def test_budget(ask) -> None:
    code, out, _ = ask("budget", "--json")
    assert code == 0
    budget, other = json.loads(out)["budgets"]
    assert (budget["releases"], other["releases"]) == ([1, 2], [3])
    assert budget["differential"]["epsilon"] == 2.0
    assert budget["zero_knowledge"]["aggregate"]["rounds"] == 2
    assert json.loads(ask("budget", "[bold]town", "--json")[1])["budgets"] == [budget]
    assert "e^2" in ask("budget")[1]


def test_check(ask, path: Path) -> None:
    code, out, _ = ask("check", "--json")
    assert code == 0
    document = json.loads(out)
    assert document["intact"] is True
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TRIGGER records_UPDATE")
        connection.execute("UPDATE records SET body = replace(body, 'town', 'city') WHERE number = 2")
    code, out, err = ask("check")
    assert (code, out) == (1, "")
    assert "edited" in err
    code, out, _ = ask("check", "--json")
    assert code == 1
    assert json.loads(out)["error"]["code"] == "does-not-verify"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["show", "9"], "no release 9"),
        (["show", "one"], "ID"),
        (["show"], "ID"),
        (["budget", "nobody"], "nobody"),
        (["nonsense"], "nonsense"),
    ],
    ids=" ".join,
)
def test_wrong_use(ask, arguments: list[str], named: str) -> None:
    code, out, err = ask(*arguments)
    assert (code, out) == (2, "")
    assert named in err
    assert len(err.strip().splitlines()) == 1
    assert named in json.loads(ask(*arguments, "--json")[1])["error"]["message"]


def test_a_missing_ledger_is_not_an_empty_one(ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("CROWDBLEND_LEDGER", raising=False)
    missing = str(tmp_path / "missing.sqlite")
    for arguments in (["list"], ["budget"], ["check"], ["show", "1"]):
        code, out, err = ask(*arguments, where=missing)
        assert (code, out) == (2, "")
        assert "There is no ledger" in err
    for arguments in (["list"], ["budget"]):
        code, out, _ = ask(*arguments, where=None)
        assert (code, out) == (0, "The ledger has no releases yet.\n")
    monkeypatch.setenv("CROWDBLEND_LEDGER", missing)
    assert ask("list", where=None)[0] == 2
    assert not Path(missing).exists()


def test_the_variable_names_the_ledger(ask, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDBLEND_LEDGER", str(path))
    assert len(json.loads(ask("list", "--json", where=None)[1])["entries"]) == 3


def test_budget_by_profile(ask, path: Path) -> None:
    code, out, _ = ask("budget", "--delta", "1e-5", "--json")
    assert code == 0
    budget, _ = json.loads(out)["budgets"]
    assert budget["profile"]["delta"] == 1e-5
    assert budget["profile"]["epsilon"] < budget["differential"]["epsilon"] * 1.01
    assert budget["profile"]["relation"] == "add-remove"
    code, out, _ = ask("budget", "--delta", "1e-5")
    assert "  by profile differential privacy: " in out
    assert "do not depend on what earlier ones published" in out
    code, out, _ = ask("budget", "--delta", "1e-12")
    assert "Pass a larger --delta." in out
    assert ask("budget", "--delta", "2")[0] == 2


def test_how_many_more_releases_fit(ask, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        policy_text(
            data='source = "people.csv"\nperson = "id"\npopulation = "[bold]town"',
            sampling='design = "poisson"\nrate = 0.1',
            columns='sex = { values = ["F", "M"] }',
            privacy="epsilon = 1.0",
            publish='kind = "table"\nk = 20',
        ),
        encoding="utf-8",
    )
    code, out, _ = ask("plan", str(policy), "--epsilon", "3", "--delta", "1e-5", "--json")
    assert code == 0
    told = json.loads(out)
    assert told["releases"] == 1
    assert told["so_far"] | {"delta": 0.0} == {
        "epsilon": 2.0, "delta": 0.0, "filter": "sums", "series": 0, "others": 2, "stated": 0, "fits": True,
    }  # fmt: skip
    code, out, _ = ask("plan", str(policy), "--epsilon", "3", "--delta", "1e-5")
    assert f"{told['releases']} more releases like this one fit epsilon 3, delta 1e-05" in out
    assert ask("plan", str(policy), "--epsilon", "0.001", "--delta", "1e-5")[1].count("0 more releases") == 1
    text = policy.read_text(encoding="utf-8").replace("[bold]town", "village")
    policy.write_text(text, encoding="utf-8")
    assert ask("limit", "village", "--epsilon", "3", "--delta", "1e-5", "--renyi")[0] == 0
    code, out, _ = ask("plan", str(policy), "--json")
    told = json.loads(out)
    assert told["releases"] > 10
    assert told["limit"] == {"epsilon": 3.0, "delta": 1e-5, "relation": "add-remove", "filter": "renyi"}
    assert "Rényi divergence of order 9.6 of 0 releases; it holds also where" in ask("plan", str(policy))[1]
    policy.write_text(text.replace("epsilon = 1.0", "epsilon = 1.0\ndelta = 1e-6\nreleases = 30"), encoding="utf-8")
    assert ask("limit", "village", "--epsilon", "1", "--delta", "1e-6", "--why", "a series")[0] == 0
    out = ask("plan", str(policy))[1]
    assert "30 more releases like this one fit epsilon 1, delta 1e-06" in out
    assert "30 of them are one declared series" in out


def test_budget_for_a_group(ask) -> None:
    code, out, err = ask("budget", "--group", "3", "--json")
    assert (code, err) == (0, "")
    budget, _ = json.loads(out)["budgets"]
    assert [(one["kind"], one["people"]) for one in budget["group"]] == [("Differential", 3)]
    code, out, _ = ask("budget", "--group", "3")
    assert code == 0
    assert "group     differential privacy: whatever is published, its probability is at most e^" in out
    assert "times what it would be without any 3 people" in out


def test_a_group_is_protected_by_the_profile_and_a_delta_of_1_is_no_guarantee(ask, path: Path) -> None:
    """Three tables lose little together, and so do four people by them, where zero-knowledge privacy says nothing."""
    ledger = Ledger(path)
    for number in range(3):
        made = with_profile(plan(k=8, rate=0.1, epsilon=1.0).certificate())
        ledger.begin(spending(f"year-{number}", "town", guarantees=made))
    out = ask("budget", "town", "--group", "4")[1]
    assert "no zero-knowledge privacy for 4 people together: its delta comes to 1" in out
    assert "plus 1," not in out
    assert "group     differential privacy: whatever is published" in out
    (budget,) = json.loads(ask("budget", "town", "--group", "4", "--json")[1])["budgets"]
    one, (four,) = budget["profile"], budget["group"]
    # A chain of four neighbours, each of them by the profile.
    growth = math.exp(one["epsilon"])
    assert four["epsilon"] == pytest.approx(4 * one["epsilon"], rel=1e-12)
    assert four["epsilon"] == pytest.approx(4.04, abs=0.01)
    assert four["delta"] == pytest.approx(one["delta"] * (1 + growth + growth**2 + growth**3), rel=1e-12)
    assert four["delta"] == pytest.approx(2.2e-5, rel=0.05)
    assert "nothing is guaranteed about 5000 people together" in ask("budget", "town", "--group", "5000")[1]


def test_a_group_has_somebody(ask) -> None:
    code, _, err = ask("budget", "--group", "0")
    assert code == 2
    assert err.count("\n") == 1


def test_a_release_says_how_its_limit_counts_before_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{number},{'FM'[number % 2]}\n" for number in range(400))
    (tmp_path / "people.csv").write_text(f"id,sex\n{rows}", encoding="utf-8")
    (tmp_path / "policy.toml").write_text(
        '[data]\nsource = "people.csv"\nperson = "id"\npopulation = "town"\n[sampling]\ndesign = "poisson"\n'
        'rate = 0.5\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[columns]\nsex = { values = ["F", "M"] }\n'
        '[[publish]]\nkind = "table"\n',
        encoding="utf-8",
    )
    ledger = Ledger.create(tmp_path / "own.sqlite")
    ledger.limit("town", epsilon=3.0, delta=1e-5)
    ledger.begin(spending("draw-1", population="town"))
    monkeypatch.setattr("crowdblend.cli.release._asks", lambda: True)
    given = ["release", "policy.toml", "--ledger", "own.sqlite", "--out", "out"]
    done = CliRunner().invoke(cli, given, input="n\n")
    assert done.exit_code == 1
    assert "\nwith this release: epsilon 2, delta " in done.output
    assert "of the limit, epsilon 3 at delta 1e-05, with this release: epsilon 2, delta " in done.output
    assert "(the sum of 2 releases; it holds also where a release reacts to earlier ones)" in done.output
    assert "by profile are true where nobody chose the parameters of a release by looking" in done.output
    assert len(ledger.entries()) == 1
