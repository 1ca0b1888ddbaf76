"""A release end to end: what appears, what does not, and what is refused."""

import re
from pathlib import Path

import pandas as pd
import pytest

from crowdblend.errors import DoesNotCompose, DoesNotVerify, Infeasible, InvalidInput
from crowdblend.kinds.shared.facts import read_facts
from crowdblend.lab.demo import write_population
from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.policy_digest import plan_secret
from crowdblend.publishing.release import release
from crowdblend.reading.reports.write import write_report
from crowdblend.trusted.calculus import verify_file
from crowdblend.trusted.randomness import coins
from tests.policies.policies import policy_text

KEY = bytes(range(32))
POLICY = policy_text(
    data='source = "town.parquet"\nperson = "person_id"',
    sampling='design = "poisson"\nrate = 0.5',
    columns=(
        'sex = { values = ["female", "male"] }\nage = { from = 0, to = 100, width = 10, top = true }',
        'district = { values = ["Harbour", "Old Town", "Riverside", "Hillside", "Station", "Garden City"], '
        'other = "elsewhere" }',
    ),
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "table"',
)
MICRODATA = POLICY.replace('kind = "table"', 'kind = "microdata"')
NOISY = POLICY.replace('kind = "table"', 'kind = "table"\nbelow_k = "noise"').replace("rate = 0.5", "rate = 0.1")
DRAWN = POLICY.replace("poisson", "coins")
AS_CSV = '[release]\nformat = "csv"\n'


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    write_population(folder / "town.parquet", 8_000)
    return folder


def independent(town: Path, text: str, rate: float, k: int) -> dict[tuple[str, int, str], int]:
    """The published table of a policy as pandas computes it."""
    people = pd.read_parquet(town / "town.parquet")
    people = people[coins(plan_secret(parse_policy(text, town), KEY), people["person_id"].to_numpy(), rate)]
    ages = pd.cut(people["age"], [*range(0, 101, 10), 1000], right=False, labels=False)
    district = people["district"].where(~people["district"].isin(["University", "Mills"]), "elsewhere")
    counts = people.groupby([people["sex"], ages, district]).size()
    return {key: int(count) for key, count in counts.items() if count >= k}


def by_labels(table: pd.DataFrame) -> dict[tuple[str, int, str], int]:
    starts = table["age"].str.extract(r"(\d+)")[0].astype(int) // 10
    return dict(zip(zip(table["sex"], starts, table["district"], strict=True), table["sampled"], strict=True))


def test_a_table_shows_exactly_the_crowds_of_the_sample(town: Path, tmp_path: Path) -> None:
    done = release(parse_policy(POLICY, town), tmp_path / "out", key=KEY)
    names = ["README.md", "certificate.json", "data.parquet", "datapackage.json", "report.html"]
    assert sorted(file.name for file in done.folder.iterdir()) == names
    table = pd.read_parquet(done.folder / "data.parquet")
    assert list(table.columns) == ["sex", "age", "district", "sampled", "estimate", "low", "high"]
    assert read_facts(done.certificate.facts).parameters["k"] == 35
    assert by_labels(table) == independent(town, POLICY, 0.5, 35)
    assert verify_file(done.folder).derivations[1].conclusion.epsilon == 1.0


def test_microdata_is_the_table_written_out(town: Path, tmp_path: Path) -> None:
    rows = pd.read_parquet(release(parse_policy(MICRODATA, town), tmp_path / "b", key=KEY).folder / "data.parquet")
    assert list(rows.columns) == ["sex", "age", "district"]
    counted = rows.groupby(["sex", "age", "district"], observed=True).size().rename("sampled").reset_index()
    assert by_labels(counted) == independent(town, MICRODATA, 0.5, 35)


def test_a_noisy_table_is_exact_from_k_on(town: Path, tmp_path: Path) -> None:
    done = release(parse_policy(NOISY, town), tmp_path / "out", key=KEY)
    shown = by_labels(pd.read_parquet(done.folder / "data.parquet"))
    assert read_facts(done.certificate.facts).parameters["k"] == 6
    crowds = independent(town, NOISY, 0.1, 6)
    assert {key: shown[key] for key in crowds} == crowds
    assert len(shown) == 2 * 11 * 7
    assert min(shown.values()) < 0
    flagged = release(parse_policy(NOISY + "flag = true\n", town), tmp_path / "flagged", key=KEY)
    assert read_facts(flagged.certificate.facts).parameters["k"] == 8
    assert "exact" in pd.read_parquet(flagged.folder / "data.parquet").columns


