"""The same attack on whole releases: policy, engine and folder."""

import csv
from pathlib import Path

from crowdblend.lab.attacks import extreme_value
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.trusted.randomness import coins
from tests.policies.policies import policy_text

POLICY = policy_text(
    data='source = "town.csv"\nperson = "person"',
    sampling='design = "poisson"\nrate = 0.25',
    columns='worth = { breaks = [0, 1000, 10000], top = true }\nplace = { values = ["1", "2", "3"] }',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    release='format = "csv"',
    publish='kind = "table"',
)


def write_town(folder: Path, *, rich: bool) -> None:
    worths = [*extreme_value.WORTHS, *([extreme_value.RICHEST] if rich else [])]
    with (folder / "town.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["person", "worth", "place"])
        rows.writerows([number, worth, number % 3 + 1] for number, worth in enumerate(worths))


def read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def test_the_richest_person_stays_out_of_sight(tmp_path: Path) -> None:
    """On a sample with that person in it, whatever else was drawn."""
    write_town(tmp_path, rich=True)
    policy = parse_policy(POLICY, folder=tmp_path)
    person = len(extreme_value.WORTHS)
    keys = [bytes([number]) * 32 for number in range(40)]
    drawn = [key for key in keys if coins(key, [person], 0.25)[0]][:3]
    for number, key in enumerate(drawn):
        out = tmp_path / f"out-{number}"
        release(policy, out, key=key)
        published = read(out / "data.csv")
        assert published, "the crowds are there"
        assert {row["worth"] for row in published} == {"[0, 1000)"}
        assert "10000" not in (out / "data.csv").read_text(encoding="utf-8")
