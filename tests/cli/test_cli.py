"""The command line keeps its contract: exit codes, one JSON object, nothing heavy loaded."""

import json
from pathlib import Path

from crowdblend.methods.planning.plan import plan
from crowdblend.notation import TOML, spell
from crowdblend.policies.load import load_policy
from tests.cases import for_each
from tests.commands import crowdblend
from tests.policies.policies import SOUND

PLAN = ["plan", "--rate", "0.1", "--k", "20", "--epsilon", "0.5"]


def test_plan_prints_one_json_object() -> None:
    done = crowdblend(*PLAN, "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert {"k", "rate", "epsilon", "delta", "rule", "bounds"} <= set(document)
    assert document["delta"] == document["bounds"]["exact"] == 2.631783466225066e-11
    assert document["rule"] == "suppression.exact"


@for_each(
    ("arguments", "code", "named"),
    [
        (["plan", "--rate", "1.2", "--k", "3", "--epsilon", "1"], 2, "rate"),
        (["plan", "--rate", "nan", "--k", "3", "--epsilon", "1"], 2, "rate"),
        (["plan", "--rate", "ten", "--k", "3", "--epsilon", "1"], 2, "rate"),
        (["plan", "--rate", "0.1", "--k", "2.5", "--epsilon", "1"], 2, "k"),
        (["plan", "--rate", "0.1", "--k", "0", "--epsilon", "1"], 2, "k"),
        (["plan", "--rate", "0.1", "--k", "3", "--epsilon", "-1"], 2, "epsilon"),
        (["plan", "--rate", "0.1", "--k", "3"], 2, "exactly one"),
        (["plan", "--rate", "0.1", "--k", "3", "--delta", "1e-9"], 1, "delta"),
        (["plan", "--bogus"], 2, "bogus"),
        ([*PLAN, "policy.toml"], 2, "--rate, --k, --epsilon cannot be combined"),
        (["plan", "missing.toml"], 2, "missing.toml"),
        (["verify", "missing.json"], 2, "missing.json"),
        (["reproduce", "lqs-table9"], 2, "lqs-table2"),
        (["reproduce", "lqs-table1", "--plot", "x.svg"], 2, "table"),
        (["reproduce", "lqs-figure2", "--plot", "figure.gif"], 2, "gif"),
        (["rules", "suppression.exat"], 2, "suppression.exact"),
        (["nonsense"], 2, "nonsense"),
    ],
)
def test_refusals(arguments: list[str], code: int, named: str) -> None:
    done = crowdblend(*arguments)
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.startswith("crowdblend: ")
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    as_json = crowdblend(*arguments, "--json")
    assert as_json.returncode == code
    error = json.loads(as_json.stdout)["error"]
    assert named in f"{error['message']} {error['remedy']}"


def test_a_policy_is_planned_without_its_data(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(SOUND, encoding="utf-8")
    document = json.loads(crowdblend("plan", "policy.toml", "--json", folder=tmp_path).stdout)
    expected = load_policy(tmp_path / "policy.toml").plan()
    assert document["k"] == document["facts"]["mechanism"]["k"] == expected.k == 20
    assert document["guarantees"] == [guarantee.words() for guarantee in expected.certificate().guarantees]
    said = crowdblend("plan", "policy.toml", folder=tmp_path).stdout
    assert all(spell(how, TOML) in said for _, how in expected.describe())
    assert all(sentence in said for sentence in document["guarantees"])
    assert all(assumed.sentence() in said for assumed in expected.certificate().assumptions())


def test_a_certificate_is_verified_from_stdin() -> None:
    certificate = plan(rate=0.1, k=20, epsilon=0.5).certificate().to_json()
    assert json.loads(certificate)["format"] == "crowdblend certificate 1"
    verified = crowdblend("verify", "-", stdin=certificate)
    assert verified.returncode == 0
    assert "zero-knowledge" in verified.stdout
    forged = crowdblend("verify", "-", stdin=certificate.replace("2.63178", "1.63178"))
    assert forged.returncode == 1
    assert forged.stdout == ""


@for_each(
    ("options", "said"),
    [
        (["--epsilon", "1", "--delta", "0.1"], "no more than sampling alone"),
        (["--epsilon", "1", "--k", "2"], "release refuses this delta, which is above 0.001: publishing one person in"),
        (["--epsilon", "1", "--delta", "1e-6", "--parts", "2"], "2 tables, each from another part of it, are"),
        (["--epsilon", "1", "--delta", "1e-6", "--releases", "3"], "3 releases, each from a fresh sample that keeps"),
    ],
)
def test_the_sentence_fits_the_plan(options: list[str], said: str) -> None:
    assert said in crowdblend("plan", "--rate", "0.1", *options).stdout


def test_a_planned_rate_is_rounded_down_and_a_given_one_is_not_rounded() -> None:
    planned = crowdblend("plan", "--k", "35", "--epsilon", "1", "--delta", "1e-6").stdout
    assert "sampling rate = 0.50181 " in planned
    assert "with probability 0.50181," in planned
    assert "probability 0.12345678," in crowdblend("plan", "--rate", "0.12345678", "--epsilon", "1", "--k", "35").stdout


def test_existing_output_is_kept_without_force(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,sex\n1,f\n", encoding="utf-8")
    target = tmp_path / "policy.toml"
    assert crowdblend("init", "people.csv", "--design", "poisson", folder=tmp_path).returncode == 0
    before = target.read_bytes()
    refused = crowdblend("init", "people.csv", "--design", "poisson", "--person", "id", folder=tmp_path)
    assert refused.returncode == 2
    assert target.read_bytes() == before
    assert (
        crowdblend("init", "people.csv", "--design", "poisson", "--person", "id", "--force", folder=tmp_path).returncode
        == 0
    )
    assert target.read_bytes() != before


def test_plots(tmp_path: Path) -> None:
    figure = tmp_path / "figure.svg"
    assert crowdblend("reproduce", "lqs-figure2", "--plot", str(figure)).returncode == 0
    assert figure.read_text(encoding="utf-8").startswith("<svg")


def test_reproduce_and_rules() -> None:
    rows = json.loads(crowdblend("reproduce", "lqs-table2", "--json").stdout)["rows"]
    assert len(rows) == 18
    assert all(row["digits match"] for row in rows)
    assert "why:" in crowdblend("rules", "suppression.exact").stdout
    assert crowdblend("rules", "suppression.exact").stdout in crowdblend("rules", "all").stdout
    every = [crowdblend("rules", *name, "--json").stdout for name in ((), ("all",))]
    assert every[0] == every[1]
    assert "why:" not in crowdblend("rules").stdout
    assert "checked by Coq: sampling.exact_up" in crowdblend("rules", "suppression.exact").stdout