def test_internal_facts_go_into_the_ledger_entry_and_nowhere_else(town: Path, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    done = release(parse_policy(POLICY, town), tmp_path / "out", key=KEY, ledger=ledger)
    facts = ledger.entry(1).internal
    assert facts == done.internal
    assert facts["people_sampled"] > facts["published_total"] > 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ledger.sqlite", "ledger.sqlite.heads", "out"]
    published = "".join(
        file.read_text(encoding="utf-8") for file in done.folder.iterdir() if file.suffix in (".json", ".html")
    )
    # Places in drawings and digits of hashes are no counts.
    said = re.sub(r"<svg.*?</svg>", "", published, flags=re.DOTALL).replace(",", "")
    numbers = set(re.findall(r"(?<![\w.])\d+(?![\w.])", said))
    assert str(facts["published_total"]) in numbers
    assert str(facts["people_sampled"]) not in numbers
    assert str(facts["people_sampled"] - facts["published_total"]) not in numbers


def test_an_edit_of_the_data_fails_verification(town: Path, tmp_path: Path) -> None:
    done = release(parse_policy(AS_CSV + POLICY, town), tmp_path / "out", key=KEY)
    data = done.folder / "data.csv"
    original = data.read_text()
    data.write_text(original.replace("female", "Female", 1))
    with pytest.raises(DoesNotVerify, match=r"data\.csv"):
        verify_file(done.folder)
    data.write_text(original)
    verify_file(done.folder)
    data.unlink()
    with pytest.raises(DoesNotVerify) as refused:
        verify_file(done.folder)
    assert refused.value.code == "file-missing"


def test_already_drawn_says_so_first_and_only_once(town: Path, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    done = release(parse_policy(DRAWN, town), tmp_path / "out", ledger=ledger)
    assert done.certificate.to_dict()["assumptions"][0]["id"] == "ASSUMED_RATE"
    with pytest.raises(DoesNotCompose, match=r"CBP|LQS") as refused:
        release(parse_policy(DRAWN.replace("epsilon = 1.0", "epsilon = 0.7"), town), tmp_path / "again", ledger=ledger)
    assert refused.value.exit_code == 3
    assert not (tmp_path / "again").exists()


def test_fresh_samples_compose_and_failures_give_back(town: Path, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    for name in ("a", "b"):
        release(parse_policy(POLICY, town), tmp_path / name, ledger=ledger)
    (budget,) = ledger.budgets()
    assert budget.differential.epsilon == 2.0
    broken = POLICY.replace('"female", ', "")
    with pytest.raises(InvalidInput, match="sex"):
        release(parse_policy(broken, town), tmp_path / "broken", ledger=ledger)
    assert not (tmp_path / "broken").exists()
    assert ledger.budgets()[0].differential.epsilon == 2.0
    assert not list(tmp_path.glob(".*partial*"))


def test_existing_folders_and_impossible_promises_are_refused(town: Path, tmp_path: Path) -> None:
    policy = parse_policy(POLICY, town)
    (tmp_path / "mine").mkdir()
    with pytest.raises(InvalidInput, match="exists"):
        release(policy, tmp_path / "mine")
    with pytest.raises(InvalidInput, match="not a release"):
        release(policy, tmp_path / "mine", force=True)
    with pytest.raises(InvalidInput, match="missing"):
        release(policy, tmp_path / "missing" / "out")
    with pytest.raises(InvalidInput, match="bytes"):
        release(policy, tmp_path / ("x" * 250))
    first = release(policy, tmp_path / "out", key=KEY)
    for force in (False, True):  # the first refusal does not name what the second one refuses
        with pytest.raises(InvalidInput, match="covered by the certificate"):
            write_report(first.folder, force=force)
    release(policy, tmp_path / "out", force=True)
    assert verify_file(first.folder).to_json() != first.certificate.to_json()
    with pytest.raises(Infeasible, match="hides nobody"):
        release(parse_policy(POLICY.replace("delta = 1e-6", "delta = 0.6"), town), tmp_path / "vacuous")
    with pytest.raises(Infeasible, match="cannot be guaranteed"):
        release(parse_policy(POLICY + "k = 10\n", town), tmp_path / "weak")


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_labels_of_suppressed_people_are_nowhere(form: str, tmp_path: Path) -> None:
    """In an open domain even the existence of a label is about the people who have it."""
    people = pd.DataFrame({"id": range(400), "zip": ["10115"] * 395 + ["99canary"] * 5})
    people.to_csv(tmp_path / "t.csv", index=False)
    policy = (
        '[data]\nsource = "t.csv"\nperson = "id"\n[sampling]\ndesign = "poisson"\nrate = 0.9\n'
        f'[columns]\nzip = {{ prefix = 8 }}\n[release]\nformat = "{form}"\n'
        '[privacy]\nepsilon = 5.0\naccept_delta = true\n[[publish]]\nkind = "microdata"\nk = 30\n'
    )
    done = release(parse_policy(policy, tmp_path), tmp_path / "out")
    data = done.folder / f"data.{form}"
    if form == "parquet":
        import pyarrow.parquet as pq

        dictionary = pq.ParquetFile(data, read_dictionary=["zip"]).read().column("zip").chunk(0).dictionary
        assert dictionary.to_pylist() == ["10115"]
    for file in done.folder.iterdir():
        assert b"canary" not in file.read_bytes()
